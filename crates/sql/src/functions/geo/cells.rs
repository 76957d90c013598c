//! Cells: the squares of the globe that indexes order by.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Builder, Int64Array, ListBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::common::{Result, exec_err};
use tonnage::geo::{LEVEL_MAX, cell_bounds, cell_center, geo_cell};

use super::call::{Call, GeoFunction};

pub(super) const ALL: [GeoFunction; 3] = [
    GeoFunction {
        name: "geo_cell",
        form: "geo_cell(lon, lat [, level])",
        count: (2, 3),
        gives: |name, _| Ok(Field::new(name, DataType::Int64, true)),
        work: cells,
    },
    GeoFunction {
        name: "geo_cell_bounds",
        form: "geo_cell_bounds(cell, level)",
        count: (2, 2),
        gives: doubles,
        work: |call| places(call, |cell, level| cell_bounds(cell, level).map(Vec::from)),
    },
    GeoFunction {
        name: "geo_cell_center",
        form: "geo_cell_center(cell, level)",
        count: (2, 2),
        gives: doubles,
        work: |call| places(call, |cell, level| cell_center(cell, level).map(Vec::from)),
    },
];

fn doubles(name: &'static str, _: &[FieldRef]) -> Result<Field> {
    let item = Arc::new(Field::new_list_field(DataType::Float64, true));
    Ok(Field::new(name, DataType::List(item), true))
}

fn cells(call: &Call<'_>) -> Result<ArrayRef> {
    let (lon, lat) = (call.numbers(0)?, call.numbers(1)?);
    let levels = call.has(2).then(|| call.numbers(2)).transpose()?;
    call.collect::<_, Int64Array>(|row| {
        let level = match &levels {
            None => Some(LEVEL_MAX),
            Some(levels) => levels.get(row).map(|level| checked_level(call, level)).transpose()?,
        };
        let place = lon.get(row).zip(lat.get(row)).zip(level);
        Ok(place.and_then(|((lon, lat), level)| geo_cell(lon, lat, level)))
    })
}

fn places(call: &Call<'_>, place: fn(i64, u8) -> Option<Vec<f64>>) -> Result<ArrayRef> {
    let cells = cast(&call.whole_numbers(0)?, &DataType::Int64)?;
    let (cells, levels) = (cells.as_primitive::<Int64Type>(), call.numbers(1)?);
    let mut lists = ListBuilder::new(Float64Builder::new());
    for row in 0..call.rows {
        let level = levels.get(row).map(|level| checked_level(call, level)).transpose()?;
        let cell = cells.is_valid(row).then(|| cells.value(row));
        let Some((cell, level)) = cell.zip(level) else {
            lists.append_null();
            continue;
        };
        let Some(numbers) = place(cell, level) else {
            return exec_err!("{cell} is not a cell of level {level}");
        };
        lists.append_value(numbers.into_iter().map(Some));
    }
    Ok(Arc::new(lists.finish()))
}

fn checked_level(call: &Call<'_>, level: f64) -> Result<u8> {
    let whole = level as u8;
    match f64::from(whole) == level && (1..=LEVEL_MAX).contains(&whole) {
        true => Ok(whole),
        false => exec_err!(
            "{}: cells have a level of 1 (half of the globe) to {LEVEL_MAX} (1 cm), not {level}",
            call.name
        ),
    }
}
