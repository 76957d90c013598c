//! Bulk get: every rule of it.

mod across;
mod channel;
mod closing;
mod ending;
mod errors;
mod families;
mod keys;
mod large_rows;
mod limits;
mod model;
mod new_children;
mod origins;
mod progress;
mod projection;
mod ranges;
mod relatives;
mod resume;
mod scan;
mod waiting;

use tonnage::{
    BulkGet, BulkGetOptions, BulkKey, Direction, Error, KeySource, RelatedRow, Row, Store, Value,
};

/// The keys of leading columns given as lists of values.
fn keys_of<const N: usize>(keys: [Vec<Value>; N]) -> KeySource {
    KeySource::keys(keys)
}

/// One partial key for each maker.
fn makers(makers: &[&str]) -> KeySource {
    KeySource::keys(makers.iter().map(|maker| vec![Value::from(*maker)]).collect::<Vec<_>>())
}

fn get(store: &Store, keys: KeySource, options: &BulkGetOptions) -> Vec<RelatedRow> {
    get_from(store, "phones", keys, options)
}

fn get_from(
    store: &Store,
    table: &str,
    keys: KeySource,
    options: &BulkGetOptions,
) -> Vec<RelatedRow> {
    let rows = store.table(table).unwrap().bulk_get(keys, options).unwrap().into_rows();
    rows.map(|row| row.unwrap()).collect()
}

fn rows(found: Vec<RelatedRow>) -> Vec<Row> {
    found.into_iter().map(|found| found.row).collect()
}

/// The rows that come before the error, and the error.
fn until_error(get: tonnage::Result<BulkGet>) -> (Vec<Row>, Error) {
    let mut found = Vec::new();
    let get = match get {
        Ok(get) => get,
        Err(error) => return (found, error),
    };
    for row in get.into_rows() {
        match row {
            Ok(row) => found.push(row.row),
            Err(error) => return (found, error),
        }
    }
    panic!("no error after {} rows", found.len())
}

fn forward() -> BulkGetOptions {
    BulkGetOptions { direction: Direction::Forward, ..Default::default() }
}

fn reverse() -> BulkGetOptions {
    BulkGetOptions { direction: Direction::Reverse, ..Default::default() }
}

fn key(row: Row) -> BulkKey {
    BulkKey::Row(row)
}
