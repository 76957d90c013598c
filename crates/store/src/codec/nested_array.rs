//! Decodes cells into Arrow lists, maps and structs, and encodes these into cells.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, ListArray, MapArray, NullBufferBuilder, StructArray,
};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, FieldRef};

use super::cell;
use super::cell_array::{CellSource, DamagedCell, plain_array};
use super::value_cell::{CellReader, LEN, NULL, PRESENT, push_bytes, push_len};
use crate::schema::ColumnType;
use crate::value::{Value, ValueRef};

/// The cells of parts, found before.
struct PartCells<'a>(Vec<Option<&'a [u8]>>);

impl<'a> CellSource<'a> for PartCells<'a> {
    fn get(&self, row: usize) -> std::result::Result<Option<&'a [u8]>, DamagedCell> {
        Ok(self.0[row])
    }
}

/// An array of cells that are in values. The error is the row that cannot be read.
pub(super) fn value_array<'a>(
    rows: usize,
    column_type: ColumnType,
    cells: &impl CellSource<'a>,
) -> std::result::Result<ArrayRef, usize> {
    match column_type.is_nested() {
        true => nested_array(rows, column_type, cells),
        false => plain_array(rows, column_type, cells),
    }
}

/// An array of nested cells that are in values. The error is the row that cannot be read.
fn nested_array<'a>(
    rows: usize,
    column_type: ColumnType,
    cells: &impl CellSource<'a>,
) -> std::result::Result<ArrayRef, usize> {
    // A failure of Arrow's own checks concerns no row in particular: it is reported of row 0, never
    // a panic.
    match (column_type, column_type.data_type()) {
        (ColumnType::Array(element), DataType::List(field)) => {
            let gathered = GatheredEntries::entries(rows, cells, element.column_type(), false)?;
            let values = gathered.values(element.column_type())?;
            let GatheredEntries { offsets, mut nulls, .. } = gathered;
            let list = ListArray::try_new(field, offsets_of(offsets), values, nulls.finish());
            Ok(Arc::new(list.map_err(|_| 0_usize)?))
        }
        (ColumnType::Map(element), DataType::Map(field, is_sorted)) => {
            let gathered = GatheredEntries::entries(rows, cells, element.column_type(), true)?;
            let values = gathered.values(element.column_type())?;
            let names = gathered.names()?;
            let DataType::Struct(fields) = field.data_type() else { return Err(0) };
            let entries = StructArray::try_new(fields.clone(), vec![names, values], None);
            let GatheredEntries { offsets, mut nulls, .. } = gathered;
            let map = MapArray::try_new(
                field,
                offsets_of(offsets),
                entries.map_err(|_| 0_usize)?,
                nulls.finish(),
                is_sorted,
            );
            Ok(Arc::new(map.map_err(|_| 0_usize)?))
        }
        (ColumnType::Record(fields), DataType::Struct(arrow_fields)) => {
            // Parts delimit themselves, so each record is walked once from its start, and only then
            // decoded field by field.
            let mut parts: Vec<Vec<Option<&[u8]>>> =
                fields.fields().iter().map(|_| Vec::with_capacity(rows)).collect();
            let mut nulls = NullBufferBuilder::new(rows);
            for row in 0..rows {
                let cell = cells.get(row).map_err(|DamagedCell| row)?;
                nulls.append(cell.is_some());
                let mut reader = cell.map(|rest| CellReader { rest });
                for (field, parts) in fields.fields().iter().zip(&mut parts) {
                    parts.push(match &mut reader {
                        Some(reader) => reader.part(field.column_type).ok_or(row)?,
                        None => None,
                    });
                }
                reader.map_or(Some(()), |reader| reader.end()).ok_or(row)?;
            }
            let arrays = fields.fields().iter().zip(parts);
            let arrays = arrays
                .map(|(field, parts)| value_array(rows, field.column_type, &PartCells(parts)))
                .collect::<std::result::Result<Vec<_>, _>>()?;
            let array = StructArray::try_new(arrow_fields, arrays, nulls.finish());
            Ok(Arc::new(array.map_err(|_| 0_usize)?))
        }
        _ => Err(0),
    }
}

fn offsets_of(offsets: Vec<i32>) -> OffsetBuffer<i32> {
    OffsetBuffer::new(ScalarBuffer::from(offsets))
}

/// The entries of the arrays or maps of many rows, end to end.
struct GatheredEntries<'a> {
    names: Vec<Option<&'a [u8]>>,
    parts: PartCells<'a>,
    /// Where the entries of each row begin and end.
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl<'a> GatheredEntries<'a> {
    fn entries(
        rows: usize,
        cells: &impl CellSource<'a>,
        element: ColumnType,
        has_names: bool,
    ) -> std::result::Result<Self, usize> {
        let mut gathered = GatheredEntries {
            names: Vec::new(),
            parts: PartCells(Vec::new()),
            offsets: vec![0],
            nulls: NullBufferBuilder::new(rows),
        };
        for row in 0..rows {
            let cell = cells.get(row).map_err(|DamagedCell| row)?;
            gathered.nulls.append(cell.is_some());
            if let Some(rest) = cell {
                gathered.push(CellReader { rest }, element, has_names).ok_or(row)?;
            }
            gathered.offsets.push(i32::try_from(gathered.parts.0.len()).map_err(|_| row)?);
        }
        Ok(gathered)
    }

    /// Adds the entries of one row.
    fn push(
        &mut self,
        mut reader: CellReader<'a>,
        element: ColumnType,
        has_names: bool,
    ) -> Option<()> {
        for _ in 0..reader.len()? {
            if has_names {
                self.names.push(Some(reader.bytes()?));
            }
            self.parts.0.push(reader.part(element)?);
        }
        reader.end()
    }

    fn values(&self, element: ColumnType) -> std::result::Result<ArrayRef, usize> {
        value_array(self.parts.0.len(), element, &self.parts).map_err(|entry| self.row_of(entry))
    }

    fn names(&self) -> std::result::Result<ArrayRef, usize> {
        let names = PartCells(self.names.clone());
        value_array(self.names.len(), ColumnType::String, &names)
            .map_err(|entry| self.row_of(entry))
    }

    /// The row that an entry is of.
    fn row_of(&self, entry: usize) -> usize {
        self.offsets.partition_point(|offset| *offset as usize <= entry).saturating_sub(1)
    }
}

