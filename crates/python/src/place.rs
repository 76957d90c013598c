//! Where entries go: into a store of this process, or to a server.

use std::sync::Arc;

use tonnage::{
    BulkPutError, BulkPutOptions, BulkPutReport, EntryStream, Result, Store, TableEntry,
};
use tonnage_client::Client;

/// Where entries go.
#[derive(Clone)]
pub(crate) enum Place {
    /// Into a store of this process.
    Store(Store),
    /// To a server.
    Server(Client),
}

impl Place {
    /// What there is to know of a table.
    ///
    /// # Errors
    /// `NotFound` when there is none; when the server cannot be reached.
    pub(crate) fn table(&self, path: &str) -> Result<Arc<TableEntry>> {
        match self {
            Place::Store(store) => Ok(store.table(path)?.entry().clone()),
            Place::Server(client) => client.describe(path),
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
            Place::Store(store) => store.bulk_put(streams, options),
            Place::Server(client) => client.bulk_put(streams, options),
        }
    }

    pub(crate) fn is_server(&self) -> bool {
        matches!(self, Place::Server(_))
    }
}
