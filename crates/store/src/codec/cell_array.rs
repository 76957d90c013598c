//! Gathers the bytes of the cells of one column into an Arrow array.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, BooleanBufferBuilder,
    FixedSizeBinaryArray, NullBufferBuilder, PrimitiveArray, StringArray,
};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{
    Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64NanosecondType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, i256,
};

use super::cell;
use crate::schema::timestamp_unit;
use crate::schema::{ColumnType, EnumSymbols};

/// What is wrong with a cell.
pub(crate) struct DamagedCell;

/// The bytes of one column, row by row.
pub(crate) trait CellSource<'a> {
    /// The bytes of a cell; nothing for NULL.
    fn get(&self, row: usize) -> std::result::Result<Option<&'a [u8]>, DamagedCell>;
}

/// An array of cells that are in values and are not nested. The error is the row that cannot be
/// read.
pub(super) fn plain_array<'a>(
    rows: usize,
    column_type: ColumnType,
    cells: &impl CellSource<'a>,
) -> std::result::Result<ArrayRef, usize> {
    let data_type = column_type.data_type();
    // The inverse of `write_fixed` and `write_variable`, as `key_array` is of `write_column`. A new
    // type must be added to these, and to the functions of `cell` for single values.
    Ok(match column_type {
        ColumnType::Integer => {
            Arc::new(primitive::<Int32Type, 4>(rows, cells, i32::from_le_bytes)?)
        }
        ColumnType::Long => Arc::new(primitive::<Int64Type, 8>(rows, cells, i64::from_le_bytes)?),
        ColumnType::Float => {
            Arc::new(primitive::<Float32Type, 4>(rows, cells, f32::from_le_bytes)?)
        }
        ColumnType::Double => {
            Arc::new(primitive::<Float64Type, 8>(rows, cells, f64::from_le_bytes)?)
        }
        ColumnType::Number { .. } if column_type.is_wide() => Arc::new(
            primitive::<Decimal256Type, 32>(rows, cells, i256::from_le_bytes)?
                .with_data_type(data_type),
        ),
        ColumnType::Number { .. } => Arc::new(
            primitive::<Decimal128Type, 16>(rows, cells, i128::from_le_bytes)?
                .with_data_type(data_type),
        ),
        ColumnType::Timestamp(precision) => timestamps(rows, precision, cells, i64::from_le_bytes)?,
        ColumnType::Boolean => booleans(rows, cells)?,
        // `nested_array` reads these.
        ColumnType::Array(_) | ColumnType::Map(_) | ColumnType::Record(_) => return Err(0),
        ColumnType::Uuid => fixed_bytes(rows, 16, cells)?,
        ColumnType::FixedBinary(width) => fixed_bytes(rows, width, cells)?,
        ColumnType::Date => Arc::new(primitive::<Date32Type, 4>(rows, cells, i32::from_le_bytes)?),
        ColumnType::Time => times(rows, cells, i64::from_le_bytes)?,
        ColumnType::Enum(symbols) => symbols_of(rows, symbols, cells, u16::from_le_bytes)?,
        ColumnType::String | ColumnType::Json => {
            variable(rows, cells, push_plain)?.into_strings()?
        }
        ColumnType::Binary => variable(rows, cells, push_plain)?.into_binary(),
    })
}