/// The cells of an array of nested values as bytes of values. The error is the row after which they
/// take more than an array can hold.
pub(super) fn encoded(
    array: &ArrayRef,
    column_type: ColumnType,
) -> std::result::Result<ArrayRef, usize> {
    let (mut bytes, mut offsets) = (Vec::new(), Vec::with_capacity(array.len() + 1));
    offsets.push(0);
    for row in 0..array.len() {
        if array.is_valid(row) {
            push_cell(array.as_ref(), row, column_type, &mut bytes);
        }
        offsets.push(i32::try_from(bytes.len()).map_err(|_| row)?);
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(Arc::new(BinaryArray::new(offsets, Buffer::from_vec(bytes), array.nulls().cloned())))
}

/// Appends the bytes of a nested cell that is not NULL.
fn push_cell(array: &dyn Array, row: usize, column_type: ColumnType, out: &mut Vec<u8>) {
    // The bytes of `value_cell::push_nested`, taken from Arrow without a `Value` in between: both
    // follow `docs/format.md`.
    match column_type {
        ColumnType::Array(element) => {
            let list = array.as_list::<i32>();
            let (values, offsets) = (list.values(), list.value_offsets());
            let (start, end) = (offsets[row] as usize, offsets[row + 1] as usize);
            push_len(end - start, out);
            (start..end).for_each(|at| push_array_part(values, at, element.column_type(), out));
        }
        ColumnType::Map(element) => {
            let map = array.as_map();
            let (names, values, offsets) =
                (map.keys().as_string::<i32>(), map.values(), map.value_offsets());
            let (start, end) = (offsets[row] as usize, offsets[row + 1] as usize);
            push_len(end - start, out);
            for at in start..end {
                push_bytes(names.value(at).as_bytes(), out);
                push_array_part(values, at, element.column_type(), out);
            }
        }
        ColumnType::Record(fields) => {
            // A record has no count: its type says which fields follow, and in which order.
            let record = array.as_struct();
            for (field, column) in fields.fields().iter().zip(record.columns()) {
                push_array_part(column, row, field.column_type, out);
            }
        }
        _ => {}
    }
}

/// Appends the presence and the cell of a part that is in an array.
fn push_array_part(array: &ArrayRef, row: usize, column_type: ColumnType, out: &mut Vec<u8>) {
    if array.is_null(row) {
        return out.push(NULL);
    }
    out.push(PRESENT);
    match column_type {
        ColumnType::Array(_) | ColumnType::Map(_) | ColumnType::Record(_) => {
            // The length is known once the cell is written, so its place is kept free until then.
            let at = out.len();
            push_len(0, out);
            push_cell(array.as_ref(), row, column_type, out);
            let len = (out.len() - at - LEN) as u32;
            out[at..at + LEN].copy_from_slice(&len.to_le_bytes());
        }
        ColumnType::String | ColumnType::Json => {
            push_bytes(array.as_string::<i32>().value(row).as_bytes(), out);
        }
        ColumnType::Binary => push_bytes(array.as_binary::<i32>().value(row), out),
        fixed => {
            let value = Value::of_cell(array.as_ref(), fixed, row);
            let is_written = cell::with_plain_bytes(ValueRef::from(&value), fixed, |bytes| {
                out.extend_from_slice(bytes);
            });
            if !is_written {
                // Not a value of an aligned batch: it is read back as damaged, not as another.
                out.resize(out.len() + fixed.fixed_width().unwrap_or(0), 0xFF);
            }
        }
    }
}

/// The fields of an Arrow struct, list or map, for each part of a type in order.
pub(super) fn parts_of(
    array: &ArrayRef,
    column_type: ColumnType,
) -> Vec<(ArrayRef, FieldRef, ColumnType)> {
    match (column_type, array.data_type()) {
        (ColumnType::Array(element), DataType::List(field)) => {
            vec![(array.as_list::<i32>().values().clone(), field.clone(), element.column_type())]
        }
        (ColumnType::Map(element), DataType::Map(entries, _)) => match entries.data_type() {
            DataType::Struct(fields) if fields.len() == 2 => {
                let values = array.as_map().values().clone();
                vec![(values, fields[1].clone(), element.column_type())]
            }
            _ => Vec::new(),
        },
        (ColumnType::Record(own), DataType::Struct(fields)) => {
            let columns = array.as_struct().columns().iter().zip(fields).zip(own.fields());
            columns
                .map(|((column, field), own)| (column.clone(), field.clone(), own.column_type))
                .collect()
        }
        _ => Vec::new(),
    }
}
