//! Where the rows of a scan came from, as EXPLAIN ANALYZE tells it.

use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};
use tonnage::internal::RowSource;

/// How many rows of a scan came from where.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceCounts {
    segments: Count,
    delta: Count,
    store: Count,
}

impl SourceCounts {
    /// Those of a reader of a plan, among its metrics.
    pub(crate) fn of_reader(metrics: &ExecutionPlanMetricsSet, reader: usize) -> Self {
        let count = |name| MetricBuilder::new(metrics).counter(name, reader);
        Self {
            segments: count("segment_rows"),
            delta: count("delta_rows"),
            store: count("store_rows"),
        }
    }

    pub(super) fn add(&self, source: RowSource, rows: usize) {
        let count = match source {
            RowSource::Segment => &self.segments,
            RowSource::Delta => &self.delta,
            RowSource::Store => &self.store,
        };
        count.add(rows);
    }
}
