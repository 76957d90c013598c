//! Rows to bytes and back, column by column over Arrow arrays.

mod align;
mod classifier;
mod decode;
mod encode;
mod partial;

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use tonnage_engine::Result;

pub use align::{Aligned, Rejected};
pub use classifier::{KeyClassifier, KeyOwner};
pub use partial::FieldRange;

use crate::TableSchema;

/// The longest key and value that a codec lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest key, in bytes.
    pub key_bytes_max: usize,
    /// The longest value, in bytes.
    pub value_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { key_bytes_max: 8 << 10, value_bytes_max: 64 << 20 }
    }
}

/// Turns the rows of one table into keys and values and back. Immutable; share it by `Arc`.
#[derive(Debug)]
pub struct TableCodec {
    schema: Arc<TableSchema>,
    arrow: SchemaRef,
}

impl TableCodec {
    /// The codec of a table.
    pub fn new(schema: Arc<TableSchema>, limits: Limits) -> Self {
        let _ = limits;
        let arrow = schema.arrow_schema();
        Self { schema, arrow }
    }

    /// The table.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }

    /// The Arrow schema of aligned batches.
    pub fn arrow_schema(&self) -> &SchemaRef {
        &self.arrow
    }

    /// The Arrow schema of decoded batches: of all columns, or of those at these places in this order.
    ///
    /// # Errors
    /// `Invalid` for a place that there is not.
    pub fn projected_schema(&self, projection: Option<&[usize]>) -> Result<SchemaRef> {
        let _ = projection;
        unimplemented!()
    }
}
