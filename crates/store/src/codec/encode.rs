//! Encodes batches of rows into values.
//!
//! 1. Measure: the length of every value is the fixed head plus its columns of variable width.
//! 2. Take one zeroed buffer for all values. A NULL of fixed width stays zero.
//! 3. Write the schema numbers and null bits, then column after column.

use std::borrow::Cow;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::TimeUnit;
use arrow::datatypes::{
    Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use tonnage_engine::{Error, Result, Slices};

use super::layout::{CellLocation, ColumnSlot, END_LEN, NUMBER_LEN, ValueLayout};
use super::{TableCodec, nested_array};
use crate::schema::timestamp_unit;
use crate::schema::{ColumnType, EnumSymbols};

impl TableCodec {
    /// Encodes an aligned batch; what `keys` and `values` held is replaced.
    ///
    /// # Errors
    /// `Invalid` when the batch is not aligned.
    pub fn encode(
        &self,
        batch: &RecordBatch,
        keys: &mut Slices,
        values: &mut Slices,
    ) -> Result<()> {
        self.check_aligned(batch)?;
        let key_columns: Vec<&ArrayRef> =
            self.key.iter().map(|step| batch.column(step.column)).collect();
        *keys = self.encode_key_columns(&key_columns, batch.num_rows(), None)?;
        *values = self.encode_values(batch)?;
        Ok(())
    }

    fn check_aligned(&self, batch: &RecordBatch) -> Result<()> {
        let fits = batch.num_columns() == self.arrow.fields().len()
            && batch
                .columns()
                .iter()
                .zip(self.arrow.fields())
                .all(|(array, field)| array.data_type() == field.data_type())
            && self.schema.columns.iter().zip(batch.columns()).all(|(column, array)| {
                let ColumnType::Enum(symbols) = column.column_type else { return true };
                array.as_string::<i32>().iter().flatten().all(|text| symbols.place(text).is_some())
            });
        if fits {
            Ok(())
        } else {
            Err(Error::invalid(format!(
                "the batch has not the columns of table {}: align it first",
                self.schema.path
            )))
        }
    }

    fn encode_values(&self, batch: &RecordBatch) -> Result<Slices> {
        let layout = self.layout();
        let columns = self.plain_columns(batch)?;
        let ends = self.measure_values(&columns, layout, batch.num_rows())?;
        // Zeroed, so that null bits and NULLs of fixed width need no write.
        let mut data = vec![0; ends.last().copied().unwrap_or(0)];
        each_row(&ends, |_, start| {
            data[start..start + NUMBER_LEN].copy_from_slice(&layout.number.to_le_bytes())
        });
        // Columns are written one after another, so each row remembers how far its variable part is
        // filled.
        let mut filled = if layout.variable > 0 { vec![0_u32; ends.len()] } else { Vec::new() };
        for value_column in &self.value {
            let array = columns[value_column.column].as_ref();
            mark_nulls(array, value_column.slot, &ends, &mut data);
            match value_column.slot.location {
                CellLocation::Fixed(at, _) => write_fixed(
                    array,
                    self.schema.columns[value_column.column].column_type,
                    at,
                    &ends,
                    &mut data,
                ),
                CellLocation::Variable(variable) => {
                    write_variable(array, layout, variable, &ends, &mut filled, &mut data)
                }
            }
        }
        Ok(Slices::from_parts(data, ends))
    }

    /// The columns of a batch, those of nested types as the bytes of their cells.
    fn plain_columns<'b>(&self, batch: &'b RecordBatch) -> Result<Vec<Cow<'b, ArrayRef>>> {
        let columns = self.schema.columns.iter().zip(batch.columns());
        let plain = columns.map(|(column, array)| {
            if !column.column_type.is_nested() {
                return Ok(Cow::Borrowed(array));
            }
            nested_array::encoded(array, column.column_type).map(Cow::Owned).map_err(|row| {
                Error::invalid(format!(
                    "table {}, column '{}': {row} rows take more than 2 GiB: give fewer rows at a time",
                    self.schema.path, column.name
                ))
            })
        });
        plain.collect()
    }

    /// Where each value ends in the buffer of all.
    fn measure_values(
        &self,
        columns: &[Cow<'_, ArrayRef>],
        layout: &ValueLayout,
        rows: usize,
    ) -> Result<Vec<usize>> {
        let mut lens = vec![layout.head_len; rows];
        for value_column in &self.value {
            if let CellLocation::Variable(_) = value_column.slot.location {
                add_lens(columns[value_column.column].as_ref(), &mut lens);
            }
        }
        if let Some(row) = lens.iter().position(|len| *len > u32::MAX as usize) {
            return Err(Error::invalid(format!(
                "table {}: row {row} of the batch is longer than 4 GiB",
                self.schema.path
            )));
        }
        running_sum(&mut lens);
        Ok(lens)
    }
}

/// Turns lengths into ends.
pub(crate) fn running_sum(lens: &mut [usize]) {
    let mut end = 0;
    for len in lens {
        end += *len;
        *len = end;
    }
}

/// Calls with each row and where it starts.
#[inline]
fn each_row(ends: &[usize], mut visit: impl FnMut(usize, usize)) {
    let mut start = 0;
    for (row, end) in ends.iter().enumerate() {
        visit(row, start);
        start = *end;
    }
}

