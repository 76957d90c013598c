//! Turns the columns of a Parquet or Arrow file into the types that are wanted.
//!
//! A value is accepted only if nothing is lost: it is cast, cast back, and compared. The one
//! exception is a double for a single-precision column, which is rounded as SQL rounds it. A moment
//! is a moment whatever its zone: what is kept is its instant, in UTC. Columns that no cast leads
//! to the wanted type stay as they are; the caller sees that in the schema.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::buffer::BooleanBuffer;
use arrow::compute::kernels::cmp::not_distinct;
use arrow::compute::{CastOptions, can_cast_types, cast_with_options, filter_record_batch};
use arrow::datatypes::{
    DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow::error::ArrowError;
use tonnage_engine::{Error, Result};

use crate::batch::{Origin, ReadBatch};
use crate::nested::{json_line, nested_as_json};
use crate::rejected::{RejectedRecord, bounded};
use crate::render::is_json_field;
use crate::source::Source;
use crate::text::layout::Layout;

/// The way from the columns of a file to those that are wanted.
pub(crate) struct ColumnCast {
    source: Arc<str>,
    schema: SchemaRef,
    steps: Vec<CastStep>,
}

/// The rows that are left, the place in the file's batch of each, and the rows that were rejected.
type Sifted = (RecordBatch, Option<Vec<u32>>, Vec<RejectedRecord>);

/// What is to be done with one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CastStep {
    Keep,
    Cast,
    NestedToJson,
}

