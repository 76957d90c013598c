//! The one writer for all formats.

mod compress;
mod csv;
mod error;
mod json;
pub(crate) mod parquet;
mod parquet_schema;

use std::io::Write;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use tonnage_engine::{Error, Result};

use self::parquet::ParquetWriter;
use crate::format::{Compression, Format};
use compress::Compressor;
use csv::CsvWriter;
use error::write_failed;
use json::JsonWriter;

/// Writes record batches in one format.
///
/// | format | how values are written |
/// |---|---|
/// | CSV | a header with the names; NULL as nothing, empty text as `""`; text in quotes where it
/// needs them |
/// | TSV | the same with tabs for commas |
/// | JSON lines | one object per line with every column, NULL as `null`; JSON columns as JSON, not
/// as text |
/// | Parquet | compressed with zstd inside, whatever the compression of the whole; moments in
/// seconds as milliseconds, with a note |
/// | Arrow IPC | as a file or as a stream |
///
/// In both text formats a point in time is `2022-01-03T00:00:00` in UTC with the digits of the
/// fraction that are not zero, a float has the shortest text that reads back as the same number,
/// bytes are base64 (`0x` and hexadecimal digits, where their base64 looks like such digits) and a
/// UUID has its hyphens. All formats read back as the rows that were written, with two exceptions.
/// In a CSV file of a single text column NULL and empty text are the same, because a line with
/// nothing on it is not a record. In JSON lines NULL and the JSON value `null` of a JSON column are
/// the same.
pub struct RecordWriter<W: Write + Send> {
    body: WriterBody<W>,
}

enum WriterBody<W: Write + Send> {
    Csv(CsvWriter<Compressor<W>>),
    Json(JsonWriter<Compressor<W>>),
    Parquet(Box<ParquetWriter<Compressor<W>>>),
    ArrowFile(Box<FileWriter<Compressor<W>>>),
    ArrowStream(Box<StreamWriter<Compressor<W>>>),
}

impl<W: Write + Send> RecordWriter<W> {
    /// A writer of `format`, with the whole output compressed. The writer buffers; the target need
    /// not.
    pub fn new(
        format: Format,
        target: W,
        schema: SchemaRef,
        compression: Compression,
    ) -> Result<Self> {
        let target = Compressor::new(target, compression).map_err(write_failed)?;
        let body = match format {
            // The header is written here: a result without rows has its columns, too.
            Format::Csv | Format::Tsv => {
                let delimiter = if format == Format::Tsv { b'\t' } else { b',' };
                WriterBody::Csv(CsvWriter::new(target, &schema, delimiter).map_err(write_failed)?)
            }
            Format::JsonLines => WriterBody::Json(JsonWriter::new(target)),
            Format::Parquet => WriterBody::Parquet(Box::new(ParquetWriter::new(target, &schema)?)),
            Format::ArrowFile => WriterBody::ArrowFile(Box::new(
                FileWriter::try_new(target, &schema).map_err(write_failed)?,
            )),
            Format::ArrowStream => WriterBody::ArrowStream(Box::new(
                StreamWriter::try_new(target, &schema).map_err(write_failed)?,
            )),
            Format::Avro => {
                return Err(Error::unsupported(format!("{format} is read, and not written")));
            }
        };
        Ok(Self { body })
    }

    /// The same writer, whose JSON lines have decimals of more than 15 digits as text: for readers
    /// that make doubles of numbers. The other formats keep all digits as they are.
    #[must_use]
    pub fn long_numbers_as_text(mut self) -> Self {
        if let WriterBody::Json(writer) = &mut self.body {
            writer.long_numbers_as_text = true;
        }
        self
    }

    /// Writes the rows of one batch, which must have the columns of the writer.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match &mut self.body {
            WriterBody::Csv(writer) => writer.write(batch),
            WriterBody::Json(writer) => writer.write(batch),
            WriterBody::Parquet(writer) => writer.write(batch),
            WriterBody::ArrowFile(writer) => writer.write(batch).map_err(write_failed),
            WriterBody::ArrowStream(writer) => writer.write(batch).map_err(write_failed),
        }
    }

    /// About how many bytes are held back until more rows come, as they will be written.
    pub fn held_bytes(&self) -> usize {
        match &self.body {
            WriterBody::Parquet(writer) => writer.held_bytes(),
            _ => 0,
        }
    }

    /// Writes what the format needs at its end, flushes, and gives the target back. Without this
    /// call the output is not whole.
    pub fn finish(self) -> Result<W> {
        let target = match self.body {
            WriterBody::Csv(writer) => writer.finish().map_err(write_failed)?,
            WriterBody::Json(writer) => writer.finish().map_err(write_failed)?,
            WriterBody::Parquet(writer) => writer.finish()?,
            WriterBody::ArrowFile(mut writer) => {
                writer.finish().map_err(write_failed)?;
                writer.into_inner().map_err(write_failed)?
            }
            WriterBody::ArrowStream(mut writer) => {
                writer.finish().map_err(write_failed)?;
                writer.into_inner().map_err(write_failed)?
            }
        };
        target.finish().map_err(write_failed)
    }
}
