//! `bench ycsb`: the core workloads of the Yahoo Cloud Serving Benchmark, with its parameters,
//! distributions and operations.
//!
//! - `core_options` holds the parameters, `from_properties` reads them from `properties`; `options`
//!   has the six core workloads.
//! - `maker` makes keys and values and compares them, `chooser` says which record is asked for,
//!   `session` is a thread of the run phase.
//! - `Dataset`, a system with its records, does it all at a `pace`. Other workloads build on that.
//! - `bench` does it all for each workload and system; `summary` is what the report says beside the
//!   numbers.
//!
//! What differs from YCSB is on purpose: threads share one count of operations instead of having a
//! part each, so that a rate is kept and no thread falls back; a read-modify-write is recorded as
//! one operation; a field's value is a slice of random text that is generated once; and a new
//! record's number follows the last one that is there.

mod bench;
mod chooser;
mod core_options;
mod dataset;
mod from_properties;
mod maker;
mod options;
mod pace;
mod properties;
mod session;
mod summary;

pub use bench::run;
pub use core_options::{CoreOptions, InsertOrder, Lengths, Mix, Requests};
pub use dataset::{Dataset, LoadPlan};
pub use options::{Phase, Workload, YcsbOptions};
