//! The phone shop: phones by maker, price and number, each with pictures in a child table.

use std::sync::Arc;

use tonnage::{BulkPutOptions, EntryStream, Result, Row, Store, Value, row_stream};

use super::{Backend, TestStore, row};

pub(crate) const PHONES: &str = "CREATE TABLE phones (maker STRING, price INTEGER, id LONG, name STRING, PRIMARY KEY (SHARD(maker), price, id))";
pub(crate) const IMAGES: &str =
    "CREATE TABLE phones.images (image INTEGER, bytes BINARY, PRIMARY KEY (image))";

pub(crate) const MAKERS: [&str; 4] = ["Apple", "Samsung", "Nokia", "Motorola"];

pub(crate) fn phone_key(maker: &str, price: i32, id: i64) -> Row {
    row! { "maker" => maker, "price" => price, "id" => id }
}

pub(crate) fn phone(maker: &str, price: i32, id: i64) -> Row {
    phone_key(maker, price, id).with("name", format!("{maker} {id}"))
}

pub(crate) fn image_key(maker: &str, price: i32, id: i64, image: i32) -> Row {
    phone_key(maker, price, id).with("image", image)
}

pub(crate) fn image(maker: &str, price: i32, id: i64, image: i32) -> Row {
    image_key(maker, price, id, image).with("bytes", vec![id as u8, image as u8])
}

/// A key of leading columns: `maker`, or `maker, price`.
pub(crate) fn partial(values: &[Value]) -> Vec<Value> {
    values.to_vec()
}

/// The price of a phone: from 0 to 999, and several phones of a maker share one.
pub(crate) fn price_of(id: i64) -> i32 {
    ((id * 37) % 1000) as i32
}

/// A stream of rows of one table.
pub(crate) fn rows_of(table: &str, rows: impl IntoIterator<Item = Row>) -> Box<dyn EntryStream> {
    let table: Arc<str> = table.into();
    let rows: Vec<Result<(Arc<str>, Row)>> =
        rows.into_iter().map(|row| Ok((table.clone(), row))).collect();
    row_stream(table.to_string(), rows)
}

/// An empty shop.
pub(crate) fn empty(on: Backend) -> TestStore {
    on.with_tables(&format!("{PHONES}; {IMAGES}"))
}

/// Phones `0..phones` of each maker, and two pictures of each phone.
pub(crate) fn stocked(on: Backend, phones: i64) -> TestStore {
    let store = empty(on);
    stock(&store, &MAKERS, phones);
    store
}

pub(crate) fn stock(store: &Store, makers: &[&str], phones: i64) {
    let each = || {
        makers.iter().flat_map(move |maker| (0..phones).map(move |id| (*maker, price_of(id), id)))
    };
    let all_phones = rows_of("phones", each().map(|(maker, price, id)| phone(maker, price, id)));
    let pictures = each()
        .flat_map(|(maker, price, id)| [image(maker, price, id, 1), image(maker, price, id, 2)]);
    let all_pictures = rows_of("phones.images", pictures);
    store.bulk_put(vec![all_phones, all_pictures], &BulkPutOptions::default()).unwrap();
}
