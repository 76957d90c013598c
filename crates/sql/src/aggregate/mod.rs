//! Aggregates of time series ([`series`]), and those whose accumulators are our own.
//!
//! 1. `min` and `max` of intervals compare their months, then their days, then the rest.
//! 2. `sum` wraps around at the end of LONG, and loses digits at the end of a decimal.
//! 3. `upstream/extreme_double.rs`, `upstream/average.rs`, `upstream/frame_accumulator.rs` and
//!    `upstream/percentile.rs` repair faults of the library.
//!
//! All else of these functions is the library's: [`GuardedAggregate`] hands it on.

mod extreme_interval;
mod frequency;
mod groups;
mod guarded;
mod series;
mod total;

pub(crate) use frequency::frequencies;
pub(crate) use groups::{GroupFold, GroupStates};
pub(crate) use guarded::guarded;
pub(crate) use series::series;
pub(crate) use total::{RunningSum, scalar};
