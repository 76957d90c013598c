//! Reads over Flight.

use std::sync::Arc;

use arrow::array::{AsArray, BinaryArray, Int64Array, RecordBatch};
use arrow::datatypes::{Int64Type, UInt64Type};
use arrow_flight::utils::flight_data_to_batches;
use arrow_flight::{FlightDescriptor, Ticket};
use futures::StreamExt;
use serde_json::json;
use tonic::Code;
use tonnage_server::Settings;

use crate::support::{Client, Running, code, command, messages, path, ships};

fn ids(came: &[arrow_flight::FlightData]) -> Vec<i64> {
    let batches = flight_data_to_batches(came).unwrap();
    batches
        .iter()
        .flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values().to_vec())
        .collect()
}

fn keys(ids: impl IntoIterator<Item = i64>) -> RecordBatch {
    RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from_iter_values(ids)) as _)]).unwrap()
}

#[test]
fn rows_come_for_the_keys_that_are_there() {
    let server = Running::new();
    let mut client = server.client();
    client.put(messages(path(), vec![ships(0..1_000)]));
    let get = command(json!({"bulk_get": {"table": "ships", "direction": "forward"}}));
    let (came, status) = client.exchange(messages(get, vec![keys([7, 5_000, 3]), keys([999])]));
    assert_eq!(code(&status), None, "{status:?}");
    assert_eq!(ids(&came), [7, 3, 999]);
}

#[test]
fn columns_and_versions_are_given_as_asked_for() {
    let server = Running::new();
    let mut client = server.client();
    client.put(messages(path(), vec![ships(0..10)]));
    let get = json!({"table": "ships", "columns": ["name"], "versions": true});
    let (came, _) = client.exchange(messages(command(json!({"bulk_get": get})), vec![keys([7])]));
    let batches = flight_data_to_batches(&came).unwrap();
    let names: Vec<_> =
        batches[0].schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["name", "_version", "_expires_at_ms"]);
    assert_eq!(batches[0].column(0).as_string::<i32>().value(0), "ship 7");
}

/// Both directions share the windows of one connection: keys that were left in the socket would
/// keep such a client waiting for ever.
#[test]
fn a_client_that_sends_all_keys_before_it_reads_a_row_gets_its_rows() {
    let settings = Settings { key_memory: Some("64KiB".into()), ..Settings::default() };
    let server = Running::with(settings);
    let mut client = server.client();
    client.put(messages(path(), vec![ships(0..100)]));
    let get = command(json!({"bulk_get": {"table": "ships", "direction": "forward"}}));
    // Twenty mebibytes of keys and fifty of rows: more than all windows hold.
    let many = (0..40).map(|_| keys((0..65_536).map(|key| key % 100))).collect();
    let sent = messages(get, many);
    let mut flight = client.flight.clone();
    let rows = client.runtime.block_on(async move {
        let (all_sent, is_sent) = tokio::sync::oneshot::channel();
        let last = futures::stream::once(async move {
            let _ = all_sent.send(());
            arrow_flight::FlightData::new()
        });
        // The last message is sent once all before it are taken.
        let sent = futures::stream::iter(sent).chain(last);
        let mut answers = flight.do_exchange(sent).await.unwrap().into_inner();
        is_sent.await.unwrap();
        let mut came = Vec::new();
        while let Some(message) = answers.message().await.unwrap() {
            came.push(message);
        }
        ids(&came).len()
    });
    assert_eq!(rows, 40 * 65_536);
}

#[test]
fn a_key_that_is_none_is_an_error_after_the_rows_before_it() {
    let server = Running::new();
    let get = command(json!({"bulk_get": {"table": "ships"}}));
    let wrong = RecordBatch::try_from_iter([("nme", Arc::new(Int64Array::from(vec![1])) as _)]);
    let (_, status) = server.client().exchange(messages(get, vec![wrong.unwrap()]));
    assert_eq!(code(&status), Some(Code::InvalidArgument));
}

#[test]
fn pairs_are_got_by_their_keys() {
    let server = Running::new();
    let mut client = server.client();
    let column = |values: Vec<&[u8]>| Arc::new(BinaryArray::from_vec(values)) as _;
    let pairs = [("key", column(vec![b"a", b"b"])), ("value", column(vec![b"1", b"2"]))];
    let put = command(json!({"bulk_put": {"pairs": true, "end": "optional"}}));
    client.put(messages(put, vec![RecordBatch::try_from_iter(pairs).unwrap()]));
    let get = command(json!({"bulk_get": {"pairs": true, "direction": "forward"}}));
    let keys = RecordBatch::try_from_iter([("key", column(vec![b"b", b"x", b"a"]))]).unwrap();
    let (came, status) = client.exchange(messages(get, vec![keys]));
    assert_eq!(code(&status), None, "{status:?}");
    let batch = &flight_data_to_batches(&came).unwrap()[0];
    let values: Vec<_> = batch.column(1).as_binary::<i32>().iter().flatten().collect();
    assert_eq!(values, [b"2", b"1"]);
}

#[test]
fn the_parts_of_a_table_hold_each_row_once() {
    let server = Running::new();
    let mut client = server.client();
    client.put(messages(path(), vec![ships(0..20_000)]));
    let mut flight = client.flight.clone();
    let (info, found) = client.runtime.block_on(async move {
        let info = flight.get_flight_info(FlightDescriptor::new_path(vec!["ships".into()]));
        let info = info.await.unwrap().into_inner();
        let mut found = Vec::new();
        for endpoint in &info.endpoint {
            let rows = flight.do_get(endpoint.ticket.clone().unwrap()).await.unwrap().into_inner();
            let came: Vec<_> = rows.map(Result::unwrap).collect().await;
            found.extend(ids(&came));
        }
        (info, found)
    });
    assert!(info.endpoint.len() > 1, "{info:?}");
    let schema = info.try_decode_schema().unwrap();
    assert_eq!(schema, *server.store.table("ships").unwrap().schema().arrow_schema());
    let mut found = found;
    found.sort_unstable();
    assert!(found.into_iter().eq(0..20_000));
}

