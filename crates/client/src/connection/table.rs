//! A table of a store of this process, or of one on a server.

use std::sync::Arc;

use tonnage::geo::Region;
use tonnage::{
    BulkGetOptions, Condition, GetOptions, IndexScanOptions, KeySource, Result, Row, StoredRow,
    Table, TableEntry, TableScanOptions, TableSchema, WriteOptions, WriteResult,
};

use super::delegate::{delegate, either};
use super::rows::{AnyBulkGet, AnyRowsWithin};
use crate::table::RemoteTable;

either! {
    /// A table, here or on a server.
    #[derive(Clone, Debug)]
    AnyTable: Table, RemoteTable
}

delegate! {
    AnyTable:
    /// As [`Table::put`].
    fn put(&self, row: &Row, options: &WriteOptions) -> Result<u64>;
    /// As [`Table::put_if_absent`].
    fn put_if_absent(&self, row: &Row, options: &WriteOptions) -> Result<WriteResult>;
    /// As [`Table::put_if_present`].
    fn put_if_present(&self, row: &Row, options: &WriteOptions) -> Result<WriteResult>;
    /// As [`Table::put_if_version`].
    fn put_if_version(
        &self,
        row: &Row,
        version: u64,
        options: &WriteOptions,
    ) -> Result<WriteResult>;
    /// As [`Table::put_if`].
    fn put_if(
        &self,
        row: &Row,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<WriteResult>;
    /// As [`Table::update`].
    fn update(&self, changes: &Row, options: &WriteOptions) -> Result<WriteResult>;
    /// As [`Table::update_if`].
    fn update_if(
        &self,
        changes: &Row,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<WriteResult>;
    /// As [`Table::delete`].
    fn delete(&self, key: &Row, options: &WriteOptions) -> Result<bool>;
    /// As [`Table::delete_if_version`].
    fn delete_if_version(
        &self,
        key: &Row,
        version: u64,
        options: &WriteOptions,
    ) -> Result<WriteResult>;
    /// As [`Table::delete_if`].
    fn delete_if(
        &self,
        key: &Row,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<WriteResult>;
    /// As [`Table::get`].
    fn get(&self, key: &Row) -> Result<Option<StoredRow>>;
    /// As [`Table::get_with`].
    fn get_with(&self, key: &Row, options: &GetOptions) -> Result<Option<StoredRow>>;
    /// As [`Table::bulk_get`].
    fn bulk_get(&self, keys: KeySource, options: &BulkGetOptions) -> Result<AnyBulkGet>;
    /// As [`Table::scan`].
    fn scan(&self, options: &TableScanOptions) -> Result<AnyBulkGet>;
    /// As [`Table::count`].
    fn count(&self) -> Result<u64>;
}

impl AnyTable {
    /// As [`Table::path`].
    pub fn path(&self) -> &str {
        &self.entry().schema.path
    }

    /// As [`Table::schema`].
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.entry().schema
    }

    /// As [`Table::entry`].
    pub fn entry(&self) -> &Arc<TableEntry> {
        match self {
            Self::Embedded(table) => table.entry(),
            Self::Remote(table) => table.entry(),
        }
    }

    /// As [`RemoteTable::with_versions`]: tables of this process have versions always.
    #[must_use]
    pub fn with_versions(self) -> Self {
        match self {
            Self::Embedded(table) => Self::Embedded(table),
            Self::Remote(table) => Self::Remote(table.with_versions()),
        }
    }

    /// As [`Table::bulk_get_within`].
    ///
    /// # Errors
    /// As [`Table::bulk_get_within`] and [`RemoteTable::bulk_get_within`].
    pub fn bulk_get_within(
        &self,
        regions: Vec<Region>,
        options: &IndexScanOptions,
    ) -> Result<AnyRowsWithin> {
        Ok(match self {
            Self::Embedded(table) => table.bulk_get_within(regions, options)?.into(),
            Self::Remote(table) => table.bulk_get_within(regions, options)?.into(),
        })
    }

    /// As [`Table::scan_parts`].
    ///
    /// # Errors
    /// As [`Table::scan_parts`] and [`RemoteTable::scan_parts`].
    pub fn scan_parts(&self, options: &TableScanOptions, parts: usize) -> Result<Vec<AnyBulkGet>> {
        Ok(match self {
            Self::Embedded(table) => {
                table.scan_parts(options, parts)?.into_iter().map(Into::into).collect()
            }
            Self::Remote(table) => {
                table.scan_parts(options, parts)?.into_iter().map(Into::into).collect()
            }
        })
    }
}
