//! Turns cells of record batches into Python's values.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Decimal256Type, Field, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, Time64NanosecondType, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use tonnage::Value;
use tonnage::internal::{is_json, timestamp_unit};

/// The day 1970-01-01 as `date.fromordinal` counts.
const EPOCH_ORDINAL: i64 = 719_163;

/// Makes Python's values of one kind out of the numbers in cells.
struct CellConstructors {
    timedelta: Py<PyAny>,
    date_of_ordinal: Py<PyAny>,
    time: Py<PyAny>,
    decimal: Py<PyAny>,
    uuid: Py<PyAny>,
    json: Py<PyAny>,
    epoch: Py<PyAny>,
}

static MAKERS: PyOnceLock<CellConstructors> = PyOnceLock::new();

fn constructors(py: Python<'_>) -> PyResult<&'static CellConstructors> {
    MAKERS.get_or_try_init(py, || {
        let of = |module: &str, name: &str| -> PyResult<Py<PyAny>> {
            Ok(py.import(module)?.getattr(name)?.unbind())
        };
        Ok(CellConstructors {
            epoch: of("datetime", "datetime")?.call1(py, (1970, 1, 1))?,
            timedelta: of("datetime", "timedelta")?,
            date_of_ordinal: py
                .import("datetime")?
                .getattr("date")?
                .getattr("fromordinal")?
                .unbind(),
            time: of("datetime", "time")?,
            decimal: of("decimal", "Decimal")?,
            uuid: of("uuid", "UUID")?,
            json: of("json", "loads")?,
        })
    })
}

/// The rows of a batch, each a dict or a tuple.
///
/// # Errors
/// `TypeError` for a column whose values Python has no class for.
pub(crate) fn rows_of<'py>(
    py: Python<'py>,
    batch: &RecordBatch,
    as_tuples: bool,
) -> PyResult<Bound<'py, PyList>> {
    let schema = batch.schema();
    // Names become objects of Python once for all rows: dicts then hash each of them once.
    let names: Vec<Bound<'py, PyString>> =
        schema.fields().iter().map(|field| PyString::new(py, field.name())).collect();
    // Cells are built column by column first: a type that Python lacks fails before any row is
    // built.
    let columns = schema
        .fields()
        .iter()
        .zip(batch.columns())
        .map(|(field, array)| column_of(py, field, array.as_ref()))
        .collect::<PyResult<Vec<_>>>()?;
    let rows = PyList::empty(py);
    for row in 0..batch.num_rows() {
        if as_tuples {
            rows.append(PyTuple::new(py, columns.iter().map(|column| &column[row]))?)?;
        } else {
            let dict = PyDict::new(py);
            for (name, column) in names.iter().zip(&columns) {
                dict.set_item(name, &column[row])?;
            }
            rows.append(dict)?;
        }
    }
    Ok(rows)
}

fn column_of<'py>(
    py: Python<'py>,
    field: &Field,
    array: &dyn Array,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    (0..array.len()).map(|row| cell_of(py, field, array, row)).collect()
}

macro_rules! number {
    ($py:expr, $array:expr, $row:expr, $type:ty) => {
        $array.as_primitive::<$type>().value($row).into_pyobject($py)?.into_any()
    };
}

