//! Values and keys to record batches.
//!
//! 1. Note for every row the layout that its schema number names, and that its length agrees with
//!    it.
//! 2. For each column asked for, find its bytes row by row (in the value, in the key, or the
//!    default of a column that was added later) and gather them into an array.
//!
//! Nothing that is read from a store is trusted: every place is checked, and bytes that cannot be
//! are `Corruption`.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, BooleanBufferBuilder,
    FixedSizeBinaryArray, NullBufferBuilder, PrimitiveArray, RecordBatch, RecordBatchOptions,
    StringArray,
};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64NanosecondType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use tonnage_engine::{Error, Result, Rows};

use super::decode_keys::{KeyPlaces, key_error};
use super::layout::{NUMBER_LEN, Slot, ValueLayout};
use super::nested::nested_array;
use super::{TableCodec, cell};
use crate::schema::timestamp_unit;
use crate::{ColumnType, EnumSymbols};

/// The rows to decode.
#[derive(Clone, Copy)]
struct Picked<'a> {
    rows: &'a Rows,
    which: Option<&'a [u32]>,
}

impl<'a> Picked<'a> {
    fn len(&self) -> usize {
        self.which.map_or(self.rows.len(), <[u32]>::len)
    }

    #[inline]
    fn index(&self, row: usize) -> usize {
        self.which.map_or(row, |which| which[row] as usize)
    }

    #[inline]
    fn key(&self, row: usize) -> &'a [u8] {
        self.rows.keys.get(self.index(row))
    }

    #[inline]
    fn value(&self, row: usize) -> &'a [u8] {
        self.rows.values.get(self.index(row))
    }
}

/// What is wrong with a cell.
pub(super) struct Damaged;

/// The bytes of one column, row by row.
pub(super) trait Cells<'a> {
    /// The bytes of a cell; nothing for NULL.
    fn get(&self, row: usize) -> std::result::Result<Option<&'a [u8]>, Damaged>;
}

struct ValueCells<'a> {
    picked: Picked<'a>,
    /// The layout of each row, by its place among those known.
    layouts: &'a [u16],
    known: &'a [&'a ValueLayout],
    /// Where the column lies in each of the known layouts.
    slots: Vec<Option<Slot>>,
    default: Option<&'a [u8]>,
}

impl<'a> Cells<'a> for ValueCells<'a> {
    #[inline]
    fn get(&self, row: usize) -> std::result::Result<Option<&'a [u8]>, Damaged> {
        let layout = usize::from(self.layouts[row]);
        match self.slots[layout] {
            Some(slot) => self.known[layout].cell(self.picked.value(row), slot).ok_or(Damaged),
            None => Ok(self.default),
        }
    }
}

struct KeyCells<'a> {
    picked: Picked<'a>,
    places: &'a KeyPlaces,
    wanted: usize,
}

impl<'a> Cells<'a> for KeyCells<'a> {
    #[inline]
    fn get(&self, row: usize) -> std::result::Result<Option<&'a [u8]>, Damaged> {
        self.picked.key(row).get(self.places.get(row, self.wanted)..).map(Some).ok_or(Damaged)
    }
}