/// An array of cells that are in keys.
pub(crate) fn key_array<'a>(
    rows: usize,
    column_type: ColumnType,
    cells: &impl CellSource<'a>,
) -> std::result::Result<ArrayRef, usize> {
    // A cell extends to the end of its key or entry, so each reader takes its own bytes alone.
    let data_type = column_type.data_type();
    Ok(match column_type {
        ColumnType::Integer => Arc::new(primitive::<Int32Type, 4>(rows, cells, cell::unkey_i32)?),
        ColumnType::Long => Arc::new(primitive::<Int64Type, 8>(rows, cells, cell::unkey_i64)?),
        ColumnType::Float => Arc::new(primitive::<Float32Type, 4>(rows, cells, cell::unkey_f32)?),
        ColumnType::Double => Arc::new(primitive::<Float64Type, 8>(rows, cells, cell::unkey_f64)?),
        ColumnType::Number { .. } if column_type.is_wide() => Arc::new(
            primitive::<Decimal256Type, 32>(rows, cells, cell::unkey_i256)?
                .with_data_type(data_type),
        ),
        ColumnType::Number { .. } => Arc::new(
            primitive::<Decimal128Type, 16>(rows, cells, cell::unkey_i128)?
                .with_data_type(data_type),
        ),
        ColumnType::Timestamp(precision) => timestamps(rows, precision, cells, cell::unkey_i64)?,
        ColumnType::Boolean => booleans(rows, cells)?,
        // No column of these is in a key.
        ColumnType::Array(_) | ColumnType::Map(_) | ColumnType::Record(_) => return Err(0),
        ColumnType::Uuid => fixed_bytes(rows, 16, cells)?,
        ColumnType::FixedBinary(width) => fixed_bytes(rows, width, cells)?,
        ColumnType::Date => Arc::new(primitive::<Date32Type, 4>(rows, cells, cell::unkey_i32)?),
        ColumnType::Time => times(rows, cells, cell::unkey_i64)?,
        ColumnType::Enum(symbols) => symbols_of(rows, symbols, cells, u16::from_be_bytes)?,
        ColumnType::String | ColumnType::Json => {
            variable(rows, cells, cell::push_unescaped)?.into_strings()?
        }
        ColumnType::Binary => variable(rows, cells, cell::push_unescaped)?.into_binary(),
    })
}

fn primitive<'a, T: ArrowPrimitiveType, const N: usize>(
    rows: usize,
    cells: &impl CellSource<'a>,
    read: impl Fn([u8; N]) -> T::Native,
) -> std::result::Result<PrimitiveArray<T>, usize> {
    let mut values: Vec<T::Native> = Vec::with_capacity(rows);
    let mut nulls = NullBufferBuilder::new(rows);
    for row in 0..rows {
        match cells.get(row) {
            Ok(Some(bytes)) => {
                values.push(read(*bytes.first_chunk::<N>().ok_or(row)?));
                nulls.append_non_null();
            }
            Ok(None) => {
                values.push(T::Native::default());
                nulls.append_null();
            }
            Err(DamagedCell) => return Err(row),
        }
    }
    Ok(PrimitiveArray::new(ScalarBuffer::from(values), nulls.finish()))
}

fn timestamps<'a>(
    rows: usize,
    precision: u8,
    cells: &impl CellSource<'a>,
    read: impl Fn([u8; 8]) -> i64,
) -> std::result::Result<ArrayRef, usize> {
    Ok(match timestamp_unit(precision) {
        TimeUnit::Second => Arc::new(primitive::<TimestampSecondType, 8>(rows, cells, read)?),
        TimeUnit::Millisecond => {
            Arc::new(primitive::<TimestampMillisecondType, 8>(rows, cells, read)?)
        }
        TimeUnit::Microsecond => {
            Arc::new(primitive::<TimestampMicrosecondType, 8>(rows, cells, read)?)
        }
        TimeUnit::Nanosecond => {
            Arc::new(primitive::<TimestampNanosecondType, 8>(rows, cells, read)?)
        }
    })
}

fn booleans<'a>(rows: usize, cells: &impl CellSource<'a>) -> std::result::Result<ArrayRef, usize> {
    let mut values = BooleanBufferBuilder::new(rows);
    let mut nulls = NullBufferBuilder::new(rows);
    for row in 0..rows {
        let cell = cells.get(row).map_err(|DamagedCell| row)?;
        match cell {
            Some(bytes) => {
                values.append(bytes.first().and_then(|byte| cell::read_boolean(*byte)).ok_or(row)?)
            }
            None => values.append(false),
        }
        nulls.append(cell.is_some());
    }
    Ok(Arc::new(BooleanArray::new(values.finish(), nulls.finish())))
}

