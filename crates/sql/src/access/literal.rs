//! Conversions of values between the store, Arrow and DataFusion.

use arrow::array::{Array, ArrayRef, new_empty_array};
use arrow::compute::concat;
use arrow::datatypes::Field;
use datafusion::common::ScalarValue;
use tonnage::{ColumnType, Error, Result, Value};

use crate::errors::from_datafusion;

/// The first value of an array.
pub(crate) fn value_of(array: &dyn Array) -> Result<Value> {
    Value::from_array(array, &Field::new("value", array.data_type().clone(), true), 0)
}

/// Values that are NULL or of a column's type as an array of that type.
pub(crate) fn array_of(values: &[Value], column_type: ColumnType) -> Result<ArrayRef> {
    let arrays = values.iter().map(|value| value.to_array(column_type, 1));
    let arrays = arrays.collect::<Result<Vec<ArrayRef>>>()?;
    if arrays.is_empty() {
        return Ok(new_empty_array(&column_type.data_type()));
    }
    let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
    concat(&arrays).map_err(|error| Error::internal(error.to_string()).with_source(error))
}

/// A value as DataFusion has it.
pub(crate) fn scalar_of(value: &Value) -> Result<ScalarValue> {
    let column_type = match value {
        Value::Null => return Ok(ScalarValue::Null),
        // Zero without a sign, and one NaN, as `plan/doubles.rs` has them.
        Value::Float(number) => {
            let one = if number.is_nan() { f32::NAN } else { number + 0.0 };
            return Ok(ScalarValue::Float32(Some(one)));
        }
        Value::Double(number) => {
            let one = if number.is_nan() { f64::NAN } else { number + 0.0 };
            return Ok(ScalarValue::Float64(Some(one)));
        }
        Value::Boolean(_) => ColumnType::Boolean,
        Value::Integer(_) => ColumnType::Integer,
        Value::Long(_) => ColumnType::Long,
        Value::Number { .. } | Value::WideNumber(_) => value.number_type().ok_or_else(|| {
            Error::invalid(format!("{value} has more than 76 digits, the most that a NUMBER has"))
        })?,
        Value::String(_) => ColumnType::String,
        Value::Json(_) => ColumnType::Json,
        Value::Binary(_) => ColumnType::Binary,
        Value::Timestamp { precision, .. } => ColumnType::Timestamp(*precision),
        Value::Uuid(_) => ColumnType::Uuid,
        Value::Date(_) => ColumnType::Date,
        Value::Time(_) => ColumnType::Time,
        Value::Array(_) | Value::Map(_) | Value::Record(_) => {
            return Err(Error::unsupported(format!(
                "a value of type {} is given as a parameter: write it as JSON in text",
                value.type_name()
            )));
        }
    };
    // By way of an array: a parameter gets the Arrow type that a column of its type has.
    let array = value.to_array(column_type, 1)?;
    ScalarValue::try_from_array(&array, 0).map_err(from_datafusion)
}
