//! What is done to a target, one module for each workload.

pub mod bulk;
pub mod containers;
mod one_by_one;
mod place;
pub mod ycsb;

pub use place::{Place, Scratch};
