//! Bulk ingestion over Flight SQL.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{DurationSecondArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow_flight::error::FlightError;
use arrow_flight::sql::{
    CommandStatementIngest, TableDefinitionOptions, TableExistsOption, TableNotExistOption,
};
use tonnage_server::Settings;

use crate::support::{Running, SqlClient, ships};

/// The modes, as ADBC calls them.
#[derive(Clone, Copy)]
enum Mode {
    Create,
    Append,
    CreateAppend,
    Replace,
}

fn command(table: &str, mode: Mode, options: &[(&str, &str)]) -> CommandStatementIngest {
    let (if_not_exist, if_exists) = match mode {
        Mode::Create => (TableNotExistOption::Create, TableExistsOption::Fail),
        Mode::Append => (TableNotExistOption::Fail, TableExistsOption::Append),
        Mode::CreateAppend => (TableNotExistOption::Create, TableExistsOption::Append),
        Mode::Replace => (TableNotExistOption::Create, TableExistsOption::Replace),
    };
    let definition =
        TableDefinitionOptions { if_not_exist: if_not_exist.into(), if_exists: if_exists.into() };
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    CommandStatementIngest {
        table_definition_options: Some(definition),
        table: table.to_owned(),
        schema: None,
        catalog: None,
        temporary: false,
        transaction_id: None,
        options: options.collect(),
    }
}

fn ingest(
    client: &mut SqlClient,
    command: CommandStatementIngest,
    batches: Vec<RecordBatch>,
) -> Result<i64, String> {
    let SqlClient { runtime, flight } = client;
    let stream = futures::stream::iter(batches.into_iter().map(Ok));
    runtime.block_on(flight.execute_ingest(command, stream)).map_err(|error| error.to_string())
}

const KEY: [(&str, &str); 1] = [("primary_key", "id")];

/// The story of a bug: all bytes of an ingestion counted towards the memory for messages until its
/// end. An ingestion that was larger failed, and smaller ones had other calls refused.
#[test]
fn an_ingestion_may_be_larger_than_the_memory_for_messages() {
    let server = Running::with(Settings {
        message_bytes_max: Some("1MiB".into()),
        calls_max: Some(1),
        ..Settings::default()
    });
    let batches = (0..20).map(|batch| ships(batch * 10_000..(batch + 1) * 10_000)).collect();
    let command = command("ships", Mode::Append, &[]);
    assert_eq!(ingest(&mut server.sql(), command, batches), Ok(200_000));
}

#[test]
fn each_mode_does_what_adbc_says_of_it() {
    let server = Running::new();
    let mut client = server.sql();
    let mut put = |mode, ids: std::ops::Range<i64>| {
        ingest(&mut client, command("boats", mode, &KEY), vec![ships(ids)])
    };
    assert!(put(Mode::Append, 0..5).unwrap_err().contains("no table boats"));
    assert_eq!(put(Mode::Create, 0..5), Ok(5));
    assert!(put(Mode::Create, 5..9).unwrap_err().contains("exists"));
    assert_eq!(put(Mode::Append, 5..9), Ok(4));
    assert_eq!(put(Mode::CreateAppend, 9..12), Ok(3));
    let count = || server.store.table("boats").unwrap().count().unwrap();
    assert_eq!(count(), 12);
    assert_eq!(put(Mode::Replace, 0..2), Ok(2));
    assert_eq!(count(), 2);
}

/// Once the new table forgot how its keys are spread and when its rows end.
#[test]
fn a_table_that_is_replaced_leaves_its_shard_key_and_its_time_to_live() {
    let server = Running::new();
    let sql =
        "CREATE TABLE boats (id LONG, name STRING, PRIMARY KEY (SHARD(id), name)) USING TTL 2 DAYS";
    server.store.execute(sql).unwrap();
    let mut client = server.sql();
    let mut replace = |options: &[(&str, &str)]| {
        ingest(&mut client, command("boats", Mode::Replace, options), vec![ships(0..5)]).unwrap();
        let schema = server.store.table("boats").unwrap().schema().clone();
        (schema.key.len(), schema.shard_key_len, schema.ttl_ms)
    };
    let two_days = Some(2 * 24 * 3_600_000);
    assert_eq!(replace(&[]), (2, 1, two_days));
    assert_eq!(replace(&[("primary_key", "ID, name")]), (2, 1, two_days));
    assert_eq!(replace(&[("primary_key", "name, id")]), (2, 2, None));
}

/// Once the old table was dropped before the first row of the new one was stored.
#[test]
fn a_table_is_replaced_when_all_rows_are_stored_and_not_before() {
    let server = Running::new();
    let mut client = server.sql();
    ingest(&mut client, command("ships", Mode::Append, &[]), vec![ships(0..30)]).unwrap();
    // The same key twice.
    let twice = vec![ships(0..5), ships(4..9)];
    ingest(&mut client, command("ships", Mode::Replace, &[]), twice).unwrap_err();
    assert_eq!(server.rows(), 30);
    let paths = || {
        let tables = server.store.catalog().tables();
        tables.iter().map(|table| table.schema.path.clone()).collect::<Vec<_>>()
    };
    assert_eq!(paths(), ["ships"]);
    assert_eq!(ingest(&mut client, command("ships", Mode::Replace, &[]), vec![ships(0..5)]), Ok(5));
    assert_eq!(
        (server.store.table("ships").unwrap().count().unwrap(), paths()),
        (5, vec!["ships".to_owned()])
    );
}

