//! Casts the columns of a Parquet, Arrow or Avro file to the wanted types.
//!
//! - A value is accepted only if nothing is lost: it is cast, cast back, and compared.
//! - The one exception are columns of doubles and single-precision numbers, which take the nearest
//!   one of any number.
//! - A timestamp keeps its instant in UTC, whatever its zone.
//! - Text is parsed like that of CSV (`cast_text`).
//! - A column that cannot be cast to the wanted type stays as it is. The caller sees that in the
//!   schema.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::buffer::BooleanBuffer;
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use arrow::error::ArrowError;
use tonnage_engine::{Error, Result};

use crate::batch::{Origin, ReadBatch};
use crate::cast_nested::{can_cast, cast_column, same_rows};
use crate::cast_text::{fault, is_text, uuids};
use crate::nested::{json_line, nested_as_json};
use crate::raw_values::moment_texts;
use crate::rejected::RejectedRecord;
use crate::source::Source;
use crate::text::layout::ColumnLayout;
use crate::type_name::{is_binary_field, is_json_field, is_variant_field, type_name};

/// The way from the columns of a file to those that are wanted.
pub(crate) struct ColumnCast {
    source: Arc<str>,
    schema: SchemaRef,
    /// The columns of the file in its own types.
    file_schema: SchemaRef,
    /// For each, whether its values come as bytes that are converted first.
    gives_bytes: Vec<bool>,
    steps: Vec<CastStep>,
}

/// The rows that are left, the position in the file's batch of each, and the rows that were
/// rejected.
type FilteredBatch = (RecordBatch, Option<Vec<u32>>, Vec<RejectedRecord>);

/// What is to be done with one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CastStep {
    Keep,
    Cast,
    NestedToJson,
    TextToUuid,
}

impl ColumnCast {
    pub(crate) fn new(
        source: &Source,
        layout: ColumnLayout,
        file_schema: SchemaRef,
        gives_bytes: Vec<bool>,
    ) -> ColumnCast {
        let mut fields: Vec<FieldRef> = Vec::new();
        let mut steps = Vec::new();
        for (wanted, own) in layout.schema.fields().iter().zip(file_schema.fields()) {
            let step = CastStep::between(own, wanted);
            let fits = step.is_some() || own.data_type() == wanted.data_type();
            fields.push(match fits {
                true => Arc::clone(wanted),
                false => {
                    Arc::new(own.as_ref().clone().with_name(wanted.name()).with_nullable(true))
                }
            });
            steps.push(step.unwrap_or(CastStep::Keep));
        }
        ColumnCast {
            source: source.name().into(),
            schema: Arc::new(Schema::new(fields)),
            file_schema,
            gives_bytes,
            steps,
        }
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Cast the rows of a batch to the wanted types. Rows with a value that does not fit are rejected.
    pub(crate) fn apply(&self, batch: RecordBatch, first_record: u64) -> Result<ReadBatch> {
        let rows = batch.num_rows();
        let mut columns = Vec::with_capacity(self.steps.len());
        let mut faults: Vec<(usize, usize)> = Vec::new();
        for (place, (step, given)) in self.steps.iter().zip(batch.columns()).enumerate() {
            let column = &match self.gives_bytes[place] {
                true => self.values_of_bytes(place, given, &mut faults)?,
                false => Arc::clone(given),
            };
            columns.push(match step {
                CastStep::Keep => Arc::clone(column),
                CastStep::NestedToJson => {
                    Arc::new(nested_as_json(self.file_schema.field(place), column)?)
                }
                CastStep::Cast | CastStep::TextToUuid => {
                    let values = match step {
                        CastStep::TextToUuid => uuids(column)?,
                        _ => cast_column(column, self.schema.field(place).data_type())?,
                    };
                    // Faults of all columns are gathered first: a row is rejected once, whatever
                    // does not fit.
                    let same = same_rows(column, &values)?;
                    let lost = (0..rows).filter(|row| !same.value(*row));
                    faults.extend(lost.map(|row| (row, place)));
                    values
                }
            });
        }
        // Without a wanted column there are still as many rows.
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

    /// The values that the bytes of a column mean. What its own type cannot hold is a fault.
    fn values_of_bytes(
        &self,
        place: usize,
        bytes: &ArrayRef,
        faults: &mut Vec<(usize, usize)>,
    ) -> Result<ArrayRef> {
        let values = cast_column(bytes, self.file_schema.field(place).data_type())?;
        let same = same_rows(bytes, &values)?;
        faults.extend((0..bytes.len()).filter(|row| !same.value(*row)).map(|row| (row, place)));
        Ok(values)
    }

    /// The batch with text for timestamps that came as bytes, which no reader takes.
    fn shown(&self, batch: &RecordBatch) -> RecordBatch {
        let schema = batch.schema();
        let columns = batch.columns().iter().zip(schema.fields()).enumerate();
        let columns = columns.map(|(place, (column, field))| {
            let is_moment =
                matches!(self.file_schema.field(place).data_type(), DataType::Timestamp(..));
            let is_shown = is_moment && self.gives_bytes[place];
            match is_shown.then(|| moment_texts(column)).flatten() {
                Some(texts) => {
                    (Arc::new(Field::new(field.name(), DataType::Utf8, true)), Arc::new(texts) as _)
                }
                None => (Arc::clone(field), Arc::clone(column)),
            }
        });
        let (fields, columns): (Vec<_>, Vec<_>) = columns.unzip();
        let shown = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns);
        shown.unwrap_or_else(|_| batch.clone())
    }

    /// Takes rows out, each with its first fault.
    fn reject(
        &self,
        batch: &RecordBatch,
        fitted: RecordBatch,
        mut faults: Vec<(usize, usize)>,
        first_record: u64,
    ) -> Result<FilteredBatch> {
        // Sorted by row, then column: the fault that stays is that of the first column.
        faults.sort_unstable();
        faults.dedup_by_key(|(row, _)| *row);
        let shown = self.shown(batch);
        let mut good = vec![true; fitted.num_rows()];
        let mut rejected = Vec::with_capacity(faults.len());
        for (row, place) in faults {
            good[row] = false;
            let field = self.schema.field(place);
            let fault = fault(batch.column(place), row, field.data_type());
            let lost = || format!("the value does not fit {} without loss", type_name(field));
            rejected.push(RejectedRecord {
                source: self.source.to_string(),
                record: first_record + row as u64,
                line: None,
                column: Some(field.name().clone()),
                reason: fault.unwrap_or_else(lost),
                // From the file's batch: in the cast one the value is lost.
                original: json_line(&shown, row),
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
        // The parts of a VARIANT are bytes that only its reader understands.
        if is_variant_field(own) {
            return None;
        }
        if from == to {
            return Some(CastStep::Keep);
        }
        if from.is_nested() && is_json_field(wanted) {
            return Some(CastStep::NestedToJson);
        }
        if is_text(from) && to == &DataType::FixedSizeBinary(16) && !is_binary_field(wanted) {
            return Some(CastStep::TextToUuid);
        }
        can_cast(from, to).then_some(CastStep::Cast)
    }
}

fn internal(error: ArrowError) -> Error {
    Error::internal(format!("a batch could not be put together: {error}")).with_source(error)
}
