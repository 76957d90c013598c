//! Cells of an index that are made of a longitude and a latitude.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use tonnage_engine::{Error, Result};

use crate::geo::geo_cell;
use crate::value::Value;

/// The cells of rows; NULL for those that are nowhere on the globe.
pub(super) fn encode(lon: &ArrayRef, lat: &ArrayRef, level: u8) -> Result<ArrayRef> {
    let (lon, lat) = (doubles(lon)?, doubles(lat)?);
    let (lon, lat) = (lon.as_primitive::<Float64Type>(), lat.as_primitive::<Float64Type>());
    let cell = |row| {
        let is_given = lon.is_valid(row) && lat.is_valid(row);
        is_given.then(|| geo_cell(lon.value(row), lat.value(row), level)).flatten()
    };
    Ok(Arc::new((0..lon.len()).map(cell).collect::<Int64Array>()))
}

/// The cell of one row.
pub(super) fn of_values(lon: &Value, lat: &Value, level: u8) -> Value {
    let cell = |(lon, lat)| geo_cell(lon, lat, level);
    double(lon).zip(double(lat)).and_then(cell).map_or(Value::Null, Value::Long)
}

/// A FLOAT becomes the DOUBLE of the same value, here and in [`double`].
pub(super) fn doubles(array: &ArrayRef) -> Result<ArrayRef> {
    cast(array, &DataType::Float64).map_err(|error| {
        Error::internal(format!("coordinates are not numbers: {error}")).with_source(error)
    })
}

fn double(value: &Value) -> Option<f64> {
    match value {
        Value::Double(number) => Some(*number),
        Value::Float(number) => Some(f64::from(*number)),
        _ => None,
    }
}
