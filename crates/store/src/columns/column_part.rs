//! A part of a scan: the rows of one range, from its segment or from the store.

use std::sync::Arc;

use arrow::array::RecordBatch;
use tonnage_engine::{Result, ShardId, TrackedRange};

use super::catch_up::overlay_at;
use super::column_scan::ColumnScan;
use super::row_source::RowSource;
use super::segment_rows::SegmentRows;
use super::store_rows::StoreRows;

/// The rows of a range of a table, batch by batch, in no order.
pub struct ColumnPart {
    scan: Arc<ColumnScan>,
    range: TrackedRange,
    source: PartSource,
}

enum PartSource {
    /// Nothing is read before the first batch is asked for.
    Fresh,
    Segment(SegmentRows),
    Store(Box<StoreRows>),
    Over,
}

impl ColumnPart {
    pub(crate) fn new(scan: Arc<ColumnScan>, range: TrackedRange) -> Self {
        Self { scan, range, source: PartSource::Fresh }
    }

    /// All rows of a shard, which has no segment.
    pub(crate) fn whole_space(shard: ShardId) -> TrackedRange {
        let (start, end) = (Vec::new(), Vec::new());
        TrackedRange { shard, start, end, id: None }
    }

    /// Where the rows of the last batch came from.
    pub fn source(&self) -> RowSource {
        match &self.source {
            PartSource::Segment(rows) if rows.is_in_delta() => RowSource::Delta,
            PartSource::Segment(_) => RowSource::Segment,
            PartSource::Fresh | PartSource::Store(_) | PartSource::Over => RowSource::Store,
        }
    }

    /// The segment of the range, if its state at the snapshot is known.
    fn segment(&self) -> Result<Option<SegmentRows>> {
        let scan = &*self.scan;
        let known = self.range.id.and_then(|id| scan.live.segment(scan.table.space, id));
        let Some(segment) = known else { return Ok(None) };
        let table = segment.table(scan.table.schema.table_id);
        let Some(table) = table.filter(|table| segment.tables[*table].has(scan.wanted())) else {
            return Ok(None);
        };
        let Some(overlay) = overlay_at(&segment, &*scan.snapshot)? else { return Ok(None) };
        scan.untrack(scan.live.note_growth(&segment));
        SegmentRows::open(scan, segment, overlay, table).map(Some)
    }

    fn step(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            match &mut self.source {
                PartSource::Over => return Ok(None),
                PartSource::Fresh => {
                    self.source = match self.segment()? {
                        Some(rows) => PartSource::Segment(rows),
                        None => {
                            let rows = StoreRows::open(&self.scan, &self.range)?;
                            PartSource::Store(Box::new(rows))
                        }
                    }
                }
                PartSource::Segment(rows) => match rows.next(&self.scan)? {
                    Some(batch) if batch.num_rows() == 0 => {}
                    batch => return Ok(batch),
                },
                PartSource::Store(rows) => return rows.next(&self.scan),
            }
        }
    }
}

impl Iterator for ColumnPart {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if !matches!(step, Ok(Some(_))) {
            self.source = PartSource::Over;
        }
        step.transpose()
    }
}

impl std::fmt::Debug for ColumnPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ColumnPart").field("range", &self.range).finish_non_exhaustive()
    }
}
