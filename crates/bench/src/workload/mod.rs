//! What is done to a target, one module for each workload.

pub mod billion;
pub mod bulk;
pub mod containers;
pub mod matrix;
mod one_by_one;
mod place;
pub mod ycsb;

pub use place::{Place, Scratch};
