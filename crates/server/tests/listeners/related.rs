//! Parents with their children, in one bulk get over Flight.

use std::sync::Arc;

use arrow::array::{Array, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::Int64Type;
use arrow_flight::utils::flight_data_to_batches;
use serde_json::json;
use tonic::Code;

use crate::support::{Client, Running, code, command, frame, messages, read_frame};

fn filled() -> (Running, Client) {
    let server = Running::new();
    let mut sql = server.sql();
    let calls = "CREATE TABLE ships.calls (port LONG, note STRING NOT NULL DEFAULT 'x', \
                 PRIMARY KEY (port))";
    server.store.execute(calls).unwrap();
    sql.update("INSERT INTO ships VALUES (1, 'a'), (2, 'b'), (3, 'c')").unwrap();
    sql.update("INSERT INTO ships.calls (id, port) VALUES (1, 10), (1, 11), (3, 12)").unwrap();
    let client = server.client();
    (server, client)
}

fn keys(ids: &[i64]) -> RecordBatch {
    let ids = Int64Array::from(ids.to_vec());
    RecordBatch::try_from_iter([("id", Arc::new(ids) as _)]).unwrap()
}

/// Each row as its table's path and the number that tells it apart.
fn told(batches: &[RecordBatch]) -> Vec<(String, i64)> {
    let mut rows = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            let here = batch.columns().iter().zip(batch.schema_ref().fields());
            let here: Vec<_> = here.filter(|(column, _)| column.is_valid(row)).collect();
            assert_eq!(here.len(), 1, "a row is of one table");
            let cells = here[0].0.as_struct();
            let own = cells.column_by_name("port").unwrap_or_else(|| cells.column(0));
            let number = own.as_primitive::<Int64Type>().value(row);
            rows.push((here[0].1.name().clone(), number));
        }
    }
    rows
}

#[test]
fn each_parent_is_followed_by_its_children_in_a_column_for_each_table() {
    let (_server, mut client) = filled();
    let get = json!({"table": "ships", "relatives": ["SHIPS.calls"], "direction": "forward"});
    let (came, status) =
        client.exchange(messages(command(json!({"bulk_get": get})), vec![keys(&[3, 1, 7])]));
    assert_eq!(code(&status), None, "{status:?}");
    let batches = flight_data_to_batches(&came).unwrap();
    let expected = [("ships", 3), ("ships.calls", 12), ("ships", 1), ("ships.calls", 10)];
    let mut expected: Vec<_> = expected.map(|(table, n)| (table.to_owned(), n)).to_vec();
    expected.push(("ships.calls".to_owned(), 11));
    assert_eq!(told(&batches), expected);
}

#[test]
fn children_come_with_versions_key_numbers_and_without_what_was_not_asked_for() {
    let (_server, mut client) = filled();
    let get = json!({
        "table": "ships", "relatives": ["ships.calls"], "columns": ["id"], "direction": "forward",
        "versions": true, "origins": true, "limit_per_key": 1,
    });
    let (came, status) =
        client.exchange(messages(command(json!({"bulk_get": get})), vec![keys(&[2, 1])]));
    assert_eq!(code(&status), None, "{status:?}");
    let batches = flight_data_to_batches(&came).unwrap();
    let ships = batches[0].column_by_name("ships").unwrap().as_struct();
    assert_eq!(ships.column_names(), ["id", "_version", "_expires_at_ms", "_key"]);
    let rows = told(&batches);
    assert_eq!(rows.iter().filter(|(table, _)| table == "ships").count(), 2);
    assert_eq!(rows.len(), 4, "children do not count towards the limit: {rows:?}");
}

