//! What is put and got: pairs, where a ship was when, and phones with their pictures. All of it
//! follows from the numbers of records, which follow the order of keys, so that nothing is kept for
//! each.

use std::ops::Range;
use std::sync::Arc;

use tonnage::{Durability, Result};

use super::options::{BulkBenchOptions, DataKind, KeyPart};
use crate::generate::{Permutation, ValueGenerator, mix, ordered_key};
use crate::system::{Client, GetKeys, PutInput};
use crate::workload::KeyOrder;
use crate::workload::columns::{BATCH_ROWS, Column, NamedColumn, batches, pairs, row};
use crate::workload::loops::split;

/// Rows that share the first column of the key: positions of one ship, phones of one maker.
const PER_FIRST: u64 = 100;
const PICTURES: u64 = 2;
/// Their table, as child tables are named.
const PICTURE_TABLES: &[&str] = &["phones.images"];
/// Marks the number of a whole key that was never put: of a pair past all others, of a row next to
/// one that was.
const MISSING: u64 = 1 << 63;

/// Records that are put, and keys that are got, each known by its position in the order in which
/// that is done.
#[derive(Clone)]
pub(super) struct BulkData {
    records: u64,
    streams: usize,
    order: KeyOrder,
    put: Permutation,
    get: Permutation,
    missing: RecordShare,
    /// What is got by; pairs have whole keys alone.
    keys: KeyPart,
    /// Those of pairs and pictures.
    values: Arc<ValueGenerator>,
    /// Where rows go; pairs have no table.
    table: Option<RowTable>,
}

/// A table, and a child table if there is one.
#[derive(Clone)]
struct RowTable {
    name: &'static str,
    definitions: Vec<&'static str>,
    /// Those of the key come first.
    columns: Vec<NamedColumn>,
    key_columns: usize,
    /// Those of the child table, whose rows have the numbers of their parent's times [`PICTURES`].
    pictures: Option<Vec<NamedColumn>>,
}

/// So many of a hundred places, as if thrown by dice.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordShare {
    percent: u8,
    seed: u64,
}

impl RecordShare {
    pub(super) const ALL: RecordShare = RecordShare { percent: 100, seed: 0 };

    /// The places whose record is there before a put.
    pub(super) fn existing(options: &BulkBenchOptions) -> Self {
        RecordShare { percent: options.existing_percent, seed: 0xE815 }
    }

    pub(super) fn holds(self, place: u64) -> bool {
        mix(place ^ mix(self.seed)) % 100 < u64::from(self.percent)
    }
}

impl BulkData {
    pub(super) fn new(options: &BulkBenchOptions, kind: DataKind) -> Self {
        let values = Arc::new(ValueGenerator::new(options.value_bytes, options.compressible));
        let table = match kind {
            DataKind::Pairs => None,
            DataKind::Positions => Some(RowTable::positions()),
            DataKind::Phones => Some(RowTable::phones(options.children.then(|| values.clone()))),
        };
        let keys = if table.is_some() { options.keys } else { KeyPart::Whole };
        let keys_count = match keys {
            KeyPart::Whole => options.records,
            KeyPart::Partial => options.records.div_ceil(PER_FIRST),
        };
        BulkData {
            records: options.records,
            streams: options.streams,
            order: options.order,
            put: Permutation::new(options.records, 1),
            get: Permutation::new(keys_count, 2),
            missing: RecordShare { percent: options.missing_percent, seed: 0x0A1D },
            keys,
            values,
            table,
        }
    }

    /// The tables that a system must have for it.
    pub(super) fn definitions(&self) -> &[&'static str] {
        self.table.as_ref().map_or(&[], |table| &table.definitions)
    }

    fn pictures(&self) -> Option<&[NamedColumn]> {
        self.table.as_ref()?.pictures.as_deref()
    }

