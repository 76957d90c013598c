//! A table as its columns are scanned and kept.

use std::sync::Arc;

use tonnage_engine::SpaceId;

use crate::codec::{KeyClassifier, TableCodec};
use crate::schema::TableSchema;

/// A table, as a handle or the catalog knows it.
#[derive(Clone, Debug)]
pub(crate) struct ColumnTable {
    pub(crate) space: SpaceId,
    pub(crate) schema: Arc<TableSchema>,
    pub(crate) codec: Arc<TableCodec>,
    /// Distinguishes the tables of the space.
    pub(crate) classifier: Arc<KeyClassifier>,
}
