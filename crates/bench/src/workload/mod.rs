//! What is done to a target, one module for each workload.

mod place;
pub mod ycsb;

pub use place::{Place, Scratch};
