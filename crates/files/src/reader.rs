//! The one reader for all formats.

use arrow::datatypes::{Schema, SchemaRef};
use std::sync::Arc;
use tonnage_engine::{Error, Result};

use crate::batch::ReadBatch;
use crate::format::Format;
use crate::options::ReadOptions;
use crate::progress::Progress;
use crate::source::Source;

/// An iterator of the batches of one source.
pub struct RecordReader {
    schema: SchemaRef,
    format: Format,
    progress: Progress,
}

impl RecordReader {
    /// Opens a source, detects what it holds and reads as much of it as is needed to know its columns.
    pub fn open(source: &Source, options: &ReadOptions) -> Result<RecordReader> {
        let _ = (source.open()?, options);
        Err(Error::unsupported(format!("{}: reading files is not built yet", source.name())))
    }

    /// The schema of all batches: the columns of the file, in its order, those that were wanted with the wanted name and type.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The format that is being read.
    pub fn format(&self) -> Format {
        self.format
    }

    /// A handle to watch the reader from elsewhere.
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }
}

impl Iterator for RecordReader {
    type Item = Result<ReadBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let _ = Schema::empty();
        None
    }
}
