//! Single rows and pairs under conditions, streams of them, statements with values, many at once.

use std::sync::Arc;

use tonnage::arrow::array::{AsArray, RecordBatch};
use tonnage::{
    Acks, BulkPutOptions, Condition, Consistency, ErrorKind, GetOptions, Key, Pairs, Row,
    RowOperation, TableScanOptions, Value, WriteOptions, WriteResult, pair_stream, row_stream,
};
use tonnage_client::{Answer, Changes, Fetched, RemoteStore};

use crate::support::{BulkCalls, Heard, Running, ships};

fn connected() -> (Running, RemoteStore) {
    let server = Running::new();
    let client = server.client();
    (server, client)
}

fn ship(id: i64, name: &str) -> Row {
    Row::new().with("id", id).with("name", name)
}

fn write(client: &RemoteStore, operation: RowOperation) -> WriteResult {
    client.atomic_write(&[operation], &WriteOptions::default()).unwrap()
}

#[test]
fn a_row_is_written_if_its_condition_holds() {
    let (server, client) = connected();
    let put = |name: &str, condition| RowOperation::put("ships", ship(1, name)).when(condition);
    let version = write(&client, put("ARGO", Condition::IfAbsent)).version().unwrap();
    let refused = write(&client, put("PEQUOD", Condition::IfAbsent));
    assert_eq!(refused, WriteResult::ConditionFailed { operation: 0, current: Some(version) });
    assert!(write(&client, put("PEQUOD", Condition::IfVersion(version))).is_stored());
    assert!(!write(&client, put("ARGO", Condition::IfVersion(version))).is_stored());
    let stored = server.store.table("ships").unwrap().get(&Row::new().with("id", 1_i64)).unwrap();
    assert_eq!(stored.unwrap().row.get("name"), Some(&Value::String("PEQUOD".into())));
    let key = Row::new().with("id", 1_i64);
    assert!(write(&client, RowOperation::delete("ships", key)).is_stored());
    assert_eq!(server.ships(), 0);
}

#[test]
fn a_row_is_got_with_its_version() {
    let (_server, client) = connected();
    let put = RowOperation::put("ships", ship(1, "ARGO"));
    let version = write(&client, put).version().unwrap();
    let key = Row::new().with("id", 1_i64);
    let found = client.table("ships").unwrap().get(&key).unwrap().unwrap();
    assert_eq!((found.row, found.version, found.expires_at_ms), (ship(1, "ARGO"), version, 0));
    let name = ["name".to_owned()];
    let options = GetOptions { consistency: Some(Consistency::None), ..GetOptions::default() };
    let found = client.table("ships").unwrap().get_columns(&key, &name, &options).unwrap().unwrap();
    assert_eq!(found.row, Row::new().with("name", "ARGO"));
    assert_eq!(client.table("ships").unwrap().get(&Row::new().with("id", 2_i64)).unwrap(), None);
}

/// A row of every type comes back as it was put.
#[test]
fn a_row_that_is_got_is_the_row_that_was_put() {
    let (server, client) = connected();
    let ddl = "CREATE TABLE t (k STRING, i INTEGER, d DOUBLE, n NUMBER(20, 4), b BINARY, \
               at TIMESTAMP(3), u UUID, j JSON, a ARRAY(LONG), f BOOLEAN, PRIMARY KEY (k))";
    server.store.execute(ddl).unwrap();
    let values = "INSERT INTO t VALUES ('k', 1, 2.5, 12.3456, x'00ff', \
                  TIMESTAMP '2022-01-03T00:00:00.123', \
                  '0191b9f2-6c0a-7c3e-8d1e-0123456789ab', '{\"a\": [1]}', NULL, NULL)";
    client.sql(values).unwrap();
    let key = Row::new().with("k", "k");
    let stored = server.store.table("t").unwrap().get(&key).unwrap().unwrap();
    assert_eq!(client.table("t").unwrap().get(&key).unwrap().unwrap(), stored);
}

#[test]
fn operations_are_carried_out_together_or_not_at_all() {
    let (server, client) = connected();
    server
        .store
        .execute("CREATE TABLE berths (port STRING, n LONG, PRIMARY KEY (SHARD(port), n))")
        .unwrap();
    let berth = |n: i64| {
        let row = Row::new().with("port", "Delft").with("n", n);
        RowOperation::put("berths", row).when(Condition::IfAbsent)
    };
    let options = WriteOptions::default();
    assert!(client.atomic_write(&[berth(1), berth(2)], &options).unwrap().is_stored());
    let refused = client.atomic_write(&[berth(3), berth(2)], &options).unwrap();
    assert!(matches!(refused, WriteResult::ConditionFailed { operation: 1, .. }), "{refused:?}");
    assert_eq!(client.table("berths").unwrap().count().unwrap(), 2);
}

