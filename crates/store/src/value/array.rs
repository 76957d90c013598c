//! Reads values from Arrow arrays, and makes arrays of values.

use std::iter::repeat_n;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Date32Array, Decimal128Array,
    Decimal256Array, FixedSizeBinaryArray, Float32Array, Float64Array, Int32Array, Int64Array,
    ListArray, MapArray, StringArray, StructArray, Time64NanosecondArray, new_null_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Decimal256Type, Field, Float32Type, Float64Type,
    Int32Type, Int64Type, Time64NanosecondType, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use tonnage_engine::{Error, Result};

use super::Value;
use crate::schema::ColumnType;
use crate::schema::timestamp_unit;

impl Value {
    /// The value at `row` of an Arrow array.
    ///
    /// # Errors
    /// `Invalid` when the field is of a type that Tonnage does not know.
    ///
    /// # Panics
    /// If the array has no such row.
    pub fn from_array(array: &dyn Array, field: &Field, row: usize) -> Result<Value> {
        let Some(column_type) = ColumnType::of_arrow(field) else {
            return Err(Error::invalid(format!(
                "column '{}' is of type {}, which Tonnage does not know",
                field.name(),
                field.data_type()
            )));
        };
        if array.is_null(row) {
            return Ok(Value::Null);
        }
        if array.data_type() == &column_type.data_type() {
            return Ok(Value::of_cell(array, column_type, row));
        }
        let cell = cast(&array.slice(row, 1), &column_type.data_type());
        match cell {
            Ok(cell) if cell.is_valid(0) => Ok(Value::of_cell(cell.as_ref(), column_type, 0)),
            _ => Err(Error::invalid(format!(
                "column '{}': a value of type {} does not fit {column_type}",
                field.name(),
                field.data_type()
            ))),
        }
    }

    /// A cell that is not NULL, of an array of the column type's own Arrow type.
    pub(crate) fn of_cell(array: &dyn Array, column_type: ColumnType, row: usize) -> Value {
        // Each arm takes the Arrow type that `ColumnType::data_type` names, and panics on another:
        // callers cast first.
        match column_type {
            ColumnType::Integer => Value::Integer(array.as_primitive::<Int32Type>().value(row)),
            ColumnType::Long => Value::Long(array.as_primitive::<Int64Type>().value(row)),
            ColumnType::Float => Value::Float(array.as_primitive::<Float32Type>().value(row)),
            ColumnType::Double => Value::Double(array.as_primitive::<Float64Type>().value(row)),
            ColumnType::Number { scale, .. } if column_type.is_wide() => {
                Value::number(array.as_primitive::<Decimal256Type>().value(row), scale)
            }
            ColumnType::Number { scale, .. } => {
                Value::Number { unscaled: array.as_primitive::<Decimal128Type>().value(row), scale }
            }
            ColumnType::String | ColumnType::Enum(_) => {
                Value::String(array.as_string::<i32>().value(row).to_owned())
            }
            ColumnType::Json => Value::Json(array.as_string::<i32>().value(row).to_owned()),
            ColumnType::Boolean => Value::Boolean(array.as_boolean().value(row)),
            ColumnType::Binary => Value::Binary(array.as_binary::<i32>().value(row).to_owned()),
            ColumnType::Timestamp(precision) => {
                let value = match timestamp_unit(precision) {
                    TimeUnit::Second => array.as_primitive::<TimestampSecondType>().value(row),
                    TimeUnit::Millisecond => {
                        array.as_primitive::<TimestampMillisecondType>().value(row)
                    }
                    TimeUnit::Microsecond => {
                        array.as_primitive::<TimestampMicrosecondType>().value(row)
                    }
                    TimeUnit::Nanosecond => {
                        array.as_primitive::<TimestampNanosecondType>().value(row)
                    }
                };
                Value::Timestamp { value, precision }
            }
            ColumnType::Array(element) => {
                let items = array.as_list::<i32>().value(row);
                Value::Array(cells_of(&items, element.column_type()))
            }
            ColumnType::Map(element) => {
                let entries = array.as_map().value(row);
                let values = cells_of(entries.column(1), element.column_type());
                // No name of a map is NULL, though Arrow's iterator allows for it.
                let names = entries.column(0).as_string::<i32>().iter();
                Value::Map(
                    names.map(|name| name.unwrap_or_default().to_owned()).zip(values).collect(),
                )
            }
            ColumnType::Record(fields) => {
                let columns = fields.fields().iter().zip(array.as_struct().columns());
                let value = columns.map(|(field, column)| {
                    (field.name.clone(), cell_of(column.as_ref(), field.column_type, row))
                });
                Value::Record(value.collect())
            }
            ColumnType::Date => Value::Date(array.as_primitive::<Date32Type>().value(row)),
            ColumnType::Time => {
                Value::Time(array.as_primitive::<Time64NanosecondType>().value(row))
            }
            ColumnType::FixedBinary(_) => {
                Value::Binary(array.as_fixed_size_binary().value(row).to_owned())
            }
            ColumnType::Uuid => Value::Uuid(
                array
                    .as_fixed_size_binary()
                    .value(row)
                    .try_into()
                    .expect("a UUID array has cells of 16 bytes"),
            ),
        }
    }

