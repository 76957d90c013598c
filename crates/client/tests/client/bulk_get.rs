//! Bulk gets.

use std::sync::Arc;

use tonnage::arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use tonnage::arrow::datatypes::Int64Type;
use tonnage::{Direction, Error, ErrorKind, FieldRange, Row};
use tonnage_client::{BulkGetRequest, Client, batch_of};

use crate::support::{Running, ships};

fn keys(column: &str, keys: impl IntoIterator<Item = i64>) -> RecordBatch {
    let keys: ArrayRef = Arc::new(keys.into_iter().collect::<Int64Array>());
    RecordBatch::try_from_iter([(column, keys)]).unwrap()
}

fn filled() -> (Running, Client) {
    let server = Running::new();
    let client = server.client();
    client.put_batches("ships", [Ok(ships(0..10_000))], &Default::default()).unwrap();
    (server, client)
}

#[test]
fn the_rows_of_the_keys_come_back() {
    let (_server, client) = filled();
    let batches = (0..20).map(|batch| Ok(keys("id", batch * 1_000..batch * 1_000 + 1_000)));
    let rows = client.bulk_get(batches, &BulkGetRequest::of("ships")).unwrap();
    let found: usize = rows.map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(found, 10_000);
}

#[test]
fn partial_keys_take_a_range_a_limit_and_a_direction() {
    let server = Running::new();
    let client = server.client();
    let ddl = "CREATE TABLE calls (ship LONG, at LONG, PRIMARY KEY (SHARD(ship), at))";
    client.define(ddl).unwrap();
    let rows = (0..100).map(|n| Row::new().with("ship", n % 2).with("at", n));
    client.put("calls", rows, &Default::default()).unwrap();
    let request = BulkGetRequest {
        direction: Direction::Reverse,
        limit_per_key: Some(2),
        range: Some(FieldRange::of("at").to(50_i64)),
        columns: Some(vec!["at".into()]),
        ..BulkGetRequest::of("calls")
    };
    let rows = client.bulk_get([Ok(keys("ship", [0, 1]))], &request).unwrap();
    let at: Vec<i64> = rows
        .flat_map(|batch| batch.unwrap().column(0).as_primitive::<Int64Type>().values().to_vec())
        .collect();
    assert_eq!(at, [50, 48, 49, 47]);
}

/// The row of the rounded key came.
#[test]
fn a_key_that_its_column_would_round_has_no_row() {
    let server = Running::new();
    let client = server.client();
    client.define("CREATE TABLE fixes (at TIMESTAMP(0), PRIMARY KEY (at))").unwrap();
    let row = |at: &str| Row::new().with("at", format!("2022-01-03T06:00:0{at}"));
    client.put("fixes", [row("1"), row("2")], &Default::default()).unwrap();
    let table = client.describe("fixes").unwrap();
    let keys = batch_of(&table.schema, &[row("1.5"), row("2"), row("2.5")]);
    let rows = client.bulk_get([keys], &BulkGetRequest::of("fixes")).unwrap();
    assert_eq!(rows.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 1);
}

#[test]
fn a_source_of_keys_that_fails_fails_the_rows() {
    let (_server, client) = filled();
    let batches = [Ok(keys("id", 0..10)), Err(Error::invalid("line 11 cannot be read"))];
    let rows = client.bulk_get(batches, &BulkGetRequest::of("ships"));
    let error = rows.and_then(|rows| rows.collect::<Result<Vec<_>, _>>()).unwrap_err();
    assert_eq!(error.message(), "line 11 cannot be read");
}

#[test]
fn a_row_that_there_is_not_is_none_and_half_a_key_is_refused() {
    let (server, client) = filled();
    assert_eq!(client.get("ships", &Row::new().with("id", -1)).unwrap(), None);
    server.store.execute("CREATE TABLE ships.calls (port LONG, PRIMARY KEY (port))").unwrap();
    let error = client.get("ships.calls", &Row::new().with("id", 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains("'port' of table ships.calls is missing"), "{error}");
}

#[test]
fn rows_that_nobody_takes_hold_up_nobody_else() {
    let (_server, client) = filled();
    let batches = (0..10).map(|batch| Ok(keys("id", batch * 1_000..batch * 1_000 + 1_000)));
    let untaken = client.bulk_get(batches, &BulkGetRequest::of("ships")).unwrap();
    assert_eq!(client.count("ships").unwrap(), 10_000);
    drop(untaken);
}
