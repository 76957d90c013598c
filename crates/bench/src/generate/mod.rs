//! Which record comes next, and what it holds.
//!
//! The distributions are those of YCSB (Cooper et al., "Benchmarking cloud serving systems with
//! YCSB", 2010), each checked against what is known of it. They draw numbers below a count; callers
//! add the first number of the records. Random numbers come from the caller, one seeded generator a
//! thread, so that a run can be done again.

mod counter;
mod distribution;
mod hash;
mod permutation;
mod values;
mod zipfian;

pub use counter::{AcknowledgedCounter, InsertClaim};
pub use distribution::{Distribution, below};
pub use hash::{fnv1a_64, mix, ordered_key, pair_key, ycsb_hash};
pub use permutation::Permutation;
pub use values::ValueGenerator;
pub use zipfian::{Zipfian, zeta};
