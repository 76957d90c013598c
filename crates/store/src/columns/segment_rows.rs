//! The rows of a table in a segment, as of a snapshot.

use std::sync::Arc;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use self_cell::self_cell;
use tonnage_engine::{Error, Result};

use super::column_range::ColumnRange;
use super::column_scan::ColumnScan;
use super::overlay::Overlay;
use super::segment::Segment;
use super::table_segment::{OpenColumns, is_live};

self_cell! {
    /// Checked once: not anew for each batch.
    struct OpenSegment {
        owner: Arc<Segment>,
        #[covariant]
        dependent: OpenColumns,
    }
}

/// The living rows of a segment, and then those written over it.
pub(super) struct SegmentRows {
    /// Nothing for a table without rows in the segment.
    open: Option<OpenSegment>,
    segment: Arc<Segment>,
    overlay: Arc<Overlay>,
    table: usize,
    /// Which batches of the segment may have rows that are wanted.
    wanted: Vec<bool>,
    next: usize,
}

impl SegmentRows {
    pub(super) fn open(
        scan: &ColumnScan,
        segment: Arc<Segment>,
        overlay: Arc<Overlay>,
        table: usize,
    ) -> Result<Self> {
        let is_empty = segment.tables[table].batches() == 0;
        let open = |segment: &Arc<Segment>| {
            OpenSegment::try_new(segment.clone(), |segment| {
                segment.tables[table].open(segment.id(), scan.wanted())
            })
        };
        let open = (!is_empty).then(|| open(&segment)).transpose()?;
        let batches = segment.tables[table].batches();
        let wanted = match &open {
            Some(open) => {
                let place = |range: &ColumnRange| {
                    scan.columns.iter().position(|column| *column == range.column)
                };
                let ranges = scan.ranges.iter();
                let ranges = ranges.filter_map(|range| Some((place(range)?, &range.numbers)));
                open.borrow_dependent().batches_with(batches, ranges)
            }
            None => vec![true; batches],
        };
        Ok(Self { open, segment, overlay, table, wanted, next: 0 })
    }

    /// The living rows of the next batch of the segment, and behind the last one those of the delta.
    pub(super) fn next(&mut self, scan: &ColumnScan) -> Result<Option<RecordBatch>> {
        // The rows of the delta are never left out: they come as they are.
        while self.wanted.get(self.next) == Some(&false) {
            let rows = self.segment.tables[self.table].rows_of(self.next);
            scan.live.counters.pruned_rows.add(rows.len());
            self.next += 1;
        }
        let number = self.next;
        self.next += 1;
        match &self.open {
            Some(open) if number < self.segment.tables[self.table].batches() => {
                self.living(scan, open.borrow_dependent(), number).map(Some)
            }
            _ if number == self.segment.tables[self.table].batches() => self.delta(scan).map(Some),
            _ => Ok(None),
        }
    }

    /// Whether the rows given last were those of the delta.
    pub(super) fn is_in_delta(&self) -> bool {
        self.next > self.segment.tables[self.table].batches()
    }

    fn living(
        &self,
        scan: &ColumnScan,
        open: &OpenColumns<'_>,
        number: usize,
    ) -> Result<RecordBatch> {
        let rows = self.segment.tables[self.table].rows_of(number);
        let batch = scan.batch(open.arrays(number)?, rows.len())?;
        let undead = self.overlay.table(self.table).dead.others_in(rows);
        let unexpired = open.unexpired(number, scan.now_ms)?;
        let living = match (undead, unexpired) {
            (None, None) => {
                scan.live.counters.segment_rows.add(batch.num_rows());
                return Ok(batch);
            }
            (Some(living), None) | (None, Some(living)) => living,
            (Some(undead), Some(unexpired)) => &undead & &unexpired,
        };
        scan.live.counters.segment_rows.add(living.count_set_bits());
        filter_record_batch(&batch, &BooleanArray::new(living, None))
            .map_err(|error| Error::internal(error.to_string()).with_source(error))
    }

    fn delta(&self, scan: &ColumnScan) -> Result<RecordBatch> {
        let delta = &self.overlay.table(self.table).delta;
        let is_there = |row: &u32| is_live(delta.expiries_ms[*row as usize], scan.now_ms);
        let living: Vec<u32> = (0..delta.len() as u32).filter(is_there).collect();
        scan.live.counters.delta_rows.add(living.len());
        scan.decode(delta, Some(&living))
    }
}
