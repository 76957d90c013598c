//! Rows with children: phones by maker, price and number, and their pictures.

use std::ops::Range;
use std::sync::Arc;

use tonnage::arrow::array::{BinaryArray, Int32Array, Int64Array, RecordBatch, StringArray};
use tonnage::{Durability, Result, Row};

use super::source::{batch, column, parts, rows};
use super::{Data, Picks, RecordShare};
use crate::generate::Values;
use crate::system::{BulkDone, BulkOptions, Client, Feature, System};
use crate::workload::bulk::{BulkBenchOptions, KeyPart};

const PHONES: &str = "phones";
const IMAGES: &str = "phones.images";
const PHONES_DEFINITION: &str = "CREATE TABLE phones (maker STRING, price INTEGER, id LONG, name STRING, PRIMARY KEY (SHARD(maker), price, id))";
const IMAGES_DEFINITION: &str =
    "CREATE TABLE phones.images (picture INTEGER, data BINARY, PRIMARY KEY (picture))";

/// Phones of one maker.
const PER_MAKER: u64 = 100;
/// Pictures of one phone.
const PICTURES: u64 = 2;

/// Phones. Numbers follow the order of keys: maker after maker, each from its cheapest phone to its
/// dearest.
#[derive(Clone)]
pub(super) struct Phones {
    picks: Picks,
    records: u64,
    keys: KeyPart,
    children: bool,
    pictures: Arc<Values>,
}

impl Phones {
    pub(super) fn new(options: &BulkBenchOptions) -> Self {
        let keys = match options.keys {
            KeyPart::Whole => options.records,
            KeyPart::Partial => options.records.div_ceil(PER_MAKER),
        };
        Phones {
            picks: Picks::new(options, keys),
            records: options.records,
            keys: options.keys,
            children: options.children,
            pictures: Arc::new(Values::new(options.value_bytes, options.compressible)),
        }
    }

    fn child_tables(&self) -> &'static [&'static str] {
        if self.children { &[IMAGES] } else { &[] }
    }

    /// The phone whose key is asked for at a place; one past all phones when it is to be missing.
    fn wanted(&self, place: u64) -> u64 {
        let pick = self.picks.get(place);
        let per_key = if self.keys == KeyPart::Partial { PER_MAKER } else { 1 };
        // Beyond the last phone a maker begins whose phones were never put.
        let beyond = if pick.is_missing { self.records.next_multiple_of(PER_MAKER) } else { 0 };
        pick.number * per_key + beyond
    }

    fn keys_batch(&self, places: &[u64]) -> Result<RecordBatch> {
        let numbers: Vec<u64> = places.iter().map(|place| self.wanted(*place)).collect();
        match self.keys {
            KeyPart::Whole => batch(key_columns(&numbers, |number| number)),
            KeyPart::Partial => batch([("maker", column::<StringArray, _>(&numbers, maker))]),
        }
    }

    fn images_batch(&self, numbers: &[u64]) -> Result<RecordBatch> {
        let images: Vec<u64> = numbers
            .iter()
            .flat_map(|number| (0..PICTURES).map(move |picture| number * PICTURES + picture))
            .collect();
        let [maker, price, id] = key_columns(&images, |image| image / PICTURES);
        let picture = column::<Int32Array, _>(&images, |image| (image % PICTURES) as i32);
        let data =
            images.iter().map(|image| Some(self.pictures.of(*image))).collect::<BinaryArray>();
        batch([maker, price, id, ("picture", picture), ("data", Arc::new(data))])
    }
}

fn maker(number: u64) -> String {
    format!("maker {:08}", number / PER_MAKER)
}

fn price(number: u64) -> i32 {
    100 + 10 * (number % PER_MAKER) as i32
}

fn name(number: u64) -> String {
    format!("phone number {number:012}")
}

