//! Conditions on a place as cells of an index.
//!
//! A condition on both coordinates is a box, one by a function a region of its own. Together they
//! are a region whose cover the index is read by. A cover may hold too much: the plan tests the
//! rows against the conditions themselves.

use arrow::array::{ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use tonnage::geo::{LEVEL_MAX, Region};
use tonnage::{FieldRange, GeoCells, IndexColumn, TableSchema, Value};

use super::condition::{ColumnCondition, ColumnTest};
use super::json_path::IndexCells;

/// Cells asked for one by one where further columns of an index follow them.
const POINTS_MAX: i64 = 1_024;

/// A condition that holds only for places in a region.
#[derive(Clone, Debug)]
pub(crate) struct GeoCondition {
    /// The places of the two columns in the table.
    pub(crate) lon: usize,
    pub(crate) lat: usize,
    pub(crate) region: Region,
}

/// The cells of a column of an index that may meet all conditions; nothing when none is on it.
/// `is_last` says that no condition is on the column behind it.
pub(super) fn cells_of(
    schema: &TableSchema,
    indexed: &IndexColumn,
    conditions: &[ColumnCondition],
    regions: &[GeoCondition],
    is_last: bool,
) -> Option<Vec<IndexCells>> {
    let GeoCells { lon, level } = indexed.cells.as_ref()?;
    let (lon, lat) = (schema.column_index(lon)?, schema.column_index(&indexed.column)?);
    let here = regions.iter().filter(|condition| condition.lon == lon && condition.lat == lat);
    let mut all: Vec<Region> = here.map(|condition| condition.region.clone()).collect();
    let (of_lon, of_lat) = (Interval::of(conditions, lon), Interval::of(conditions, lat));
    if of_lon.is_null || of_lat.is_null {
        return Some(vec![IndexCells::Point(Value::Null)]);
    }
    // One coordinate alone leaves a belt around the globe, which no short cover fits.
    if of_lon.is_given && of_lat.is_given {
        all.push(Region::between(of_lon.low, of_lat.low, of_lon.high, of_lat.high));
    }
    if all.is_empty() {
        return None;
    }
    let region = Region::all(all);
    let cover = region.cover(*level, Region::PIECES);
    let count = cover.iter().map(|(first, last)| last.saturating_sub(*first).saturating_add(1));
    let count = count.fold(0_i64, i64::saturating_add);
    let mut cells: Vec<IndexCells> = match !is_last && count <= POINTS_MAX {
        true => cover.iter().flat_map(|(first, last)| *first..=*last).map(point).collect(),
        false => cover.iter().map(|(first, last)| range(indexed, *first, *last)).collect(),
    };
    // What is not on the globe has no cell.
    if region.reaches_beyond() {
        cells.push(IndexCells::Point(Value::Null));
    }
    Some(cells)
}

fn point(cell: i64) -> IndexCells {
    IndexCells::Point(Value::Long(cell))
}

fn range(indexed: &IndexColumn, first: i64, last: i64) -> IndexCells {
    IndexCells::Range(FieldRange::of(indexed.to_string()).from(first).to(last))
}

/// Whether cells of a level may be asked for one by one, so that columns behind them count.
pub(super) fn may_be_points(cells: &GeoCells) -> bool {
    cells.level < LEVEL_MAX
}

/// What conditions leave of one coordinate. Without an end it is infinite, which takes in what is
/// no number: SQL has that above all numbers.
struct Interval {
    low: f64,
    high: f64,
    is_given: bool,
    is_null: bool,
}

impl Interval {
    fn of(conditions: &[ColumnCondition], column: usize) -> Self {
        let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut own = Self { low, high, is_given: false, is_null: false };
        for condition in conditions.iter().filter(|condition| condition.column == column) {
            match &condition.test {
                ColumnTest::Null => own.is_null = true,
                ColumnTest::Low(bound) => own.narrow(&bound.value, true, false),
                ColumnTest::High(bound) => own.narrow(&bound.value, false, true),
                ColumnTest::In(values) => own.narrow(values, true, true),
            }
        }
        own
    }

    /// Takes the least and the greatest of some values for ends. An end that is not a number says
    /// nothing.
    fn narrow(&mut self, values: &ArrayRef, is_low: bool, is_high: bool) {
        let Ok(values) = cast(values, &DataType::Float64) else { return };
        let values = values.as_primitive::<Float64Type>();
        let given = || values.iter().flatten();
        if values.is_empty() || given().any(f64::is_nan) {
            return;
        }
        if is_low {
            self.low = self.low.max(given().fold(f64::INFINITY, f64::min));
        }
        if is_high {
            self.high = self.high.min(given().fold(f64::NEG_INFINITY, f64::max));
        }
        self.is_given = true;
    }
}