#[test]
fn a_row_that_does_not_fit_is_refused_as_the_store_says_it() {
    let (server, client) = connected();
    let row = Row::new().with("id", "seven");
    let operation = RowOperation::put("ships", row);
    let error = client.atomic_write(&[operation], &WriteOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains("id"), "{error}");
    assert_eq!(server.ships(), 0);
}

#[test]
fn a_pair_is_written_if_its_condition_holds() {
    let (_server, client) = connected();
    let key = Key::new(["users", "1"], ["mail"]);
    let put = |value: &[u8], condition: Condition| {
        client.kv().put_if(&key, value, condition, &WriteOptions::default()).unwrap()
    };
    let version = put(b"one", Condition::Always).version().unwrap();
    assert!(!put(b"two", Condition::IfAbsent).is_stored());
    assert!(put(b"two", Condition::IfVersion(version)).is_stored());
    let pair = client.kv().get(&key).unwrap().unwrap();
    assert_eq!((pair.key, pair.value, pair.expires_at_ms), (key.clone(), b"two".to_vec(), 0));
    let delete = |condition| {
        let options = WriteOptions::default();
        client.kv().delete_if(&key, condition, &options).unwrap().is_stored()
    };
    assert!(!delete(Condition::IfVersion(version)));
    assert!(delete(Condition::IfPresent) && !delete(Condition::IfPresent));
    assert!(client.kv().get(&key).unwrap().is_none());
}

#[test]
fn streams_of_rows_tell_each_row_that_does_not_fit() {
    let (server, client) = connected();
    let rows = (0..10_000_i64).map(|id| {
        let row = match id {
            7 => Row::new().with("id", "seven"),
            9 => ship(9, "x").with("tons", 3_i64),
            _ => ship(id, "x"),
        };
        Ok((Arc::from("ships"), row))
    });
    let heard = Arc::new(Heard::default());
    let options = BulkPutOptions { callbacks: heard.clone(), ..BulkPutOptions::default() };
    let report = client.bulk_put(vec![row_stream("fleet", rows)], &options).unwrap();
    assert_eq!((report.total.read, report.total.inserted, report.total.failed), (10_000, 9_998, 2));
    let places: Vec<u64> = heard.failed.lock().unwrap().iter().map(|(place, _)| *place).collect();
    assert_eq!(places, [7, 9]);
    assert_eq!(server.ships(), 9_998);
}

#[test]
fn rows_that_lack_a_column_take_its_default_or_a_number() {
    let (server, client) = connected();
    let ddl = "CREATE TABLE t (k LONG GENERATED ALWAYS AS IDENTITY, v STRING DEFAULT 'none', \
               w STRING, PRIMARY KEY (k))";
    server.store.execute(ddl).unwrap();
    let rows = ["a", "b"].map(|w| Ok((Arc::from("t"), Row::new().with("w", w))));
    let report = client.bulk_put(vec![row_stream("t", rows)], &BulkPutOptions::default()).unwrap();
    assert_eq!(report.total.inserted, 2);
    let found = client.sql("SELECT count(*) FROM t WHERE v = 'none' AND k IS NOT NULL").unwrap();
    let counts: Vec<RecordBatch> = found.rows().collect::<Result<_, _>>().unwrap();
    let field = counts[0].schema_ref().field(0).clone();
    let count = Value::from_array(counts[0].column(0).as_ref(), &field, 0).unwrap();
    assert_eq!(count, Value::Long(2));
}

#[test]
fn a_stream_of_pairs_is_put() {
    let (server, client) = connected();
    let mut pairs = Pairs::new();
    for n in 0..100 {
        pairs.push(&Key::new(["u"], [n.to_string()]), b"v").unwrap();
    }
    let stream = pair_stream("pairs", [Ok(pairs)]);
    let report = client.bulk_put(vec![stream], &BulkPutOptions::default()).unwrap();
    assert_eq!(report.total.inserted, 100);
    assert_eq!(server.store.kv().count().unwrap(), 100);
}

#[test]
fn a_statement_takes_values_and_is_kept_for_many_executions() {
    let (_server, client) = connected();
    let insert = client.prepare("INSERT INTO ships VALUES ($1, $2)").unwrap();
    for id in 0..3_i64 {
        let answer = insert.execute(&[Value::Long(id), Value::Null]).unwrap();
        let inserted = Changes { inserted: 1, ..Changes::default() };
        assert!(matches!(answer, Answer::Changed(changes) if changes == inserted), "{answer:?}");
    }
    let answer = client.sql_with("SELECT id FROM ships WHERE id > $1", &[Value::Long(0)]).unwrap();
    assert_eq!(answer.rows().map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 2);
}

