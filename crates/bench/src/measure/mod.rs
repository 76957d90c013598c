//! Clocks, histograms, a reading every second, and the machine.
//!
//! 1. [`measure()`] starts the run's clock and a sampler thread, and calls the work with a
//!    [`Meter`].
//! 2. Each thread of the work takes a [`Recorder`]. It writes to histograms of its own; the sampler
//!    sees its count through one atomic number, so that nothing is locked and nothing is shared
//!    while an operation is recorded.
//! 3. The sampler begins a new reading about every second. A recorder that sees a new one hands
//!    over the times of the old one, from which the reading's 99th percentile is made.
//! 4. When the work returns, recorders have handed over the rest, and everything is put together as
//!    [`Measured`].

mod disk;
mod drive;
mod environment;
mod meter;
mod process;
mod run;
mod sampler;
mod totals;

pub use disk::Disk;
pub(crate) use drive::measure;
pub use environment::Environment;
pub(crate) use meter::{Meter, Recorder};
pub use run::Watcher;
pub(crate) use run::{MeasurePlan, Measured};
#[cfg(test)]
pub(crate) use run::{NoWatcher, PhaseWatcher};

#[cfg(test)]
mod tests;
