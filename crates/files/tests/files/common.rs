//! What the tests share: reading text as if it were a file, and writing batches to memory.

use std::io::Write;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use tonnage_files::{
    Compression, Format, ReadOptions, RecordReader, RecordWriter, RejectedRecord, Source,
};

/// A schema from names and types.
pub(crate) fn schema(columns: &[(&str, DataType)]) -> SchemaRef {
    Arc::new(Schema::new(
        columns
            .iter()
            .map(|(name, kind)| Field::new(*name, kind.clone(), true))
            .collect::<Vec<_>>(),
    ))
}

/// `id` as a 32-bit integer, `name` as text, `at` as a time in milliseconds.
pub(crate) fn small_schema() -> SchemaRef {
    schema(&[
        ("id", DataType::Int32),
        ("name", DataType::Utf8),
        ("at", DataType::Timestamp(TimeUnit::Millisecond, None)),
    ])
}

/// Options that want a schema.
pub(crate) fn wanting(schema: SchemaRef) -> ReadOptions {
    ReadOptions { schema: Some(schema), ..ReadOptions::default() }
}

/// All that a source gives, as one batch.
pub(crate) fn read(source: &Source, options: &ReadOptions) -> (RecordBatch, Vec<RejectedRecord>) {
    let mut reader = RecordReader::open(source, options).expect("the source opens");
    let (mut batches, mut rejected, mut next_record) =
        (Vec::new(), Vec::new(), options.start_record);
    for batch in reader.by_ref() {
        let batch = batch.expect("the source is readable");
        assert_eq!(batch.first_record, next_record, "batches leave nothing out");
        assert_eq!(batch.records, (batch.batch.num_rows() + batch.rejected.len()) as u64);
        next_record += batch.records;
        rejected.extend(batch.rejected);
        batches.push(batch.batch);
    }
    (concat_batches(&reader.schema(), &batches).expect("batches share the schema"), rejected)
}

/// The rows of a batch as CSV lines, for comparing at a glance.
pub(crate) fn lines(batch: &RecordBatch) -> Vec<String> {
    let text =
        String::from_utf8(written(Format::Csv, Compression::None, batch)).expect("CSV is text");
    text.lines().skip(1).map(str::to_owned).collect()
}

/// A batch as a file.
pub(crate) fn written(format: Format, compression: Compression, batch: &RecordBatch) -> Vec<u8> {
    let mut writer = RecordWriter::new(format, Vec::new(), batch.schema(), compression)
        .expect("the writer opens");
    writer.write(batch).expect("the batch is written");
    writer.finish().expect("the file is closed")
}

/// CSV text as a source.
pub(crate) fn csv(text: impl AsRef<[u8]>) -> Source {
    Source::memory("test.csv", text.as_ref().to_vec())
}

/// JSON lines as a source.
pub(crate) fn jsonl(text: &str) -> Source {
    Source::memory("test.jsonl", text.as_bytes().to_vec())
}

/// Bytes packed with gzip.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory does not fail");
    encoder.finish().expect("memory does not fail")
}
