//! Rows of tables: where a ship was when, and phones with their pictures.

use std::ops::Range;
use std::sync::Arc;

use tonnage::{Durability, Result};

use super::{Data, Picks, RecordShare};
use crate::generate::{ValueGenerator, mix};
use crate::system::{Client, GetKeys, PutInput};
use crate::workload::bulk::{BulkBenchOptions, KeyPart};
use crate::workload::columns::{Column, NamedColumn, batches, row};

/// Rows that share the first column of the key: positions of one ship, phones of one maker.
const PER_FIRST: u64 = 100;
const PICTURES: u64 = 2;
/// Their table, as child tables are named.
const PICTURE_TABLES: &[&str] = &["phones.images"];
/// Marks the number of a whole key that was never put, next to one that was.
const MISSING: u64 = 1 << 63;

/// Rows of a table, and of a child table if there is one. Numbers follow the order of keys.
#[derive(Clone)]
pub(in crate::workload::bulk) struct TableData {
    table: &'static str,
    /// Those of the key come first.
    columns: Vec<NamedColumn>,
    key_columns: usize,
    /// Those of the child table, whose rows have the numbers of their parent's times [`PICTURES`].
    pictures: Option<Vec<NamedColumn>>,
    definitions: Vec<&'static str>,
    picks: Picks,
    records: u64,
    keys: KeyPart,
}

impl TableData {
    fn new(options: &BulkBenchOptions, table: &'static str, definition: &'static str) -> Self {
        let keys = match options.keys {
            KeyPart::Whole => options.records,
            KeyPart::Partial => options.records.div_ceil(PER_FIRST),
        };
        TableData {
            table,
            columns: Vec::new(),
            key_columns: 0,
            pictures: None,
            definitions: vec![definition],
            picks: Picks::new(options, keys),
            records: options.records,
            keys: options.keys,
        }
    }

    /// Ship after ship, each from its first moment to its last: a report every ten seconds, so that
    /// there is nothing a second after one.
    pub(in crate::workload::bulk) fn positions(options: &BulkBenchOptions) -> Self {
        const DEFINITION: &str = "CREATE TABLE positions (ship LONG, at TIMESTAMP(0), \
             lat DOUBLE, lon DOUBLE, speed DOUBLE, course DOUBLE, status INTEGER, name STRING, \
             PRIMARY KEY (SHARD(ship), at))";
        let columns = vec![
            ("ship", Column::Long(|row| 200_000_000 + first(row) as i64)),
            ("at", Column::Timestamp(|row| 1_640_995_200 + 10 * within(row) as i64 + missing(row))),
            ("lat", Column::Double(|row| (mix(row) % 9_000_000) as f64 / 1e5)),
            ("lon", Column::Double(|row| -((mix(row + 1) % 18_000_000) as f64) / 1e5)),
            ("speed", Column::Double(|row| (mix(row + 2) % 300) as f64 / 10.0)),
            ("course", Column::Double(|row| (mix(row + 3) % 3_600) as f64 / 10.0)),
            ("status", Column::Integer(|row| (row % 16) as i32)),
            ("name", Column::Text(|row| format!("SHIP {:09}", first(row)))),
        ];
        let data = TableData::new(options, "positions", DEFINITION);
        TableData { columns, key_columns: 2, ..data }
    }

    /// Maker after maker, each from its cheapest phone to its dearest.
    pub(in crate::workload::bulk) fn phones(options: &BulkBenchOptions) -> Self {
        const DEFINITION: &str = "CREATE TABLE phones (maker STRING, price INTEGER, id LONG, \
             name STRING, PRIMARY KEY (SHARD(maker), price, id))";
        const PICTURES_DEFINITION: &str =
            "CREATE TABLE phones.images (picture INTEGER, data BINARY, PRIMARY KEY (picture))";
        let columns = vec![
            ("maker", Column::Text(maker)),
            ("price", Column::Integer(price)),
            ("id", Column::Long(|phone| phone as i64)),
            ("name", Column::Text(|phone| format!("phone number {phone:012}"))),
        ];
        let mut data =
            TableData { columns, key_columns: 3, ..TableData::new(options, "phones", DEFINITION) };
        if options.children {
            let pictures = Arc::new(ValueGenerator::new(options.value_bytes, options.compressible));
            data.pictures = Some(vec![
                ("maker", Column::Text(|picture| maker(picture / PICTURES))),
                ("price", Column::Integer(|picture| price(picture / PICTURES))),
                ("id", Column::Long(|picture| (picture / PICTURES) as i64)),
                ("picture", Column::Integer(|picture| (picture % PICTURES) as i32)),
                ("data", Column::Binary(pictures)),
            ]);
            data.definitions.push(PICTURES_DEFINITION);
        }
        data
    }