#[test]
fn a_new_table_has_the_key_that_the_schema_names() {
    let server = Running::new();
    let mut client = server.sql();
    let plain = ships(0..10);
    let error = ingest(&mut client, command("boats", Mode::Create, &[]), vec![plain.clone()]);
    assert!(error.unwrap_err().contains("tonnage.primary_key"));
    assert!(server.store.table("boats").is_err());
    let metadata = HashMap::from([("tonnage.primary_key".to_owned(), "name, id".to_owned())]);
    let schema = Schema::clone(&plain.schema()).with_metadata(metadata);
    let named = RecordBatch::try_new(schema.into(), plain.columns().to_vec()).unwrap();
    assert_eq!(ingest(&mut client, command("boats", Mode::Create, &[]), vec![named]), Ok(10));
    let table = server.store.table("boats").unwrap();
    let key: Vec<_> = table.schema().key_columns().map(|column| column.name.as_str()).collect();
    assert_eq!(key, ["name", "id"]);
}

#[test]
fn a_key_that_exists_fails_unless_it_is_told_what_to_do() {
    let server = Running::new();
    let mut client = server.sql();
    let mut put = |options: &[(&str, &str)], ids: std::ops::Range<i64>| {
        ingest(&mut client, command("ships", Mode::Append, options), vec![ships(ids)])
    };
    assert_eq!(put(&[], 0..10), Ok(10));
    let error = put(&[], 9..20).unwrap_err();
    assert!(error.contains("entry 0") && error.contains("id 9"), "{error}");
    assert_eq!(put(&[("on_existing", "keep")], 0..30).map(|count| count >= 10), Ok(true));
    assert_eq!(put(&[("on_existing", "replace")], 0..30), Ok(30));
    assert_eq!(server.rows(), 30);
    assert!(put(&[("on_existing", "maybe")], 0..1).unwrap_err().contains("maybe"));
    assert!(put(&[("colour", "red")], 0..1).unwrap_err().contains("colour"));
}

#[test]
fn columns_that_there_are_not_are_named() {
    let server = Running::new();
    let mut client = server.sql();
    let wrong =
        RecordBatch::try_from_iter([("idd", Arc::new(Int64Array::from(vec![1])) as _)]).unwrap();
    let error = ingest(&mut client, command("ships", Mode::Append, &[]), vec![wrong]);
    assert!(error.unwrap_err().contains("idd"));
}

#[test]
fn a_type_that_no_table_can_hold_is_named_as_in_sql() {
    let server = Running::new();
    let mut client = server.sql();
    let waits = Arc::new(DurationSecondArray::from(vec![60])) as _;
    let ids = Arc::new(Int64Array::from(vec![1])) as _;
    let batch = RecordBatch::try_from_iter([("id", ids), ("wait", waits)]).unwrap();
    let error = ingest(&mut client, command("waits", Mode::Create, &KEY), vec![batch]).unwrap_err();
    assert!(error.contains("column wait is INTERVAL"), "{error}");
}

#[test]
fn a_child_takes_its_parents_key() {
    let server = Running::new();
    let mut client = server.sql();
    let columns = [
        ("id", Arc::new(Int64Array::from(vec![1, 1, 2])) as _),
        ("port", Arc::new(StringArray::from(vec!["a", "b", "a"])) as _),
        ("days", Arc::new(Int64Array::from(vec![3, 4, 5])) as _),
    ];
    let calls = RecordBatch::try_from_iter(columns).unwrap();
    let options = [("primary_key", "id, port")];
    let made = ingest(&mut client, command("ships.calls", Mode::Create, &options), vec![calls]);
    assert_eq!(made, Ok(3));
    assert_eq!(client.number("SELECT sum(days) FROM ships.calls WHERE id = 1"), 7);
}

/// A program that dies of an exception while it sends.
#[test]
fn a_source_that_fails_is_never_told_to_be_complete() {
    let server = Running::new();
    let mut client = server.sql();
    let SqlClient { runtime, flight } = &mut client;
    let batches = vec![
        Ok(ships(0..10)),
        Ok(ships(10..20)),
        Err(FlightError::ExternalError("the source broke".into())),
    ];
    let stream = futures::stream::iter(batches);
    let told = runtime.block_on(flight.execute_ingest(command("ships", Mode::Append, &[]), stream));
    assert!(told.is_err(), "{told:?}");
}

#[test]
fn an_empty_stream_makes_the_table() {
    let server = Running::new();
    let mut client = server.sql();
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, false)]));
    let empty = RecordBatch::new_empty(schema);
    assert_eq!(ingest(&mut client, command("boats", Mode::Create, &KEY), vec![empty]), Ok(0));
    assert_eq!(server.store.table("boats").unwrap().count().unwrap(), 0);
}