impl TableCodec {
    /// Decodes rows of this table: all, or those at the given places; all columns, or those at the
    /// given places in the schema. Values are not looked at when only key columns are asked for.
    ///
    /// # Errors
    /// `Invalid` for more than 2 GiB of rows, which Arrow's arrays cannot take: decode fewer
    /// together. `Corruption` for bytes that no row of this table encodes to, naming the table and
    /// the key; `Conflict` for a row without a column that this codec, which is older, has as NOT
    /// NULL: take the table's codec anew.
    ///
    /// # Panics
    /// If `which` names a row that there is not.
    pub fn decode(
        &self,
        rows: &Rows,
        which: Option<&[u32]>,
        projection: Option<&[usize]>,
    ) -> Result<RecordBatch> {
        let schema = self.projected_schema(projection)?;
        let picked = Picked { rows, which };
        self.check_bytes(picked, projection)?;
        let all: Vec<usize>;
        let columns = match projection {
            Some(columns) => columns,
            None => {
                all = (0..self.schema.columns.len()).collect();
                &all
            }
        };
        let wanted: Vec<usize> =
            (0..self.key.len()).filter(|step| columns.contains(&self.key[*step].column)).collect();
        let places = if wanted.is_empty() {
            None
        } else {
            Some(self.key_places((0..picked.len()).map(|row| picked.key(row)), wanted)?)
        };
        let layouts = if columns.iter().all(|column| self.schema.is_key(*column)) {
            Vec::new()
        } else {
            self.layouts_of(picked)?
        };

        let known: Vec<&ValueLayout> = self.layouts.iter().chain(self.later.iter()).collect();
        let mut arrays = Vec::with_capacity(columns.len());
        for &column in columns {
            let column_type = self.schema.columns[column].column_type;
            arrays.push(match (self.schema.key_position(column), &places) {
                (Some(step), Some(places)) => {
                    let cells = KeyCells {
                        picked,
                        places,
                        wanted: places.position(step).expect("the step was asked for"),
                    };
                    key_array(picked.len(), column_type, &cells)
                        .map_err(|row| key_error(self, picked.key(row)))?
                }
                _ => {
                    let id = self.schema.columns[column].id;
                    let slots: Vec<_> = known.iter().map(|layout| layout.slot(id)).collect();
                    if let Some(row) =
                        layouts.iter().position(|layout| slots[usize::from(*layout)].is_none())
                    {
                        // Of rows that lack the column those of the latest layout have the least to
                        // say.
                        let latest = (row..picked.len())
                            .filter(|row| slots[usize::from(layouts[*row])].is_none());
                        let row = latest.max_by_key(|row| layouts[*row]).unwrap_or(row);
                        self.absent_cell(picked.key(row), column, layouts[row].into())?;
                    }
                    let default = self.default_bytes[column].as_deref();
                    let cells =
                        ValueCells { picked, layouts: &layouts, known: &known, slots, default };
                    value_array(picked.len(), column_type, &cells)
                        .map_err(|row| self.value_error(picked.key(row)))?
                }
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(picked.len()));
        RecordBatch::try_new_with_options(schema, arrays, &options).map_err(|error| {
            Error::corruption(format!(
                "table {}: {error}: run `check`, then restore from a copy",
                self.schema.path
            ))
        })
    }

    /// Refuses rows that arrays with offsets of 32 bits might not take.
    fn check_bytes(&self, picked: Picked<'_>, projection: Option<&[usize]>) -> Result<()> {
        let of_defaults = self.default_bytes_of(projection).saturating_mul(picked.len());
        let of_rows = || {
            (0..picked.len())
                .map(|row| picked.key(row).len() + picked.value(row).len())
                .sum::<usize>()
        };
        let fits = |bytes: usize| bytes.saturating_add(of_defaults) <= i32::MAX as usize;
        if fits(picked.rows.bytes()) || fits(of_rows()) {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "table {}: {} rows take more than 2 GiB together, the most that one batch can hold: ask for smaller batches",
            self.schema.path,
            picked.len()
        )))
    }

    /// The bytes of the defaults that a row from before their columns takes when these columns, or
    /// all, are decoded, and those of symbols.
    pub(crate) fn default_bytes_of(&self, projection: Option<&[usize]>) -> usize {
        let bytes = |column: usize| match self.schema.columns[column].column_type {
            // A symbol is longer in an array than in a row.
            ColumnType::Enum(symbols) => symbols.longest(),
            fixed if fixed.fixed_width().is_some() => 0,
            _ => self.default_bytes[column].as_ref().map_or(0, Vec::len),
        };
        match projection {
            Some(columns) => columns.iter().copied().map(bytes).sum(),
            None => (0..self.schema.columns.len()).map(bytes).sum(),
        }
    }

    fn layouts_of(&self, picked: Picked<'_>) -> Result<Vec<u16>> {
        (0..picked.len())
            .map(|row| {
                self.layout_of(picked.key(row), picked.value(row)).map(|layout| layout as u16)
            })
            .collect()
    }

    /// Which of the codec's layouts a value has.
    #[inline]
    pub(super) fn layout_of(&self, key: &[u8], value: &[u8]) -> Result<usize> {
        let number = value
            .first_chunk::<NUMBER_LEN>()
            .map(|bytes| u16::from_le_bytes(*bytes))
            .ok_or_else(|| self.value_error(key))?;
        let newest = self.layouts.len() - 1;
        let layout = if self.layouts[newest].number == number {
            newest
        } else {
            let known = self.layouts.iter().chain(self.later.iter());
            known
                .map(|layout| layout.number)
                .position(|own| own == number)
                .ok_or_else(|| self.unknown_layout(key, number))?
        };
        if self.layout_at(layout).fits(value) { Ok(layout) } else { Err(self.value_error(key)) }
    }

