//! Bulk ingestion into a table.

use std::sync::{Arc, Mutex};

use adbc_core::options::IngestMode;
use arrow::array::RecordBatchReader;
use arrow::datatypes::Schema;
use tonnage::internal::sync::lock;
use tonnage::{
    BulkPutCallbacks, BulkPutOptions, Cancel, ColumnDefinition, ColumnType, Error, ErrorKind,
    ErrorsMax, FailedEntry, OnExisting, Result, Store, TableDefinition,
};

use crate::arrow_rows::rows_of_batches;

/// The name of the option, and of the schema's metadata, with the key columns of a new table.
pub(super) const PRIMARY_KEY: &str = "tonnage.primary_key";
/// The name of the option that says what happens to rows whose key exists.
pub(super) const ON_EXISTING: &str = "tonnage.on_existing";

/// What is to be taken.
#[derive(Clone, Debug, Default)]
pub(super) struct IngestOptions {
    pub(super) table: Option<String>,
    pub(super) mode: Option<IngestMode>,
    pub(super) primary_key: Option<String>,
    pub(super) on_existing: Option<OnExisting>,
}

impl IngestOptions {
    /// What prevents the new table, or of these columns in one that is there.
    pub(super) fn obstacle(&self, store: &Store, schema: &Schema) -> Option<String> {
        let path = self.table.as_deref()?;
        let table = store.table(path).ok()?;
        match self.mode.unwrap_or(IngestMode::Create) {
            IngestMode::Create => Some(format!("table {path} exists: append to it, or replace it")),
            IngestMode::CreateAppend => {
                let names = schema.fields().iter().map(|field| field.name());
                let mut wrong = names.filter_map(|name| table.schema().require_column(name).err());
                wrong.next().map(|error| error.message().to_owned())
            }
            IngestMode::Append | IngestMode::Replace => None,
        }
    }

    /// Takes all rows, or fails. Rows before one that fails stay.
    pub(super) fn run(
        &self,
        store: &Store,
        rows: Box<dyn RecordBatchReader + Send>,
        cancel: &Cancel,
    ) -> Result<u64> {
        let path = self.table.as_deref().unwrap_or_default();
        let place = self.target(store, path, &rows.schema())?;
        let failure = Arc::new(FirstReason::default());
        let options = BulkPutOptions {
            on_existing: self.on_existing.unwrap_or(OnExisting::Fail),
            // ADBC tells a number of rows or an error: a row that fails must not be passed over.
            errors_max: ErrorsMax::Count(0),
            callbacks: failure.clone(),
            cancel: cancel.clone(),
            ..BulkPutOptions::default()
        };
        let table = store.table(&place.path)?;
        let stream = rows_of_batches(table.schema(), path.to_owned(), rows)?;
        let report =
            store.bulk_put(vec![stream], &options).map_err(|stopped| match failure.take() {
                Some(reason) => Error::new(stopped.error.kind(), format!("{path}: {reason}")),
                None => stopped.error,
            })?;
        place.finish()?;
        // Rows that existed count only where the new ones took their place.
        let replaced = match options.on_existing {
            OnExisting::Replace => report.total.existed,
            _ => 0,
        };
        Ok(report.total.inserted + replaced)
    }

    /// The table to load: found, created, or replaced.
    fn target(&self, store: &Store, path: &str, schema: &Schema) -> Result<AdbcTarget> {
        let found = match store.table(path) {
            Ok(table) => Some(table),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let at = |path: &str, replaces: Option<&str>| AdbcTarget {
            store: store.clone(),
            path: path.to_owned(),
            replaces: replaces.map(str::to_owned),
        };
        let mode = self.mode.unwrap_or(IngestMode::Create);
        match (found, mode) {
            (Some(table), IngestMode::Append | IngestMode::CreateAppend) => {
                for field in schema.fields() {
                    table.schema().require_column(field.name())?;
                }
                Ok(at(path, None))
            }
            (Some(_), IngestMode::Create) => {
                // `obstacle` has refused this by now, unless the table was created since.
                Err(Error::conflict(format!("table {path} exists: append to it, or replace it")))
            }
            (Some(table), _) => {
                let key = table.schema().key_columns().map(|column| column.name.clone()).collect();
                // The new table is filled under another name: readers have the old one until all
                // rows are there, and keep it if the load fails.
                let beside = format!("{path}_replacing_{}", std::process::id());
                let definition = self.definition(schema, &beside, Some(key))?;
                store.catalog().create_table(&definition, false)?;
                Ok(at(&beside, Some(path)))
            }
            (None, IngestMode::Append) => Err(Error::not_found(format!(
                "there is no table {path}: make it, or ingest with mode create"
            ))),
            (None, _) => {
                let definition = self.definition(schema, path, None)?;
                store.catalog().create_table(&definition, false)?;
                Ok(at(path, None))
            }
        }
    }

    fn definition(
        &self,
        schema: &Schema,
        path: &str,
        old_key: Option<Vec<String>>,
    ) -> Result<TableDefinition> {
        let named = self.primary_key.as_ref().or_else(|| schema.metadata().get(PRIMARY_KEY));
        let split = |names: &String| names.split(',').map(|name| name.trim().to_owned()).collect();
        // The statement's option counts first, then the schema, then the key of the replaced table.
        let key: Vec<String> = named.map(split).or(old_key).ok_or_else(|| {
            Error::invalid(format!(
                "table {path} would have no primary key: name its columns in the option \
                 {PRIMARY_KEY} of the statement, or in the metadata of the schema"
            ))
        })?;
        let columns = schema.fields().iter().map(|field| {
            let column_type = ColumnType::of_arrow(field).ok_or_else(|| {
                Error::unsupported(format!(
                    "column {} is of type {}, which no column of a table has",
                    field.name(),
                    field.data_type()
                ))
            })?;
            // Arrow calls most columns nullable, but a column of the key never is.
            let nullable = !key.contains(field.name());
            Ok(ColumnDefinition { nullable, ..ColumnDefinition::new(field.name(), column_type) })
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let path = path.to_owned();
        Ok(TableDefinition { path, columns, shard_key_len: None, key, ttl_ms: None })
    }
}

/// The table that is loaded. One that was to replace another is dropped when the load fails.
struct AdbcTarget {
    store: Store,
    path: String,
    replaces: Option<String>,
}

impl AdbcTarget {
    fn finish(mut self) -> Result<()> {
        let Some(replaced) = &self.replaces else { return Ok(()) };
        self.store.catalog().replace_table(replaced, &self.path)?;
        self.replaces = None;
        Ok(())
    }
}

impl Drop for AdbcTarget {
    fn drop(&mut self) {
        if self.replaces.is_some() {
            // One that cannot be dropped does no harm, and its name shows its purpose.
            let _ = self.store.catalog().drop_table(&self.path, true);
        }
    }
}

/// Keeps why the first entry failed.
#[derive(Default)]
struct FirstReason(Mutex<Option<String>>);

impl FirstReason {
    fn take(&self) -> Option<String> {
        lock(&self.0).take()
    }
}

impl BulkPutCallbacks for FirstReason {
    fn failed(&self, entry: &FailedEntry<'_>) -> Result<()> {
        let mut first = lock(&self.0);
        first.get_or_insert_with(|| match entry.column {
            Some(column) => format!("row {}, column {column}: {}", entry.position, entry.reason),
            None => format!("row {}: {}", entry.position, entry.reason),
        });
        Ok(())
    }
}
