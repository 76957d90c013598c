//! Encodes batches of rows into keys.
//!
//! As with values: measure every key, take one buffer, write column after column. Keys may differ
//! in length, so a cursor per row gives the position of its next column.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{
    Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64NanosecondType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use tonnage_engine::{Error, KeyPart, Result, Slices};

use super::cast::cast_column;
use super::encode::{bytes_and_offsets, running_sum, symbol_index};
use super::layout::{KeyStep, MARKER_LEN};
use super::{TableCodec, cell};
use crate::schema::ColumnType;
use crate::schema::timestamp_unit;

impl TableCodec {
    /// Encodes the keys of a batch that holds the key columns by name (others are ignored); what
    /// `keys` held is replaced.
    ///
    /// # Errors
    /// `Invalid` when a key column is missing, NULL or of another type, naming the column and the
    /// row.
    pub fn encode_keys(&self, batch: &RecordBatch, keys: &mut Slices) -> Result<()> {
        let mut arrays = Vec::with_capacity(self.key.len());
        for step in &self.key {
            arrays.push(self.key_column(batch, step)?);
        }
        let columns: Vec<&ArrayRef> = arrays.iter().collect();
        *keys = self.encode_key_columns(&columns, batch.num_rows(), None)?;
        Ok(())
    }

    fn key_column(&self, batch: &RecordBatch, step: &KeyStep) -> Result<ArrayRef> {
        let column = &self.schema.columns[step.column];
        let position =
            batch.schema_ref().fields().iter().position(|field| column.is_named(field.name()));
        let position = position.ok_or_else(|| self.missing_key_column(step))?;
        let (array, failures) = self.cast_key_column(batch, position, step)?;
        if let Some((row, reason)) = failures.first() {
            return Err(self.key_cell_error(*row, step, reason));
        }
        Ok(array)
    }

    pub(super) fn cast_key_column(
        &self,
        batch: &RecordBatch,
        position: usize,
        step: &KeyStep,
    ) -> Result<super::cast::CastResult> {
        let place = || {
            format!(
                "table {}, column '{}'",
                self.schema.path, self.schema.columns[step.column].name
            )
        };
        cast_column(batch.column(position), batch.schema_ref().field(position), step.column_type)
            .map_err(|error| error.at(place()))
    }

    #[cold]
    pub(super) fn missing_key_column(&self, step: &KeyStep) -> Error {
        let names: Vec<_> = self.schema.key_columns().map(|column| column.name.as_str()).collect();
        let column = &self.schema.columns[step.column].name;
        Error::invalid(format!(
            "key column '{column}' of table {} is missing; its primary key is ({})",
            self.schema.path,
            names.join(", ")
        ))
        .in_table(&self.schema.path)
        .in_column(column)
    }

    #[cold]
    pub(super) fn key_cell_error(&self, row: usize, step: &KeyStep, reason: &str) -> Error {
        Error::invalid(format!(
            "key {row} of table {}: column '{}': {reason}",
            self.schema.path, self.schema.columns[step.column].name
        ))
        .in_table(&self.schema.path)
        .in_column(&self.schema.columns[step.column].name)
        .at_position(row as u64)
    }

    /// Encodes key columns given in key order, in the columns' own types. With `given`, row `i`
    /// gives only its first `given[i]` columns.
    pub(super) fn encode_key_columns(
        &self,
        columns: &[&ArrayRef],
        rows: usize,
        given: Option<&[u16]>,
    ) -> Result<Slices> {
        let Some(given) = given else {
            self.check_no_nulls(columns)?;
            return Ok(self.encode_given(columns, rows, |_| columns.len(), columns.len()));
        };
        // A partial key continues with the number of the table whose columns would come next.
        Ok(self.encode_given(columns, rows, |row| usize::from(given[row]), columns.len() + 1))
    }

    fn check_no_nulls(&self, columns: &[&ArrayRef]) -> Result<()> {
        for (step, array) in self.key.iter().zip(columns) {
            let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
            if let Some(row) = nulls.and_then(|nulls| nulls.iter().position(|valid| !valid)) {
                return Err(self.key_cell_error(row, step, "is NULL, and a key column cannot be"));
            }
        }
        Ok(())
    }

