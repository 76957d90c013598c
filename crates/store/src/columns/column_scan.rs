//! What the parts of a scan have in common.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use tonnage_engine::{Engine, Error, Result, Rows, Snapshot, SpaceId};

use super::column_range::ColumnRange;
use super::column_table::ColumnTable;
use super::live_columns::LiveColumns;
use super::segment_builder::KeptTables;
use crate::schema::Column;

/// What the parts of a scan have in common.
pub(crate) struct ColumnScan {
    pub(crate) live: Arc<LiveColumns>,
    /// The store as it is now, to have ranges tracked.
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) snapshot: Arc<dyn Snapshot>,
    pub(crate) table: ColumnTable,
    /// Positions in the schema of the table.
    pub(crate) columns: Vec<usize>,
    pub(crate) schema: SchemaRef,
    /// Rows outside of these may be left out.
    pub(crate) ranges: Vec<ColumnRange>,
    /// What segments are to have; nothing where none are built.
    pub(crate) kept: Option<Arc<KeptTables>>,
    pub(crate) now_ms: u64,
}

impl ColumnScan {
    /// The columns asked for.
    pub(super) fn wanted(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().map(|column| &self.table.schema.columns[*column])
    }

    /// Segments that had to make room are followed no more. A space that is gone needs nothing.
    pub(super) fn untrack(&self, evicted: Vec<(SpaceId, u128)>) {
        evicted.into_iter().for_each(|(space, id)| drop(self.engine.untrack(space, id)));
    }

    /// Rows as they are stored, as a batch: those at some positions, unless they have expired.
    pub(super) fn decode(&self, rows: &Rows, which: Option<&[u32]>) -> Result<RecordBatch> {
        self.table.codec.decode(rows, which, Some(&self.columns))
    }

    pub(super) fn batch(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
            .map_err(|error| Error::internal(error.to_string()).with_source(error))
    }
}