/// One cell. JSON text becomes what it says, a UUID an object of that class.
fn cell_of<'py>(
    py: Python<'py>,
    field: &Field,
    array: &dyn Array,
    row: usize,
) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    // `value_of` makes the values of single rows: both must give the same class for a type.
    Ok(match array.data_type() {
        DataType::Null => py.None().into_bound(py),
        DataType::Boolean => array.as_boolean().value(row).into_pyobject(py)?.to_owned().into_any(),
        DataType::Int8 => number!(py, array, row, Int8Type),
        DataType::Int16 => number!(py, array, row, Int16Type),
        DataType::Int32 => number!(py, array, row, Int32Type),
        DataType::Int64 => number!(py, array, row, Int64Type),
        DataType::UInt8 => number!(py, array, row, UInt8Type),
        DataType::UInt16 => number!(py, array, row, UInt16Type),
        DataType::UInt32 => number!(py, array, row, UInt32Type),
        DataType::UInt64 => number!(py, array, row, UInt64Type),
        DataType::Float32 => number!(py, array, row, Float32Type),
        DataType::Float64 => number!(py, array, row, Float64Type),
        DataType::Utf8 => text(py, field, array.as_string::<i32>().value(row))?,
        DataType::LargeUtf8 => text(py, field, array.as_string::<i64>().value(row))?,
        DataType::Utf8View => text(py, field, array.as_string_view().value(row))?,
        DataType::Binary => PyBytes::new(py, array.as_binary::<i32>().value(row)).into_any(),
        DataType::LargeBinary => PyBytes::new(py, array.as_binary::<i64>().value(row)).into_any(),
        DataType::BinaryView => PyBytes::new(py, array.as_binary_view().value(row)).into_any(),
        DataType::FixedSizeBinary(16) if !is_binary(field) => {
            uuid(py, array.as_fixed_size_binary().value(row))?
        }
        DataType::FixedSizeBinary(_) => {
            PyBytes::new(py, array.as_fixed_size_binary().value(row)).into_any()
        }
        DataType::Decimal128(..) => {
            // Through text: a Decimal of a float would have other digits.
            let text = array.as_primitive::<Decimal128Type>().value_as_string(row);
            constructors(py)?.decimal.bind(py).call1((text,))?
        }
        DataType::Decimal256(..) => {
            let text = array.as_primitive::<Decimal256Type>().value_as_string(row);
            constructors(py)?.decimal.bind(py).call1((text,))?
        }
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>().value(row);
            constructors(py)?.date_of_ordinal.bind(py).call1((i64::from(days) + EPOCH_ORDINAL,))?
        }
        DataType::Time64(TimeUnit::Nanosecond) => {
            time_of_day(py, array.as_primitive::<Time64NanosecondType>().value(row))?
        }
        DataType::Timestamp(unit, _) => {
            let (value, per_second) = match unit {
                TimeUnit::Second => (array.as_primitive::<TimestampSecondType>().value(row), 1),
                TimeUnit::Millisecond => {
                    (array.as_primitive::<TimestampMillisecondType>().value(row), 1_000)
                }
                TimeUnit::Microsecond => {
                    (array.as_primitive::<TimestampMicrosecondType>().value(row), 1_000_000)
                }
                TimeUnit::Nanosecond => {
                    (array.as_primitive::<TimestampNanosecondType>().value(row), 1_000_000_000)
                }
            };
            timestamp(py, value, per_second)?
        }
        DataType::List(inner) => {
            let values = array.as_list::<i32>().value(row);
            PyList::new(py, column_of(py, inner, values.as_ref())?)?.into_any()
        }
        DataType::Map(entries, _) => {
            let DataType::Struct(fields) = entries.data_type() else {
                unreachable!("a map's entries")
            };
            let pairs = array.as_map().value(row);
            let keys = column_of(py, &fields[0], pairs.column(0).as_ref())?;
            let values = column_of(py, &fields[1], pairs.column(1).as_ref())?;
            let dict = PyDict::new(py);
            for (key, value) in keys.iter().zip(values) {
                dict.set_item(key, value)?;
            }
            dict.into_any()
        }
        DataType::Struct(fields) => {
            let dict = PyDict::new(py);
            for (inner, column) in fields.iter().zip(array.as_struct().columns()) {
                dict.set_item(inner.name(), cell_of(py, inner, column.as_ref(), row)?)?;
            }
            dict.into_any()
        }
        DataType::Interval(_) => {
            return Err(PyTypeError::new_err(format!(
                "column '{}' is an INTERVAL, for which Python has no class: take it with arrow() \
                 or df(), or select CAST({} AS STRING)",
                field.name(),
                field.name()
            )));
        }
        other => {
            return Err(PyTypeError::new_err(format!(
                "column '{}' is of type {other}: take it as Arrow, with arrow(), pl() or df()",
                field.name()
            )));
        }
    })
}

