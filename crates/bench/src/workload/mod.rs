//! What is done to a system, one module for each workload.

pub mod billion;
pub mod bulk;
mod columns;
mod harness;
mod loops;
pub mod matrix;
mod options;
pub mod tables;
pub mod ycsb;

pub use options::{KeyOrder, RunOptions};
