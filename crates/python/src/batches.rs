//! Rows for Python: a bounded stream of record batches, which the caller pulls.

use std::sync::Mutex;

use arrow::datatypes::SchemaRef;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList, PyTuple};
use tonnage::Cancel;
use tonnage::internal::sync::lock;

use crate::arrow_out::{batch_capsules, schema_capsule, stream_capsule};
use crate::batch_iterator::BatchIterator;
use crate::error::OrRaise;
use crate::handle::ProcessBound;
use crate::record_cells::rows_of;

type ArrowBatch = arrow::array::RecordBatch;

/// The rows of a query or a bulk get: an iterator of record batches, drawn as they are asked for.
#[pyclass(frozen, module = "tonnage._tonnage")]
pub(crate) struct Batches {
    schema: SchemaRef,
    batches: ProcessBound<Mutex<Option<BatchIterator>>>,
    cancel: Cancel,
}

impl Batches {
    pub(crate) fn new(schema: SchemaRef, batches: BatchIterator, cancel: Cancel) -> Self {
        Self { schema, batches: ProcessBound::new(Mutex::new(Some(batches))), cancel }
    }

    fn draw(&self, py: Python<'_>) -> PyResult<Option<ArrowBatch>> {
        let batches = self.batches.get()?;
        let drawn = py.detach(|| {
            let mut batches = lock(batches);
            batches.as_mut().map(Iterator::next)
        });
        match drawn {
            Some(batch) => batch.transpose().or_raise(),
            None => Err(taken()),
        }
    }
}

fn taken() -> PyErr {
    PyRuntimeError::new_err(
        "these rows were taken already, or the result was closed: run the query again",
    )
}

#[pymethods]
impl Batches {
    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The columns, each with its Arrow type as text.
    #[getter]
    fn column_types(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.data_type().to_string()).collect()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    /// Hands all rows that are left over, once.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer may ask for other types, and has to take what comes.
        let _ = requested_schema;
        let mut batches = lock(self.batches.get()?);
        let batches = batches.take().ok_or_else(taken)?;
        stream_capsule(py, self.schema.clone(), batches)
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        self.draw(py).map(|batch| batch.map(RecordBatch))
    }

    /// Stops the read. Later calls raise.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.cancel.cancel();
        let batches = self.batches.get()?;
        py.detach(|| {
            let closed = lock(batches).take();
            drop(closed);
        });
        Ok(())
    }
}

/// Some rows, column by column.
#[pyclass(frozen, module = "tonnage._tonnage")]
pub(crate) struct RecordBatch(pub(crate) ArrowBatch);

#[pymethods]
impl RecordBatch {
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.0.schema())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _ = requested_schema;
        batch_capsules(py, &self.0)
    }

    /// The rows, each a dict, or a tuple in the order of the columns.
    #[pyo3(signature = (*, tuples=false))]
    fn rows<'py>(&self, py: Python<'py>, tuples: bool) -> PyResult<Bound<'py, PyList>> {
        rows_of(py, &self.0, tuples)
    }
}

/// Batches with the path of the table of each.
type TableBatchStream = Box<dyn Iterator<Item = tonnage::Result<(String, ArrowBatch)>> + Send>;

/// Rows of several tables: an iterator of the path of a table and a batch of its rows.
#[pyclass(frozen, module = "tonnage._tonnage")]
pub(crate) struct TableBatches {
    rows: ProcessBound<Mutex<Option<TableBatchStream>>>,
    cancel: Cancel,
}

impl TableBatches {
    pub(crate) fn new(
        rows: impl Iterator<Item = tonnage::Result<(String, ArrowBatch)>> + Send + 'static,
        cancel: Cancel,
    ) -> Self {
        Self { rows: ProcessBound::new(Mutex::new(Some(Box::new(rows)))), cancel }
    }
}

#[pymethods]
impl TableBatches {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<(String, RecordBatch)>> {
        let rows = self.rows.get()?;
        let drawn = py.detach(|| {
            let mut rows = lock(rows);
            rows.as_mut().map(Iterator::next)
        });
        let batch = drawn.ok_or_else(taken)?.transpose().or_raise()?;
        Ok(batch.map(|(table, rows)| (table, RecordBatch(rows))))
    }

    /// Stops the read. Later calls raise.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.cancel.cancel();
        let rows = self.rows.get()?;
        py.detach(|| {
            let closed = lock(rows).take();
            drop(closed);
        });
        Ok(())
    }
}
