//! Aligns record batches with a table.
//!
//! 1. Find each column of the table in the batch by name. Refuse columns that the table does not
//!    have.
//! 2. Take columns of the right type as they are, cast the others, and fill the missing ones with
//!    their default or NULL.
//! 3. Note the rows with a cell that could not be cast, a NULL where none may be, or a key or value
//!    over the limits.
//! 4. Leave those rows out.
//!
//! A batch that fits already passes with a copy of its pointers: before step 3 looks at any row, it
//! looks at counts of NULLs and at the bytes of all rows together.

use std::collections::BTreeMap;

use arrow::array::{
    Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, RecordBatchOptions, UInt32Array,
    new_null_array,
};
use arrow::compute::kernels::zip::zip;
use arrow::compute::{is_null, take};
use arrow::datatypes::{DataType, Field};
use tonnage_engine::{Error, KeyPart, Result};

use super::cast::{cast_column, rounded_cells};
use super::encode::{add_lens, bytes_and_offsets};
use super::layout::{CellLocation, MARKER_LEN};
use super::single::rounded_in_key;
use super::{TableCodec, cell, nested_array};
use crate::schema::{Column, ColumnType};
use crate::schema::{Generated, NUMBER_GIVEN};
use crate::value::Value;

/// A batch in the table's own columns and types.
#[derive(Clone, Debug)]
pub struct Aligned {
    /// The rows that fit.
    pub batch: RecordBatch,
    /// The rows that do not, in ascending order.
    pub rejected: Vec<Rejected>,
    /// For each row of `batch` its position in the original; nothing when no row was rejected.
    pub kept: Option<Vec<u32>>,
}

impl Aligned {
    /// Sorts out further rows, given by their positions in `batch`.
    pub(crate) fn reject(&mut self, rows: &[u32], reason: &str) -> Result<()> {
        let original = |row: u32| self.kept.as_ref().map_or(row, |kept| kept[row as usize]);
        let stays: Vec<u32> = (0..self.batch.num_rows() as u32)
            .filter(|row| rows.binary_search(row).is_err())
            .collect();
        let rejected = rows.iter().map(|row| Rejected {
            row: original(*row) as usize,
            column: String::new(),
            reason: reason.to_owned(),
        });
        self.rejected.extend(rejected.collect::<Vec<_>>());
        self.rejected.sort_by_key(|rejected| rejected.row);
        self.kept = Some(stays.iter().map(|row| original(*row)).collect());
        let taken = arrow::compute::take_record_batch(&self.batch, &UInt32Array::from(stays));
        self.batch = taken
            .map_err(|error| Error::internal(format!("rows cannot be sorted out: {error}")))?;
        Ok(())
    }
}

/// A row that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Its position in the batch.
    pub row: usize,
    /// The column at fault; empty when it is the row as a whole.
    pub column: String,
    /// What is wrong.
    pub reason: String,
}

/// The treatment of a value with more digits than its column keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// It is rounded, as SQL does it with what it computes.
    Done,
    /// Its row is rejected, as all rows are that are given so.
    Refused,
}

/// Gives as many numbers as it is asked for, each once.
pub(crate) type DrawNumbers<'a> = &'a dyn Fn(usize) -> Result<Vec<i64>>;

/// The first fault of each row that has one.
type AlignFaults = BTreeMap<usize, (String, String)>;

impl TableCodec {
    /// Makes a batch fit the table: columns by name, missing ones filled, types cast. A cell that
    /// does not fit rejects its row only. Rows are not numbered: an identity column must be there.
    ///
    /// # Errors
    /// `Invalid` when the batch as a whole cannot fit: an unknown column, a missing key column, a
    /// type that cannot be cast, more than 2 GiB in one column.
    pub fn align(&self, batch: &RecordBatch) -> Result<Aligned> {
        self.align_with(batch, None, Rounding::Done)
    }

    /// The same for new rows that are looked at and not stored: those that the store would number
    /// all have the first number.
    ///
    /// # Errors
    /// As [`TableCodec::align`].
    pub fn align_unnumbered(&self, batch: &RecordBatch) -> Result<Aligned> {
        self.align_first(batch, Rounding::Done)
    }

    /// Aligns rows that are given, rather than computed, as [`TableCodec::align_unnumbered`] does.
    /// A row with a value that its column would round is rejected.
    ///
    /// # Errors
    /// As [`TableCodec::align`].
    pub fn align_given(&self, batch: &RecordBatch) -> Result<Aligned> {
        self.align_first(batch, Rounding::Refused)
    }