fn mark_nulls(array: &ArrayRef, slot: ColumnSlot, ends: &[usize], data: &mut [u8]) {
    let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) else { return };
    let (byte, mask) = (NUMBER_LEN + slot.bit / 8, 1 << (slot.bit % 8));
    each_row(ends, |row, start| {
        if nulls.is_null(row) {
            data[start + byte] |= mask;
        }
    });
}

fn write_fixed(
    array: &ArrayRef,
    column_type: ColumnType,
    at: usize,
    ends: &[usize],
    data: &mut [u8],
) {
    macro_rules! primitive {
        ($arrow:ty) => {{
            let values = array.as_primitive::<$arrow>().values();
            write_cells(array, at, ends, data, |row| values[row].to_le_bytes())
        }};
    }
    // `cell::with_plain_bytes` writes the same bytes for single rows, and `plain_array` reads them
    // back: all three follow `docs/format.md`.
    match column_type {
        ColumnType::Integer => primitive!(Int32Type),
        ColumnType::Long => primitive!(Int64Type),
        ColumnType::Float => primitive!(Float32Type),
        ColumnType::Double => primitive!(Float64Type),
        ColumnType::Number { .. } if column_type.is_wide() => primitive!(Decimal256Type),
        ColumnType::Number { .. } => primitive!(Decimal128Type),
        ColumnType::Timestamp(precision) => match timestamp_unit(precision) {
            TimeUnit::Second => primitive!(TimestampSecondType),
            TimeUnit::Millisecond => primitive!(TimestampMillisecondType),
            TimeUnit::Microsecond => primitive!(TimestampMicrosecondType),
            TimeUnit::Nanosecond => primitive!(TimestampNanosecondType),
        },
        ColumnType::Boolean => {
            let values = array.as_boolean().values();
            write_cells(array, at, ends, data, |row| [u8::from(values.value(row))])
        }
        ColumnType::Uuid => {
            let values = array.as_fixed_size_binary();
            write_cells::<16>(array, at, ends, data, |row| {
                values.value(row).try_into().expect("cells of a UUID array have 16 bytes")
            })
        }
        ColumnType::Date => primitive!(Date32Type),
        ColumnType::Time => primitive!(Time64NanosecondType),
        ColumnType::FixedBinary(width) => {
            let (values, width) = (array.as_fixed_size_binary(), usize::from(width));
            // Not by `write_cells`: its width is a constant, this one belongs to the type.
            each_row(ends, |row, start| {
                if values.is_valid(row) {
                    data[start + at..start + at + width].copy_from_slice(values.value(row));
                }
            });
        }
        ColumnType::Enum(symbols) => {
            let texts = array.as_string::<i32>();
            write_cells(array, at, ends, data, |row| {
                symbol_index(symbols, texts.value(row)).to_le_bytes()
            });
        }
        ColumnType::Array(_) | ColumnType::Map(_) | ColumnType::Record(_) => {
            unreachable!("of variable width")
        }
        ColumnType::String | ColumnType::Binary | ColumnType::Json => {
            unreachable!("of variable width")
        }
    }
}

/// The position of a symbol in an aligned batch, which holds no others.
#[inline]
pub(super) fn symbol_index(symbols: EnumSymbols, text: &str) -> u16 {
    symbols.place(text).unwrap_or(u16::MAX)
}

#[inline]
fn write_cells<const N: usize>(
    array: &ArrayRef,
    at: usize,
    ends: &[usize],
    data: &mut [u8],
    cell: impl Fn(usize) -> [u8; N],
) {
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => each_row(ends, |row, start| {
            data[start + at..start + at + N].copy_from_slice(&cell(row))
        }),
        Some(nulls) => each_row(ends, |row, start| {
            if nulls.is_valid(row) {
                data[start + at..start + at + N].copy_from_slice(&cell(row));
            }
        }),
    }
}

/// The bytes and the offsets of an array of text or bytes.
pub(super) fn bytes_and_offsets(array: &ArrayRef) -> (&[u8], &[i32]) {
    match array.as_string_opt::<i32>() {
        Some(text) => (text.value_data(), text.value_offsets()),
        None => {
            let binary = array.as_binary::<i32>();
            (binary.value_data(), binary.value_offsets())
        }
    }
}

/// Adds the length of every cell of an array of text or bytes.
pub(super) fn add_lens(array: &ArrayRef, lens: &mut [usize]) {
    let (_, offsets) = bytes_and_offsets(array);
    let nulls = array.nulls();
    for (row, (len, pair)) in lens.iter_mut().zip(offsets.windows(2)).enumerate() {
        if nulls.is_none_or(|nulls| nulls.is_valid(row)) {
            *len += (pair[1] - pair[0]) as usize;
        }
    }
}

/// Writes a column of variable width after the bytes that `filled` counts, and its end.
fn write_variable(
    array: &ArrayRef,
    layout: &ValueLayout,
    variable: usize,
    ends: &[usize],
    filled: &mut [u32],
    data: &mut [u8],
) {
    let (bytes, offsets) = bytes_and_offsets(array);
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
    let end_at = layout.ends_at + variable * END_LEN;
    each_row(ends, |row, start| {
        if nulls.is_none_or(|nulls| nulls.is_valid(row)) {
            let cell = &bytes[offsets[row] as usize..offsets[row + 1] as usize];
            let at = start + layout.head_len + filled[row] as usize;
            data[at..at + cell.len()].copy_from_slice(cell);
            filled[row] += cell.len() as u32;
        }
        data[start + end_at..start + end_at + END_LEN].copy_from_slice(&filled[row].to_le_bytes());
    });
}
