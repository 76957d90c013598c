//! Rows as they come, of a table or of a query.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use tonnage::Error;
use tonnage_client::AnyBulkGet;

use crate::exit::{CliResult, Failure};

/// Rows as they come, under their columns.
pub(crate) struct FetchedRows {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Box<dyn Iterator<Item = CliResult<RecordBatch>>>,
}

impl FetchedRows {
    /// Rows of a query: what breaks off was done in part.
    pub(crate) fn of_query(
        schema: SchemaRef,
        rows: impl Iterator<Item = tonnage::Result<RecordBatch>> + 'static,
    ) -> Self {
        Self { schema, batches: Box::new(rows.map(|batch| batch.map_err(Failure::stopped))) }
    }
}

impl From<AnyBulkGet> for FetchedRows {
    fn from(rows: AnyBulkGet) -> Self {
        let failed = read_failure(matches!(rows, AnyBulkGet::Remote(_)));
        let schema = rows.schema().clone();
        Self { schema, batches: Box::new(rows.map(move |batch| Ok(batch.map_err(failed)?.rows))) }
    }
}

/// The failure of a read that breaks off. Through a server it was done in part by then: errors of
/// the call itself came before.
pub(crate) fn read_failure(is_remote: bool) -> fn(Error) -> Failure {
    if is_remote { Failure::stopped } else { Failure::from }
}
