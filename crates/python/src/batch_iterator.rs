//! An iterator over the batches of a result.

use arrow::array::RecordBatch;
use pyo3::prelude::*;
use tonnage::Result;

/// Where the batches of a result come from.
pub(crate) struct BatchIterator {
    batches: Box<dyn Iterator<Item = Result<RecordBatch>> + Send>,
    /// Whether a thread of the read may wait for the interpreter's lock, because its keys come out
    /// of a Python iterator. Who waits for it must then let go of the lock.
    needs_python: bool,
}

impl BatchIterator {
    pub(crate) fn new(batches: impl Iterator<Item = Result<RecordBatch>> + Send + 'static) -> Self {
        Self { batches: Box::new(batches), needs_python: false }
    }

    #[must_use]
    pub(crate) fn with_python(self, needs_python: bool) -> Self {
        Self { needs_python, ..self }
    }
}

impl Iterator for BatchIterator {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.needs_python {
            let batches = &mut self.batches;
            let drawn = Python::try_attach(|py| py.detach(|| batches.next()));
            return drawn.flatten();
        }
        self.batches.next()
    }
}
