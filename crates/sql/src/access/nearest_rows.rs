//! The rows nearest to a place, through the cells of an index.
//!
//! The index gives rows in rings. They are held against the conditions of the statement, and when
//! so many are left as are wanted, no row of a further ring is among the first. The plan sorts what
//! was read. Distances of the index are those of a sphere, so rings that differ by less than a
//! spheroid differs from it are read as well.
//!
//! As in `first_rows`, rows count only if nothing changed meanwhile: one that moves might be missed.
//! Where that fails, or conditions leave too few rows, all rows are read.

use std::collections::BinaryHeap;

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::filter_record_batch;
use tonnage::{IndexScanOptions, NearbyRows, Result, RowsByDistance};

use super::nearest_read::NearestRead;
use super::table_reader::{TableReader, project_batch};
use super::{ReadSpec, SourceCounts};
use crate::session::Guard;

const ATTEMPTS: usize = 3;
/// When so many rows were read for each one wanted, the rest is a scan.
const ROWS_READ_FOR_ONE: usize = 64;
/// So many may be read in any case: the squares that are read have them.
const ROWS_READ_MIN: usize = 4_096;

impl ReadSpec {
    /// Rows with the nearest among them.
    pub(super) fn nearest_rows(&self, nearest: &NearestRead, guard: &Guard) -> Result<TableReader> {
        for _ in 0..ATTEMPTS {
            let before = self.table.table.change_count()?;
            let Some(rows) = self.gathered_rows(nearest, guard)? else { break };
            if before.is_some() && before == self.table.table.change_count()? {
                let rows = Box::new(rows.into_iter().map(Ok));
                return Ok(TableReader::new(Some(rows), None, guard.clone()));
            }
        }
        let all = Self { nearest: None, ..self.clone() };
        let rows = all.open_parts(all.readers(), guard, &SourceCounts::default())?;
        let rows = rows.into_iter().flatten();
        Ok(TableReader::new(Some(Box::new(rows)), None, guard.clone()))
    }

    /// `None` where it takes a scan to know which rows are nearest.
    fn gathered_rows(
        &self,
        nearest: &NearestRead,
        guard: &Guard,
    ) -> Result<Option<Vec<RecordBatch>>> {
        let Some(index) = nearest.current_index(&self.table)? else { return Ok(None) };
        let wide = Self { columns: nearest.columns.clone(), nearest: None, ..self.clone() };
        let options = IndexScanOptions {
            columns: Some(wide.names()),
            batch_rows_max: self.batch_rows_max,
            consistency: self.consistency,
            max_concurrent_requests: Some(self.workers),
            index_only: true,
            ..IndexScanOptions::default()
        };
        let most = ROWS_READ_MIN.max(ROWS_READ_FOR_ONE.saturating_mul(nearest.rows));
        let mut rows = index.by_distance(nearest.place, &options)?;
        let (mut gathered, mut read) = (Vec::new(), 0);
        let mut least = LeastDistances { most: nearest.rows, metres: BinaryHeap::new() };
        while !least.ends_before(&rows, nearest.slack) {
            guard.check()?;
            // All were read. Rows that are nowhere may follow those that are somewhere.
            let Some(batch) = rows.next() else { return Ok(least.is_full().then_some(gathered)) };
            let NearbyRows { batch, metres } = batch?;
            read += metres.len();
            // A scan costs less from here on.
            if read > most {
                return Ok(None);
            }
            let Some(batch) = wide.sql_batches(Box::new(std::iter::once(Ok(batch)))).next() else {
                continue;
            };
            let Some(batch) = meeting(nearest, &batch?, &metres, &mut least) else {
                return Ok(None);
            };
            let places = self.positions_in(&nearest.columns);
            gathered.push(project_batch(&batch, &places, &self.schema())?);
        }
        Ok(Some(gathered))
    }
}

/// The rows that meet the condition, whose distances are noted. `None` where it fails: where the
/// rows are read in another order, another condition may come first.
fn meeting(
    nearest: &NearestRead,
    batch: &RecordBatch,
    metres: &[f64],
    least: &mut LeastDistances,
) -> Option<RecordBatch> {
    let Some(condition) = &nearest.condition else {
        metres.iter().for_each(|metres| least.add(*metres));
        return Some(batch.clone());
    };
    let met = condition.evaluate(batch).ok()?.into_array(batch.num_rows()).ok()?;
    let met = met.as_boolean_opt()?;
    let of_met = met.iter().zip(metres).filter(|(met, _)| *met == Some(true));
    of_met.for_each(|(_, metres)| least.add(*metres));
    filter_record_batch(batch, met).ok()
}

/// The least of some distances, in millimetres.
struct LeastDistances {
    most: usize,
    metres: BinaryHeap<u64>,
}

impl LeastDistances {
    fn is_full(&self) -> bool {
        self.metres.len() == self.most
    }

    fn add(&mut self, metres: f64) {
        self.metres.push((metres * 1_000.0).ceil() as u64);
        if self.metres.len() > self.most {
            self.metres.pop();
        }
    }

    /// Whether rows that are still to come are farther than all of these.
    fn ends_before(&self, rows: &RowsByDistance, slack: f64) -> bool {
        let greatest = self.metres.peek().filter(|_| self.is_full());
        greatest.is_some_and(|greatest| {
            (*greatest + 1) as f64 / 1_000.0 * slack < rows.reached_metres()
        })
    }
}
