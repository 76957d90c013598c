//! An open table.

use std::sync::Arc;

use tonnage_engine::SpaceId;

use crate::codec::{KeyClassifier, TableCodec};
use crate::index::IndexList;
use crate::schema::TableSchema;

/// A table that is open for use. A snapshot: DDL makes new entries and leaves old ones as they are.
#[derive(Debug)]
pub struct TableEntry {
    /// What the table is.
    pub schema: Arc<TableSchema>,
    /// Its codec.
    pub codec: Arc<TableCodec>,
    /// Where its rows are.
    pub space: SpaceId,
    /// Distinguishes the tables of the space.
    pub classifier: Arc<KeyClassifier>,
    /// The full names of the tables right below it.
    pub children: Vec<String>,
    /// Its current indexes, not those at the creation of the entry.
    pub(crate) indexes: Arc<IndexList>,
}
