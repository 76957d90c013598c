//! The one writer for all formats.

use std::io::Write;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use tonnage_engine::{Error, Result};

use crate::format::{Compression, Format};


/// Writes record batches in one format.
pub struct RecordWriter<W: Write + Send> {
    _writer: W,
}

impl<W: Write + Send> RecordWriter<W> {
    /// A writer of `format`, the whole output compressed as told.
    pub fn new(format: Format, writer: W, schema: SchemaRef, compression: Compression) -> Result<Self> {
        let _ = (format, schema, compression, writer);
        Err(Error::unsupported("writing files is not built yet"))
    }

    /// Writes the rows of one batch.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let _ = batch;
        Ok(())
    }

    /// Writes what the format needs at the end, flushes, and gives the underlying writer back.
    pub fn finish(self) -> Result<W> {
        Ok(self._writer)
    }
}