    /// An array that holds this value `count` times, as a column of that type.
    ///
    /// # Errors
    /// `Invalid` when the value does not fit the type.
    pub fn to_array(&self, column_type: ColumnType, count: usize) -> Result<ArrayRef> {
        let data_type = column_type.data_type();
        // Converted once for all rows: each arm then has a value of the column's own type.
        Ok(match self.convert_to(column_type)? {
            nested if nested.is_nested() => array_of(&vec![nested; count], column_type),
            Value::Array(_) | Value::Map(_) | Value::Record(_) => {
                return Err(Error::internal("a nested value is not nested"));
            }
            Value::Null => new_null_array(&data_type, count),
            Value::Boolean(value) => Arc::new(BooleanArray::from(vec![value; count])),
            Value::Integer(value) => Arc::new(Int32Array::from_value(value, count)),
            Value::Long(value) => Arc::new(Int64Array::from_value(value, count)),
            Value::Float(value) => Arc::new(Float32Array::from_value(value, count)),
            Value::Double(value) => Arc::new(Float64Array::from_value(value, count)),
            // The column decides, not the value: a wide column holds short numbers too.
            Value::Number { unscaled, .. } if column_type.is_wide() => {
                wide_numbers(Decimal256Array::from_value(unscaled.into(), count), data_type)
            }
            Value::WideNumber(number) => {
                wide_numbers(Decimal256Array::from_value(number.unscaled(), count), data_type)
            }
            Value::Number { unscaled, .. } => {
                Arc::new(Decimal128Array::from_value(unscaled, count).with_data_type(data_type))
            }
            Value::String(text) | Value::Json(text) => {
                Arc::new(StringArray::from_iter_values(repeat_n(text, count)))
            }
            Value::Binary(bytes) => match column_type {
                ColumnType::FixedBinary(width) => fixed_bytes(bytes.repeat(count), width),
                _ => Arc::new(BinaryArray::from_iter_values(repeat_n(bytes, count))),
            },
            Value::Date(days) => Arc::new(Date32Array::from_value(days, count)),
            Value::Time(nanoseconds) => {
                Arc::new(Time64NanosecondArray::from_value(nanoseconds, count))
            }
            Value::Timestamp { value, precision } => {
                timestamps(Int64Array::from_value(value, count), precision)
            }
            Value::Uuid(bytes) => fixed_bytes(bytes.repeat(count), 16),
        })
    }
}

/// A cell, which may be NULL.
fn cell_of(array: &dyn Array, column_type: ColumnType, row: usize) -> Value {
    if array.is_null(row) { Value::Null } else { Value::of_cell(array, column_type, row) }
}

fn cells_of(array: &ArrayRef, column_type: ColumnType) -> Vec<Value> {
    (0..array.len()).map(|row| cell_of(array.as_ref(), column_type, row)).collect()
}

/// An array of nested values: their parts end to end, and where those of each value end.
fn nested_array_of(values: &[Value], column_type: ColumnType) -> ArrayRef {
    let valid: NullBuffer = values.iter().map(|value| !value.is_null()).collect();
    let nulls = Some(valid).filter(|valid| valid.null_count() > 0);
    let offsets = || {
        OffsetBuffer::from_lengths(values.iter().map(|value| match value {
            Value::Array(items) => items.len(),
            Value::Map(members) | Value::Record(members) => members.len(),
            _ => 0,
        }))
    };
    let members = || {
        values.iter().flat_map(|value| match value {
            Value::Map(members) => members.as_slice(),
            _ => &[],
        })
    };
    // Fields come from `data_type`, never from the values: names and nullability must be the
    // column's own.
    match (column_type, column_type.data_type()) {
        (ColumnType::Array(element), DataType::List(field)) => {
            let items: Vec<Value> = values
                .iter()
                .flat_map(
                    |value| if let Value::Array(items) = value { items.as_slice() } else { &[] },
                )
                .cloned()
                .collect();
            let items = array_of(&items, element.column_type());
            Arc::new(ListArray::new(field, offsets(), items, nulls))
        }
        (ColumnType::Map(element), DataType::Map(field, is_sorted)) => {
            let names: StringArray = members().map(|(name, _)| Some(name.as_str())).collect();
            let parts: Vec<Value> = members().map(|(_, value)| value.clone()).collect();
            let parts = array_of(&parts, element.column_type());
            let DataType::Struct(fields) = field.data_type() else {
                return new_null_array(&column_type.data_type(), values.len());
            };
            let entries = StructArray::new(fields.clone(), vec![Arc::new(names), parts], None);
            Arc::new(MapArray::new(field.clone(), offsets(), entries, nulls, is_sorted))
        }
        (ColumnType::Record(own), DataType::Struct(fields)) => {
            // A NULL record still has a cell in each child: Arrow's structs are as long as their
            // children.
            let part = |value: &Value, place: usize| match value {
                Value::Record(members) => members[place].1.clone(),
                _ => Value::Null,
            };
            let columns = own.fields().iter().enumerate().map(|(place, field)| {
                let parts: Vec<Value> = values.iter().map(|value| part(value, place)).collect();
                array_of(&parts, field.column_type)
            });
            Arc::new(StructArray::new(fields, columns.collect(), nulls))
        }
        (_, data_type) => new_null_array(&data_type, values.len()),
    }
}

