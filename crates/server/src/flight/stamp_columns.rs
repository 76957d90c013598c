//! What comes along with each row: its version, when it expires, and the key that it answers.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use tonnage::{Error, Result, TableBatch};

/// Which columns are added.
#[derive(Clone, Copy, Debug)]
pub(super) struct StampColumns {
    pub(super) versions: bool,
    pub(super) origins: bool,
}

impl StampColumns {
    pub(super) fn schema(self, columns: &SchemaRef) -> SchemaRef {
        let mut fields: Vec<_> = columns.fields().iter().cloned().collect();
        let mut stamp =
            |name: &str| fields.push(Arc::new(Field::new(name, DataType::UInt64, false)));
        if self.versions {
            stamp("_version");
            stamp("_expires_at_ms");
        }
        if self.origins {
            stamp("_key");
        }
        Arc::new(Schema::new(fields))
    }

    /// The rows of a batch, with the columns that are added.
    pub(super) fn rows(self, batch: &TableBatch) -> Result<RecordBatch> {
        if !self.versions && !self.origins {
            return Ok(batch.rows.clone());
        }
        let mut columns: Vec<ArrayRef> = batch.rows.columns().to_vec();
        if self.versions {
            columns.push(Arc::new(UInt64Array::from(batch.versions.clone())));
            columns.push(Arc::new(UInt64Array::from(batch.expiries_ms.clone())));
        }
        if self.origins {
            let keys = batch.origins.iter().map(|origin| origin.position);
            columns.push(Arc::new(UInt64Array::from_iter_values(keys)));
        }
        RecordBatch::try_new(self.schema(batch.rows.schema_ref()), columns)
            .map_err(|error| Error::internal(format!("rows with versions: {error}")))
    }
}