fn is_binary(field: &Field) -> bool {
    field.metadata().get("ARROW:extension:name").is_some_and(|name| name == "tonnage.binary")
}

fn text<'py>(py: Python<'py>, field: &Field, text: &str) -> PyResult<Bound<'py, PyAny>> {
    if is_json(field) {
        return constructors(py)?.json.bind(py).call1((text,));
    }
    Ok(PyString::new(py, text).into_any())
}

fn time_of_day(py: Python<'_>, nanos: i64) -> PyResult<Bound<'_, PyAny>> {
    let (seconds, micros) = (nanos / 1_000_000_000, nanos % 1_000_000_000 / 1_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    constructors(py)?.time.bind(py).call1((hour, minute, second, micros))
}

/// A naive datetime in UTC. Digits below the microsecond are cut off: Arrow keeps them.
fn timestamp(py: Python<'_>, value: i64, per_second: i64) -> PyResult<Bound<'_, PyAny>> {
    let makers = constructors(py)?;
    let (seconds, rest) = (value.div_euclid(per_second), value.rem_euclid(per_second));
    let micros = if per_second >= 1_000_000 {
        rest / (per_second / 1_000_000)
    } else {
        rest * (1_000_000 / per_second)
    };
    let (days, seconds) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let since = makers.timedelta.bind(py).call1((days, seconds, micros))?;
    makers.epoch.bind(py).add(since)
}

/// A single value, as the cell that it would be.
pub(crate) fn value_of<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Boolean(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Value::Integer(value) => value.into_pyobject(py)?.into_any(),
        Value::Long(value) => value.into_pyobject(py)?.into_any(),
        Value::Float(value) => value.into_pyobject(py)?.into_any(),
        Value::Double(value) => value.into_pyobject(py)?.into_any(),
        Value::String(value) => PyString::new(py, value).into_any(),
        Value::Binary(value) => PyBytes::new(py, value).into_any(),
        Value::Json(text) => constructors(py)?.json.bind(py).call1((text,))?,
        Value::Timestamp { value, precision } => {
            timestamp(py, *value, units_per_second(*precision))?
        }
        Value::Date(days) => {
            constructors(py)?.date_of_ordinal.bind(py).call1((i64::from(*days) + EPOCH_ORDINAL,))?
        }
        Value::Time(nanos) => time_of_day(py, *nanos)?,
        Value::Uuid(bytes) => uuid(py, bytes)?,
        Value::Array(values) => {
            let values = values.iter().map(|value| value_of(py, value));
            PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Value::Map(fields) | Value::Record(fields) => {
            let dict = PyDict::new(py);
            for (name, value) in fields {
                dict.set_item(name, value_of(py, value)?)?;
            }
            dict.into_any()
        }
        Value::WideNumber(number) => {
            // Text with an exponent is exact: Python's Decimal keeps every digit that it reads.
            let text = format!("{}E{}", number.unscaled(), -i32::from(number.scale()));
            constructors(py)?.decimal.bind(py).call1((text,))?
        }
        Value::Number { unscaled, scale } => {
            let text = format!("{unscaled}E{}", -i32::from(*scale));
            let number = constructors(py)?.decimal.bind(py).call1((text,))?;
            // Without an exponent, as the column shows it.
            match *scale >= 0 {
                true => number,
                false => constructors(py)?
                    .decimal
                    .bind(py)
                    .call1((number.call_method1("__format__", ("f",))?,))?,
            }
        }
    })
}

fn uuid<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let arguments = PyDict::new(py);
    arguments.set_item("bytes", PyBytes::new(py, bytes))?;
    constructors(py)?.uuid.bind(py).call((), Some(&arguments))
}

fn units_per_second(precision: u8) -> i64 {
    match timestamp_unit(precision) {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}