/// The table was cut anew for each part: what lay between two cuts was left out, or came twice.
#[test]
fn parts_fit_together_though_rows_are_written_between_them() {
    let server = Running::new();
    let mut client = server.client();
    client.put(messages(path(), vec![ships(0..1_000)]));
    let mut flight = client.flight.clone();
    let tickets = client.runtime.block_on(async move {
        let info = flight.get_flight_info(FlightDescriptor::new_path(vec!["ships".into()]));
        let endpoints = info.await.unwrap().into_inner().endpoint;
        endpoints.into_iter().map(|endpoint| endpoint.ticket.unwrap()).collect::<Vec<_>>()
    });
    let numbered = (0..4).map(|part| {
        Ticket::new(json!({"scan": {"table": "ships", "part": part, "parts": 4}}).to_string())
    });
    let mut next = 1_000;
    for tickets in [tickets, numbered.collect()] {
        let mut found = Vec::new();
        for ticket in tickets {
            let mut flight = client.flight.clone();
            let came: Vec<_> = client.runtime.block_on(async move {
                let rows = flight.do_get(ticket).await.unwrap().into_inner();
                rows.map(Result::unwrap).collect().await
            });
            found.extend(ids(&came).into_iter().filter(|id| *id < 1_000));
            client.put(messages(path(), vec![ships(next..next + 1_000)]));
            next += 1_000;
        }
        found.sort_unstable();
        assert!(found.into_iter().eq(0..1_000));
    }
}

/// How those who follow a table ask for what is new in it.
#[test]
fn a_scan_leaves_out_rows_whose_versions_are_known() {
    let server = Running::new();
    let mut client = server.client();
    client.put(messages(path(), vec![ships(0..100)]));
    let scan = |client: &Client, scan: serde_json::Value| -> Vec<(i64, u64)> {
        let mut flight = client.flight.clone();
        let ticket = Ticket::new(json!({"scan": scan}).to_string());
        let came: Vec<_> = client.runtime.block_on(async move {
            let rows = flight.do_get(ticket).await.unwrap().into_inner();
            rows.map(Result::unwrap).collect().await
        });
        let batches = flight_data_to_batches(&came).unwrap();
        let rows = batches.iter().flat_map(|batch| {
            let versions = batch.column_by_name("_version").unwrap().as_primitive::<UInt64Type>();
            let ids = batch.column(0).as_primitive::<Int64Type>();
            ids.values().to_vec().into_iter().zip(versions.values().to_vec())
        });
        rows.collect()
    };
    let all = scan(&client, json!({"table": "ships", "versions": true}));
    assert_eq!(all.len(), 100);
    let last = all.iter().map(|row| row.1).max().unwrap();
    // One row of those that are known is left unknown, and one is written anew.
    let lacking = all[40].1;
    client.put(messages(
        command(json!({"bulk_put": {"table": "ships", "on_existing": "replace"}})),
        vec![ships([7, 500])],
    ));
    let known = json!([[lacking + 1, last], [0, lacking - 1]]);
    let new = scan(&client, json!({"table": "ships", "versions": true, "known_versions": known}));
    let mut ids: Vec<_> = new.iter().map(|row| row.0).collect();
    ids.sort_unstable();
    let mut expected = vec![7, 500, all[40].0];
    expected.sort_unstable();
    assert_eq!(ids, expected);
    for refused in [
        json!({"table": "ships", "known_versions": [[0, 1]], "limit": 1}),
        json!({"pairs": true, "known_versions": [[0, 1]]}),
        json!({"table": "ships", "known_versions": [[0]]}),
    ] {
        let mut flight = client.flight.clone();
        let ticket = Ticket::new(json!({"scan": refused}).to_string());
        let status = client.runtime.block_on(flight.do_get(ticket)).unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{refused}");
    }
}

#[test]
fn bounds_that_are_none_are_an_error() {
    let server = Running::new();
    let client = server.client();
    for scan in [
        json!({"table": "ships", "bounds": "?"}),
        json!({"table": "ships", "bounds": "AAA="}),
        json!({"table": "ships", "bounds": "AAAAAA==", "limit": 1}),
        json!({"pairs": true, "bounds": "AAAAAA=="}),
    ] {
        let mut flight = client.flight.clone();
        let ticket = Ticket::new(json!({"scan": scan}).to_string());
        let status = client.runtime.block_on(async move {
            let mut rows = flight.do_get(ticket).await?.into_inner();
            while rows.message().await?.is_some() {}
            Ok::<_, tonic::Status>(())
        });
        assert_eq!(status.unwrap_err().code(), Code::InvalidArgument, "{scan}");
    }
}

#[test]
fn a_ticket_that_is_none_is_an_error() {
    let server = Running::new();
    let mut client = server.client();
    let status = client
        .runtime
        .block_on(client.flight.do_get(Ticket::new(r#"{"scan": {"table": "boats"}}"#)))
        .unwrap_err();
    assert_eq!(status.code(), Code::NotFound);
    let status = client.runtime.block_on(client.flight.do_get(Ticket::new("?"))).unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
}
