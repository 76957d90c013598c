//! Settings that turn off what DataFusion does wrongly.
//!
//! Upstream: no issue known: docs/upstream/top-groups-of-nan.md. Gone in: open
//! Upstream: apache/datafusion#24816. Gone in: 56
//!
//! 1. Of groups that are cut by LIMIT (`enable_topk_aggregation`) each NaN is another, and less
//!    than some number.
//! 2. Bounds that `min` and `max` learn (`enable_aggregate_dynamic_filter_pushdown`) leave out rows
//!    that other aggregates beside them want. Those of one step of a recursive query hold for the
//!    next. A read that begins knows none of them yet, so nothing is lost.

use datafusion::config::ConfigOptions;

pub(crate) fn turn_off_faults(settings: &mut ConfigOptions) {
    settings.optimizer.enable_topk_aggregation = false;
    settings.optimizer.enable_aggregate_dynamic_filter_pushdown = false;
}
