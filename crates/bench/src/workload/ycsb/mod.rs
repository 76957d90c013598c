//! `bench ycsb`: the core workloads of the Yahoo Cloud Serving Benchmark.

mod builtin;
mod core;
mod core_options;
mod dataset;
mod from_properties;
mod load;
mod options;
mod pace;
mod properties;
mod run_phase;
mod threads;

pub use core_options::{CoreOptions, InsertOrder, Lengths, Mix, Requests};
pub use dataset::{Dataset, LoadPlan, RunPlan};
pub use options::{Phase, Workload, YcsbOptions};
use tonnage::Result;

use crate::measure::Watcher;
use crate::report::Report;

/// Runs the workloads.
///
/// # Errors
/// `Invalid` for options that do not fit together, and what stops a target as a whole.
pub fn run(options: &YcsbOptions, watcher: &dyn Watcher) -> Result<Report> {
    let _ = (options, watcher);
    unimplemented!("the workloads")
}
