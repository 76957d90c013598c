//! Turns Python's values into Tonnage's.

use arrow::datatypes::i256;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType,
};
use tonnage::{Row, Value};

/// The classes of Python's library whose values have a column type of their own.
struct PythonClasses {
    datetime: Py<PyType>,
    date: Py<PyType>,
    time: Py<PyType>,
    decimal: Py<PyType>,
    uuid: Py<PyType>,
    json: Py<PyAny>,
}

static CLASSES: PyOnceLock<PythonClasses> = PyOnceLock::new();

fn classes(py: Python<'_>) -> PyResult<&'static PythonClasses> {
    CLASSES.get_or_try_init(py, || {
        let class = |module: &str, name: &str| -> PyResult<Py<PyType>> {
            Ok(py.import(module)?.getattr(name)?.cast_into::<PyType>()?.unbind())
        };
        Ok(PythonClasses {
            datetime: class("datetime", "datetime")?,
            date: class("datetime", "date")?,
            time: class("datetime", "time")?,
            decimal: class("decimal", "Decimal")?,
            uuid: class("uuid", "UUID")?,
            json: py.import("json")?.getattr("dumps")?.unbind(),
        })
    })
}

/// A value of any type that a column can hold. The store converts it to the column's type, and
/// refuses what does not fit.
///
/// # Errors
/// `TypeError` for an object of another class, `OverflowError` for a number that no column holds.
pub(crate) fn to_value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(text) = object.cast_exact::<PyString>() {
        return Ok(Value::String(text.to_str()?.to_owned()));
    }
    if object.is_exact_instance_of::<PyInt>() {
        return integer_value(object);
    }
    if let Ok(number) = object.cast_exact::<PyFloat>() {
        return Ok(Value::Double(number.value()));
    }
    if let Ok(truth) = object.cast_exact::<PyBool>() {
        return Ok(Value::Boolean(truth.is_true()));
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(Value::Binary(bytes.as_bytes().to_vec()));
    }
    other(object)
}

fn integer_value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(number) = object.extract::<i64>() {
        return Ok(Value::Long(number));
    }
    match object.extract::<i128>() {
        Ok(unscaled) => Ok(Value::Number { unscaled, scale: 0 }),
        Err(_) => {
            // Python refuses to write very long numbers out.
            let digits = object.str().ok().and_then(|text| digits_of(text.to_str().ok()?));
            let refused =
                || PyOverflowError::new_err("a number of more than 76 digits fits no column");
            digits.map(|digits| Value::number(digits, 0)).ok_or_else(refused)
        }
    }
}

/// The whole number that a text is, of at most 76 digits.
fn digits_of(text: &str) -> Option<i256> {
    let magnitude = text.strip_prefix('-').unwrap_or(text).trim_start_matches('0');
    (magnitude.len() <= 76).then(|| i256::from_string(text)).flatten()
}

fn other(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let py = object.py();
    let classes = classes(py)?;
    // A datetime is a date, too.
    if object.is_instance(classes.datetime.bind(py))? {
        let is_plain = object.get_type().is(classes.datetime.bind(py));
        // The missing datetime of pandas is one, too, and has no day.
        return match !is_plain && is_missing_in_pandas(object)? {
            true => Ok(Value::Null),
            false => timestamp(object, is_plain),
        };
    }
    if object.is_instance(classes.date.bind(py))? {
        let ordinal: i32 = object.call_method0("toordinal")?.extract()?;
        return Ok(Value::Date(ordinal - EPOCH_ORDINAL));
    }
    if object.is_instance(classes.time.bind(py))? {
        // Its zone says another time of day elsewhere, and a column keeps none.
        let offset = object.call_method0("utcoffset")?;
        if !offset.is_none() && offset.is_truthy()? {
            return Err(PyValueError::new_err(format!(
                "{object} is a time of day in a zone, and TIME has none: give it without tzinfo"
            )));
        }
        return time_of_day(object).map(|micros| Value::Time(micros * 1_000));
    }
    if object.is_instance(classes.decimal.bind(py))? {
        return decimal(object);
    }
    if object.is_instance(classes.uuid.bind(py))? {
        return Ok(Value::Uuid(object.getattr("bytes")?.extract()?));
    }
    if object.is_instance_of::<PyDict>()
        || object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
    {
        return Ok(Value::Json(classes.json.call1(py, (object,))?.extract(py)?));
    }
    if let Ok(bytes) = object.cast::<PyByteArray>() {
        return Ok(Value::Binary(bytes.to_vec()));
    }
    if let Ok(bytes) = object.extract::<&[u8]>() {
        return Ok(Value::Binary(bytes.to_vec()));
    }
    if object.get_type().name()? == "memoryview" {
        return Ok(Value::Binary(object.call_method0("tobytes")?.extract()?));
    }
    // Subclasses, and NumPy's scalars, which turn into Python's own by `item`.
    if object.is_instance_of::<PyBool>() {
        return Ok(Value::Boolean(object.extract()?));
    }
    if object.is_instance_of::<PyInt>() {
        return integer_value(object);
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(Value::Double(object.extract()?));
    }
    if object.is_instance_of::<PyString>() {
        return Ok(Value::String(object.extract()?));
    }
    if is_missing_in_pandas(object)? {
        return Ok(Value::Null);
    }
    if let Some(value) = numpy_value(object)? {
        return Ok(value);
    }
    if let Ok(item) = object.call_method0("item")
        && !item.get_type().is(object.get_type())
    {
        return to_value(&item);
    }
    Err(unknown_class(object))
}

