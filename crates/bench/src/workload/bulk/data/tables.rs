//! Rows of tables: where a ship was when, and phones with their pictures.

use std::sync::Arc;

use tonnage::{Durability, Result};

use super::{Data, Picks, RecordShare};
use crate::generate::{ValueGenerator, mix};
use crate::system::{BulkDone, BulkOptions, Client, GetKeys, PutInput, System};
use crate::workload::bulk::{BulkBenchOptions, KeyPart};
use crate::workload::columns::{Column, NamedColumn, batches, row};

/// Rows that share the first column of the key: positions of one ship, phones of one maker.
const PER_FIRST: u64 = 100;
/// Pictures of one phone.
const PICTURES: u64 = 2;
/// Marks the number of a whole key that was never put, next to one that was.
const MISSING: u64 = 1 << 63;

/// Rows of a table, and of a child table if there is one. Numbers follow the order of keys.
#[derive(Clone)]
pub(in crate::workload::bulk) struct TableData {
    table: &'static str,
    /// Those of the key come first.
    columns: Vec<NamedColumn>,
    key_columns: usize,
    child: Option<Child>,
    definitions: Vec<&'static str>,
    picks: Picks,
    records: u64,
    keys: KeyPart,
}

/// The rows of a child table, whose numbers are those of the parent's rows times [`PICTURES`].
#[derive(Clone)]
struct Child {
    tables: &'static [&'static str],
    columns: Vec<NamedColumn>,
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
            child: None,
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
            let columns = vec![
                ("maker", Column::Text(|picture| maker(picture / PICTURES))),
                ("price", Column::Integer(|picture| price(picture / PICTURES))),
                ("id", Column::Long(|picture| (picture / PICTURES) as i64)),
                ("picture", Column::Integer(|picture| (picture % PICTURES) as i32)),
                ("data", Column::Binary(pictures)),
            ];
            data.child = Some(Child { tables: &["phones.images"], columns });
            data.definitions.push(PICTURES_DEFINITION);
        }
        data
    }

    fn child_tables(&self) -> &'static [&'static str] {
        self.child.as_ref().map_or(&[], |child| child.tables)
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

impl Data for TableData {
    fn definitions(&self) -> &[&'static str] {
        &self.definitions
    }

    fn rows_per_record(&self) -> u64 {
        if self.child.is_some() { 1 + PICTURES } else { 1 }
    }

    fn put_one(&self, client: &mut dyn Client, place: u64, durability: Durability) -> Result<()> {
        let number = self.picks.put(place);
        client.put_row(self.table, &row(&self.columns, number), durability)?;
        let Some(child) = &self.child else { return Ok(()) };
        let mut pictures = number * PICTURES..(number + 1) * PICTURES;
        pictures.try_for_each(|picture| {
            client.put_row(child.tables[0], &row(&child.columns, picture), durability)
        })
    }

    fn is_stored(&self, client: &mut dyn Client, place: u64) -> Result<bool> {
        let key = row(&self.columns[..self.key_columns], self.picks.put(place));
        Ok(client.get_rows(self.table, &key, self.child_tables())? == self.rows_per_record())
    }

    /// Parents first, then their children: a call puts into one table.
    fn bulk_put(
        &self,
        system: &dyn System,
        count: u64,
        share: RecordShare,
        options: &BulkOptions<'_>,
    ) -> Result<BulkDone> {
        let numbers = self.picks.puts(count, share);
        let rows = numbers.map(|numbers| batches(&self.columns, numbers)).collect();
        let mut done = system.bulk_put(PutInput::Rows(self.table, rows), options)?;
        if let Some(child) = &self.child {
            let pictures = |number| number * PICTURES..(number + 1) * PICTURES;
            let numbers = self.picks.puts(count, share).map(|numbers| numbers.flat_map(pictures));
            let rows = numbers.map(|numbers| batches(&child.columns, numbers)).collect();
            done.add(&system.bulk_put(PutInput::Rows(child.tables[0], rows), options)?);
        }
        Ok(done)
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

    fn bulk_get(
        &self,
        system: &dyn System,
        keys: u64,
        options: &BulkOptions<'_>,
    ) -> Result<BulkDone> {
        let data = self.clone();
        let numbers = (0..keys).map(move |place| data.wanted(place));
        let keys = batches(self.wanted_columns(), numbers);
        system.bulk_get(GetKeys::Rows(self.table, keys, self.child_tables()), options)
    }
}