    /// Encodes the first `given(row)` columns of each row. Table numbers are written before the
    /// first `steps` columns.
    #[inline]
    fn encode_given(
        &self,
        columns: &[&ArrayRef],
        rows: usize,
        given: impl Fn(usize) -> usize + Copy,
        steps: usize,
    ) -> Slices {
        // Lengths first, so that all keys share one buffer and no row allocates.
        let steps = || self.key.iter().enumerate().take(steps);
        let mut ends = vec![0_usize; rows];
        for (position, step) in steps() {
            if step.marker.is_some() {
                // A key that gives just the columns of the tables above still ends with the child's
                // number: hence `>=` here, and `>` for the column itself.
                add_width(MARKER_LEN, &mut ends, |row| given(row) >= position);
            }
            match (columns.get(position), step.part) {
                (Some(_), KeyPart::Fixed(width)) => {
                    add_width(width.into(), &mut ends, |row| given(row) > position)
                }
                (Some(array), _) => add_escaped_lens(array, &mut ends, |row| given(row) > position),
                (None, _) => {}
            }
        }
        running_sum(&mut ends);

        let mut data = vec![0; ends.last().copied().unwrap_or(0)];
        let mut cursors: Vec<usize> =
            [0].into_iter().chain(ends.iter().copied()).take(rows).collect();
        for (position, step) in steps() {
            if let Some(marker) = step.marker {
                write_cells(
                    &mut data,
                    &mut cursors,
                    |row| given(row) >= position,
                    |_| marker.to_be_bytes(),
                );
            }
            if let Some(array) = columns.get(position) {
                write_column(array, step.column_type, &mut data, &mut cursors, |row| {
                    given(row) > position
                });
            }
        }
        Slices::from_parts(data, ends)
    }
}

#[inline]
fn add_width(width: usize, lens: &mut [usize], wants: impl Fn(usize) -> bool) {
    lens.iter_mut().enumerate().filter(|(row, _)| wants(*row)).for_each(|(_, len)| *len += width);
}

/// Whether no cell can need escaping, seen at one glance over all of them.
fn holds_no_zero(bytes: &[u8], offsets: &[i32]) -> bool {
    let (start, end) = (offsets[0] as usize, offsets[offsets.len() - 1] as usize);
    memchr::memchr(0, &bytes[start..end]).is_none()
}

/// Adds the length that each wanted cell takes in a key.
pub(crate) fn add_key_lens(
    array: &ArrayRef,
    column_type: ColumnType,
    lens: &mut [usize],
    wants: impl Fn(usize) -> bool,
) {
    match cell::key_part(column_type) {
        KeyPart::Fixed(width) => add_width(width.into(), lens, wants),
        _ => add_escaped_lens(array, lens, wants),
    }
}

fn add_escaped_lens(array: &ArrayRef, lens: &mut [usize], wants: impl Fn(usize) -> bool) {
    let (bytes, offsets) = bytes_and_offsets(array);
    let plain = holds_no_zero(bytes, offsets);
    for (row, (len, pair)) in lens.iter_mut().zip(offsets.windows(2)).enumerate() {
        if wants(row) {
            let cell = &bytes[pair[0] as usize..pair[1] as usize];
            *len +=
                if plain { cell.len() + cell::TERMINATOR.len() } else { cell::escaped_len(cell) };
        }
    }
}