    fn align_first(&self, batch: &RecordBatch, rounding: Rounding) -> Result<Aligned> {
        let identity = self.identity.and_then(|column| self.schema.columns[column].identity);
        let first = identity.map_or(0, |identity| identity.start);
        self.align_with(batch, Some(&|count| Ok(vec![first; count])), rounding)
    }

    /// The same, where rows are numbered.
    pub(crate) fn align_numbered(
        &self,
        batch: &RecordBatch,
        draw: DrawNumbers<'_>,
        rounding: Rounding,
    ) -> Result<Aligned> {
        self.align_with(batch, Some(draw), rounding)
    }

    fn align_with(
        &self,
        batch: &RecordBatch,
        draw: Option<DrawNumbers<'_>>,
        rounding: Rounding,
    ) -> Result<Aligned> {
        let identity = self.identity.zip(draw);
        let places = self.match_columns(batch, identity.map(|(column, _)| column))?;
        self.check_room(batch)?;
        let mut faults = AlignFaults::new();
        let mut arrays = Vec::with_capacity(places.len());
        for (index, (column, place)) in self.schema.columns.iter().zip(places).enumerate() {
            let draw = identity.filter(|(own, _)| *own == index).map(|(_, draw)| draw);
            let given = place
                .map(|place| self.cast_batch_column(batch, place, column, rounding, &mut faults))
                .transpose()?;
            // A column of identity is numbered where the batch has none, or NULL.
            let array = match (given, draw) {
                (Some(given), None) => given,
                (Some(given), Some(draw)) => self.number_rows(given, column, draw, &mut faults)?,
                (None, Some(draw)) => self.number_array(column, &draw(batch.num_rows())?)?,
                (None, None) => self.default_array(column, batch.num_rows())?,
            };
            if !column.nullable && array.null_count() > 0 {
                self.note_nulls(&array, column, &mut faults);
            }
            arrays.push(array);
        }
        // A row is rejected once, with the first fault that was noted of it.
        self.note_oversize(&arrays, batch.num_rows(), &mut faults);
        self.drop_faulty_rows(arrays, batch.num_rows(), faults)
    }

    /// For each column of the table its position in the batch.
    fn match_columns(
        &self,
        batch: &RecordBatch,
        numbered: Option<usize>,
    ) -> Result<Vec<Option<usize>>> {
        let mut places = vec![None; self.schema.columns.len()];
        for (place, field) in batch.schema_ref().fields().iter().enumerate() {
            // The map first: `require_column` loops over all columns, and is here for its error.
            let column = match self.find(field.name()) {
                Some(column) => column,
                None => self.schema.require_column(field.name())?,
            };
            if places[column].replace(place).is_some() {
                return Err(Error::invalid(format!(
                    "table {}: the batch has column '{}' twice",
                    self.schema.path,
                    field.name()
                )));
            }
        }
        // Only key columns must be there: `default_array` sees to all others that are missing.
        let is_missing = |column: usize| {
            places[column].is_none() && Some(column) != numbered && !self.is_generated(column)
        };
        match self.key.iter().find(|step| is_missing(step.column)) {
            Some(step) => Err(self.missing_key_column(step)),
            None => Ok(places),
        }
    }

    fn cast_batch_column(
        &self,
        batch: &RecordBatch,
        place: usize,
        column: &Column,
        rounding: Rounding,
        faults: &mut AlignFaults,
    ) -> Result<ArrayRef> {
        let (array, failures) =
            cast_column(batch.column(place), batch.schema_ref().field(place), column.column_type)
                .map_err(|error| {
                error
                    .at(format_args!("table {}, column '{}'", self.schema.path, column.name))
                    .in_table(&self.schema.path)
                    .in_column(&column.name)
            })?;
        for (row, reason) in failures {
            faults.entry(row).or_insert_with(|| (column.name.clone(), reason));
        }
        // A key column rounds nothing: two keys that were given would become one row.
        if self.schema.key_columns().any(|key| key.id == column.id) {
            let (given, field) = (batch.column(place), batch.schema_ref().field(place));
            for row in rounded_cells(given, field, &array, column.column_type) {
                // `rounded_cells` has read this cell already, so it is never shown as NULL.
                let shown = Value::from_array(given.as_ref(), field, row).unwrap_or(Value::Null);
                faults.entry(row).or_insert_with(|| {
                    (column.name.clone(), rounded_in_key(&shown, column.column_type))
                });
            }
        } else if rounding == Rounding::Refused && !takes_nearest(column.column_type) {
            let (given, field) = (batch.column(place), batch.schema_ref().field(place));
            for row in rounded_cells(given, field, &array, column.column_type) {
                let given = Value::from_array(given.as_ref(), field, row).unwrap_or(Value::Null);
                let held = Value::of_cell(array.as_ref(), column.column_type, row);
                if let Some(reason) = given.rounding_fault(&held, column.column_type) {
                    faults.entry(row).or_insert_with(|| (column.name.clone(), reason));
                }
            }
        }
        Ok(array)
    }

