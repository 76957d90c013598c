//! Rows: where a ship was when.

use std::ops::Range;

use tonnage::arrow::array::{
    Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, TimestampSecondArray,
};
use tonnage::{Durability, Result, Row, Value};

use super::source::{batch, column, parts, rows};
use super::{Data, Picks, RecordShare};
use crate::generate::mix;
use crate::system::{BulkDone, BulkOptions, Client, Feature, System};
use crate::workload::bulk::{BulkBenchOptions, KeyPart};

const TABLE: &str = "positions";
const DEFINITION: &str = "CREATE TABLE positions (ship LONG, at TIMESTAMP(0), lat DOUBLE, lon DOUBLE, speed DOUBLE, course DOUBLE, \
     status INTEGER, name STRING, PRIMARY KEY (SHARD(ship), at))";

/// Positions of one ship.
const PER_SHIP: u64 = 100;

/// Positions. Numbers follow the order of keys: ship after ship, each from its first moment to its
/// last.
#[derive(Clone, Copy)]
pub(super) struct Positions {
    picks: Picks,
    records: u64,
    keys: KeyPart,
}

impl Positions {
    pub(super) fn new(options: &BulkBenchOptions) -> Self {
        let keys = match options.keys {
            KeyPart::Whole => options.records,
            KeyPart::Partial => options.records.div_ceil(PER_SHIP),
        };
        Positions { picks: Picks::new(options, keys), records: options.records, keys: options.keys }
    }

    /// The ship and the moment that are asked for at a place; one of the two was never put when the
    /// key is to be missing.
    fn wanted(&self, place: u64) -> (i64, Option<i64>) {
        let pick = self.picks.get(place);
        match self.keys {
            KeyPart::Partial if pick.is_missing => {
                (ship((pick.number + self.records) * PER_SHIP), None)
            }
            KeyPart::Partial => (ship(pick.number * PER_SHIP), None),
            KeyPart::Whole => {
                (ship(pick.number), Some(at(pick.number) + i64::from(pick.is_missing)))
            }
        }
    }

    fn key(&self, place: u64) -> Row {
        let (ship, at) = self.wanted(place);
        let key = Row::new().with("ship", ship);
        match at {
            Some(at) => key.with("at", timestamp(at)),
            None => key,
        }
    }

    fn keys_batch(&self, places: &[u64]) -> Result<RecordBatch> {
        let ships = column::<Int64Array, _>(places, |place| self.wanted(place).0);
        match self.keys {
            KeyPart::Partial => batch([("ship", ships)]),
            KeyPart::Whole => {
                let moments = column::<TimestampSecondArray, _>(places, |place| {
                    self.wanted(place).1.unwrap_or_default()
                });
                batch([("ship", ships), ("at", moments)])
            }
        }
    }
}

fn ship(number: u64) -> i64 {
    200_000_000 + (number / PER_SHIP) as i64
}

/// A report every ten seconds, so that there is nothing a second after one.
fn at(number: u64) -> i64 {
    1_640_995_200 + 10 * (number % PER_SHIP) as i64
}

fn timestamp(value: i64) -> Value {
    Value::Timestamp { value, precision: 0 }
}

fn lat(number: u64) -> f64 {
    (mix(number) % 9_000_000) as f64 / 1e5
}

fn lon(number: u64) -> f64 {
    -((mix(number + 1) % 18_000_000) as f64) / 1e5
}

fn speed(number: u64) -> f64 {
    (mix(number + 2) % 300) as f64 / 10.0
}

fn course(number: u64) -> f64 {
    (mix(number + 3) % 3_600) as f64 / 10.0
}

fn status(number: u64) -> i32 {
    (number % 16) as i32
}

fn name(number: u64) -> String {
    format!("SHIP {:09}", number / PER_SHIP)
}

fn row(number: u64) -> Row {
    Row::new()
        .with("ship", ship(number))
        .with("at", timestamp(at(number)))
        .with("lat", lat(number))
        .with("lon", lon(number))
        .with("speed", speed(number))
        .with("course", course(number))
        .with("status", status(number))
        .with("name", name(number))
}

fn rows_batch(numbers: &[u64]) -> Result<RecordBatch> {
    batch([
        ("ship", column::<Int64Array, _>(numbers, ship)),
        ("at", column::<TimestampSecondArray, _>(numbers, at)),
        ("lat", column::<Float64Array, _>(numbers, lat)),
        ("lon", column::<Float64Array, _>(numbers, lon)),
        ("speed", column::<Float64Array, _>(numbers, speed)),
        ("course", column::<Float64Array, _>(numbers, course)),
        ("status", column::<Int32Array, _>(numbers, status)),
        ("name", column::<StringArray, _>(numbers, name)),
    ])
}

impl Data for Positions {
    fn feature(&self) -> Option<Feature> {
        Some(Feature::Tables)
    }

    fn define(&self, system: &dyn System) -> Result<()> {
        system.define(DEFINITION)
    }

    fn rows_per_record(&self) -> u64 {
        1
    }

    fn put_one(&self, client: &mut dyn Client, place: u64, durability: Durability) -> Result<()> {
        client.put_row(TABLE, &row(self.picks.put(place)), durability)
    }

    fn is_stored(&self, client: &mut dyn Client, place: u64) -> Result<bool> {
        let number = self.picks.put(place);
        let key = Row::new().with("ship", ship(number)).with("at", timestamp(at(number)));
        Ok(client.get_rows(TABLE, &key, &[])? == 1)
    }

    fn bulk_put(
        &self,
        system: &dyn System,
        places: Range<u64>,
        share: RecordShare,
        streams: usize,
        options: &BulkOptions<'_>,
    ) -> Result<BulkDone> {
        let picks = self.picks;
        let source = |places: Range<u64>| {
            rows(
                places.filter(move |place| share.holds(*place)).map(move |place| picks.put(place)),
                rows_batch,
            )
        };
        system.bulk_put_rows(TABLE, parts(places, streams).map(source).collect(), options)
    }

    fn keys(&self) -> u64 {
        self.picks.keys()
    }

    fn found(&self, key: u64) -> u64 {
        match (self.picks.get(key), self.keys) {
            (pick, _) if pick.is_missing => 0,
            (_, KeyPart::Whole) => 1,
            (pick, KeyPart::Partial) => (self.records - pick.number * PER_SHIP).min(PER_SHIP),
        }
    }

    fn get_one(&self, client: &mut dyn Client, key: u64) -> Result<u64> {
        client.get_rows(TABLE, &self.key(key), &[])
    }

    fn bulk_get(
        &self,
        system: &dyn System,
        keys: u64,
        options: &BulkOptions<'_>,
    ) -> Result<BulkDone> {
        let data = *self;
        system.bulk_get_rows(
            TABLE,
            rows(0..keys, move |places| data.keys_batch(places)),
            &[],
            options,
        )
    }
}
