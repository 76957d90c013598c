//! Bulk gets.

use std::sync::Arc;

use tonnage::arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use tonnage::arrow::datatypes::Int64Type;
use tonnage::{
    BulkGetOptions, Direction, Error, ErrorKind, FieldRange, KeyOrigin, KeySource, Result, Row,
};
use tonnage_client::{RemoteBulkGet, RemoteStore};

use crate::support::{BulkCalls, Running, ships};

fn keys(column: &str, keys: impl IntoIterator<Item = i64>) -> RecordBatch {
    let keys: ArrayRef = Arc::new(keys.into_iter().collect::<Int64Array>());
    RecordBatch::try_from_iter([(column, keys)]).unwrap()
}

fn filled() -> (Running, RemoteStore) {
    let server = Running::new();
    let client = server.client();
    client.put_batches("ships", [Ok(ships(0..10_000))], &Default::default()).unwrap();
    (server, client)
}

fn ships_of<K>(client: &RemoteStore, keys: K, options: &BulkGetOptions) -> Result<RemoteBulkGet>
where
    K: IntoIterator<Item = Result<RecordBatch>>,
    K::IntoIter: Send + 'static,
{
    client.table("ships").unwrap().bulk_get(KeySource::batches(keys), options)
}

#[test]
fn the_rows_of_the_keys_come_back() {
    let (_server, client) = filled();
    let batches = (0..20).map(|batch| Ok(keys("id", batch * 1_000..batch * 1_000 + 1_000)));
    let rows = ships_of(&client, batches, &BulkGetOptions::default()).unwrap();
    let found: usize = rows.map(|batch| batch.unwrap().rows.num_rows()).sum();
    assert_eq!(found, 10_000);
}

#[test]
fn partial_keys_take_a_range_a_limit_and_a_direction() {
    let server = Running::new();
    let client = server.client();
    let ddl = "CREATE TABLE calls (ship LONG, at LONG, PRIMARY KEY (SHARD(ship), at))";
    client.execute(ddl).unwrap();
    let rows = (0..100).map(|n| Row::new().with("ship", n % 2).with("at", n));
    client.put("calls", rows, &Default::default()).unwrap();
    let options = BulkGetOptions {
        direction: Direction::Reverse,
        limit_per_key: Some(2),
        range: Some(FieldRange::of("at").to(50_i64)),
        columns: Some(vec!["at".into()]),
        ..BulkGetOptions::default()
    };
    let ships = KeySource::batches([Ok(keys("ship", [0, 1]))]);
    let rows = client.table("calls").unwrap().bulk_get(ships, &options).unwrap();
    let at: Vec<i64> = rows
        .flat_map(|batch| {
            batch.unwrap().rows.column(0).as_primitive::<Int64Type>().values().to_vec()
        })
        .collect();
    assert_eq!(at, [50, 48, 49, 47]);
}

/// The row of the rounded key came.
#[test]
fn a_key_that_its_column_would_round_has_no_row() {
    let server = Running::new();
    let client = server.client();
    client.execute("CREATE TABLE fixes (at TIMESTAMP(0), PRIMARY KEY (at))").unwrap();
    let row = |at: &str| Row::new().with("at", format!("2022-01-03T06:00:0{at}"));
    client.put("fixes", [row("1"), row("2")], &Default::default()).unwrap();
    let table = client.table("fixes").unwrap();
    let keys = KeySource::keys([row("1.5"), row("2"), row("2.5")]);
    let options = BulkGetOptions { origins: true, ..BulkGetOptions::default() };
    let found: Vec<_> = table.bulk_get(keys, &options).unwrap().collect::<Result<_>>().unwrap();
    let origins: Vec<_> = found.iter().flat_map(|batch| &batch.origins).collect();
    // The keys that are not sent are counted.
    assert_eq!(origins, [&KeyOrigin { source: 0, position: 1 }]);
    let alone = table.bulk_get(KeySource::keys([row("1.5")]), &BulkGetOptions::default());
    assert_eq!(alone.unwrap().count(), 0);
}

#[test]
fn a_source_of_keys_that_fails_fails_the_rows() {
    let (_server, client) = filled();
    let batches = [Ok(keys("id", 0..10)), Err(Error::invalid("line 11 cannot be read"))];
    let rows = ships_of(&client, batches, &BulkGetOptions::default());
    let error = rows.and_then(|rows| rows.collect::<Result<Vec<_>>>()).unwrap_err();
    assert_eq!(error.message(), "line 11 cannot be read");
}

#[test]
fn a_row_that_there_is_not_is_none_and_half_a_key_is_refused() {
    let (server, client) = filled();
    assert_eq!(client.table("ships").unwrap().get(&Row::new().with("id", -1)).unwrap(), None);
    server.store.execute("CREATE TABLE ships.calls (port LONG, PRIMARY KEY (port))").unwrap();
    let error = client.table("ships.calls").unwrap().get(&Row::new().with("id", 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains("'port' of table ships.calls is missing"), "{error}");
}

#[test]
fn rows_that_nobody_takes_hold_up_nobody_else() {
    let (_server, client) = filled();
    let batches = (0..10).map(|batch| Ok(keys("id", batch * 1_000..batch * 1_000 + 1_000)));
    let untaken = ships_of(&client, batches, &BulkGetOptions::default()).unwrap();
    assert_eq!(client.table("ships").unwrap().count().unwrap(), 10_000);
    drop(untaken);
}