    fn child_tables(&self) -> &'static [&'static str] {
        if self.pictures.is_some() { PICTURE_TABLES } else { &[] }
    }

    /// The number of the row whose key is asked for at a place.
    fn wanted(&self, place: u64) -> u64 {
        let (number, is_missing) = self.picks.get(place);
        match (self.keys, is_missing) {
            (KeyPart::Whole, false) => number,
            (KeyPart::Whole, true) => number | MISSING,
            (KeyPart::Partial, false) => number * PER_FIRST,
            // Beyond the last row begins a ship or maker whose rows were never put.
            (KeyPart::Partial, true) => {
                number * PER_FIRST + self.records.next_multiple_of(PER_FIRST)
            }
        }
    }

    fn wanted_columns(&self) -> &[NamedColumn] {
        match self.keys {
            KeyPart::Whole => &self.columns[..self.key_columns],
            KeyPart::Partial => &self.columns[..1],
        }
    }
}

/// Which ship or maker a row is of.
fn first(row: u64) -> u64 {
    (row & !MISSING) / PER_FIRST
}

/// Which of its rows it is.
fn within(row: u64) -> u64 {
    (row & !MISSING) % PER_FIRST
}

fn missing(row: u64) -> i64 {
    i64::from(row & MISSING != 0)
}

fn maker(phone: u64) -> String {
    format!("maker {:08}", first(phone))
}

fn price(phone: u64) -> i32 {
    100 + 10 * within(phone) as i32
}

fn pictures_of(phone: u64) -> Range<u64> {
    phone * PICTURES..(phone + 1) * PICTURES
}

impl Data for TableData {
    fn definitions(&self) -> &[&'static str] {
        &self.definitions
    }

    fn rows_per_record(&self) -> u64 {
        if self.pictures.is_some() { 1 + PICTURES } else { 1 }
    }

    fn put_one(&self, client: &mut dyn Client, place: u64, durability: Durability) -> Result<()> {
        let number = self.picks.put(place);
        client.put_row(self.table, &row(&self.columns, number), durability)?;
        let Some(columns) = &self.pictures else { return Ok(()) };
        pictures_of(number).try_for_each(|picture| {
            client.put_row(PICTURE_TABLES[0], &row(columns, picture), durability)
        })
    }

    fn is_stored(&self, client: &mut dyn Client, place: u64) -> Result<bool> {
        let key = row(&self.columns[..self.key_columns], self.picks.put(place));
        Ok(client.get_rows(self.table, &key, self.child_tables())? == self.rows_per_record())
    }

    /// Parents first, then their children.
    fn put_inputs(&self, count: u64, share: RecordShare) -> Vec<PutInput> {
        let streams = || self.picks.puts(count, share);
        let rows = streams().map(|numbers| batches(&self.columns, numbers)).collect();
        let mut inputs = vec![PutInput::Rows(self.table, rows)];
        if let Some(columns) = &self.pictures {
            let pictures = streams().map(|numbers| numbers.flat_map(pictures_of));
            let rows = pictures.map(|numbers| batches(columns, numbers)).collect();
            inputs.push(PutInput::Rows(PICTURE_TABLES[0], rows));
        }
        inputs
    }

    fn keys(&self) -> u64 {
        self.picks.get.len()
    }

    fn found(&self, key: u64) -> u64 {
        let rows = match (self.picks.get(key), self.keys) {
            ((_, true), _) => 0,
            (_, KeyPart::Whole) => 1,
            ((number, _), KeyPart::Partial) => (self.records - number * PER_FIRST).min(PER_FIRST),
        };
        rows * self.rows_per_record()
    }

    fn get_one(&self, client: &mut dyn Client, place: u64) -> Result<u64> {
        let key = row(self.wanted_columns(), self.wanted(place));
        client.get_rows(self.table, &key, self.child_tables())
    }

    fn get_keys(&self, count: u64) -> GetKeys {
        let data = self.clone();
        let numbers = (0..count).map(move |place| data.wanted(place));
        let keys = batches(self.wanted_columns(), numbers);
        GetKeys::Rows(self.table, keys, self.child_tables())
    }
}
