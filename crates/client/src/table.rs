//! A table on a server: single rows, and the way to bulk reads.

use std::num::NonZeroUsize;
use std::sync::Arc;

use tonnage::geo::Region;
use tonnage::{
    BulkGetOptions, Condition, Error, GetOptions, IndexScanOptions, KeySource, Result, Row,
    StoredRow, TableEntry, TableScanOptions, TableSchema, WriteOptions, WriteResult,
};

use crate::bulk_get::RemoteBulkGet;
use crate::definition::quoted;
use crate::sql::Answer;
use crate::store::RemoteStore;

/// A handle on a table on a server, as [`tonnage::Table`] is on one of a store. It knows the
/// columns that the table had when the handle was opened.
#[derive(Clone, Debug)]
pub struct RemoteTable {
    store: RemoteStore,
    entry: Arc<TableEntry>,
    has_versions: bool,
}

impl RemoteStore {
    /// A table by its path.
    ///
    /// # Errors
    /// `NotFound` for a table that there is not, and `Unavailable` when the server cannot be
    /// reached.
    pub fn table(&self, path: &str) -> Result<RemoteTable> {
        let entry = self.describe(path)?;
        Ok(RemoteTable { store: self.clone(), entry, has_versions: false })
    }
}

impl RemoteTable {
    /// The table's path, such as `phones.images`.
    pub fn path(&self) -> &str {
        &self.entry.schema.path
    }