    /// Numbers as the column holds them.
    fn number_array(&self, column: &Column, numbers: &[i64]) -> Result<ArrayRef> {
        let (array, failures) = cast_column(
            &(std::sync::Arc::new(Int64Array::from(numbers.to_vec())) as ArrayRef),
            &Field::new(&column.name, DataType::Int64, true),
            column.column_type,
        )?;
        match failures.first() {
            None => Ok(array),
            Some((_, reason)) => Err(Error::invalid(format!(
                "table {}, column '{}': the IDENTITY has no numbers left: {reason}",
                self.schema.path, column.name
            ))),
        }
    }

    /// Numbers the rows that bring no number, and refuses those that must not bring one.
    fn number_rows(
        &self,
        given: ArrayRef,
        column: &Column,
        draw: DrawNumbers<'_>,
        faults: &mut AlignFaults,
    ) -> Result<ArrayRef> {
        let generated = column.identity.map(|identity| identity.generated);
        if generated == Some(Generated::Always) {
            for row in (0..given.len()).filter(|row| given.is_valid(*row)) {
                faults.entry(row).or_insert_with(|| (column.name.clone(), NUMBER_GIVEN.to_owned()));
            }
        }
        // BY DEFAULT takes a NULL for a value that was given, and it is refused as one; the other
        // kinds number it.
        if given.null_count() == 0 || generated == Some(Generated::ByDefault) {
            return Ok(given);
        }
        // Drawn for the rows without one alone: a number that is drawn and not used is lost.
        let mut numbers = draw(given.null_count())?.into_iter();
        let in_place = |row: usize| match given.is_null(row) {
            true => numbers.next().unwrap_or_default(),
            false => 0,
        };
        // The zeros are never seen: `zip` takes those rows from `given`.
        let in_place: Vec<i64> = (0..given.len()).map(in_place).collect();
        let numbers = self.number_array(column, &in_place)?;
        let broken = |error: arrow::error::ArrowError| Error::internal(error.to_string());
        let missing: BooleanArray = is_null(&given).map_err(broken)?;
        zip(&missing, &numbers, &given).map_err(broken)
    }

    fn default_array(&self, column: &Column, rows: usize) -> Result<ArrayRef> {
        match column.default_array(rows)? {
            Some(default) => Ok(default),
            None if column.nullable => Ok(new_null_array(&column.column_type.data_type(), rows)),
            None => Err(Error::invalid(format!(
                "table {}: column '{}' is missing, and declared NOT NULL without DEFAULT",
                self.schema.path, column.name
            ))),
        }
    }

    #[cold]
    fn note_nulls(&self, array: &ArrayRef, column: &Column, faults: &mut AlignFaults) {
        let in_key = self.schema.key_columns().any(|key| key.id == column.id);
        let reason = if in_key {
            "is NULL, but part of the primary key"
        } else {
            "is NULL, but declared NOT NULL"
        };
        for row in (0..array.len()).filter(|row| array.is_null(*row)) {
            faults.entry(row).or_insert_with(|| (column.name.clone(), reason.to_owned()));
        }
    }

