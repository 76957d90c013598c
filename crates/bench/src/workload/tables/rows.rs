//! SmallTables and their rows: a name, a status, a count and ten bytes of data.

use std::ops::Range;
use std::sync::Arc;

use tonnage::arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Int64Array, RecordBatch, StringArray,
};
use tonnage::{Error, Result, Row};

use super::{Size, TableKey};
use crate::generate::{Values, mix};
use crate::system::System;

const LOB_BYTES: usize = 10;

/// Counts lie below this, spread evenly and in no order.
pub(super) const COUNTS: i64 = 1_000;

/// What rows look like. A row follows from its place in its table.
#[derive(Clone)]
pub(super) struct Shape {
    key: TableKey,
    lobs: Arc<Values>,
}

impl Shape {
    pub(super) fn new(key: TableKey) -> Self {
        Shape { key, lobs: Arc::new(Values::new(LOB_BYTES, 0.0)) }
    }

    pub(super) fn define(&self, system: &dyn System, name: &str) -> Result<()> {
        let columns = match self.key {
            TableKey::Id => {
                "id LONG, name STRING, status BOOLEAN, count LONG, lob BINARY, PRIMARY KEY (id)"
            }
            TableKey::Name => {
                "name STRING, status BOOLEAN, count LONG, lob BINARY, PRIMARY KEY (name)"
            }
        };
        system.define(&format!("CREATE TABLE {name} ({columns})"))
    }

    pub(super) fn row(&self, place: u64) -> Row {
        let row = match self.key {
            TableKey::Id => Row::new().with("id", place as i64),
            TableKey::Name => Row::new(),
        };
        row.with("name", name_of(place))
            .with("status", status_of(place))
            .with("count", count_of(place))
            .with("lob", self.lobs.of(place))
    }

    pub(super) fn key(&self, place: u64) -> Row {
        match self.key {
            TableKey::Id => Row::new().with("id", place as i64),
            TableKey::Name => Row::new().with("name", name_of(place)),
        }
    }

    /// The rows at these places.
    pub(super) fn rows(&self, places: Range<u64>) -> Result<RecordBatch> {
        let (mut names, mut columns) = (None, Vec::new());
        match self.key_column(places.clone()) {
            ("name", keys) => names = Some(keys),
            key => columns.push(key),
        }
        let names = names.unwrap_or_else(|| {
            Arc::new(StringArray::from_iter_values(places.clone().map(name_of)))
        });
        columns.extend([
            ("name", names),
            (
                "status",
                Arc::new(
                    places.clone().map(|place| Some(status_of(place))).collect::<BooleanArray>(),
                ) as ArrayRef,
            ),
            ("count", Arc::new(Int64Array::from_iter_values(places.clone().map(count_of)))),
            (
                "lob",
                Arc::new(BinaryArray::from_iter_values(places.map(|place| self.lobs.of(place)))),
            ),
        ]);
        batch(columns)
    }

    /// The keys of the rows at these places.
    pub(super) fn keys(&self, places: impl Iterator<Item = u64>) -> Result<RecordBatch> {
        batch(vec![self.key_column(places)])
    }

    fn key_column(&self, places: impl Iterator<Item = u64>) -> (&'static str, ArrayRef) {
        match self.key {
            TableKey::Id => {
                ("id", Arc::new(Int64Array::from_iter_values(places.map(|place| place as i64))))
            }
            TableKey::Name => {
                ("name", Arc::new(StringArray::from_iter_values(places.map(name_of))))
            }
        }
    }

    /// The name of the key's column.
    pub(super) fn key_name(&self) -> &'static str {
        match self.key {
            TableKey::Id => "id",
            TableKey::Name => "name",
        }
    }

    /// The key of a row as a statement has it.
    pub(super) fn key_literal(&self, place: u64) -> String {
        match self.key {
            TableKey::Id => place.to_string(),
            TableKey::Name => format!("'{}'", name_of(place)),
        }
    }

    /// What the numbers of a row add up to.
    pub(super) fn numbers_of(&self, place: u64) -> f64 {
        let id = if self.key == TableKey::Id { place as f64 } else { 0.0 };
        id + count_of(place) as f64
    }
}

/// Some tables of one shape. Their rows are numbered across all of them: number after number in
/// turn from each table.
pub(super) struct SmallTables {
    names: Vec<String>,
    rows_each: u64,
    pub(super) shape: Shape,
}

impl SmallTables {
    pub(super) fn new(shape: &Shape, prefix: &str, size: Size) -> Self {
        let names = (0..size.tables).map(|number| format!("{prefix}_{number}")).collect();
        SmallTables { names, rows_each: size.rows, shape: shape.clone() }
    }

    pub(super) fn define(&self, system: &dyn System) -> Result<()> {
        self.names.iter().try_for_each(|name| self.shape.define(system, name))
    }

    /// Rows in all.
    pub(super) fn rows(&self) -> u64 {
        self.rows_each * self.names.len() as u64
    }

    /// How many rows each table has.
    pub(super) fn rows_each(&self) -> u64 {
        self.rows_each
    }

    /// The tables.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The table of a row.
    pub(super) fn name(&self, number: u64) -> &str {
        &self.names[(number % self.names.len() as u64) as usize]
    }

    /// The place of a row in its table.
    pub(super) fn place(&self, number: u64) -> u64 {
        number / self.names.len() as u64
    }

    /// All rows, table by table.
    pub(super) fn batches(&self) -> Result<Vec<(String, RecordBatch)>> {
        self.each_table(|shape, places| shape.rows(places))
    }

    /// The keys of all rows, table by table.
    pub(super) fn keys(&self) -> Result<Vec<(String, RecordBatch)>> {
        self.each_table(|shape, places| shape.keys(places))
    }

    fn each_table(
        &self,
        make: impl Fn(&Shape, Range<u64>) -> Result<RecordBatch>,
    ) -> Result<Vec<(String, RecordBatch)>> {
        self.names
            .iter()
            .map(|name| Ok((name.clone(), make(&self.shape, 0..self.rows_each)?)))
            .collect()
    }
}

/// A batch of columns of one length.
pub(super) fn batch(columns: Vec<(&'static str, ArrayRef)>) -> Result<RecordBatch> {
    RecordBatch::try_from_iter(columns)
        .map_err(|error| Error::internal(format!("a batch of rows: {error}")))
}

fn name_of(place: u64) -> String {
    format!("name{place:08}")
}

fn status_of(place: u64) -> bool {
    place.is_multiple_of(2)
}

/// The count of a row.
pub(super) fn count_of(place: u64) -> i64 {
    (mix(place) % COUNTS as u64) as i64
}
