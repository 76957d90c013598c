//! Which record comes next, and what it holds.
//!
//! The distributions are those of YCSB (Cooper et al., "Benchmarking cloud serving systems with
//! YCSB", 2010), each a file of its own and each checked against what is known of it. They draw
//! numbers below a count; whoever uses them adds where the records begin. Random numbers come from
//! the caller, one seeded generator a thread, so that a run can be done again.

mod counter;
mod discrete;
mod exponential;
mod fnv;
mod hotspot;
mod keys;
mod latest;
mod mix;
mod permutation;
mod scrambled;
mod sequential;
#[cfg(test)]
mod statistics;
mod uniform;
mod values;
mod zipfian;

pub use counter::{AcknowledgedCounter, Claim, Counter};
pub use discrete::Discrete;
pub use exponential::Exponential;
pub use fnv::{fnv1a_64, ycsb_hash};
pub use hotspot::Hotspot;
pub use keys::{ordered_key, pair_key};
pub use latest::SkewedLatest;
pub use mix::mix;
pub use permutation::Permutation;
pub use scrambled::ScrambledZipfian;
pub use sequential::Sequential;
pub use uniform::Uniform;
pub use values::Values;
pub use zipfian::Zipfian;
