//! Statements, definitions, scans and counts.

use std::time::Duration;

use tonnage::arrow::array::AsArray;
use tonnage::arrow::datatypes::Int64Type;
use tonnage::{DdlOutcome, ErrorKind, TableScanOptions, Value};
use tonnage_client::{Answer, Changes, ClientOptions, RemoteStore};

use crate::support::{BulkCalls, Running, ships};

fn filled(count: i64) -> (Running, RemoteStore) {
    let server = Running::new();
    let client = server.client();
    client.put_batches("ships", [Ok(ships(0..count))], &Default::default()).unwrap();
    (server, client)
}

#[test]
fn a_statement_that_reads_gives_its_rows() {
    let (_server, client) = filled(100);
    let answer = client.sql("SELECT id FROM ships WHERE id < 3 ORDER BY id").unwrap();
    let ids: Vec<i64> = answer
        .rows()
        .flat_map(|batch| batch.unwrap().column(0).as_primitive::<Int64Type>().values().to_vec())
        .collect();
    assert_eq!(ids, [0, 1, 2]);
}

#[test]
fn an_answer_without_rows_has_its_columns() {
    let (_server, client) = filled(1);
    let Answer::Rows(rows) = client.sql("SELECT name FROM ships WHERE id = 7").unwrap() else {
        panic!("rows were asked for");
    };
    assert_eq!(rows.schema().field(0).name(), "name");
    assert_eq!(rows.count(), 0);
}

#[test]
fn a_change_is_counted_and_done_once() {
    let (server, client) = filled(1);
    let answer = client.sql("INSERT INTO ships VALUES (7, 'a'), (8, 'b')").unwrap();
    let inserted = Changes { inserted: 2, ..Changes::default() };
    assert!(matches!(answer, Answer::Changed(changes) if changes == inserted), "{answer:?}");
    assert_eq!(server.ships(), 3);
    let error = client.sql("INSERT INTO ships VALUES (7, 'a')").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
}

#[test]
fn what_is_wrong_with_a_statement_comes_back_as_the_store_says_it() {
    let (_server, client) = filled(1);
    let error = client.sql("SELECT nme FROM ships").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains("nme"), "{error}");
    assert_eq!(client.sql("SELECT * FROM ferries").unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn definitions_are_answered_as_a_store_answers_them() {
    let (_server, client) = filled(1);
    let done = client.execute("CREATE TABLE t (k LONG, PRIMARY KEY (k)); SHOW TABLES").unwrap();
    let created = DdlOutcome::Created { table: "t".into(), new: true };
    assert_eq!(done, [created, DdlOutcome::Tables(vec!["ships".into(), "t".into()])]);
}

#[test]
fn a_table_is_described_with_its_parents() {
    let (server, client) = filled(1);
    server.store.execute("CREATE TABLE ships.calls (port LONG, PRIMARY KEY (port))").unwrap();
    let table = client.table("ships.calls").unwrap();
    let keys: Vec<&str> = table.schema().key_columns().map(|key| key.name.as_str()).collect();
    assert_eq!(keys, ["id", "port"]);
    assert_eq!(client.table("ferries").unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_scan_gives_all_rows_or_some() {
    let (_server, client) = filled(20_000);
    let table = client.table("ships").unwrap();
    let rows = |options: &TableScanOptions| -> usize {
        table.scan(options).unwrap().map(|batch| batch.unwrap().rows.num_rows()).sum()
    };
    let all = TableScanOptions::default();
    assert_eq!(rows(&all), 20_000);
    assert_eq!(rows(&TableScanOptions { limit: Some(7), ..all.clone() }), 7);
    let ids = TableScanOptions { columns: Some(vec!["id".into()]), ..all };
    assert_eq!(table.scan(&ids).unwrap().schema().fields().len(), 1);
    assert_eq!(client.table("ships").unwrap().count().unwrap(), 20_000);
}

/// An INSERT that was carried out again without values stored those of the time before once more.
#[test]
fn a_prepared_statement_keeps_no_values_of_an_execution_before() {
    let (_server, client) = filled(3);
    let statement = client.prepare("SELECT name FROM ships WHERE id = $1").unwrap();
    let rows = |values: &[Value]| {
        let answer = statement.execute(values);
        answer.and_then(|answer| answer.rows().collect::<Result<Vec<_>, _>>())
    };
    assert_eq!(rows(&[Value::Long(1)]).unwrap().len(), 1);
    assert_eq!(rows(&[]).unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(rows(&[Value::Long(2)]).unwrap().len(), 1);
}

#[test]
fn a_call_that_takes_too_long_is_given_up() {
    let (server, client) = filled(2_000);
    drop(client);
    let timeout = Some(Duration::from_secs(1));
    let options = ClientOptions { timeout, ..ClientOptions::default() };
    let client = RemoteStore::connect(&server.address(), options).unwrap();
    let slow = "SELECT count(*) FROM ships a, ships b, ships c WHERE a.id + b.id + c.id = 1";
    let ended = client.sql(slow).and_then(|answer| answer.rows().collect::<Result<Vec<_>, _>>());
    let error = ended.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
}

#[test]
fn a_client_that_was_called_off_begins_nothing() {
    let server = Running::new();
    let options = ClientOptions::default();
    let cancel = options.cancel.clone();
    let client = RemoteStore::connect(&server.address(), options).unwrap();
    cancel.cancel();
    assert_eq!(client.table_paths().unwrap_err().kind(), ErrorKind::Cancelled);
}
