//! What is done to a target, one module for each workload.

pub mod billion;
pub mod matrix;
mod place;
pub mod ycsb;

pub use place::{Place, Scratch};
