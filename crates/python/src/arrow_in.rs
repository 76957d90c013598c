//! Reads record batches from any object that exports Arrow's C interface: pyarrow, polars, pandas,
//! DuckDB.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchReader, StructArray};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use tonnage::Error;

use crate::null_arrays::{forget_null_buffers, without_null_buffers};

/// Record batches that come without Python's help, once the stream is there.
pub(crate) type ArrowReader = Box<dyn RecordBatchReader + Send>;

/// The record batches of an object with `__arrow_c_stream__` or `__arrow_c_array__`; nothing for
/// another object.
///
/// # Errors
/// What the object raises; `ValueError` for a capsule that holds no such thing.
pub(crate) fn reader_of(object: &Bound<'_, PyAny>) -> PyResult<Option<ArrowReader>> {
    if object.hasattr("__arrow_c_stream__")? {
        let capsule = object.call_method0("__arrow_c_stream__")?;
        let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array_stream"))?;
        // SAFETY: a capsule of that name holds a stream, by Arrow's PyCapsule interface. It is
        // moved out, which leaves nothing for the capsule to release.
        let stream = unsafe {
            FFI_ArrowArrayStream::from_raw(pointer.cast::<FFI_ArrowArrayStream>().as_ptr())
        };
        let reader =
            ArrowArrayStreamReader::try_new(without_null_buffers(stream)).map_err(refused)?;
        return Ok(Some(Box::new(reader)));
    }
    if object.hasattr("__arrow_c_array__")? {
        let capsules = object.call_method0("__arrow_c_array__")?;
        let batch = batch_of(capsules.cast()?)?;
        let schema = batch.schema();
        return Ok(Some(Box::new(arrow::array::RecordBatchIterator::new([Ok(batch)], schema))));
    }
    Ok(None)
}

fn batch_of(capsules: &Bound<'_, PyTuple>) -> PyResult<RecordBatch> {
    let schema = capsules.get_item(0)?;
    let schema = schema.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_schema"))?;
    let array = capsules.get_item(1)?;
    let array = array.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array"))?;
    // SAFETY: capsules of these names hold a schema and an array, by Arrow's PyCapsule interface.
    // The array is moved out; the schema stays with its capsule, which lives until the end.
    let data = unsafe {
        let mut array = FFI_ArrowArray::from_raw(array.cast::<FFI_ArrowArray>().as_ptr());
        let schema = schema.cast::<FFI_ArrowSchema>().as_ref();
        forget_null_buffers(&mut array, schema);
        from_ffi(array, schema)
    };
    let data = data.map_err(refused)?;
    if !matches!(data.data_type(), arrow::datatypes::DataType::Struct(_)) {
        return Err(PyValueError::new_err(format!(
            "an Arrow array of type {} has no columns: give a table or a record batch",
            data.data_type()
        )));
    }
    Ok(StructArray::from(data).into())
}

fn refused(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!("the Arrow stream cannot be read: {error}"))
}

/// An error of a stream while it is read.
pub(crate) fn failed(error: &ArrowError) -> Error {
    Error::invalid(format!("the Arrow stream failed: {error}"))
}

/// The columns of an object that has an Arrow schema, or is one. Nothing is read.
///
/// # Errors
/// `TypeError` for another object; `ValueError` for a capsule that holds no schema.
pub(crate) fn schema_of(object: &Bound<'_, PyAny>) -> PyResult<SchemaRef> {
    if object.hasattr("__arrow_c_schema__")? {
        let capsule = object.call_method0("__arrow_c_schema__")?;
        let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_schema"))?;
        // SAFETY: a capsule of that name holds a schema, by Arrow's PyCapsule interface, and lives
        // until the end of this function.
        let schema = unsafe { pointer.cast::<FFI_ArrowSchema>().as_ref() };
        return Ok(Arc::new(Schema::try_from(schema).map_err(refused)?));
    }
    match reader_of(object)? {
        Some(reader) => Ok(reader.schema()),
        None => Err(PyTypeError::new_err(format!(
            "the columns come from an Arrow schema, table or data frame, not from {}",
            object.get_type()
        ))),
    }
}
