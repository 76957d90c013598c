//! Statements over Flight SQL.

use arrow::array::{Array, AsArray};
use arrow::datatypes::{Int64Type, Schema};
use arrow_flight::error::FlightError;
use arrow_flight::sql::{ActionCancelQueryRequest, ProstMessageExt};
use arrow_flight::{Action, CancelFlightInfoRequest, CancelFlightInfoResult, CancelStatus};
use futures::StreamExt;
use prost::Message;
use tonic::Code;
use tonnage_testkit::wait_until;

use crate::support::Running;

const TYPES: &str = "CREATE TABLE kinds (k LONG, i INTEGER, f FLOAT, d DOUBLE, n NUMBER(10, 2), \
    s STRING, b BOOLEAN, y BINARY, t TIMESTAMP(3), u UUID, j JSON, da DATE, ti TIME, \
    fb BINARY(4), e ENUM('red', 'green'), PRIMARY KEY (k))";

#[test]
fn rows_of_all_types_and_null_come_as_the_store_has_them() {
    let server = Running::new();
    let mut client = server.sql();
    client.update(TYPES).unwrap();
    let inserted = client.update(
        "INSERT INTO kinds VALUES (1, 2, 1.5, 2.5, 12.34, 'x', true, x'0102', \
         '2024-05-06T07:08:09.123', '00000000-0000-0000-0000-000000000001', '{\"a\": 1}', \
         '2024-05-06', '07:08:09', x'01020304', 'green'), (2, NULL, NULL, NULL, NULL, NULL, NULL, \
         NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    );
    assert_eq!(inserted.unwrap(), 2);
    let info = client.info("SELECT * FROM kinds ORDER BY k").unwrap();
    let batch = client.fetch(&info).unwrap();
    assert_eq!(info.try_decode_schema().unwrap(), *batch.schema());
    let stored = server.store.table("kinds").unwrap().schema().arrow_schema();
    assert_eq!(batch.schema().fields(), stored.fields());
    for (column, field) in batch.columns().iter().zip(stored.fields()).skip(1) {
        assert!(column.is_valid(0) && column.is_null(1), "{field}");
    }
}

#[test]
fn a_schema_is_told_that_equals_the_streams() {
    let server = Running::new();
    let mut client = server.sql();
    client.update("INSERT INTO ships VALUES (1, 'a'), (2, NULL)").unwrap();
    for text in [
        "SELECT * FROM ships",
        "SELECT id FROM ships WHERE id = 1",
        "SELECT count(*), max(id) AS m, min(name) FROM ships",
        "SELECT upper(name) AS u, id + 1, substr(name, 1, 2) FROM ships ORDER BY id LIMIT 1",
        "SELECT s.name, t.id FROM ships s LEFT JOIN ships t ON s.id = t.id + 1",
        "SELECT 1, 'x', NULL, 1.5, true, now()",
        "SHOW TABLES",
        "DESCRIBE ships",
        "EXPLAIN SELECT * FROM ships",
        "WITH a AS (SELECT id FROM ships) SELECT sum(id) FROM a",
        "VALUES (1, 'x'), (2, 'y')",
    ] {
        let info = client.info(text).unwrap();
        let batch = client.fetch(&info).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(info.try_decode_schema().unwrap(), *batch.schema(), "{text}");
    }
}

#[test]
fn a_change_asked_for_as_a_query_runs_when_it_is_fetched_and_once_only() {
    let server = Running::new();
    let mut client = server.sql();
    let info = client.info("INSERT INTO ships VALUES (1, 'a'), (2, 'b')").unwrap();
    assert_eq!(server.rows(), 0, "asking carries nothing out");
    assert!(info.schema.is_empty(), "drivers fetch at once where no schema is told");
    for _ in 0..3 {
        let counted = client.fetch(&info).unwrap();
        assert_eq!(counted.column(0).as_primitive::<Int64Type>().value(0), 2);
    }
    assert_eq!(server.rows(), 2);
}

#[test]
fn a_change_that_failed_is_not_tried_again_by_another_fetch() {
    let server = Running::new();
    let mut client = server.sql();
    client.update("INSERT INTO ships VALUES (1, 'a')").unwrap();
    let info = client.info("INSERT INTO ships VALUES (1, 'b')").unwrap();
    let first = client.fetch(&info).unwrap_err();
    client.update("DELETE FROM ships").unwrap();
    let second = client.fetch(&info).unwrap_err();
    assert!(first.contains("1") && second.contains("1"), "{first} {second}");
    assert_eq!(server.rows(), 0);
}

#[test]
fn a_ticket_cannot_be_made_to_change_something() {
    let server = Running::new();
    let mut client = server.sql();
    let mut info = client.info("SELECT 1").unwrap();
    let ticket = info.endpoint[0].ticket.as_mut().unwrap();
    let forged = String::from_utf8_lossy(&ticket.ticket).into_owned();
    assert!(forged.contains("SELECT 1"), "{forged}");
    let handle = br#"{"id": "x", "sql": "DELETE FROM ships"}"#.to_vec();
    let query = arrow_flight::sql::TicketStatementQuery { statement_handle: handle.into() };
    ticket.ticket = query.as_any().encode_to_vec().into();
    client.update("INSERT INTO ships VALUES (1, 'a')").unwrap();
    assert!(client.fetch(&info).unwrap_err().contains("not one that the server gave"));
    assert_eq!(server.rows(), 1);
}

#[test]
fn updates_tell_how_many_rows_they_changed() {
    let server = Running::new();
    let mut client = server.sql();
    assert_eq!(client.update("CREATE TABLE t (k LONG, v LONG, PRIMARY KEY (k))").unwrap(), 0);
    assert_eq!(client.update("INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)").unwrap(), 3);
    assert_eq!(client.update("UPDATE t SET v = v + 1 WHERE k > 1").unwrap(), 2);
    assert_eq!(client.update("DELETE FROM t WHERE k = 1").unwrap(), 1);
    assert_eq!(client.update("UPDATE t SET v = 0 RETURNING COUNT(*)").unwrap(), 2);
    let error = client.update("SELECT * FROM t").unwrap_err();
    assert!(error.contains("gives rows"), "{error}");
}

#[test]
fn full_names_work_in_every_kind_of_statement() {
    let server = Running::new();
    let mut client = server.sql();
    client.update("CREATE TABLE ships.ports (port LONG, PRIMARY KEY (port))").unwrap();
    for name in ["tonnage.public.\"ships.ports\"", "public.\"ships.ports\"", "ships.ports"] {
        let update = |client: &mut crate::support::SqlClient, text: String| {
            client.update(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
        };
        assert_eq!(update(&mut client, format!("INSERT INTO {name} VALUES (1, 5)")), 1);
        let found = client.query(&format!("SELECT port FROM {name} WHERE id = 1")).unwrap();
        assert_eq!(found.num_rows(), 1, "{name}");
        assert_eq!(update(&mut client, format!("DELETE FROM {name} WHERE port = 5")), 1);
    }
}

#[test]
fn an_error_tells_its_kind_and_its_place() {
    let server = Running::new();
    let mut client = server.sql();
    let error = client.query("SELECT *\nFROM boats").unwrap_err();
    assert!(error.contains("line 2, column 6") && error.contains("boats"), "{error}");
    let error = client.query("SELECT id / 0 FROM (VALUES (1)) AS t (id)").unwrap_err();
    assert!(error.to_lowercase().contains("zero"), "{error}");
    let error = client.update("INSERT INTO ships (idd) VALUES (1)").unwrap_err();
    assert!(error.contains("idd"), "{error}");
}

/// A statement that would take minutes.
const LONG: &str = "SELECT count(*) FROM generate_series(1, 1000000) AS a (x), \
                    generate_series(1, 1000000) AS b (y) WHERE x * y % 7 = 3";

fn running(server: &Running) -> u64 {
    let (_, metrics) = server.http("GET /metrics", "", "");
    let line = metrics.lines().find(|line| line.starts_with("tonnage_statements_running "));
    line.unwrap().rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn a_client_that_goes_away_ends_its_statement() {
    let server = Running::new();
    let mut client = server.sql();
    let info = client.info(LONG).unwrap();
    let ticket = info.endpoint[0].ticket.clone().unwrap();
    let mut flight = client.flight.inner().clone();
    let fetch = client.runtime.spawn(async move {
        let _answer = flight.do_get(ticket).await;
        std::future::pending::<()>().await
    });
    wait_until("it runs", || running(&server) == 1);
    fetch.abort();
    wait_until("it ends", || running(&server) == 0);
}

#[test]
fn a_statement_is_cancelled_by_its_info() {
    let server = Running::new();
    for by_query in [false, true] {
        let mut client = server.sql();
        let info = client.info(LONG).unwrap();
        let ticket = info.endpoint[0].ticket.clone().unwrap();
        let mut flight = client.flight.inner().clone();
        let fetch = client.runtime.spawn(async move {
            let rows = flight.do_get(ticket).await?.into_inner();
            rows.collect::<Vec<_>>().await.into_iter().collect::<Result<Vec<_>, _>>()
        });
        wait_until("it runs", || running(&server) == 1);
        let (name, body) = match by_query {
            true => {
                let info = info.encode_to_vec().into();
                ("CancelQuery", ActionCancelQueryRequest { info }.as_any().encode_to_vec())
            }
            false => ("CancelFlightInfo", CancelFlightInfoRequest::new(info).encode_to_vec()),
        };
        let told = client.runtime.block_on(async {
            let mut told = client.flight.do_action(Action::new(name, body)).await.unwrap();
            told.message().await.unwrap().unwrap()
        });
        if !by_query {
            let result = CancelFlightInfoResult::decode(told.body).unwrap();
            assert_eq!(result.status(), CancelStatus::Cancelled);
        }
        let ended = client.runtime.block_on(fetch).unwrap().unwrap_err();
        assert_eq!(ended.code(), tonic::Code::Cancelled, "{ended}");
        wait_until("it is gone", || running(&server) == 0);
    }
}

#[test]
fn rows_stream_while_they_are_read() {
    let server = Running::new();
    let mut client = server.sql();
    // Far more than all windows hold.
    let text = "SELECT x, repeat('y', 200) AS y FROM generate_series(1, 3000000) AS t (x)";
    let info = client.info(text).unwrap();
    let ticket = info.endpoint[0].ticket.clone().unwrap();
    let first = client.runtime.block_on(async {
        let mut rows = client.flight.do_get(ticket).await.unwrap();
        rows.next().await.unwrap().unwrap().num_rows()
    });
    assert!(first > 0 && first <= 65_536, "{first}");
    wait_until("the rest is not read", || running(&server) == 0);
}

#[test]
fn get_schema_tells_the_columns_of_a_statement() {
    let server = Running::new();
    let client = server.sql();
    let schema_of = |text: &str| -> Schema {
        let query = text.to_owned();
        let command = arrow_flight::sql::CommandStatementQuery { query, transaction_id: None };
        let descriptor = arrow_flight::FlightDescriptor::new_cmd(command.as_any().encode_to_vec());
        let mut flight = client.flight.inner().clone();
        let answer = client.runtime.block_on(async move { flight.get_schema(descriptor).await });
        (&answer.unwrap().into_inner()).try_into().unwrap()
    };
    let schema = schema_of("SELECT id AS n, name FROM ships");
    let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["n", "name"]);
}

#[test]
fn transactions_are_refused_in_words() {
    let server = Running::new();
    let mut client = server.sql();
    let begun = client.runtime.block_on(client.flight.begin_transaction());
    assert!(begun.unwrap_err().to_string().contains("no transactions"));
}

#[test]
fn without_users_a_handshake_welcomes_everybody() {
    let server = Running::new();
    let mut client = server.sql();
    client.runtime.block_on(client.flight.handshake("ann", "a:b")).unwrap();
    assert_eq!(client.number("SELECT count(*) FROM ships"), 0);
}

#[test]
fn a_session_has_options_that_hold_for_its_statements() {
    let server = Running::new();
    let mut client = server.sql();
    // `timeout_ms` as a whole number of 200: field 1, key, value with field 3.
    let mut value = vec![0x19];
    value.extend(200_i64.to_le_bytes());
    let mut entry = vec![0x0a, 10];
    entry.extend(b"timeout_ms");
    entry.extend([0x12, value.len() as u8]);
    entry.extend(value);
    let mut body = vec![0x0a, entry.len() as u8];
    body.extend(entry);
    let mut flight = client.flight.inner().clone();
    let cookie = client.runtime.block_on(async move {
        let answer = flight.do_action(Action::new("SetSessionOptions", body)).await.unwrap();
        answer.metadata().get("set-cookie").unwrap().to_str().unwrap().to_owned()
    });
    assert!(cookie.starts_with("arrow_flight_session_id="), "{cookie}");
    client.flight.set_header("cookie", &cookie);
    let error = client.query(LONG).unwrap_err();
    assert!(error.contains("200ms"), "{error}");
}

/// They were ABORTED, of which drivers make an unknown error.
#[test]
fn what_exists_already_is_told_as_such() {
    let server = Running::new();
    let mut client = server.sql();
    for text in [
        "INSERT INTO ships VALUES (1, 'a')",
        "CREATE INDEX by_name ON ships (name)",
        "CREATE VIEW v AS SELECT id FROM ships",
    ] {
        client.update(text).unwrap();
    }
    for text in [
        "INSERT INTO ships VALUES (1, 'b')",
        "INSERT INTO ships VALUES (1, 'b') RETURNING id",
        "INSERT INTO ships SELECT id, 'c' FROM ships",
        "INSERT INTO ships VALUES (2, 'a'), (2, 'b')",
        "CREATE TABLE ships (id LONG, PRIMARY KEY (id))",
        "CREATE TABLE IF NOT EXISTS ships (other STRING, PRIMARY KEY (other))",
        "CREATE TABLE ships (PRIMARY KEY (id)) AS SELECT 1 AS id",
        "CREATE TABLE v (PRIMARY KEY (id)) AS SELECT 1 AS id",
        "CREATE VIEW v AS SELECT 1 AS id",
        "CREATE VIEW ships AS SELECT 1 AS id",
        "CREATE INDEX by_name ON ships (name)",
    ] {
        let updated = client.flight.execute_update(text.to_owned(), None);
        let error = client.runtime.block_on(updated).unwrap_err();
        let FlightError::Tonic(status) = error else { panic!("{text}: {error}") };
        assert_eq!(status.code(), Code::AlreadyExists, "{text}: {status:?}");
        assert_eq!(status.metadata().get("tonnage-kind").unwrap(), "conflict", "{text}");
    }
    // Other conflicts are no such thing.
    client.update("CREATE TABLE ships.calls (port LONG, PRIMARY KEY (port))").unwrap();
    let updated = client.flight.execute_update("DROP TABLE ships".to_owned(), None);
    let error = client.runtime.block_on(updated).unwrap_err();
    let FlightError::Tonic(status) = error else { panic!("{error}") };
    assert_eq!(status.code(), Code::Aborted, "{status:?}");
}