fn unknown_class(object: &Bound<'_, PyAny>) -> PyErr {
    match object.get_type().qualname() {
        Ok(name) => {
            PyTypeError::new_err(format!("a value of type {name} does not go into a column"))
        }
        Err(error) => error,
    }
}

/// True for what pandas has in place of a value that is missing.
fn is_missing_in_pandas(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let name = object.get_type().name()?;
    Ok(matches!(name.to_str()?, "NaTType" | "NAType"))
}

/// A scalar of NumPy that its own `item` would change: a timestamp of nanoseconds becomes a number,
/// and a float of 32 bits gets digits that it does not have.
fn numpy_value(object: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    let name = object.get_type().name()?;
    let precision = match name.to_str()? {
        "float32" | "float16" => return Ok(Some(Value::Float(object.extract::<f64>()? as f32))),
        "timedelta64" => return Err(unknown_class(object)),
        "datetime64" => match object.getattr("dtype")?.str()?.to_str()? {
            "datetime64[s]" => 0,
            "datetime64[ms]" => 3,
            "datetime64[us]" => 6,
            "datetime64[ns]" => 9,
            // Days, months and years are dates to `item`.
            "datetime64[D]" | "datetime64[M]" | "datetime64[Y]" => return Ok(None),
            _ => return Err(unknown_class(object)),
        },
        _ => return Ok(None),
    };
    let count = object.call_method1("astype", ("int64",))?.call_method0("item")?;
    // NumPy keeps the least number for a missing timestamp.
    Ok(Some(match count.extract::<i64>()? {
        i64::MIN => Value::Null,
        value => Value::Timestamp { value, precision },
    }))
}

/// The day 1970-01-01 as `date.toordinal` counts.
const EPOCH_ORDINAL: i32 = 719_163;
const MICROS_PER_DAY: i64 = 86_400_000_000;

/// A naive datetime is UTC; an aware one is turned to UTC. Those of pandas hold nanoseconds.
fn timestamp(object: &Bound<'_, PyAny>, is_plain: bool) -> PyResult<Value> {
    let ordinal: i64 = object.call_method0("toordinal")?.extract()?;
    let mut micros = (ordinal - i64::from(EPOCH_ORDINAL)) * MICROS_PER_DAY + time_of_day(object)?;
    let offset = object.call_method0("utcoffset")?;
    if !offset.is_none() {
        let of = |name: &str| -> PyResult<i64> { offset.getattr(name)?.extract() };
        micros -= of("days")? * MICROS_PER_DAY + of("seconds")? * 1_000_000 + of("microseconds")?;
    }
    let nanos: i64 = match is_plain {
        true => 0,
        false => object.getattr_opt("nanosecond")?.map_or(Ok(0), |nanos| nanos.extract())?,
    };
    if nanos == 0 {
        return Ok(Value::Timestamp { value: micros, precision: 6 });
    }
    let value = micros.checked_mul(1_000).and_then(|micros| micros.checked_add(nanos));
    let refused =
        || PyOverflowError::new_err(format!("{object} is too far from 1970 for its nanoseconds"));
    Ok(Value::Timestamp { value: value.ok_or_else(refused)?, precision: 9 })
}

fn time_of_day(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    let of = |name: &str| -> PyResult<i64> { object.getattr(name)?.extract() };
    let seconds = of("hour")? * 3_600 + of("minute")? * 60 + of("second")?;
    Ok(seconds * 1_000_000 + of("microsecond")?)
}