#[test]
fn a_table_that_is_not_related_is_refused() {
    let (server, mut client) = filled();
    server.store.execute("CREATE TABLE boats (id LONG, PRIMARY KEY (id))").unwrap();
    for (get, said) in [
        (json!({"table": "ships", "relatives": ["boats"]}), "boats"),
        (json!({"table": "ships", "relatives": ["ships.crew"]}), "ships.crew"),
        (json!({"table": "ships", "relatives": ["ships.calls"], "limit": 1}), "limit"),
    ] {
        let (_, status) =
            client.exchange(messages(command(json!({"bulk_get": get})), vec![keys(&[1])]));
        let status = status.unwrap();
        assert!(status.message().contains(said), "{get}: {status}");
        assert_ne!(status.code(), Code::Internal, "{get}: {status}");
    }
    let pairs = json!({"pairs": true, "relatives": ["ships.calls"]});
    let key = arrow::array::BinaryArray::from_vec(vec![b"a"]);
    let key = RecordBatch::try_from_iter([("key", Arc::new(key) as _)]).unwrap();
    let (_, status) = client.exchange(messages(command(json!({"bulk_get": pairs})), vec![key]));
    assert!(status.unwrap().message().contains("for tables"));
}

#[test]
fn a_multi_get_has_children_too() {
    let (_server, mut client) = filled();
    let header = json!({"table": "ships", "relatives": ["ships.calls"], "direction": "forward"});
    let answers = client.act_bytes("tonnage.MultiGet", frame(header, &keys(&[1]))).unwrap();
    let (header, rows) = read_frame(&answers[0]);
    assert!(header.get("ok").is_some(), "{header}");
    assert_eq!(told(&rows).len(), 3);
}

#[test]
fn a_bulk_get_over_http_gives_rows_in_the_format_asked_for() {
    let (server, _client) = filled();
    let get = |accept: &str, body: &str| {
        server.http("POST /v1/tables/ships/get", &format!("Accept: {accept}\r\n"), body)
    };
    let body = r#"{"keys": [[3], {"id": 1}, 9], "direction": "forward"}"#;
    let (head, rows) = get("text/csv", body);
    assert!(head.starts_with("HTTP/1.1 200") && rows.contains("id,name\n3,c\n1,a\n"), "{rows}");
    let (_, rows) =
        get("application/json", r#"{"keys": [2], "versions": true, "columns": ["id"]}"#);
    assert!(rows.contains(r#""name":"_version""#) && rows.contains("[[2,"), "{rows}");
    let related = r#"{"keys": [1], "relatives": ["ships.calls"], "direction": "forward"}"#;
    let (_, rows) = get("application/x-ndjson", related);
    assert!(rows.contains(r#""ships.calls":{"id":1,"port":10"#), "{rows}");
    for (accept, body, said) in [
        ("text/csv", related, "CSV"),
        ("*/*", r#"{"keys": [[1, 2]]}"#, "key 0: it has 2 values"),
        ("*/*", r#"{"keys": [{"name": "x"}]}"#, "leading key columns"),
        ("*/*", r#"{"keys": ["x"]}"#, "key 0: column id"),
        ("*/*", r#"{"keys": 7}"#, "no list `keys`"),
        ("*/*", r#"{"keys": [], "tabel": "x"}"#, "tabel"),
        ("*/*", r#"{"keys": [], "table": "x"}"#, "leave out `table`"),
        ("*/*", r#"{"keys": [], "relatives": ["boats"]}"#, "boats"),
    ] {
        let (head, told) = get(accept, body);
        assert!(head.starts_with("HTTP/1.1 4") && told.contains(said), "{body}: {head} {told}");
    }
    let (head, _) = server.http("POST /v1/tables/boats/get", "", r#"{"keys": []}"#);
    assert!(head.starts_with("HTTP/1.1 404"), "{head}");
}

#[test]
fn rows_stop_at_a_limit() {
    let (_server, mut client) = filled();
    let get = json!({"table": "ships", "limit": 2, "consistency": "none", "timeout_ms": 10_000});
    let (came, status) =
        client.exchange(messages(command(json!({"bulk_get": get})), vec![keys(&[1, 2, 3])]));
    assert_eq!(code(&status), None, "{status:?}");
    let rows =
        flight_data_to_batches(&came).unwrap().iter().map(RecordBatch::num_rows).sum::<usize>();
    assert_eq!(rows, 2);
}
