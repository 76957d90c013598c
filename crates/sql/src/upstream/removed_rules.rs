//! Rules of DataFusion that are left out.
//!
//! Upstream: apache/datafusion#24241. Gone in: 56
//! Upstream: no issue known: docs/upstream/count-distinct-from-statistics.md. Gone in: open
//!
//! 1. `aggregate_statistics` answers aggregates from statistics. Of rows with one value of each,
//!    `count(DISTINCT a), count(DISTINCT b)` is 1 to it, though there may be no such row. All
//!    statistics of the store are estimates, so nothing is lost.
//! 2. `extract_leaf_expressions` and `push_down_leaf_projections` read parts of documents and
//!    records below joins. Above an outer join the names that they make are ambiguous.

pub(super) const AGGREGATE_STATISTICS: &str = "aggregate_statistics";
pub(super) const EXTRACT_LEAF_EXPRESSIONS: &str = "extract_leaf_expressions";
pub(super) const PUSH_DOWN_LEAF_PROJECTIONS: &str = "push_down_leaf_projections";
