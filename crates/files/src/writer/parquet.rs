//! Writes Parquet.
//!
//! Parquet counts timestamps in milliseconds or finer. Timestamps in seconds are written in
//! milliseconds, so that every reader sees them as such; a note at the column ([`UNIT_KEY`]) lets
//! this crate restore the seconds.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, FieldRef, IntervalUnit, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use parquet::schema::types::{ColumnPath, SchemaDescriptor};
use tonnage_engine::{Error, Result};

use super::error::write_failed;
use super::parquet_schema::parquet_schema;
use crate::type_name;

/// A row group is closed when it takes this much memory, whatever its rows.
const ROW_GROUP_BYTES_MAX: usize = 128 << 20;

/// The key in a field's metadata for the unit of its timestamps before they were written.
const UNIT_KEY: &str = "tonnage:timestamp-unit";
const UNIT_SECONDS: &str = "s";

pub(super) struct ParquetWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
}

impl<W: Write + Send> ParquetWriter<W> {
    pub(super) fn new(target: W, schema: &Schema) -> Result<Self> {
        if let Some(field) = schema.fields().iter().find(|field| !has_type(field)) {
            return Err(Error::unsupported(format!(
                "Parquet has no type for the column {}, {}: choose another format, or make it text",
                field.name(),
                type_name(field)
            )));
        }
        let fields: Vec<_> = schema.fields().iter().map(in_parquet).collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
        let parquet_schema = parquet_schema(&schema).map_err(write_failed)?;
        let options = ArrowWriterOptions::new()
            .with_properties(properties(&parquet_schema)?)
            .with_parquet_schema(parquet_schema);
        let writer = ArrowWriter::try_new_with_options(target, Arc::clone(&schema), options)
            .map_err(write_failed)?;
        Ok(Self { writer, schema })
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = self.schema.fields().iter().zip(batch.columns());
        let columns = columns
            .map(|(field, column)| milliseconds(field, column))
            .collect::<Result<Vec<_>>>()?;
        let batch =
            RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(write_failed)?;
        self.writer.write(&batch).map_err(write_failed)?;
        match self.writer.memory_size() > ROW_GROUP_BYTES_MAX {
            true => self.writer.flush().map_err(write_failed),
            false => Ok(()),
        }
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.writer.memory_size()
    }

    pub(super) fn finish(self) -> Result<W> {
        self.writer.into_inner().map_err(write_failed)
    }
}

fn properties(schema: &SchemaDescriptor) -> Result<WriterProperties> {
    let level = ZstdLevel::try_new(1).map_err(write_failed)?;
    let plain = WriterProperties::builder().set_compression(Compression::ZSTD(level));
    let keys = schema.columns().iter().map(|leaf| leaf.path()).filter(|path| is_map_key(path));
    // fastparquet 2026.9 finds maps by the dictionary of their keys: without one it gives a key for
    // the whole map. So the dictionary may become as large as the row group.
    let with_keys = keys.fold(plain, |properties, path| {
        properties.set_column_dictionary_page_size_limit(path.clone(), ROW_GROUP_BYTES_MAX)
    });
    Ok(with_keys.build())
}

/// Whether a leaf holds the keys of maps, by the names that [`parquet_schema`] gives them.
fn is_map_key(path: &ColumnPath) -> bool {
    matches!(path.parts(), [.., group, key] if group == "key_value" && key == "key")
}

/// Whether Parquet has a type for the values of a field. Its intervals count no nanoseconds.
fn has_type(field: &FieldRef) -> bool {
    match field.data_type() {
        DataType::Interval(unit) => *unit != IntervalUnit::MonthDayNano,
        DataType::Union(..) => false,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => has_type(item),
        DataType::Struct(fields) => !fields.is_empty() && fields.iter().all(has_type),
        _ => true,
    }
}

/// The field under which a column is written.
fn in_parquet(field: &FieldRef) -> FieldRef {
    let DataType::Timestamp(TimeUnit::Second, zone) = field.data_type() else {
        return Arc::clone(field);
    };
    let mut metadata: HashMap<_, _> = field.metadata().clone();
    metadata.insert(UNIT_KEY.to_owned(), UNIT_SECONDS.to_owned());
    let written = field
        .as_ref()
        .clone()
        .with_data_type(DataType::Timestamp(TimeUnit::Millisecond, zone.clone()));
    Arc::new(written.with_metadata(metadata))
}

/// The field that a column of a Parquet file was written from.
pub(crate) fn as_written(field: &FieldRef) -> FieldRef {
    let is_seconds = field.metadata().get(UNIT_KEY).is_some_and(|unit| unit == UNIT_SECONDS);
    match field.data_type() {
        DataType::Timestamp(TimeUnit::Millisecond, zone) if is_seconds => {
            let mut metadata = field.metadata().clone();
            metadata.remove(UNIT_KEY);
            let seconds = DataType::Timestamp(TimeUnit::Second, zone.clone());
            Arc::new(Field::new(field.name(), seconds, field.is_nullable()).with_metadata(metadata))
        }
        _ => Arc::clone(field),
    }
}

/// The column in the unit in which it is written.
fn milliseconds(field: &Field, column: &ArrayRef) -> Result<ArrayRef> {
    if field.data_type() == column.data_type() || !field.metadata().contains_key(UNIT_KEY) {
        return Ok(Arc::clone(column));
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(column, field.data_type(), &options).map_err(|error| {
        let what = "holds a timestamp that Parquet cannot keep: it counts milliseconds, up to the year 292 million";
        Error::unsupported(format!("the column {} {what}: choose another format", field.name())).with_source(error)
    })
}
