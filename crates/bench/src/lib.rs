//! The benchmarks of Tonnage: the workloads of the white papers, honestly measured.
//!
//! | folder | what |
//! |---|---|
//! | [`system`] | what is measured: one trait, `System`, and its implementations |
//! | [`generate`] | which record comes next and what it holds: YCSB's distributions, keys, values |
//! | [`measure`] | clocks, histograms, a reading every second, and the machine |
//! | [`workload`] | what is done: one module each, all through `System` |
//! | [`report`] | what came out: one model, written as text, JSON, CSV, HDR logs, HTML; compared |
//!
//! To measure a system of your own, implement [`system::System`] and [`system::Client`], then call
//! [`workload::ycsb::Dataset::load`] and [`workload::ycsb::Dataset::run`].
//!
//! A workload takes options and a [`measure::Watcher`] that receives the progress, and gives a
//! [`report::Report`]. Nothing here prints.

mod choice;
pub mod generate;
pub mod measure;
pub mod report;
pub mod system;
mod threads;
pub mod workload;

pub use choice::Choice;
