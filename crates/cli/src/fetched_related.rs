//! Rows of several tables, in a store or behind a server.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use tonnage::{BulkGetOptions, TableEntry};
use tonnage_client::{BulkGetRequest, Client, RelatedBatch};

use crate::exit::{CliResult, Failure};
use crate::keys::Keys;
use crate::store_connection::StoreConnection;

/// Rows of several tables as they come, and the columns of each table by its path.
pub(crate) struct FetchedRelated {
    pub(crate) tables: Vec<(Arc<str>, SchemaRef)>,
    pub(crate) batches: Box<dyn Iterator<Item = CliResult<RelatedBatch>>>,
}

impl StoreConnection {
    /// Reads the rows of keys together with those of related tables.
    pub(crate) fn bulk_get_related(
        &self,
        table: &TableEntry,
        keys: Keys,
        options: &BulkGetOptions,
    ) -> CliResult<FetchedRelated> {
        match self {
            StoreConnection::Store(store) => {
                let rows = store.table(&table.schema.path)?.bulk_get(keys.source(), options)?;
                let tables = rows.schemas().to_vec();
                let batches = rows.into_interleaved().map(|interleaved| {
                    let interleaved = interleaved?;
                    let batches = interleaved.batches.into_iter();
                    let batches = batches.map(|batch| (batch.table, batch.rows)).collect();
                    Ok(RelatedBatch { batches, order: interleaved.order })
                });
                Ok(FetchedRelated { tables, batches: Box::new(batches) })
            }
            StoreConnection::Server(client) => related_from_server(client, table, keys, options),
        }
    }
}

fn related_from_server(
    client: &Client,
    table: &TableEntry,
    keys: Keys,
    options: &BulkGetOptions,
) -> CliResult<FetchedRelated> {
    let request = BulkGetRequest {
        direction: options.direction,
        limit_per_key: options.limit_per_key,
        columns: options.columns.clone(),
        range: options.range.clone(),
        keys_only: options.keys_only,
        relatives: options.relatives.clone(),
        ..BulkGetRequest::of(&table.schema.path)
    };
    let rows = client.bulk_get_related(keys.batches(&table.schema)?, &request)?;
    let tables = rows.tables().to_vec();
    // What breaks off while rows come was done in part.
    let batches = rows.map(|batch| batch.map_err(Failure::stopped));
    Ok(FetchedRelated { tables, batches: Box::new(batches) })
}
