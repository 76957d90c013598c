//! A connection to the rows: a store that this process opens, or a server.
//!
//! Verbs that work with both read and write through a [`StoreConnection`]. Verbs that need a store
//! itself call [`crate::args::Globals::open`], which refuses a server.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use tonnage::{
    BulkGetOptions, BulkPutError, BulkPutOptions, BulkPutReport, Condition, Depth, EntryStream,
    Error, GetOptions, Key, KeyRange, Pair, PairGetOptions, Row, RowOperation, Statistics, Store,
    TableDefinition, TableEntry, TableScanOptions, Value, WriteOptions, WriteResult,
};
use tonnage_client::{BulkGetRequest, Client, PairScanRequest, PairWrite, Rows, ScanRequest};

use crate::exit::{CliResult, Failure};
use crate::fetched_pairs::FetchedPairs;
use crate::keys::Keys;
use crate::table_columns::columns_of;

/// A store of this process, or a client of a server.
pub(crate) enum StoreConnection {
    /// In a store of this process.
    Store(Store),
    /// Behind a server.
    Server(Client),
}

/// Rows as they come, under their columns.
pub(crate) struct FetchedRows {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Box<dyn Iterator<Item = CliResult<RecordBatch>>>,
}

impl StoreConnection {
    /// What there is to know of a table.
    pub(crate) fn table(&self, path: &str) -> CliResult<Arc<TableEntry>> {
        Ok(match self {
            StoreConnection::Store(store) => store.table(path)?.entry().clone(),
            StoreConnection::Server(client) => client.describe(path)?,
        })
    }

    /// Makes a table, unless there is one of its name.
    pub(crate) fn create_table(&self, definition: &TableDefinition) -> CliResult<()> {
        match self {
            StoreConnection::Store(store) => {
                store.catalog().create_table(definition, true)?;
            }
            StoreConnection::Server(client) => {
                client.create_table(definition, true)?;
            }
        }
        Ok(())
    }

    /// Drops a table that has just been made, unless somebody has put rows there. It is no loss if it
    /// stays, so errors are not told.
    pub(crate) fn drop_if_empty(&self, table: &str) {
        if !self.count(table).is_ok_and(|rows| rows == 0) {
            return;
        }
        let _ = match self {
            StoreConnection::Store(store) => store.catalog().drop_table(table, true).map(drop),
            StoreConnection::Server(client) => {
                let names =
                    table.split('.').map(|name| format!("\"{}\"", name.replace('"', "\"\"")));
                let path = names.collect::<Vec<_>>().join(".");
                client.define(&format!("DROP TABLE {path}")).map(drop)
            }
        };
    }

    /// Counts the rows of a table.
    pub(crate) fn count(&self, table: &str) -> CliResult<u64> {
        Ok(match self {
            StoreConnection::Store(store) => store.table(table)?.count()?,
            StoreConnection::Server(client) => {
                client.count(&client.describe(table)?.schema.path)?
            }
        })
    }

    /// Reads the rows of a table.
    pub(crate) fn scan(
        &self,
        table: &TableEntry,
        options: &TableScanOptions,
    ) -> CliResult<FetchedRows> {
        let path = &table.schema.path;
        match self {
            StoreConnection::Store(store) => {
                // The columns are known before any row: a result without rows has a header, too.
                let schema = columns_of(table, options.columns.as_deref(), options.keys_only)?;
                let rows = store.table(path)?.scan(options)?;
                Ok(FetchedRows { schema, batches: Box::new(rows.map(|batch| Ok(batch?.rows))) })
            }
            StoreConnection::Server(client) => {
                // The request carries no cancel: the client was made with that of the run.
                let request = ScanRequest {
                    table: path.clone(),
                    columns: options.columns.clone(),
                    direction: options.direction,
                    range: options.range.clone(),
                    keys_only: options.keys_only,
                    limit_per_shard_key: options.limit_per_shard_key,
                    limit: options.limit,
                    ..ScanRequest::default()
                };
                Ok(rows_from_server(client.scan(&request)?))
            }
        }
    }

