//! Where the rows are: in a store that this process opens, or behind a server.
//!
//! Verbs that work with both ask a place for tables and rows. What only a store can do is asked of
//! [`crate::args::Globals::open`], which says so where a server is named.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use tonnage::{
    BulkGetOptions, BulkPutError, BulkPutOptions, BulkPutReport, Condition, Direction, EntryStream,
    Key, Pair, Row, RowOperation, Store, TableDefinition, TableEntry, TableScanOptions,
    WriteOptions, WriteResult,
};
use tonnage_client::{BulkGetRequest, Client, PairWrite, Rows, ScanRequest};

use crate::exit::{CliResult, Failure};
use crate::keys::Keys;
use crate::table_columns::columns_of;

/// Where the rows are.
pub(crate) enum Place {
    /// In a store of this process.
    Store(Store),
    /// Behind a server.
    Server(Client),
}

/// Rows as they come, under their columns.
pub(crate) struct PlacedRows {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Box<dyn Iterator<Item = CliResult<RecordBatch>>>,
}

impl Place {
    /// What there is to know of a table.
    pub(crate) fn table(&self, path: &str) -> CliResult<Arc<TableEntry>> {
        Ok(match self {
            Place::Store(store) => store.table(path)?.entry().clone(),
            Place::Server(client) => client.describe(path)?,
        })
    }

    /// Makes a table, unless there is one of its name.
    pub(crate) fn create_table(&self, definition: &TableDefinition) -> CliResult<()> {
        match self {
            Place::Store(store) => {
                store.catalog().create_table(definition, true)?;
            }
            Place::Server(client) => {
                client.create_table(definition, true)?;
            }
        }
        Ok(())
    }

    /// Counts the rows of a table.
    pub(crate) fn count(&self, table: &str) -> CliResult<u64> {
        Ok(match self {
            Place::Store(store) => store.table(table)?.count()?,
            Place::Server(client) => client.count(&client.describe(table)?.schema.path)?,
        })
    }

    /// Reads the rows of a table.
    pub(crate) fn scan(
        &self,
        table: &TableEntry,
        options: &TableScanOptions,
    ) -> CliResult<PlacedRows> {
        let path = &table.schema.path;
        match self {
            Place::Store(store) => {
                let schema = columns_of(table, options.columns.as_deref(), options.keys_only)?;
                let rows = store.table(path)?.scan(options)?;
                Ok(PlacedRows { schema, batches: Box::new(rows.map(|batch| Ok(batch?.rows))) })
            }
            Place::Server(client) => {
                if options.limit_per_shard_key.is_some()
                    || options.direction != Direction::Unordered
                {
                    return Err(Failure::usage(
                        "a scan over a server has no order of its own: leave out --direction and \
                         --limit-per-shard-key, or use `tonnage sql` with ORDER BY",
                    ));
                }
                let keys = || table.schema.key_columns().map(|column| column.name.clone());
                let columns = options.columns.clone();
                let request = ScanRequest {
                    table: path.clone(),
                    columns: columns.or_else(|| options.keys_only.then(|| keys().collect())),
                    limit: options.limit,
                    ..ScanRequest::default()
                };
                Ok(served(client.scan(&request)?))
            }
        }
    }

    /// Reads the rows of keys.
    pub(crate) fn bulk_get(
        &self,
        table: &TableEntry,
        keys: Keys,
        options: &BulkGetOptions,
    ) -> CliResult<PlacedRows> {
        let path = &table.schema.path;
        match self {
            Place::Store(store) => {
                let schema = columns_of(table, options.columns.as_deref(), options.keys_only)?;
                let rows = store.table(path)?.bulk_get(keys.source(), options)?;
                Ok(PlacedRows { schema, batches: Box::new(rows.map(|batch| Ok(batch?.rows))) })
            }
            Place::Server(client) => {
                let request = BulkGetRequest {
                    direction: options.direction,
                    limit_per_key: options.limit_per_key,
                    columns: options.columns.clone(),
                    range: options.range.clone(),
                    keys_only: options.keys_only,
                    ..BulkGetRequest::of(path)
                };
                Ok(served(client.bulk_get(keys.batches(&table.schema)?, &request)?))
            }
        }
    }

    /// Puts a row under a condition.
    pub(crate) fn put_row(
        &self,
        table: &TableEntry,
        row: Row,
        condition: Condition,
        options: &WriteOptions,
    ) -> tonnage::Result<WriteResult> {
        let put = [RowOperation::put(table.schema.path.as_str(), row).when(condition)];
        match self {
            Place::Store(store) => store.atomic_write(&put, options),
            Place::Server(client) => client.write(&put, options),
        }
    }

    /// Puts a pair under a condition.
    pub(crate) fn put_pair(
        &self,
        key: &Key,
        value: &[u8],
        condition: Condition,
        options: &WriteOptions,
    ) -> tonnage::Result<WriteResult> {
        match self {
            Place::Store(store) => {
                let pairs = store.kv();
                match condition {
                    Condition::IfAbsent => pairs.put_if_absent(key, value, options),
                    Condition::IfPresent => pairs.put_if_present(key, value, options),
                    Condition::IfVersion(version) => {
                        pairs.put_if_version(key, value, version, options)
                    }
                    Condition::Always => pairs
                        .put(key, value, options)
                        .map(|version| WriteResult::Stored { version }),
                }
            }
            Place::Server(client) => {
                client.write_pair(key, &PairWrite::Put(value), &condition, options)
            }
        }
    }

    /// The pair of a key.
    pub(crate) fn get_pair(&self, key: &Key) -> tonnage::Result<Option<Pair>> {
        match self {
            Place::Store(store) => store.kv().get(key),
            Place::Server(client) => client.get_pair(key),
        }
    }

    /// Puts the entries of all streams.
    pub(crate) fn bulk_put(
        &self,
        streams: Vec<Box<dyn EntryStream>>,
        options: &BulkPutOptions,
    ) -> Result<BulkPutReport, BulkPutError> {
        match self {
            Place::Store(store) => store.bulk_put(streams, options),
            Place::Server(client) => client.bulk_put(streams, options),
        }
    }
}

/// What breaks off while rows come was done in part.
fn served(rows: Rows) -> PlacedRows {
    let schema = rows.schema().clone();
    PlacedRows { schema, batches: Box::new(rows.map(|batch| batch.map_err(Failure::stopped))) }
}
