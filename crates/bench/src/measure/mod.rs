//! Clocks, histograms, a reading every second, and the machine.

mod environment;
mod meter;
mod watcher;

pub use environment::{Disk, Environment};
pub use meter::{MeasurePlan, Measured, Meter, Recorder, measure};
pub use watcher::{NoWatcher, Watcher};
