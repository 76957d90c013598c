//! What generators give.

mod distribution;
mod hash;
mod permutation;
mod statistics;
mod values;
mod zipfian;
