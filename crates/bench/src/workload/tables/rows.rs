//! Small tables and their rows: a name, a status, a count and ten bytes of data.

use std::sync::Arc;

use tonnage::arrow::array::RecordBatch;
use tonnage::{Result, Row};

use super::options::{Size, TableKey};
use crate::generate::{ValueGenerator, mix};
use crate::system::System;
use crate::workload::columns::{Column, NamedColumn, batch, row};

const LOB_BYTES: usize = 10;

/// Counts lie below this, spread evenly and in no order.
pub(super) const COUNTS: i64 = 1_000;

/// What rows look like. A row follows from its position in its table.
#[derive(Clone)]
pub(super) struct Shape {
    pub(super) key: TableKey,
    /// That of the key comes first.
    pub(super) columns: Vec<NamedColumn>,
}

impl Shape {
    pub(super) fn new(key: TableKey) -> Self {
        let lobs = Arc::new(ValueGenerator::new(LOB_BYTES, 0.0));
        let mut columns = vec![
            ("name", Column::Text(name_of)),
            ("status", Column::Boolean(|place| place.is_multiple_of(2))),
            ("count", Column::Long(count_of)),
            ("lob", Column::Binary(lobs)),
        ];
        if key == TableKey::Id {
            columns.insert(0, ("id", Column::Long(|place| place as i64)));
        }
        Shape { key, columns }
    }

    pub(super) fn define(&self, system: &dyn System, name: &str) -> Result<()> {
        let id = if self.key == TableKey::Id { "id LONG, " } else { "" };
        let columns = "name STRING, status BOOLEAN, count LONG, lob BINARY";
        let key = self.key.name();
        system.define(&format!("CREATE TABLE {name} ({id}{columns}, PRIMARY KEY ({key}))"))
    }

    pub(super) fn row(&self, place: u64) -> Row {
        row(&self.columns, place)
    }

    pub(super) fn key(&self, place: u64) -> Row {
        row(&self.columns[..1], place)
    }

    pub(super) fn keys(&self, places: impl Iterator<Item = u64> + Clone) -> Result<RecordBatch> {
        batch(&self.columns[..1], places)
    }

    /// The key of a row as a statement has it.
    pub(super) fn key_literal(&self, place: u64) -> String {
        match self.key {
            TableKey::Id => place.to_string(),
            TableKey::Name => format!("'{}'", name_of(place)),
        }
    }

    /// The condition that is true of one row alone.
    pub(super) fn is_at(&self, place: u64) -> String {
        format!("{} = {}", self.key.name(), self.key_literal(place))
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
    pub(super) names: Vec<String>,
    /// How many rows each table has.
    pub(super) rows_each: u64,
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

    pub(super) fn rows(&self) -> u64 {
        self.rows_each * self.names.len() as u64
    }

    pub(super) fn name(&self, number: u64) -> &str {
        &self.names[(number % self.names.len() as u64) as usize]
    }

    pub(super) fn place(&self, number: u64) -> u64 {
        number / self.names.len() as u64
    }

    /// All rows, table by table.
    pub(super) fn batches(&self) -> Result<Vec<(String, RecordBatch)>> {
        self.each_table(&self.shape.columns)
    }

    /// The keys of all rows, table by table.
    pub(super) fn keys(&self) -> Result<Vec<(String, RecordBatch)>> {
        self.each_table(&self.shape.columns[..1])
    }

    fn each_table(&self, columns: &[NamedColumn]) -> Result<Vec<(String, RecordBatch)>> {
        let of_table = |name: &String| Ok((name.clone(), batch(columns, 0..self.rows_each)?));
        self.names.iter().map(of_table).collect()
    }
}

fn name_of(place: u64) -> String {
    format!("name{place:08}")
}

pub(super) fn count_of(place: u64) -> i64 {
    (mix(place) % COUNTS as u64) as i64
}