    #[cold]
    fn unknown_layout(&self, key: &[u8], number: u16) -> Error {
        if number > self.schema.number {
            let what = "the row was written after the table was altered";
            Error::conflict(format!(
                "table {}, key {}: {what}: open the table again (if that does not help, run `check`)",
                self.schema.path,
                super::hex(key)
            ))
        } else {
            self.corruption(key, &format!("the row has the unknown schema number {number}"))
        }
    }

    #[cold]
    pub(super) fn value_error(&self, key: &[u8]) -> Error {
        self.corruption(key, "the value is damaged")
    }
}

/// An array of cells that lie in values. The error is the row that cannot be read.
pub(super) fn value_array<'a>(
    rows: usize,
    column_type: ColumnType,
    cells: &impl Cells<'a>,
) -> std::result::Result<ArrayRef, usize> {
    let data_type = column_type.data_type();
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
        ColumnType::Number { .. } => Arc::new(
            primitive::<Decimal128Type, 16>(rows, cells, i128::from_le_bytes)?
                .with_data_type(data_type),
        ),
        ColumnType::Timestamp(precision) => timestamps(rows, precision, cells, i64::from_le_bytes)?,
        ColumnType::Boolean => booleans(rows, cells)?,
        ColumnType::Array(_) | ColumnType::Map(_) | ColumnType::Record(_) => {
            nested_array(rows, column_type, cells)?
        }
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

/// An array of cells that lie in keys.
fn key_array<'a>(
    rows: usize,
    column_type: ColumnType,
    cells: &impl Cells<'a>,
) -> std::result::Result<ArrayRef, usize> {
    let data_type = column_type.data_type();
    Ok(match column_type {
        ColumnType::Integer => Arc::new(primitive::<Int32Type, 4>(rows, cells, cell::unkey_i32)?),
        ColumnType::Long => Arc::new(primitive::<Int64Type, 8>(rows, cells, cell::unkey_i64)?),
        ColumnType::Float => Arc::new(primitive::<Float32Type, 4>(rows, cells, cell::unkey_f32)?),
        ColumnType::Double => Arc::new(primitive::<Float64Type, 8>(rows, cells, cell::unkey_f64)?),
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
    cells: &impl Cells<'a>,
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
            Err(Damaged) => return Err(row),
        }
    }
    Ok(PrimitiveArray::new(ScalarBuffer::from(values), nulls.finish()))
}

fn timestamps<'a>(
    rows: usize,
    precision: u8,
    cells: &impl Cells<'a>,
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

fn booleans<'a>(rows: usize, cells: &impl Cells<'a>) -> std::result::Result<ArrayRef, usize> {
    let mut values = BooleanBufferBuilder::new(rows);
    let mut nulls = NullBufferBuilder::new(rows);
    for row in 0..rows {
        let cell = cells.get(row).map_err(|Damaged| row)?;
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
    cells: &impl Cells<'a>,
) -> std::result::Result<ArrayRef, usize> {
    let len = usize::from(width);
    let mut values = Vec::with_capacity(rows * len);
    let mut nulls = NullBufferBuilder::new(rows);
    for row in 0..rows {
        let cell = cells.get(row).map_err(|Damaged| row)?;
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
    cells: &impl Cells<'a>,
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
    cells: &impl Cells<'a>,
    read: impl Fn([u8; 2]) -> u16,
) -> std::result::Result<ArrayRef, usize> {
    variable(rows, cells, |bytes, out| {
        out.extend_from_slice(symbols.symbol(read(*bytes.first_chunk()?))?.as_bytes());
        Some(())
    })?
    .into_strings()
}

/// Cells of text or bytes, laid end to end.
struct Variable {
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
    cells: &impl Cells<'a>,
    push: impl Fn(&[u8], &mut Vec<u8>) -> Option<()>,
) -> std::result::Result<Variable, usize> {
    let mut offsets = Vec::with_capacity(rows + 1);
    offsets.push(0);
    let mut gathered = Variable { bytes: Vec::new(), offsets, nulls: NullBufferBuilder::new(rows) };
    for row in 0..rows {
        let cell = cells.get(row).map_err(|Damaged| row)?;
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

impl Variable {
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