    /// Reads the rows of keys.
    pub(crate) fn bulk_get(
        &self,
        table: &TableEntry,
        keys: Keys,
        options: &BulkGetOptions,
    ) -> CliResult<FetchedRows> {
        let path = &table.schema.path;
        match self {
            StoreConnection::Store(store) => {
                let schema = columns_of(table, options.columns.as_deref(), options.keys_only)?;
                let rows = store.table(path)?.bulk_get(keys.source(), options)?;
                Ok(FetchedRows { schema, batches: Box::new(rows.map(|batch| Ok(batch?.rows))) })
            }
            StoreConnection::Server(client) => {
                // One whole key needs no stream of keys there and of rows back: a plain get is one
                // request.
                if let Some(key) = keys.only_one(&table.schema).filter(|_| options.range.is_none())
                {
                    return get_one(client, table, &key, options);
                }
                // No relatives: rows of several tables come by `bulk_get_related`.
                let request = BulkGetRequest {
                    direction: options.direction,
                    limit_per_key: options.limit_per_key,
                    columns: options.columns.clone(),
                    range: options.range.clone(),
                    keys_only: options.keys_only,
                    ..BulkGetRequest::of(path)
                };
                Ok(rows_from_server(client.bulk_get(keys.batches(&table.schema)?, &request)?))
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
        let path = table.schema.path.as_str();
        match self {
            StoreConnection::Store(store) => store.table(path)?.put_if(&row, condition, options),
            StoreConnection::Server(client) => {
                client.write(&[RowOperation::put(path, row).when(condition)], options)
            }
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
            StoreConnection::Store(store) => store.kv().put_if(key, value, condition, options),
            StoreConnection::Server(client) => {
                client.write_pair(key, &PairWrite::Put(value), &condition, options)
            }
        }
    }

    /// The pair of a key.
    pub(crate) fn get_pair(&self, key: &Key) -> tonnage::Result<Option<Pair>> {
        match self {
            StoreConnection::Store(store) => store.kv().get(key),
            StoreConnection::Server(client) => client.get_pair(key),
        }
    }

    /// The pairs at and below keys.
    pub(crate) fn bulk_get_pairs(
        &self,
        keys: &[Key],
        options: &PairGetOptions,
    ) -> CliResult<FetchedPairs> {
        Ok(match self {
            StoreConnection::Store(store) => {
                FetchedPairs::of_store(store.kv().bulk_get(keys.to_vec(), options)?)
            }
            StoreConnection::Server(client) => {
                let request = BulkGetRequest {
                    direction: options.direction,
                    limit_per_key: options.limit_per_key,
                    keys_only: options.keys_only,
                    versions: true,
                    depth: options.depth,
                    components: options.range.clone(),
                    ..BulkGetRequest::default()
                };
                let keys = tonnage_client::batch_of_keys(keys);
                FetchedPairs::of_server(client.bulk_get([keys], &request)?)
            }
        })
    }

    /// All pairs, or the first of them.
    pub(crate) fn scan_pairs(
        &self,
        options: &PairGetOptions,
        limit: Option<u64>,
    ) -> CliResult<FetchedPairs> {
        Ok(match self {
            StoreConnection::Store(store) => FetchedPairs::of_store(store.kv().scan(options)?),
            StoreConnection::Server(client) => {
                let request = PairScanRequest {
                    direction: options.direction,
                    keys_only: options.keys_only,
                    limit,
                };
                FetchedPairs::of_server(client.scan_pairs(&request)?)
            }
        })
    }

    /// Counts all pairs.
    pub(crate) fn count_pairs(&self) -> tonnage::Result<u64> {
        match self {
            StoreConnection::Store(store) => store.kv().count(),
            StoreConnection::Server(client) => client.count_pairs(),
        }
    }

    /// Deletes the pairs at and below a key.
    pub(crate) fn delete_pairs(
        &self,
        key: &Key,
        depth: Depth,
        range: Option<&KeyRange>,
        options: &WriteOptions,
    ) -> tonnage::Result<u64> {
        match self {
            StoreConnection::Store(store) => {
                store.kv().delete_subtree_with(key, depth, range, options)
            }
            StoreConnection::Server(client) => client.delete_pairs(key, depth, range, options),
        }
    }

    /// How many tables there are, and the figures of each shard.
    pub(crate) fn statistics(&self) -> tonnage::Result<(u64, Statistics)> {
        match self {
            StoreConnection::Store(store) => Ok((store.tables().len() as u64, store.statistics()?)),
            StoreConnection::Server(client) => client.shard_statistics(),
        }
    }

    /// Puts the entries of all streams.
    pub(crate) fn bulk_put(
        &self,
        streams: Vec<Box<dyn EntryStream>>,
        options: &BulkPutOptions,
    ) -> Result<BulkPutReport, BulkPutError> {
        match self {
            StoreConnection::Store(store) => store.bulk_put(streams, options),
            StoreConnection::Server(client) => client.bulk_put(streams, options),
        }
    }
}

/// The row of a whole key, in one request.
fn get_one(
    client: &Client,
    table: &TableEntry,
    key: &Row,
    options: &BulkGetOptions,
) -> CliResult<FetchedRows> {
    let schema = columns_of(table, options.columns.as_deref(), options.keys_only)?;
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let path = &table.schema.path;
    let found = client.get_with(path, key, Some(&names), &GetOptions::default())?;
    let Some(found) = found else {
        return Ok(FetchedRows { schema, batches: Box::new(std::iter::empty()) });
    };
    let cells = names.iter().map(|name| {
        let column = &table.schema.columns[table.schema.require_column(name)?];
        let value = found.row.get(&column.name).unwrap_or(&Value::Null);
        value.to_array(column.column_type, 1)
    });
    let cells = cells.collect::<tonnage::Result<Vec<_>>>()?;
    let batch = RecordBatch::try_new(schema.clone(), cells)
        .map_err(|error| Error::internal(format!("a row as a batch: {error}")))?;
    Ok(FetchedRows { schema, batches: Box::new(std::iter::once(Ok(batch))) })
}

/// What breaks off while rows come was done in part.
fn rows_from_server(rows: Rows) -> FetchedRows {
    let schema = rows.schema().clone();
    FetchedRows { schema, batches: Box::new(rows.map(|batch| batch.map_err(Failure::stopped))) }
}
