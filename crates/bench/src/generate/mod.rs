//! Which record comes next, and what it holds.

mod permutation;

pub use permutation::Permutation;