    /// The table's columns and keys.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.entry.schema
    }

    /// Schema and codec of the table.
    pub fn entry(&self) -> &Arc<TableEntry> {
        &self.entry
    }

    /// The same handle whose bulk gets give the version and the expiry of each row
    /// ([`tonnage::TableBatch::versions`]). They take 16 bytes a row on the way, and are left out by
    /// default.
    #[must_use]
    pub fn with_versions(self) -> Self {
        Self { has_versions: true, ..self }
    }

    /// Stores a row, over one with the same key if there is one. Gives its version.
    ///
    /// # Errors
    /// `Invalid` for a row that does not fit, naming the column; what else the server says, and
    /// `Unavailable` when it cannot be reached. Whether the row was stored is not known then.
    pub fn put(&self, row: &Row, options: &WriteOptions) -> Result<u64> {
        let written = self.put_if(row, Condition::Always, options)?;
        written.version().ok_or_else(|| Error::internal("a put without a condition was refused"))
    }

    /// Stores a row if there is none with its key.
    ///
    /// # Errors
    /// As [`RemoteTable::put`].
    pub fn put_if_absent(&self, row: &Row, options: &WriteOptions) -> Result<WriteResult> {
        self.put_if(row, Condition::IfAbsent, options)
    }

    /// Stores a row if there is one with its key.
    ///
    /// # Errors
    /// As [`RemoteTable::put`].
    pub fn put_if_present(&self, row: &Row, options: &WriteOptions) -> Result<WriteResult> {
        self.put_if(row, Condition::IfPresent, options)
    }

    /// Stores a row if the one with its key has this version.
    ///
    /// # Errors
    /// As [`RemoteTable::put`].
    pub fn put_if_version(
        &self,
        row: &Row,
        version: u64,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        self.put_if(row, Condition::IfVersion(version), options)
    }

    /// Stores a row if a condition holds of the one with its key.
    ///
    /// # Errors
    /// As [`RemoteTable::put`].
    pub fn put_if(
        &self,
        row: &Row,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        self.store.write_row("put", self.path(), row, condition, options)
    }

    /// Changes the columns that a row names, of the stored row with its key, as
    /// [`tonnage::Table::update`] does: in one call, and nothing that others write is lost.
    ///
    /// # Errors
    /// As [`RemoteTable::put`].
    pub fn update(&self, changes: &Row, options: &WriteOptions) -> Result<WriteResult> {
        self.update_if(changes, Condition::IfPresent, options)
    }

    /// The same if a condition holds of the stored row.
    ///
    /// # Errors
    /// As [`RemoteTable::put`]; `Invalid` for [`Condition::IfAbsent`].
    pub fn update_if(
        &self,
        changes: &Row,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        self.store.write_row("update", self.path(), changes, condition, options)
    }

    /// Deletes the row with this key. Returns whether there was one. Rows of child tables stay.
    ///
    /// # Errors
    /// As [`RemoteTable::put`].
    pub fn delete(&self, key: &Row, options: &WriteOptions) -> Result<bool> {
        Ok(self.delete_if(key, Condition::IfPresent, options)?.is_stored())
    }

    /// Deletes the row with this key if it has this version.
    ///
    /// # Errors
    /// As [`RemoteTable::put`].
    pub fn delete_if_version(
        &self,
        key: &Row,
        version: u64,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        self.delete_if(key, Condition::IfVersion(version), options)
    }

    /// Deletes the row with this key if a condition holds of it.
    ///
    /// # Errors
    /// As [`RemoteTable::put`].
    pub fn delete_if(
        &self,
        key: &Row,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        self.store.write_row("delete", self.path(), key, condition, options)
    }

    /// The row with this key.
    ///
    /// # Errors
    /// `Invalid` for a key that is not whole; what else the server says, and `Unavailable` when it
    /// cannot be reached.
    pub fn get(&self, key: &Row) -> Result<Option<StoredRow>> {
        self.get_with(key, &GetOptions::default())
    }

    /// The same with a consistency and a deadline for the server.
    ///
    /// # Errors
    /// As [`RemoteTable::get`]; `TimedOut`.
    pub fn get_with(&self, key: &Row, options: &GetOptions) -> Result<Option<StoredRow>> {
        self.store.get_row(self.path(), key, None, options)
    }

    /// The same with these columns alone, in this order: the others stay at the server.
    ///
    /// # Errors
    /// As [`RemoteTable::get_with`]; `Invalid` for a column that the table does not have.
    pub fn get_columns(
        &self,
        key: &Row,
        columns: &[String],
        options: &GetOptions,
    ) -> Result<Option<StoredRow>> {
        self.store.get_row(self.path(), key, Some(columns), options)
    }

    /// Reads the rows of many whole or partial keys, as [`tonnage::Table::bulk_get`] does. A thread
    /// of its own sends keys while rows come. Batches are as large as the server's messages;
    /// workers and memory are the server's.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached. `Unsupported` for
    /// `start_after`, and keys of several sources side by side. A source of keys that fails fails
    /// the rows, whatever came before.
    pub fn bulk_get(&self, keys: KeySource, options: &BulkGetOptions) -> Result<RemoteBulkGet> {
        RemoteBulkGet::of_keys(&self.store, &self.entry, keys, options, self.has_versions)
    }

    /// Reads the rows of many regions, as [`tonnage::Table::bulk_get_within`] does: the server finds
    /// them by the table's index on places. Batches are as large as the server's messages.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn bulk_get_within(
        &self,
        regions: impl IntoIterator<Item = Region>,
        options: &IndexScanOptions,
    ) -> Result<RemoteBulkGet> {
        let regions: Vec<Region> = regions.into_iter().collect();
        RemoteBulkGet::of_regions(&self.store, &self.entry, &regions, options, self.has_versions)
    }

    /// Reads all rows.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached. `Unsupported` for
    /// relatives and `start_after`.
    pub fn scan(&self, options: &TableScanOptions) -> Result<RemoteBulkGet> {
        RemoteBulkGet::of_scan(&self.store, &self.entry, options, 0, NonZeroUsize::MIN)
    }

    /// Reads all rows by several results, for callers that continue with each in a thread of its
    /// own. A scan with a limit has one.
    ///
    /// # Errors
    /// As [`RemoteTable::scan`].
    pub fn scan_parts(
        &self,
        options: &TableScanOptions,
        parts: usize,
    ) -> Result<Vec<RemoteBulkGet>> {
        let parts = match options.limit {
            Some(_) => NonZeroUsize::MIN,
            None => NonZeroUsize::new(parts).unwrap_or(NonZeroUsize::MIN),
        };
        let read = |part| RemoteBulkGet::of_scan(&self.store, &self.entry, options, part, parts);
        (0..parts.get()).map(read).collect()
    }

    /// Counts the rows.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn count(&self) -> Result<u64> {
        let text = format!("SELECT count(*) FROM {}", quoted(self.path()));
        let Answer::Rows(rows) = self.store.sql(&text)? else {
            return Err(self.store.unreadable_answer());
        };
        let mut total = 0;
        for batch in rows {
            let batch = batch?;
            match tonnage::Value::from_array(batch.column(0), batch.schema_ref().field(0), 0)? {
                tonnage::Value::Long(count) => total += u64::try_from(count).unwrap_or_default(),
                _ => return Err(self.store.unreadable_answer()),
            }
        }
        Ok(total)
    }
}
