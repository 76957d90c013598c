//! What the tests of several crates share. It knows nothing of stores.
//!
//! - [`SmallDisk`]: a disk that fills up.
//! - [`alone`], [`again`], [`kill_after`], [`kill_rounds`]: a test that runs in a process of its
//!   own, to its end or until it is killed there.
//! - [`copy_tree`], [`try_copy_tree`], [`make_fifo`], [`test_data`]: directories as a crash leaves
//!   them, pipes with a name, and files of real data.
//! - [`Random`], [`mix`]: numbers and bytes that are the same in each run.
//! - [`not_run`]: what a test leaves out on this machine, for the count of `make test`.
//! - [`wait_until`]: what comes to pass soon.

mod child;
mod disk;
mod files;
mod not_run;
mod random;
mod wait;

pub use child::{again, alone, kill_after, kill_rounds};
pub use disk::{Ballast, SmallDisk};
pub use files::{copy_tree, make_fifo, test_data, try_copy_tree};
pub use not_run::not_run;
pub use random::{Random, mix};
pub use wait::wait_until;
