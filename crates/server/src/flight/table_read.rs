//! A bulk get of a table, with rows of related tables if the client asks for them.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use tonnage::{
    BulkGetOptions, KeySource, MultiGetRequest, Result, Store, Table, TableBatch, TableSchema,
};

use super::command::BulkGetCommand;
use super::related;
use super::stamp_columns::StampColumns;

/// A bulk get of a table whose schema is known.
pub(crate) struct TableRead {
    table: Table,
    options: BulkGetOptions,
    stamps: StampColumns,
    schema: SchemaRef,
}

impl TableRead {
    /// Checks what is asked of a table.
    ///
    /// # Errors
    /// `Invalid` for columns, options, or tables that are not related; `NotFound` for one that
    /// there is not.
    pub(crate) fn new(store: &Store, path: &str, command: &BulkGetCommand) -> Result<Self> {
        let table = store.table(path)?;
        let options = command.options(table.schema())?;
        let stamps = StampColumns { versions: command.versions, origins: command.origins };
        let own = stamps.schema(&columns_of(&table, command.columns.as_deref(), command)?);
        let mut tables = vec![(table.path().to_owned(), own)];
        for path in &command.relatives {
            let relative = store.table(path)?;
            let columns = stamps.schema(&columns_of(&relative, None, command)?);
            if tables.iter().all(|(path, _)| path != relative.path()) {
                tables.push((relative.path().to_owned(), columns));
            }
        }
        // Parents have shorter paths than their children.
        tables.sort_by_key(|(path, _)| path.split('.').count());
        let schema = match command.relatives.is_empty() {
            true => tables.swap_remove(0).1,
            false => related::schema(&tables),
        };
        Ok(Self { table, options, stamps, schema })
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The columns of the table whose keys are given.
    pub(crate) fn table_schema(&self) -> &TableSchema {
        self.table.schema()
    }

    /// Whether the store reads it among those of other tables, by one call.
    pub(crate) fn goes_with_others(&self) -> bool {
        let BulkGetOptions { relatives, limit, timeout, .. } = &self.options;
        relatives.is_empty() && limit.is_none() && timeout.is_none()
    }

    /// The same as a request of such a call.
    pub(crate) fn request(&self, keys: KeySource) -> MultiGetRequest {
        MultiGetRequest::new(self.table.path(), keys).with(self.options.clone())
    }

    /// Rows that the store found, with what comes along with each.
    ///
    /// # Errors
    /// `Internal` for what Arrow cannot hold.
    pub(crate) fn stamped(&self, batch: &TableBatch) -> Result<RecordBatch> {
        self.stamps.rows(batch)
    }

    /// The rows of the keys.
    ///
    /// # Errors
    /// What the store says.
    pub(crate) fn rows(
        &self,
        keys: KeySource,
    ) -> Result<Box<dyn Iterator<Item = Result<RecordBatch>> + '_>> {
        let found = self.table.bulk_get(keys, &self.options)?;
        let stamps = self.stamps;
        if self.options.relatives.is_empty() {
            return Ok(Box::new(found.map(move |batch| stamps.rows(&batch?))));
        }
        let batches = found.into_interleaved();
        Ok(Box::new(batches.map(move |interleaved| {
            related::batch(&interleaved?, &self.schema, |batch| stamps.rows(batch))
        })))
    }
}

fn columns_of(
    table: &Table,
    wanted: Option<&[String]>,
    command: &BulkGetCommand,
) -> Result<SchemaRef> {
    let schema = table.schema();
    let columns: Option<Vec<usize>> = match wanted {
        Some(names) => {
            Some(names.iter().map(|name| schema.require_column(name)).collect::<Result<_>>()?)
        }
        None if command.keys_only => Some(schema.key.clone()),
        None => None,
    };
    table.entry().codec.projected_schema(columns.as_deref())
}
