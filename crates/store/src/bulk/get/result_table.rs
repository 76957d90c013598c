//! One table of a result, and which of its columns are wanted.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use tonnage_engine::{Result, Rows};

use super::BulkGetOptions;
use super::table_batch::TableBatch;
use crate::catalog::TableEntry;

/// One table of a result: what of it is wanted.
pub(super) struct ResultTable {
    pub(super) entry: Arc<TableEntry>,
    pub(super) path: Arc<str>,
    pub(super) columns: Option<Vec<usize>>,
}

impl ResultTable {
    pub(super) fn new(
        entry: &Arc<TableEntry>,
        options: &BulkGetOptions,
        is_target: bool,
    ) -> Result<Self> {
        let schema = &entry.schema;
        let columns = match &options.columns {
            Some(names) if is_target => {
                Some(names.iter().map(|name| schema.require_column(name)).collect::<Result<_>>()?)
            }
            _ if options.keys_only => Some(schema.key.clone()),
            _ => None,
        };
        Ok(Self { entry: entry.clone(), path: schema.path.as_str().into(), columns })
    }

    pub(super) fn decode(&self, rows: &Rows, which: Option<&[u32]>) -> Result<TableBatch> {
        let batch = self.entry.codec.decode(rows, which, self.columns.as_deref())?;
        let pick = |all: &[u64]| match which {
            None => all.to_vec(),
            Some(which) => which.iter().map(|index| all[*index as usize]).collect(),
        };
        Ok(TableBatch {
            table: self.path.clone(),
            rows: batch,
            versions: pick(&rows.versions),
            expiries_ms: pick(&rows.expiries_ms),
            origins: Vec::new(),
        })
    }

    /// The columns that its batches have.
    pub(super) fn arrow_schema(&self) -> Result<SchemaRef> {
        self.entry.codec.projected_schema(self.columns.as_deref())
    }
}
