//! Exports record batches through Arrow's C interface.

use arrow::array::{Array, RecordBatch, RecordBatchReader, StructArray};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ffi::{FFI_ArrowSchema, to_ffi};
use arrow::ffi_stream::FFI_ArrowArrayStream;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::batch_iterator::BatchIterator;

/// A capsule that hands the rest of the batches over.
pub(crate) fn stream_capsule<'py>(
    py: Python<'py>,
    schema: SchemaRef,
    batches: BatchIterator,
) -> PyResult<Bound<'py, PyCapsule>> {
    let stream = FFI_ArrowArrayStream::new(Box::new(ExportedBatches { schema, batches }));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

pub(crate) fn schema_capsule<'py>(
    py: Python<'py>,
    schema: &Schema,
) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(refused)?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// The two capsules of one batch: its schema and its columns.
pub(crate) fn batch_capsules<'py>(
    py: Python<'py>,
    batch: &RecordBatch,
) -> PyResult<Bound<'py, PyTuple>> {
    let array = StructArray::from(batch.clone());
    let (array, _) = to_ffi(&array.to_data()).map_err(refused)?;
    let array = PyCapsule::new_with_value(py, array, c"arrow_array")?;
    PyTuple::new(py, [schema_capsule(py, &batch.schema())?, array])
}

fn refused(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!("the rows cannot be handed over as Arrow: {error}"))
}

struct ExportedBatches {
    schema: SchemaRef,
    batches: BatchIterator,
}

impl Iterator for ExportedBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.next()?;
        Some(batch.map_err(|error| ArrowError::ExternalError(Box::new(error))))
    }
}

impl RecordBatchReader for ExportedBatches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
