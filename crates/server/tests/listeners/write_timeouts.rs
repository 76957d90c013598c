//! Writes of single rows and pairs keep to the timeout of statements.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arrow::array::{BinaryArray, RecordBatch};
use serde_json::{Value as Json, json};
use tonic::Code;
use tonnage::{Key, ManualClock, Row, Store, WriteOptions};
use tonnage_engine::MemoryEngine;
use tonnage_server::Settings;

use crate::stepped::{EngineStep, SteppedEngine};
use crate::support::{Running, frame, ships};

const TIMEOUT: Duration = Duration::from_millis(300);

/// A server with a ship and a pair, and a switch: once it is on, each write waits for longer than
/// the timeout.
fn waiting(statement_timeout: Option<&str>) -> (Running, Arc<AtomicBool>) {
    let is_slow = Arc::new(AtomicBool::new(false));
    let switch = is_slow.clone();
    let engine = Arc::new(MemoryEngine::default());
    let hook = move |step: EngineStep<'_>| {
        if matches!(step, EngineStep::Write(_)) && switch.load(Ordering::SeqCst) {
            std::thread::sleep(2 * TIMEOUT);
        }
        Ok(())
    };
    let engine = SteppedEngine::over(&engine, hook);
    let store = Store::over(engine, Arc::new(ManualClock::new(0))).unwrap();
    store.execute("CREATE TABLE ships (id LONG, name STRING, PRIMARY KEY (id))").unwrap();
    let (options, row) =
        (WriteOptions::default(), Row::new().with("id", 1_i64).with("name", "one"));
    store.table("ships").unwrap().put(&row, &options).unwrap();
    store.kv().put(&Key::of_major(["one"]), b"first", &options).unwrap();
    let statement_timeout = statement_timeout.map(str::to_owned);
    let redis = Some("127.0.0.1:0".into());
    let settings = Settings { statement_timeout, redis, ..Settings::default() };
    (Running::over(store, settings), is_slow)
}

/// What the server stores: each ship, and each pair under one of two keys.
fn stored(server: &Running) -> Vec<String> {
    let (_, ships) =
        server.http("POST /v1/sql", "", r#"{"sql": "SELECT * FROM ships ORDER BY id"}"#);
    let pair = |key: &str| server.store.kv().get(&Key::of_major([key])).unwrap();
    let pairs = ["one", "two"].map(|key| format!("{:?}", pair(key).map(|pair| pair.value)));
    std::iter::once(ships).chain(pairs).collect()
}

/// They waited for as long as it took, and were stored.
#[test]
fn a_write_over_http_that_waits_too_long_ends_and_stores_nothing() {
    let (server, is_slow) = waiting(Some("300ms"));
    let before = stored(&server);
    for (request, body) in [
        ("PUT /v1/tables/ships/row?id=2", r#"{"name": "two"}"#),
        ("PATCH /v1/tables/ships/row?id=1", r#"{"name": "other"}"#),
        ("DELETE /v1/tables/ships/row?id=1", ""),
        ("PUT /v1/pairs/two", "second"),
        ("DELETE /v1/pairs/one", ""),
    ] {
        is_slow.store(true, Ordering::SeqCst);
        let (head, body) = server.http(request, "", body);
        is_slow.store(false, Ordering::SeqCst);
        assert!(head.starts_with("HTTP/1.1 504"), "{request}: {head} {body}");
        assert!(body.contains("timed-out"), "{request}: {body}");
        assert_eq!(stored(&server), before, "{request}");
    }
}

#[test]
fn a_write_of_a_redis_client_that_waits_too_long_ends_and_stores_nothing() {
    let (server, is_slow) = waiting(Some("300ms"));
    let before = stored(&server);
    let mut client = TcpStream::connect(server.addresses.redis.unwrap()).unwrap();
    for command in ["SET two second", "APPEND one x", "DEL one", "RENAME one two"] {
        is_slow.store(true, Ordering::SeqCst);
        client.write_all(format!("{command}\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        BufReader::new(&client).read_line(&mut answer).unwrap();
        is_slow.store(false, Ordering::SeqCst);
        assert!(answer.starts_with("-TRYAGAIN"), "{command}: {answer}");
        assert_eq!(stored(&server), before, "{command}");
    }
}

fn pair(key: &str) -> RecordBatch {
    let column = |text: &str| Arc::new(BinaryArray::from_vec(vec![text.as_bytes()])) as _;
    RecordBatch::try_from_iter([("key", column(key)), ("value", column("value"))]).unwrap()
}

/// The writes over Flight, with the name of their action.
fn flight_writes() -> Vec<(&'static str, Json, RecordBatch)> {
    let key = |id: i64| ships([id]).project(&[0]).unwrap();
    vec![
        ("tonnage.Write", json!({"put": "ships"}), ships([2])),
        ("tonnage.Write", json!({"delete": "ships"}), key(1)),
        ("tonnage.Write", json!({"put_pair": true}), pair("two")),
        ("tonnage.Write", json!({"delete_pair": true}), pair("one")),
        ("tonnage.DeletePairs", json!({}), pair("one").project(&[0]).unwrap()),
    ]
}

#[test]
fn a_write_over_flight_that_waits_too_long_ends_and_stores_nothing() {
    let (server, is_slow) = waiting(Some("300ms"));
    let (mut client, before) = (server.client(), stored(&server));
    for (action, header, batch) in flight_writes() {
        is_slow.store(true, Ordering::SeqCst);
        let written = client.act_bytes(action, frame(header.clone(), &batch));
        is_slow.store(false, Ordering::SeqCst);
        assert_eq!(written.unwrap_err().code(), Code::DeadlineExceeded, "{action} {header}");
        assert_eq!(stored(&server), before, "{action} {header}");
    }
}

/// The caller's own time comes before that of the server, whichever is longer.
#[test]
fn a_write_over_flight_takes_a_timeout_of_its_own() {
    for (of_server, of_call, is_stored) in
        [(None, 300, false), (Some("1h"), 300, false), (Some("300ms"), 60_000, true)]
    {
        let (server, is_slow) = waiting(of_server);
        let (mut client, before) = (server.client(), stored(&server));
        is_slow.store(true, Ordering::SeqCst);
        let header = json!({"put": "ships", "timeout_ms": of_call});
        let written = client.act_bytes("tonnage.Write", frame(header, &ships([2])));
        is_slow.store(false, Ordering::SeqCst);
        assert_eq!(written.is_ok(), is_stored, "{of_server:?}, {of_call}: {written:?}");
        assert_eq!(stored(&server) != before, is_stored, "{of_server:?}, {of_call}");
    }
}
