//! Aggregates of time series ([`series`]), and those that the library answers wrongly, answered
//! here.
//!
//! 1. `min` and `max` of doubles by group begin, in DataFusion 55, at the largest finite number,
//!    which infinity is beyond, and pass over NaN.
//! 2. `min` and `max` of intervals compare their months, then their days, then the rest.
//! 3. `sum` wraps around at the end of LONG, and loses digits at the end of a decimal.
//! 4. `avg` of decimals of 256 bits wraps around at their end.
//! 5. Over the frames of a window sums, averages and deviations of doubles keep a rest of what has
//!    left the frame.
//! 6. `percentile_cont` rounds the position between two values to six digits.
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
pub(crate) use total::{RunningSum, SumDecimal, scalar};
