//! The destination of a bulk put: a store of this process, or a server.

use std::sync::Arc;

use tonnage::{
    BulkPutError, BulkPutOptions, BulkPutReport, EntryStream, Result, Store, TableEntry,
};
use tonnage_client::Client;

/// Where entries go.
#[derive(Clone)]
pub(crate) enum PutDestination {
    /// Into a store of this process.
    Store(Store),
    /// To a server.
    Server(Client),
}

impl PutDestination {
    /// What there is to know of a table.
    ///
    /// # Errors
    /// `NotFound` when there is none; when the server cannot be reached.
    pub(crate) fn table(&self, path: &str) -> Result<Arc<TableEntry>> {
        match self {
            PutDestination::Store(store) => Ok(store.table(path)?.entry().clone()),
            PutDestination::Server(client) => client.describe(path),
        }
    }

    /// # Errors
    /// Why it stopped, with what was stored until then.
    pub(crate) fn bulk_put(
        &self,
        streams: Vec<Box<dyn EntryStream>>,
        options: &BulkPutOptions,
    ) -> std::result::Result<BulkPutReport, BulkPutError> {
        match self {
            PutDestination::Store(store) => store.bulk_put(streams, options),
            PutDestination::Server(client) => client.bulk_put(streams, options),
        }
    }

    pub(crate) fn is_server(&self) -> bool {
        matches!(self, PutDestination::Server(_))
    }
}
