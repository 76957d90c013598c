//! The first rows in the order of an index, as they are at one point in time.
//!
//! A row whose column changes while an index is read may be missed: its new entry was not there
//! yet, and its old one is gone. A condition misses one row of many. `max(x)` may miss the only row
//! that it wants. So rows count only if nothing changed meanwhile.
//!
//! After three attempts all rows that meet the conditions are read and sorted. They come through
//! the index where conditions alone would use it, else by a scan, which sees each row once.

use arrow::array::RecordBatch;
use arrow::compute::{SortOptions, concat_batches, sort_to_indices, take_record_batch};
use tonnage::{Direction, Error, IndexScanOptions, Result};

use super::column_order::ColumnOrder;
use super::table_reader::TableReader;
use super::{IndexPath, ReadSpec};
use crate::session::Guard;

const ATTEMPTS: usize = 3;
/// So many rows more than are wanted are gathered before they are sorted.
const GATHERED_ROWS: usize = 65_536;

impl ReadSpec {
    /// The first rows through an index that has an order.
    pub(super) fn first_rows(
        &self,
        path: &IndexPath,
        order: ColumnOrder,
        guard: &Guard,
    ) -> Result<TableReader> {
        for _ in 0..ATTEMPTS {
            let before = self.table.table.change_count()?;
            let rows = self.sql_batches(self.index_scan(path)?);
            let rows = TableReader::new(Some(rows), self.limit, guard.clone());
            let rows = rows.collect::<Result<Vec<RecordBatch>>>()?;
            if before.is_some() && before == self.table.table.change_count()? {
                let rows = Box::new(rows.into_iter().map(Ok));
                return Ok(TableReader::new(Some(rows), self.limit, guard.clone()));
            }
        }
        let first = self.sorted_rows(path, order, guard)?;
        Ok(TableReader::new(Some(Box::new(std::iter::once(Ok(first)))), self.limit, guard.clone()))
    }

    /// The same out of all rows that meet the conditions.
    fn sorted_rows(
        &self,
        path: &IndexPath,
        order: ColumnOrder,
        guard: &Guard,
    ) -> Result<RecordBatch> {
        let options = IndexScanOptions {
            direction: Direction::Unordered,
            // The first rows are known only after all are sorted.
            limit: None,
            batch_rows_max: self.batch_rows_max,
            index_only: false,
            exactly_once: !path.pays_for(self.table.table.rows_estimate()?),
            ..self.index_options(path)
        };
        let rows = path.open(&self.table, &options)?.ok_or_else(|| self.dropped_index_error())?;
        let rows = TableReader::new(Some(self.sql_batches(Box::new(rows))), None, guard.clone());
        let mut first = RecordBatch::new_empty(self.schema());
        let (mut gathered, mut count) = (Vec::new(), 0);
        for batch in rows {
            let batch = batch?;
            count += batch.num_rows();
            gathered.push(batch);
            // Sorted in between, for all rows of a large table need not fit into memory.
            if count > GATHERED_ROWS {
                first = self.first_of(first, &std::mem::take(&mut gathered), order)?;
                count = 0;
            }
        }
        self.first_of(first, &gathered, order)
    }

    /// The first of rows, and of others.
    fn first_of(
        &self,
        first: RecordBatch,
        others: &[RecordBatch],
        order: ColumnOrder,
    ) -> Result<RecordBatch> {
        let failed = |error: arrow::error::ArrowError| Error::internal(error.to_string());
        let place = self.columns.iter().position(|column| *column == order.column);
        let place =
            place.ok_or_else(|| Error::internal("rows are sorted by a column of theirs"))?;
        let all = std::iter::once(&first).chain(others);
        let all = concat_batches(&self.schema(), all).map_err(failed)?;
        let options = SortOptions { descending: order.descending, nulls_first: order.descending };
        let limit = self.limit.and_then(|limit| usize::try_from(limit).ok());
        let places = sort_to_indices(all.column(place), Some(options), limit).map_err(failed)?;
        take_record_batch(&all, &places).map_err(failed)
    }
}