    fn child_tables(&self) -> &'static [&'static str] {
        if self.pictures().is_some() { PICTURE_TABLES } else { &[] }
    }

    /// Rows that a record is: its own and those of its children.
    pub(super) fn rows_per_record(&self) -> u64 {
        if self.pictures().is_some() { 1 + PICTURES } else { 1 }
    }

    fn at(&self, order: &Permutation, place: u64) -> u64 {
        if self.order == KeyOrder::Ordered { place } else { order.at(place) }
    }

    pub(super) fn put_one(
        &self,
        client: &mut dyn Client,
        place: u64,
        durability: Durability,
    ) -> Result<()> {
        let number = self.at(&self.put, place);
        let Some(table) = &self.table else {
            return client.put_pair(&ordered_key(number), self.values.of(number), durability);
        };
        client.put_row(table.name, &row(&table.columns, number), durability)?;
        let Some(columns) = &table.pictures else { return Ok(()) };
        pictures_of(number).try_for_each(|picture| {
            client.put_row(PICTURE_TABLES[0], &row(columns, picture), durability)
        })
    }

    /// Returns whether a record that was put is there.
    pub(super) fn is_stored(&self, client: &mut dyn Client, place: u64) -> Result<bool> {
        let number = self.at(&self.put, place);
        let Some(table) = &self.table else {
            return Ok(client.get_pair(&ordered_key(number))?.is_some());
        };
        let key = row(&table.columns[..table.key_columns], number);
        Ok(client.get_rows(table.name, &key, self.child_tables())? == self.rows_per_record())
    }

    /// The first records, of these the ones that belong to a share: an input for each table,
    /// parents before their children.
    pub(super) fn put_inputs(&self, count: u64, share: RecordShare) -> Vec<PutInput> {
        let streams = || {
            split(0..count, self.streams).map(|places| {
                let data = self.clone();
                let held = places.filter(move |place| share.holds(*place));
                held.map(move |place| data.at(&data.put, place))
            })
        };
        let Some(table) = &self.table else {
            let source =
                |numbers| pairs(numbers, BATCH_ROWS, ordered_key, Some(self.values.clone()));
            return vec![PutInput::Pairs(streams().map(source).collect())];
        };
        let rows = streams().map(|numbers| batches(&table.columns, numbers)).collect();
        let mut inputs = vec![PutInput::Rows(table.name, rows)];
        if let Some(columns) = &table.pictures {
            let pictures = streams().map(|numbers| numbers.flat_map(pictures_of));
            let rows = pictures.map(|numbers| batches(columns, numbers)).collect();
            inputs.push(PutInput::Rows(PICTURE_TABLES[0], rows));
        }
        inputs
    }

    /// How many keys there are to ask for.
    pub(super) fn keys(&self) -> u64 {
        self.get.count()
    }

    /// The number of the record whose key is asked for at a position.
    fn wanted(&self, place: u64) -> u64 {
        let number = self.at(&self.get, place);
        match (self.keys, self.missing.holds(place)) {
            (KeyPart::Whole, false) => number,
            (KeyPart::Whole, true) => number | MISSING,
            (KeyPart::Partial, false) => number * PER_FIRST,
            // Beyond the last row begins a ship or maker whose rows were never put.
            (KeyPart::Partial, true) => {
                number * PER_FIRST + self.records.next_multiple_of(PER_FIRST)
            }
        }
    }

    /// How many rows the key at a position has.
    pub(super) fn found(&self, place: u64) -> u64 {
        let records = match self.keys {
            _ if self.missing.holds(place) => 0,
            KeyPart::Whole => 1,
            KeyPart::Partial => (self.records - self.wanted(place)).min(PER_FIRST),
        };
        records * self.rows_per_record()
    }

    /// Gets the rows of a key. Returns how many came.
    pub(super) fn get_one(&self, client: &mut dyn Client, place: u64) -> Result<u64> {
        let number = self.wanted(place);
        let Some(table) = &self.table else {
            return Ok(client.get_pair(&ordered_key(number))?.is_some().into());
        };
        let key = row(table.wanted_columns(self.keys), number);
        client.get_rows(table.name, &key, self.child_tables())
    }

    /// The first keys.
    pub(super) fn get_keys(&self, count: u64) -> GetKeys {
        let data = self.clone();
        let numbers = (0..count).map(move |place| data.wanted(place));
        let Some(table) = &self.table else {
            return GetKeys::Pairs(pairs(numbers, BATCH_ROWS, ordered_key, None), None);
        };
        let keys = batches(table.wanted_columns(self.keys), numbers);
        GetKeys::Rows(table.name, keys, self.child_tables())
    }
}

impl RowTable {
    /// Ship after ship, each from its first report to its last: a report every ten seconds, so that
    /// there is nothing a second after one.
    fn positions() -> Self {
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
        let (name, definitions) = ("positions", vec![DEFINITION]);
        RowTable { name, definitions, columns, key_columns: 2, pictures: None }
    }

    /// Maker after maker, each from its cheapest phone to its dearest.
    fn phones(pictures: Option<Arc<ValueGenerator>>) -> Self {
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
        let child = pictures.is_some().then_some(PICTURES_DEFINITION);
        let pictures = pictures.map(|data| {
            vec![
                ("maker", Column::Text(|picture| maker(picture / PICTURES))),
                ("price", Column::Integer(|picture| price(picture / PICTURES))),
                ("id", Column::Long(|picture| (picture / PICTURES) as i64)),
                ("picture", Column::Integer(|picture| (picture % PICTURES) as i32)),
                ("data", Column::Binary(data)),
            ]
        });
        let definitions = [DEFINITION].into_iter().chain(child).collect();
        RowTable { name: "phones", definitions, columns, key_columns: 3, pictures }
    }

    fn wanted_columns(&self, keys: KeyPart) -> &[NamedColumn] {
        match keys {
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