fn decimal(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let refused = || PyValueError::new_err(format!("{object} does not fit a NUMBER column"));
    let tuple = object.call_method0("as_tuple")?;
    let digits: Vec<u8> = tuple.getattr("digits")?.extract()?;
    let exponent: i32 = tuple.getattr("exponent")?.extract().map_err(|_| refused())?;
    let is_negative: bool = tuple.getattr("sign")?.extract::<u8>()? == 1;
    let sign = if is_negative { "-" } else { "" };
    let digits: String = digits.iter().map(|digit| char::from(b'0' + digit)).collect();
    let unscaled = digits_of(&format!("{sign}{digits}")).ok_or_else(refused)?;
    let scale = i8::try_from(-exponent).map_err(|_| refused())?;
    Ok(Value::number(unscaled, scale))
}

/// A row out of a mapping, or out of a sequence in the order of `columns`.
///
/// # Errors
/// As [`to_value`], naming the column; `ValueError` for a sequence of another length.
pub(crate) fn to_row(object: &Bound<'_, PyAny>, columns: &[String]) -> PyResult<Row> {
    // Dicts, tuples and lists are the usual rows, and asking for them costs next to nothing.
    if let Ok(mapping) = object.cast::<PyDict>() {
        let mut row = Row::with_capacity(mapping.len());
        for (name, value) in mapping.iter() {
            let name = name.cast::<PyString>()?.to_str()?.to_owned();
            let value = to_value(&value).map_err(|error| at_column(&error, &name))?;
            row.set(&name, value);
        }
        return Ok(row);
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return row_of(tuple.iter(), tuple.len(), columns);
    }
    if let Ok(list) = object.cast::<PyList>() {
        return row_of(list.iter(), list.len(), columns);
    }
    // Other mappings say by `keys` that they are such, as they do to `dict.update`.
    if object.hasattr("keys")? {
        let dict = PyDict::new(object.py());
        dict.update(object.cast()?)?;
        return to_row(&dict, columns);
    }
    Err(PyTypeError::new_err(format!(
        "a row is a mapping or a sequence of values, not {}",
        object.get_type().qualname()?
    )))
}

fn row_of<'py>(
    values: impl Iterator<Item = Bound<'py, PyAny>>,
    count: usize,
    columns: &[String],
) -> PyResult<Row> {
    if count != columns.len() {
        return Err(PyValueError::new_err(format!(
            "a row of {count} values for {} columns: {}",
            columns.len(),
            columns.join(", ")
        )));
    }
    let mut row = Row::with_capacity(count);
    for (name, value) in columns.iter().zip(values) {
        row.set(name, to_value(&value).map_err(|error| at_column(&error, name))?);
    }
    Ok(row)
}

/// A whole or partial key: a mapping, a sequence in the order of the key columns, or one value for
/// the first.
///
/// # Errors
/// As [`to_row`]; `ValueError` for more values than key columns.
pub(crate) fn to_key(object: &Bound<'_, PyAny>, key_columns: &[String]) -> PyResult<Row> {
    let count = if let Ok(tuple) = object.cast::<PyTuple>() {
        tuple.len()
    } else if let Ok(list) = object.cast::<PyList>() {
        list.len()
    } else if object.is_instance_of::<PyDict>() {
        return to_row(object, key_columns);
    } else {
        let mut row = Row::with_capacity(1);
        if let Some(first) = key_columns.first() {
            row.set(first, to_value(object).map_err(|error| at_column(&error, first))?);
        }
        return Ok(row);
    };
    if count > key_columns.len() {
        return Err(PyValueError::new_err(format!(
            "a key of {count} values for the key columns {}",
            key_columns.join(", ")
        )));
    }
    to_row(object, &key_columns[..count])
}

fn at_column(error: &PyErr, column: &str) -> PyErr {
    Python::attach(|py| {
        let message = format!("column '{column}': {}", error.value(py));
        PyErr::from_type(error.get_type(py), message)
    })
}

/// The bytes of a value: bytes, or text as UTF-8.
pub(crate) fn bytes_of(value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(text) = value.extract::<&str>() {
        return Ok(text.as_bytes().to_vec());
    }
    if let Ok(bytes) = value.extract::<&[u8]>() {
        return Ok(bytes.to_vec());
    }
    value.extract::<Vec<u8>>()
}