fn fixed_bytes<'a>(
    rows: usize,
    width: u16,
    cells: &impl CellSource<'a>,
) -> std::result::Result<ArrayRef, usize> {
    let len = usize::from(width);
    let mut values = Vec::with_capacity(rows * len);
    let mut nulls = NullBufferBuilder::new(rows);
    for row in 0..rows {
        let cell = cells.get(row).map_err(|DamagedCell| row)?;
        match cell {
            Some(bytes) => values.extend_from_slice(bytes.get(..len).ok_or(row)?),
            None => values.resize(values.len() + len, 0),
        }
        nulls.append(cell.is_some());
    }
    let array =
        FixedSizeBinaryArray::try_new(width.into(), Buffer::from_vec(values), nulls.finish());
    Ok(Arc::new(array.expect("as many bytes for every row")))
}

fn times<'a>(
    rows: usize,
    cells: &impl CellSource<'a>,
    read: impl Fn([u8; 8]) -> i64,
) -> std::result::Result<ArrayRef, usize> {
    let times = primitive::<Time64NanosecondType, 8>(rows, cells, read)?;
    match times.values().iter().position(|nanoseconds| !cell::is_time(*nanoseconds)) {
        Some(row) => Err(row),
        None => Ok(Arc::new(times)),
    }
}

fn symbols_of<'a>(
    rows: usize,
    symbols: EnumSymbols,
    cells: &impl CellSource<'a>,
    read: impl Fn([u8; 2]) -> u16,
) -> std::result::Result<ArrayRef, usize> {
    variable(rows, cells, |bytes, out| {
        out.extend_from_slice(symbols.symbol(read(*bytes.first_chunk()?))?.as_bytes());
        Some(())
    })?
    .into_strings()
}

/// Cells of text or bytes, laid end to end.
struct VariableCells {
    bytes: Vec<u8>,
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

fn push_plain(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(bytes);
    Some(())
}

fn variable<'a>(
    rows: usize,
    cells: &impl CellSource<'a>,
    push: impl Fn(&[u8], &mut Vec<u8>) -> Option<()>,
) -> std::result::Result<VariableCells, usize> {
    let mut offsets = Vec::with_capacity(rows + 1);
    offsets.push(0);
    let mut gathered =
        VariableCells { bytes: Vec::new(), offsets, nulls: NullBufferBuilder::new(rows) };
    for row in 0..rows {
        let cell = cells.get(row).map_err(|DamagedCell| row)?;
        if let Some(bytes) = cell {
            push(bytes, &mut gathered.bytes).ok_or(row)?;
        }
        gathered.nulls.append(cell.is_some());
        // All cells together take less than 2 GiB: that was looked at before, but for symbols in
        // nested values.
        gathered.offsets.push(i32::try_from(gathered.bytes.len()).map_err(|_| row)?);
    }
    Ok(gathered)
}

impl VariableCells {
    fn into_binary(mut self) -> ArrayRef {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        Arc::new(BinaryArray::new(offsets, Buffer::from_vec(self.bytes), self.nulls.finish()))
    }

    /// The error is the first cell that is not UTF-8.
    fn into_strings(mut self) -> std::result::Result<ArrayRef, usize> {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        let bytes = Buffer::from_vec(self.bytes);
        match StringArray::try_new(offsets.clone(), bytes.clone(), self.nulls.finish()) {
            Ok(array) => Ok(Arc::new(array)),
            Err(_) => {
                let bad = |pair: &[i32]| {
                    std::str::from_utf8(&bytes[pair[0] as usize..pair[1] as usize]).is_err()
                };
                Err(offsets.windows(2).position(bad).unwrap_or(0))
            }
        }
    }
}
