//! Reads the places of rows through an index that begins with cells.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{AsArray, Float64Array, RecordBatch};
use arrow::datatypes::{Float64Type, Schema, SchemaRef};
use tonnage_engine::{Direction, Error, Result};

use super::definition::GeoCells;
use super::geo_cells::doubles;
use super::handle::Index;
use super::options::{IndexRange, IndexScanOptions};
use crate::codec::FieldRange;

/// Which entries to ask for, and which columns of their rows are the place.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// The level of the cells.
    pub(super) level: u8,
    /// The column of the index, as ranges name it.
    cells: String,
    /// How the rows are read: with the columns of the place after those wanted.
    options: IndexScanOptions,
    /// By when all reads together must have ended.
    until: Option<Instant>,
    /// The columns that are wanted.
    pub(super) wanted: SchemaRef,
    lon: usize,
    lat: usize,
}

impl Places {
    /// # Errors
    /// `Invalid` for an index that does not begin with cells, and for options that do not fit.
    pub(super) fn of(index: &Index, options: &IndexScanOptions) -> Result<Self> {
        let first = index.columns().first();
        let Some((column, GeoCells { lon, level })) =
            first.and_then(|column| Some((column, column.cells.as_ref()?)))
        else {
            return Err(no_places(index));
        };
        if options.exactly_once || options.direction != Direction::Unordered {
            return Err(Error::invalid(
                "rows by their places come in no order of the index, and not exactly once: leave direction and exactly_once out",
            ));
        }
        let schema = index.schema();
        let [lon, lat] = [lon, &column.column].map(|name| schema.require_column(name));
        let (lon, lat) = (lon?, lat?);
        // The coordinates are read with the columns that are wanted, and taken out again.
        let mut options = options.clone();
        let (mut places, mut wanted) = ([lon, lat], schema.arrow_schema());
        if let Some(names) = &mut options.columns {
            let columns = names.iter().map(|name| schema.require_column(name));
            let mut read = columns.collect::<Result<Vec<usize>>>()?;
            let fields: Vec<_> =
                read.iter().map(|column| schema.columns[*column].to_arrow()).collect();
            wanted = Arc::new(Schema::new(fields));
            places = [lon, lat].map(|column| {
                read.iter().position(|other| *other == column).unwrap_or_else(|| {
                    names.push(schema.columns[column].name.clone());
                    read.push(column);
                    read.len() - 1
                })
            });
        }
        let [lon, lat] = places;
        // All reads of the index together have one deadline.
        let until = options.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Ok(Self { level: *level, cells: column.to_string(), options, until, wanted, lon, lat })
    }

    /// The options of one read, in the time that is left.
    pub(super) fn read_options(&self, limit: Option<u64>) -> IndexScanOptions {
        // None left is the least that ends a read at once.
        let left = |until: Instant| {
            until.saturating_duration_since(Instant::now()).max(Duration::from_nanos(1))
        };
        let timeout = self.until.map(left).or(self.options.timeout);
        IndexScanOptions { timeout, limit, ..self.options.clone() }
    }

    /// The entries from one cell to another, both included.
    pub(super) fn range(&self, (first, last): (i64, i64)) -> IndexRange {
        let cells = FieldRange::of(self.cells.clone()).from(first).to(last);
        IndexRange::default().within(cells)
    }

    /// The longitudes and latitudes of rows.
    pub(super) fn coordinates(&self, rows: &RecordBatch) -> Result<[Float64Array; 2]> {
        let column = |place: usize| -> Result<Float64Array> {
            let numbers = doubles(rows.column(place))?;
            Ok(numbers.as_primitive::<Float64Type>().clone())
        };
        Ok([column(self.lon)?, column(self.lat)?])
    }

    /// The columns that are wanted.
    pub(super) fn pick_wanted(&self, rows: RecordBatch) -> Result<RecordBatch> {
        let count = self.wanted.fields().len();
        if count == rows.num_columns() {
            return Ok(rows);
        }
        let columns: Vec<usize> = (0..count).collect();
        rows.project(&columns).map_err(|error| {
            Error::internal(format!("rows lack a column: {error}")).with_source(error)
        })
    }
}

fn no_places(index: &Index) -> Error {
    let (name, table) = (index.name(), index.table_path());
    Error::invalid(format!(
        "index {name} of table {table} does not begin with places: make one with CREATE INDEX ON {table} (geo_cell(lon, lat)), longitude first"
    ))
}