/// Writes a column of keys, in the rows that want it, at their cursors, which move past it.
pub(crate) fn write_column(
    array: &ArrayRef,
    column_type: ColumnType,
    data: &mut [u8],
    cursors: &mut [usize],
    wants: impl Fn(usize) -> bool,
) {
    macro_rules! primitive {
        ($arrow:ty, $encode:path) => {{
            let values = array.as_primitive::<$arrow>().values();
            write_cells(data, cursors, wants, |row| $encode(values[row]))
        }};
    }
    // `cell::push_key_value` writes the same bytes for single rows, and `key_array` reads them
    // back: all three follow `docs/format.md`.
    match column_type {
        ColumnType::Integer => primitive!(Int32Type, cell::key_i32),
        ColumnType::Long => primitive!(Int64Type, cell::key_i64),
        ColumnType::Float => primitive!(Float32Type, cell::key_f32),
        ColumnType::Double => primitive!(Float64Type, cell::key_f64),
        ColumnType::Number { .. } if column_type.is_wide() => {
            primitive!(Decimal256Type, cell::key_i256)
        }
        ColumnType::Number { .. } => primitive!(Decimal128Type, cell::key_i128),
        ColumnType::Timestamp(precision) => match timestamp_unit(precision) {
            TimeUnit::Second => primitive!(TimestampSecondType, cell::key_i64),
            TimeUnit::Millisecond => primitive!(TimestampMillisecondType, cell::key_i64),
            TimeUnit::Microsecond => primitive!(TimestampMicrosecondType, cell::key_i64),
            TimeUnit::Nanosecond => primitive!(TimestampNanosecondType, cell::key_i64),
        },
        ColumnType::Boolean => {
            let values = array.as_boolean().values();
            write_cells(data, cursors, wants, |row| [u8::from(values.value(row))])
        }
        ColumnType::Uuid => {
            let values = array.as_fixed_size_binary();
            write_cells::<16>(data, cursors, wants, |row| {
                values.value(row).try_into().expect("cells of a UUID array have 16 bytes")
            })
        }
        ColumnType::Date => primitive!(Date32Type, cell::key_i32),
        ColumnType::Time => primitive!(Time64NanosecondType, cell::key_i64),
        ColumnType::FixedBinary(width) => {
            let (values, width) = (array.as_fixed_size_binary(), usize::from(width));
            for (row, cursor) in cursors.iter_mut().enumerate().filter(|(row, _)| wants(*row)) {
                data[*cursor..*cursor + width].copy_from_slice(values.value(row));
                *cursor += width;
            }
        }
        ColumnType::Enum(symbols) => {
            let texts = array.as_string::<i32>();
            write_cells(data, cursors, wants, |row| {
                symbol_index(symbols, texts.value(row)).to_be_bytes()
            });
        }
        ColumnType::Array(_) | ColumnType::Map(_) | ColumnType::Record(_) => {
            // `set_key` and the definitions of indexes refuse these types.
            unreachable!("not in keys")
        }
        ColumnType::String | ColumnType::Binary | ColumnType::Json => {
            write_escaped(array, data, cursors, wants)
        }
    }
}

/// Likewise for cells of one width.
#[inline]
pub(crate) fn write_cells<const N: usize>(
    data: &mut [u8],
    cursors: &mut [usize],
    wants: impl Fn(usize) -> bool,
    cell: impl Fn(usize) -> [u8; N],
) {
    for (row, cursor) in cursors.iter_mut().enumerate() {
        if wants(row) {
            data[*cursor..*cursor + N].copy_from_slice(&cell(row));
            *cursor += N;
        }
    }
}

fn write_escaped(
    array: &ArrayRef,
    data: &mut [u8],
    cursors: &mut [usize],
    wants: impl Fn(usize) -> bool,
) {
    let (bytes, offsets) = bytes_and_offsets(array);
    // One search over all cells saves a search in each: hardly any batch has a zero byte.
    let plain = holds_no_zero(bytes, offsets);
    let mut escaped = Vec::new();
    for (row, cursor) in cursors.iter_mut().enumerate() {
        if !wants(row) {
            continue;
        }
        let cell = &bytes[offsets[row] as usize..offsets[row + 1] as usize];
        // `add_escaped_lens` measured by the same rule: a cell fills just the bytes that it
        // reserved.
        if plain {
            data[*cursor..*cursor + cell.len()].copy_from_slice(cell);
            *cursor += cell.len();
            data[*cursor..*cursor + 2].copy_from_slice(&cell::TERMINATOR);
            *cursor += 2;
        } else {
            escaped.clear();
            cell::push_escaped(cell, &mut escaped);
            data[*cursor..*cursor + escaped.len()].copy_from_slice(&escaped);
            *cursor += escaped.len();
        }
    }
}
