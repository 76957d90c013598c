//! Casts lists, maps and structs to other types of the same kind.
//!
//! Writers name the parts of nested types in their own way, and differ on whether parts may be
//! NULL. A list of `element` becomes the list of `item` that a table has. The leaves are cast as
//! columns are. A row is rejected if one of its leaves loses something.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray};
use arrow::buffer::{BooleanBuffer, OffsetBuffer};
use arrow::compute::{can_cast_types, cast};
use arrow::datatypes::{DataType, FieldRef, Fields};
use arrow::error::ArrowError;
use tonnage_engine::{Error, Result};

use crate::cast_values::{cast_values, same_values};

/// Whether values of one type can be converted to another.
pub(crate) fn can_cast(from: &DataType, to: &DataType) -> bool {
    match (from, to) {
        // Before the lists: its values may be lists, too.
        (DataType::Dictionary(_, from), to) => can_cast(from, to),
        (DataType::RunEndEncoded(_, from), to) => can_cast(from.data_type(), to),
        (from, DataType::List(to)) => {
            item(from).is_some_and(|from| can_cast(from.data_type(), to.data_type()))
        }
        (DataType::Map(from, _), DataType::Map(to, _)) => match (entries(from), entries(to)) {
            (Some(from), Some(to)) => {
                from.iter().zip(to).all(|(from, to)| can_cast(from.data_type(), to.data_type()))
            }
            _ => false,
        },
        (DataType::Struct(from), DataType::Struct(to)) => {
            // A field that is left out would be lost.
            from.iter().all(|field| {
                field_index(to, field.name())
                    .is_some_and(|place| can_cast(field.data_type(), to[place].data_type()))
            }) && to
                // A field that the file lacks is NULL, so the table must take that.
                .iter()
                .all(|field| field.is_nullable() || field_index(from, field.name()).is_some())
        }
        (from, to) => {
            !from.is_nested()
                && !to.is_nested()
                && !lacks_unit(from, to)
                && !loses_silently(from, to)
                && can_cast_types(from, to)
        }
    }
}

/// Whether one is a number and the other a time. It is unknown whether a number counts seconds,
/// milliseconds or days: one of them would give a timestamp in another millennium.
fn lacks_unit(from: &DataType, to: &DataType) -> bool {
    let is_time = |data_type: &DataType| data_type.is_temporal();
    is_time(from) && to.is_numeric() || from.is_numeric() && is_time(to)
}

/// Whether Arrow's cast keeps the time of day of a timestamp without its day, takes the bytes of a
/// number for bytes, or a truth for a number. No cast leads back, so nothing would show the loss.
fn loses_silently(from: &DataType, to: &DataType) -> bool {
    let is_moment = matches!(from, DataType::Timestamp(..));
    is_moment && matches!(to, DataType::Time64(_))
        || from.is_integer() && to == &DataType::Binary
        // Text that says `true` is not a number either.
        || from == &DataType::Boolean && to.is_numeric()
}

/// Casts, with NULL for leaves that cannot be cast.
pub(crate) fn cast_column(column: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let column = &normalize(column)?;
    // Nested types are taken apart, so that `cast_values` and its rules see every leaf. `same_rows`
    // takes apart the same types.
    Ok(match (column.data_type(), to) {
        (DataType::List(_), DataType::List(item)) => {
            let list = column.as_list::<i32>();
            let values = cast_column(list.values(), item.data_type())?;
            let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
            Arc::new(ListArray::try_new(nullable(item), offsets, values, nulls).map_err(internal)?)
        }
        (DataType::Map(..), DataType::Map(field, is_sorted)) => {
            let map = column.as_map();
            let Some(parts) = entries(field) else { return Err(no_map()) };
            let keys = cast_column(map.keys(), parts[0].data_type())?;
            let values = cast_column(map.values(), parts[1].data_type())?;
            let entries =
                StructArray::try_new(parts.clone(), vec![keys, values], None).map_err(internal)?;
            let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
            let map = MapArray::try_new(field.clone(), offsets, entries, nulls, *is_sorted);
            Arc::new(map.map_err(internal)?)
        }
        (DataType::Struct(from), DataType::Struct(to)) => {
            let parts = column.as_struct();
            // Fields go by name: files list them in any order.
            let part = |field: &FieldRef| match field_index(from, field.name()) {
                Some(place) => cast_column(parts.column(place), field.data_type()),
                None => Ok(arrow::array::new_null_array(field.data_type(), parts.len())),
            };
            let columns = to.iter().map(part).collect::<Result<Vec<_>>>()?;
            let nulls = parts.nulls().cloned();
            Arc::new(StructArray::try_new(to.clone(), columns, nulls).map_err(internal)?)
        }
        _ => cast_values(column, to)?,
    })
}