fn fixed_bytes(bytes: Vec<u8>, width: u16) -> ArrayRef {
    let array = FixedSizeBinaryArray::try_new(width.into(), bytes.into(), None);
    Arc::new(array.expect("whole cells of one width"))
}

fn wide_numbers(numbers: Decimal256Array, data_type: DataType) -> ArrayRef {
    Arc::new(numbers.with_data_type(data_type))
}

/// An array of values that are each NULL or of the column type exactly.
pub(crate) fn array_of(values: &[Value], column_type: ColumnType) -> ArrayRef {
    macro_rules! collect {
        ($array:ty, $variant:ident) => {
            Arc::new(
                values
                    .iter()
                    .map(|value| {
                        if let Value::$variant(value) = value { Some(value.clone()) } else { None }
                    })
                    .collect::<$array>(),
            )
        };
    }
    // A value of another type would become NULL without a word: callers convert all values first.
    match column_type {
        ColumnType::Boolean => collect!(BooleanArray, Boolean),
        ColumnType::Integer => collect!(Int32Array, Integer),
        ColumnType::Long => collect!(Int64Array, Long),
        ColumnType::Float => collect!(Float32Array, Float),
        ColumnType::Double => collect!(Float64Array, Double),
        ColumnType::String | ColumnType::Enum(_) => collect!(StringArray, String),
        ColumnType::Array(_) | ColumnType::Map(_) | ColumnType::Record(_) => {
            nested_array_of(values, column_type)
        }
        ColumnType::Date => collect!(Date32Array, Date),
        ColumnType::Time => collect!(Time64NanosecondArray, Time),
        ColumnType::Json => collect!(StringArray, Json),
        ColumnType::Binary => collect!(BinaryArray, Binary),
        ColumnType::Number { .. } if column_type.is_wide() => {
            let digits = |value: &Value| value.as_number().map(|(digits, _)| digits);
            wide_numbers(values.iter().map(digits).collect(), column_type.data_type())
        }
        ColumnType::Number { .. } => {
            let digits = |value: &Value| {
                if let Value::Number { unscaled, .. } = value { Some(*unscaled) } else { None }
            };
            Arc::new(
                values
                    .iter()
                    .map(digits)
                    .collect::<Decimal128Array>()
                    .with_data_type(column_type.data_type()),
            )
        }
        ColumnType::Timestamp(precision) => {
            // One of another precision would become another point in time: nothing here rescales.
            let units = |value: &Value| {
                if let Value::Timestamp { value, .. } = value { Some(*value) } else { None }
            };
            timestamps(values.iter().map(units).collect(), precision)
        }
        ColumnType::FixedBinary(width) => {
            let bytes = |value: &Value| {
                if let Value::Binary(bytes) = value { Some(bytes.clone()) } else { None }
            };
            let cells = FixedSizeBinaryArray::try_from_sparse_iter_with_size(
                values.iter().map(bytes),
                width.into(),
            );
            Arc::new(cells.expect("every cell has the column's width"))
        }
        ColumnType::Uuid => {
            let bytes =
                |value: &Value| if let Value::Uuid(bytes) = value { Some(*bytes) } else { None };
            let cells =
                FixedSizeBinaryArray::try_from_sparse_iter_with_size(values.iter().map(bytes), 16);
            Arc::new(cells.expect("every UUID has 16 bytes"))
        }
    }
}

/// An array of timestamps in the unit of a precision.
pub(crate) fn timestamps(values: Int64Array, precision: u8) -> ArrayRef {
    match timestamp_unit(precision) {
        TimeUnit::Second => Arc::new(values.reinterpret_cast::<TimestampSecondType>()),
        TimeUnit::Millisecond => Arc::new(values.reinterpret_cast::<TimestampMillisecondType>()),
        TimeUnit::Microsecond => Arc::new(values.reinterpret_cast::<TimestampMicrosecondType>()),
        TimeUnit::Nanosecond => Arc::new(values.reinterpret_cast::<TimestampNanosecondType>()),
    }
}