/// The key columns of phones; `phone` is the phone of a number.
fn key_columns(
    numbers: &[u64],
    phone: impl Fn(u64) -> u64,
) -> [(&'static str, tonnage::arrow::array::ArrayRef); 3] {
    [
        ("maker", column::<StringArray, _>(numbers, |number| maker(phone(number)))),
        ("price", column::<Int32Array, _>(numbers, |number| price(phone(number)))),
        ("id", column::<Int64Array, _>(numbers, |number| phone(number) as i64)),
    ]
}

fn key(number: u64) -> Row {
    Row::new().with("maker", maker(number)).with("price", price(number)).with("id", number as i64)
}

fn phones_batch(numbers: &[u64]) -> Result<RecordBatch> {
    let [maker, price, id] = key_columns(numbers, |number| number);
    batch([maker, price, id, ("name", column::<StringArray, _>(numbers, name))])
}

impl Data for Phones {
    fn feature(&self) -> Option<Feature> {
        Some(Feature::Tables)
    }

    fn define(&self, system: &dyn System) -> Result<()> {
        system.define(PHONES_DEFINITION)?;
        if self.children { system.define(IMAGES_DEFINITION) } else { Ok(()) }
    }

    fn rows_per_record(&self) -> u64 {
        if self.children { 1 + PICTURES } else { 1 }
    }

    fn put_one(&self, client: &mut dyn Client, place: u64, durability: Durability) -> Result<()> {
        let number = self.picks.put(place);
        client.put_row(PHONES, &key(number).with("name", name(number)), durability)?;
        for picture in (0..PICTURES).filter(|_| self.children) {
            let data = self.pictures.of(number * PICTURES + picture);
            client.put_row(
                IMAGES,
                &key(number).with("picture", picture as i32).with("data", data),
                durability,
            )?;
        }
        Ok(())
    }

    fn is_stored(&self, client: &mut dyn Client, place: u64) -> Result<bool> {
        Ok(client.get_rows(PHONES, &key(self.picks.put(place)), self.child_tables())?
            == self.rows_per_record())
    }

    /// Phones first, then their pictures: a call puts into one table.
    fn bulk_put(
        &self,
        system: &dyn System,
        places: Range<u64>,
        share: RecordShare,
        streams: usize,
        options: &BulkOptions<'_>,
    ) -> Result<BulkDone> {
        let picks = self.picks;
        let numbers = move |places: Range<u64>| {
            places.filter(move |place| share.holds(*place)).map(move |place| picks.put(place))
        };
        let phones = parts(places.clone(), streams).map(|part| rows(numbers(part), phones_batch));
        let mut done = system.bulk_put_rows(PHONES, phones.collect(), options)?;
        if self.children {
            let images = parts(places, streams).map(|part| {
                let data = self.clone();
                rows(numbers(part), move |numbers| data.images_batch(numbers))
            });
            done.add(&system.bulk_put_rows(IMAGES, images.collect(), options)?);
        }
        Ok(done)
    }

    fn keys(&self) -> u64 {
        self.picks.keys()
    }

    fn found(&self, key: u64) -> u64 {
        let phones = match (self.picks.get(key), self.keys) {
            (pick, _) if pick.is_missing => 0,
            (_, KeyPart::Whole) => 1,
            (pick, KeyPart::Partial) => (self.records - pick.number * PER_MAKER).min(PER_MAKER),
        };
        phones * self.rows_per_record()
    }

    fn get_one(&self, client: &mut dyn Client, place: u64) -> Result<u64> {
        let number = self.wanted(place);
        let wanted = match self.keys {
            KeyPart::Whole => key(number),
            KeyPart::Partial => Row::new().with("maker", maker(number)),
        };
        client.get_rows(PHONES, &wanted, self.child_tables())
    }

    fn bulk_get(
        &self,
        system: &dyn System,
        keys: u64,
        options: &BulkOptions<'_>,
    ) -> Result<BulkDone> {
        let data = self.clone();
        let keys = rows(0..keys, move |places| data.keys_batch(places));
        system.bulk_get_rows(PHONES, keys, self.child_tables(), options)
    }
}
