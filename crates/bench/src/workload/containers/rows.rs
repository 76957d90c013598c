//! Containers and their rows: a name, a status, a count and ten bytes of data.

use std::sync::Arc;

use tonnage::arrow::array::{ArrayRef, BinaryArray, BooleanArray, Int64Array, RecordBatch, StringArray};
use tonnage::{Error, Result, Row};

use super::{ContainerKey, ContainersOptions};
use crate::generate::Values;
use crate::target::Target;

const LOB_BYTES: usize = 10;

/// Some containers of one shape. Their rows are numbered across all of them: number after number in turn from each container.
pub(super) struct Containers {
    names: Vec<String>,
    rows_each: u64,
    key: ContainerKey,
    lobs: Values,
}

impl Containers {
    pub(super) fn new(options: &ContainersOptions, prefix: &str, count: usize) -> Self {
        Containers {
            names: (0..count).map(|number| format!("{prefix}_{number}")).collect(),
            rows_each: options.rows,
            key: options.key,
            lobs: Values::new(LOB_BYTES, 0.0),
        }
    }

    pub(super) fn define(&self, target: &dyn Target) -> Result<()> {
        let columns = match self.key {
            ContainerKey::Id => "id LONG, name STRING, status BOOLEAN, count LONG, lob BINARY, PRIMARY KEY (id)",
            ContainerKey::Name => "name STRING, status BOOLEAN, count LONG, lob BINARY, PRIMARY KEY (name)",
        };
        self.names.iter().try_for_each(|name| target.define(&format!("CREATE TABLE {name} ({columns})")))
    }

    /// Rows in all.
    pub(super) fn rows(&self) -> u64 {
        self.rows_each * self.names.len() as u64
    }

    /// The container of a row.
    pub(super) fn name(&self, number: u64) -> &str {
        &self.names[(number % self.names.len() as u64) as usize]
    }

    /// The number of a row in its container.
    fn place(&self, number: u64) -> u64 {
        number / self.names.len() as u64
    }

    pub(super) fn row(&self, number: u64) -> Row {
        let place = self.place(number);
        let row = match self.key {
            ContainerKey::Id => Row::new().with("id", place as i64),
            ContainerKey::Name => Row::new(),
        };
        row.with("name", name_of(place))
            .with("status", status(place))
            .with("count", count(place))
            .with("lob", self.lobs.of(place))
    }

    pub(super) fn key(&self, number: u64) -> Row {
        let place = self.place(number);
        match self.key {
            ContainerKey::Id => Row::new().with("id", place as i64),
            ContainerKey::Name => Row::new().with("name", name_of(place)),
        }
    }

    /// All rows, container by container.
    pub(super) fn batches(&self) -> Result<Vec<(String, RecordBatch)>> {
        self.each_container(|containers| {
            let places = || 0..containers.rows_each;
            let names: ArrayRef = Arc::new(StringArray::from_iter_values(places().map(name_of)));
            let mut columns = containers.key_columns();
            columns.retain(|(name, _)| *name != "name");
            columns.extend([
                ("name", names),
                ("status", Arc::new(places().map(|place| Some(status(place))).collect::<BooleanArray>())),
                ("count", Arc::new(Int64Array::from_iter_values(places().map(count)))),
                ("lob", Arc::new(BinaryArray::from_iter_values(places().map(|place| containers.lobs.of(place))))),
            ]);
            columns
        })
    }

    /// The keys of all rows, container by container.
    pub(super) fn keys(&self) -> Result<Vec<(String, RecordBatch)>> {
        self.each_container(Self::key_columns)
    }

    fn key_columns(&self) -> Vec<(&'static str, ArrayRef)> {
        let places = 0..self.rows_each;
        vec![match self.key {
            ContainerKey::Id => ("id", Arc::new(Int64Array::from_iter_values(places.map(|place| place as i64)))),
            ContainerKey::Name => ("name", Arc::new(StringArray::from_iter_values(places.map(name_of)))),
        }]
    }

    fn each_container(&self, columns: impl Fn(&Self) -> Vec<(&'static str, ArrayRef)>) -> Result<Vec<(String, RecordBatch)>> {
        let container = |name: &String| {
            let batch = RecordBatch::try_from_iter(columns(self));
            Ok((name.clone(), batch.map_err(|error| Error::internal(format!("a batch of rows: {error}")))?))
        };
        self.names.iter().map(container).collect()
    }
}

fn name_of(place: u64) -> String {
    format!("name{place:08}")
}

fn status(place: u64) -> bool {
    place.is_multiple_of(2)
}

fn count(place: u64) -> i64 {
    (place % 1_000) as i64
}