#[test]
fn what_a_statement_did_is_told_in_full() {
    let (_server, client) = connected();
    let done = client.sql("CREATE TABLE t (k LONG, PRIMARY KEY (k))").unwrap();
    assert!(
        matches!(&done, Answer::Done(done) if done.to_string() == "created table t"),
        "{done:?}"
    );
    client.sql("INSERT INTO t VALUES (1), (2)").unwrap();
    let deleted = Changes { deleted: 2, ..Changes::default() };
    let answer = client.sql("DELETE FROM t").unwrap();
    assert!(matches!(answer, Answer::Changed(changes) if changes == deleted), "{answer:?}");
}

#[test]
fn many_statements_have_an_answer_each() {
    let (_server, client) = connected();
    client.put_batches("ships", [Ok(ships(0..10))], &Default::default()).unwrap();
    let of = |text: &str, values: Vec<Value>| (text.to_owned(), values);
    let asked = [
        of("SELECT name FROM ships WHERE id = $1", vec![Value::Long(3)]),
        of("SELECT nothing FROM ships", vec![]),
        of("DELETE FROM ships WHERE id < 5", vec![]),
    ];
    let answers = client.fetch_all(&asked).unwrap();
    let [Ok(Fetched::Rows(_, rows)), Err(error), Ok(Fetched::Changed(changes))] = &answers[..]
    else {
        panic!("{answers:?}");
    };
    assert_eq!(rows.iter().map(RecordBatch::num_rows).sum::<usize>(), 1);
    assert!(error.message().contains("nothing"), "{error}");
    assert_eq!(changes.deleted, 5);
}

#[test]
fn parameters_of_every_type_go_with_a_fetch_all() {
    let (_server, client) = connected();
    let values = [
        Value::Timestamp { value: 1_641_189_600_500, precision: 3 },
        Value::Date(18_995),
        Value::Number { unscaled: 12_345_678_901_234_567_825, scale: 2 },
        Value::Binary(vec![0, 255]),
        Value::Double(2.0),
        Value::Float(0.1),
        Value::Long(i64::MAX),
        Value::String("2022-01-03".to_owned()),
        Value::Null,
    ];
    let asked = values.iter().map(|value| ("SELECT $1 AS v".to_owned(), vec![value.clone()]));
    let asked: Vec<_> = asked.collect();
    let answers = client.fetch_all(&asked).unwrap();
    for (value, answer) in values.iter().zip(answers) {
        let Ok(Fetched::Rows(_, rows)) = answer else { panic!("{value:?}: {answer:?}") };
        let field = rows[0].schema_ref().field(0).clone();
        let back = match value {
            Value::Null => Value::Null,
            _ => Value::from_array(rows[0].column(0).as_ref(), &field, 0).unwrap(),
        };
        assert_eq!(back.to_string(), value.to_string());
    }
    // A timestamp is compared with a timestamp.
    let moment = values[0].clone();
    let asked = "SELECT $1 > TIMESTAMP '2022-01-03 05:00:00' AS later".to_owned();
    let answers = client.fetch_all(&[(asked, vec![moment])]).unwrap();
    let [Ok(Fetched::Rows(_, rows))] = &answers[..] else { panic!("{answers:?}") };
    assert!(rows[0].column(0).as_boolean().value(0));
}

#[test]
fn the_parts_of_a_scan_have_each_row_once() {
    let (_server, client) = connected();
    client.put_batches("ships", [Ok(ships(0..5_000))], &Default::default()).unwrap();
    let parts = client.table("ships").unwrap().scan_parts(&TableScanOptions::default(), 3).unwrap();
    assert_eq!(parts.len(), 3);
    let rows = parts.into_iter().flatten().map(|batch| batch.unwrap().rows.num_rows());
    assert_eq!(rows.sum::<usize>(), 5_000);
}

/// They were left out without a word, and rows lived for ever or with another copy missing.
#[test]
fn options_that_do_not_go_over_the_wire_are_refused() {
    let (server, client) = connected();
    let default = WriteOptions::default();
    for (name, options) in [
        ("acks", WriteOptions { acks: Some(Acks::All), ..default }),
        ("expires_at_ms", WriteOptions { expires_at_ms: Some(1), ..default }),
        ("keep_ttl", WriteOptions { keep_ttl: true, ..default }),
    ] {
        let error = client.table("ships").unwrap().put(&ship(1, "ARGO"), &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().contains(name), "{error}");
        assert!(client.kv().put(&Key::of_major(["a"]), b"", &options).is_err());
        assert!(client.kv().delete_lob_with(&Key::of_major(["a"]), &options).is_err());
    }
    assert_eq!(server.ships(), 0);
}