    fn note_oversize(&self, arrays: &[ArrayRef], rows: usize, faults: &mut AlignFaults) {
        let value_columns = || {
            self.value
                .iter()
                .filter(|column| matches!(column.slot.location, CellLocation::Variable(_)))
                .map(|column| {
                    (&arrays[column.column], self.schema.columns[column.column].column_type)
                })
        };
        let value_bytes: usize = value_columns()
            .map(|(array, column_type)| match column_type.is_nested() {
                true => nested_bytes_max(array),
                false => bytes_in(array),
            })
            .sum();
        if self.layout().head_len + value_bytes > self.limits.value_bytes_max {
            let mut lens = vec![self.layout().head_len; rows];
            // A nested column that cannot be encoded is passed over: `plain_columns` refuses such a
            // batch.
            for (array, column_type) in value_columns() {
                if !column_type.is_nested() {
                    add_lens(array, &mut lens);
                } else if let Ok(encoded) = nested_array::encoded(array, column_type) {
                    add_lens(&encoded, &mut lens);
                }
            }
            note_longer("value", &lens, self.limits.value_bytes_max, faults);
        }
        let key_columns = || {
            self.key
                .iter()
                .filter(|step| step.part == KeyPart::Terminated)
                .map(|step| &arrays[step.column])
        };
        // A part of variable width ends with two bytes, which `add_escaped_lens` leaves out.
        let fixed: usize = self
            .key
            .iter()
            .map(|step| {
                step.column_type.fixed_width().unwrap_or(2) + step.marker.map_or(0, |_| MARKER_LEN)
            })
            .sum();
        // At worst every byte is escaped.
        let key_bytes: usize = key_columns().map(|array| 2 * longest(array)).sum();
        if fixed + key_bytes > self.limits.key_bytes_max {
            let mut lens = vec![fixed; rows];
            key_columns().for_each(|array| add_escaped_lens(array, &mut lens));
            note_longer("key", &lens, self.limits.key_bytes_max, faults);
        }
    }

    fn drop_faulty_rows(
        &self,
        arrays: Vec<ArrayRef>,
        rows: usize,
        faults: AlignFaults,
    ) -> Result<Aligned> {
        // Nearly all batches end here: arrays are passed on, and no cell is copied.
        if faults.is_empty() {
            return Ok(Aligned {
                batch: self.batch(arrays, rows)?,
                rejected: Vec::new(),
                kept: None,
            });
        }
        // Faults are sorted by row, so one pass leaves them out.
        let mut next = faults.keys().copied().peekable();
        let kept: Vec<u32> =
            (0..rows).filter(|row| next.next_if_eq(row).is_none()).map(|row| row as u32).collect();
        let indices = UInt32Array::from(kept.clone());
        let arrays = arrays
            .iter()
            .map(|array| take(array, &indices, None))
            .collect::<std::result::Result<Vec<_>, _>>();
        let arrays = arrays.map_err(|error| {
            Error::internal(format!("table {}: {error}", self.schema.path)).with_source(error)
        })?;
        let rejected = faults
            .into_iter()
            .map(|(row, (column, reason))| Rejected { row, column, reason })
            .collect();
        Ok(Aligned { batch: self.batch(arrays, kept.len())?, rejected, kept: Some(kept) })
    }

    fn batch(&self, arrays: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.arrow.clone(), arrays, &options).map_err(|error| {
            Error::internal(format!("table {}: {error}", self.schema.path)).with_source(error)
        })
    }
}

/// True for a column that takes the nearest one of any number.
fn takes_nearest(column_type: ColumnType) -> bool {
    matches!(column_type, ColumnType::Float | ColumnType::Double)
}

/// More bytes than the cells of nested values take together: for each bit of a part there are at
/// most eight bytes of a length, and for each row a length.
fn nested_bytes_max(array: &ArrayRef) -> usize {
    let bytes = array.to_data().get_slice_memory_size().unwrap_or(usize::MAX / 128);
    bytes.saturating_mul(64).saturating_add(array.len().saturating_mul(64))
}

/// The bytes of all cells together.
fn bytes_in(array: &ArrayRef) -> usize {
    let (_, offsets) = bytes_and_offsets(array);
    (offsets[offsets.len() - 1] - offsets[0]) as usize
}

/// The bytes of the longest cell.
fn longest(array: &ArrayRef) -> usize {
    let (_, offsets) = bytes_and_offsets(array);
    offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize).max().unwrap_or(0)
}

fn add_escaped_lens(array: &ArrayRef, lens: &mut [usize]) {
    let (bytes, offsets) = bytes_and_offsets(array);
    for (len, pair) in lens.iter_mut().zip(offsets.windows(2)) {
        *len +=
            cell::escaped_len(&bytes[pair[0] as usize..pair[1] as usize]) - cell::TERMINATOR.len();
    }
}

fn note_longer(what: &str, lens: &[usize], limit: usize, faults: &mut AlignFaults) {
    for (row, len) in lens.iter().enumerate().filter(|(_, len)| **len > limit) {
        faults.entry(row).or_insert_with(|| {
            (String::new(), format!("the {what} takes {len} bytes; the limit is {limit}"))
        });
    }
}
