//! What is done to a system, one module for each workload.

pub mod billion;
pub mod bulk;
mod directory;
mod harness;
pub mod matrix;
mod one_by_one;
mod options;
pub mod tables;
pub mod ycsb;

pub use directory::{DataDirectory, Scratch};
pub use options::RunOptions;