/// For each row whether it was cast without loss, all its leaves included.
pub(crate) fn same_rows(before: &ArrayRef, after: &ArrayRef) -> Result<BooleanBuffer> {
    let before = &normalize(before)?;
    // These are the arms of `cast_column`: a type that only one of them takes apart would be
    // compared as a whole.
    match (before.data_type(), after.data_type()) {
        (DataType::List(_), DataType::List(_)) => {
            let (before, after) = (before.as_list::<i32>(), after.as_list::<i32>());
            // `cast_column` keeps the offsets, so those of one side serve for both.
            Ok(all_of(before.offsets(), &same_rows(before.values(), after.values())?))
        }
        (DataType::Map(..), DataType::Map(..)) => {
            let (before, after) = (before.as_map(), after.as_map());
            let keys = same_rows(before.keys(), after.keys())?;
            let same = &keys & &same_rows(before.values(), after.values())?;
            Ok(all_of(before.offsets(), &same))
        }
        (DataType::Struct(from), DataType::Struct(to)) => {
            let (before, after) = (before.as_struct(), after.as_struct());
            let mut same = BooleanBuffer::new_set(before.len());
            for (field, column) in from.iter().zip(before.columns()) {
                if let Some(place) = field_index(to, field.name()) {
                    same = &same & &same_rows(column, after.column(place))?;
                }
            }
            Ok(same)
        }
        _ => same_values(before, after),
    }
}

/// A list of whatever kind as a plain one, and values for their numbers in a dictionary.
fn normalize(column: &ArrayRef) -> Result<ArrayRef> {
    match (column.data_type(), item(column.data_type())) {
        (DataType::Dictionary(_, values), _) => normalize(&cast(column, values).map_err(internal)?),
        (DataType::RunEndEncoded(_, values), _) => {
            normalize(&cast(column, values.data_type()).map_err(internal)?)
        }
        (DataType::List(_), _) | (_, None) => Ok(Arc::clone(column)),
        (_, Some(item)) => cast(column, &DataType::List(item.clone())).map_err(internal),
    }
}

/// What a list is a list of.
fn item(list: &DataType) -> Option<&FieldRef> {
    match list {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::ListView(item)
        | DataType::LargeListView(item) => Some(item),
        _ => None,
    }
}

/// The key and the value of a map.
fn entries(field: &FieldRef) -> Option<&Fields> {
    match field.data_type() {
        DataType::Struct(fields) if fields.len() == 2 => Some(fields),
        _ => None,
    }
}

fn field_index(fields: &Fields, name: &str) -> Option<usize> {
    fields.iter().position(|field| field.name().eq_ignore_ascii_case(name))
}

/// What cannot be cast is NULL until its row is rejected.
fn nullable(field: &FieldRef) -> FieldRef {
    match field.is_nullable() {
        true => Arc::clone(field),
        false => Arc::new(field.as_ref().clone().with_nullable(true)),
    }
}

/// For each row whether all its items are the same.
fn all_of(offsets: &OffsetBuffer<i32>, same: &BooleanBuffer) -> BooleanBuffer {
    let is_same = |ends: &[i32]| (ends[0]..ends[1]).all(|item| same.value(item as usize));
    offsets.windows(2).map(is_same).collect()
}

fn no_map() -> Error {
    Error::internal("a map without keys and values")
}

fn internal(error: ArrowError) -> Error {
    Error::internal(format!("nested values could not be cast: {error}")).with_source(error)
}