impl ColumnCast {
    pub(crate) fn new(source: &Source, layout: Layout, file_schema: &Schema) -> Result<ColumnCast> {
        let mut fields: Vec<FieldRef> = Vec::new();
        let mut steps = Vec::new();
        for (wanted, own) in layout.schema.fields().iter().zip(file_schema.fields()) {
            let step = CastStep::between(own, wanted);
            let fits = step.is_some() || own.data_type() == wanted.data_type();
            fields.push(match fits {
                true => Arc::clone(wanted),
                false => Arc::new(Field::new(wanted.name(), own.data_type().clone(), true)),
            });
            steps.push(step.unwrap_or(CastStep::Keep));
        }
        Ok(ColumnCast {
            source: source.name().into(),
            schema: Arc::new(Schema::new(fields)),
            steps,
        })
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The rows of a batch in the wanted types. Rows with a value that does not fit are rejected.
    pub(crate) fn fit(&self, batch: RecordBatch, first_record: u64) -> Result<ReadBatch> {
        let rows = batch.num_rows();
        let mut columns = Vec::with_capacity(self.steps.len());
        let mut faults: Vec<(usize, usize)> = Vec::new();
        for (place, (step, column)) in self.steps.iter().zip(batch.columns()).enumerate() {
            columns.push(match step {
                CastStep::Keep => Arc::clone(column),
                CastStep::NestedToJson => {
                    Arc::new(nested_as_json(batch.schema().field(place), column)?)
                }
                CastStep::Cast => {
                    let values = cast_column(column, self.schema.field(place).data_type())?;
                    faults.extend(lost_rows(column, &values)?.map(|row| (row, place)));
                    values
                }
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let fitted = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
            .map_err(internal)?;
        let (fitted, kept, rejected) = match faults.is_empty() {
            true => (fitted, None, Vec::new()),
            false => self.reject(&batch, fitted, faults, first_record)?,
        };
        let origin = Origin::Columns { source: Arc::clone(&self.source), first_record, kept };
        Ok(ReadBatch { batch: fitted, first_record, records: rows as u64, rejected, origin })
    }

    /// Takes rows out, each with its first fault.
    fn reject(
        &self,
        batch: &RecordBatch,
        fitted: RecordBatch,
        mut faults: Vec<(usize, usize)>,
        first_record: u64,
    ) -> Result<Sifted> {
        faults.sort_unstable();
        faults.dedup_by_key(|(row, _)| *row);
        let mut good = vec![true; fitted.num_rows()];
        let mut rejected = Vec::with_capacity(faults.len());
        for (row, place) in faults {
            good[row] = false;
            let field = self.schema.field(place);
            rejected.push(RejectedRecord {
                source: self.source.to_string(),
                record: first_record + row as u64,
                line: None,
                column: Some(field.name().clone()),
                reason: format!("the value does not fit {} without loss", field.data_type()),
                original: bounded(&json_line(batch, row)),
            });
        }
        let kept = (0..fitted.num_rows() as u32).filter(|row| good[*row as usize]).collect();
        let mask = BooleanArray::new(BooleanBuffer::from(good), None);
        Ok((filter_record_batch(&fitted, &mask).map_err(internal)?, Some(kept), rejected))
    }
}

impl CastStep {
    /// How to come from the column of a file to the wanted one; none if there is no way.
    fn between(own: &Field, wanted: &Field) -> Option<CastStep> {
        let (from, to) = (own.data_type(), wanted.data_type());
        if from == to {
            return Some(CastStep::Keep);
        }
        if from.is_nested() {
            return is_json_field(wanted).then_some(CastStep::NestedToJson);
        }
        can_cast_types(from, to).then_some(CastStep::Cast)
    }
}

fn internal(error: ArrowError) -> Error {
    Error::internal(format!("a batch could not be put together: {error}")).with_source(error)
}

/// Casts, with NULL for what cannot be cast.
fn cast_column(column: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    let options = CastOptions { safe: true, ..CastOptions::default() };
    match (column.data_type(), data_type) {
        // Arrow's cast between a zone and none would turn instants into what clocks show there.
        (DataType::Timestamp(..), DataType::Timestamp(unit, zone)) => {
            let cast = cast_with_options(
                &in_zone(column, None),
                &DataType::Timestamp(*unit, None),
                &options,
            );
            Ok(in_zone(&cast.map_err(internal)?, zone.clone()))
        }
        _ => cast_with_options(column, data_type, &options).map_err(internal),
    }
}

/// The same instants in a zone, or in none.
fn in_zone(column: &ArrayRef, zone: Option<Arc<str>>) -> ArrayRef {
    let DataType::Timestamp(unit, _) = column.data_type() else { return Arc::clone(column) };
    macro_rules! in_zone {
        ($type:ty) => {
            Arc::new(column.as_primitive::<$type>().clone().with_timezone_opt(zone))
        };
    }
    match unit {
        TimeUnit::Second => in_zone!(TimestampSecondType),
        TimeUnit::Millisecond => in_zone!(TimestampMillisecondType),
        TimeUnit::Microsecond => in_zone!(TimestampMicrosecondType),
        TimeUnit::Nanosecond => in_zone!(TimestampNanosecondType),
    }
}

/// The rows whose value was not cast, or not without loss.
fn lost_rows(before: &ArrayRef, after: &ArrayRef) -> Result<impl Iterator<Item = usize> + use<>> {
    let may_round = before.data_type().is_floating() && after.data_type().is_floating();
    let from_text =
        matches!(before.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let same: BooleanBuffer =
        if may_round || from_text || !can_cast_types(after.data_type(), before.data_type()) {
            (0..before.len())
                .map(|row| {
                    before.is_null(row)
                        || after.is_valid(row) && !turned_infinite(before, after, row)
                })
                .collect()
        } else {
            let back = cast_column(after, before.data_type())?;
            not_distinct(before, &back).map_err(internal)?.values().clone()
        };
    Ok((0..before.len()).filter(move |row| !same.value(*row)))
}

/// Whether a finite double is beyond the range of a float.
fn turned_infinite(before: &ArrayRef, after: &ArrayRef, row: usize) -> bool {
    use arrow::datatypes::{Float32Type, Float64Type};
    let (Some(before), Some(after)) =
        (before.as_primitive_opt::<Float64Type>(), after.as_primitive_opt::<Float32Type>())
    else {
        return false;
    };
    after.value(row).is_infinite() && before.value(row).is_finite()
}
