//! Calls that do not wait for the answers of earlier ones, and streams that are held.

use std::time::Duration;

use tonnage::{Condition, ErrorKind, GetOptions, Key, Row, StoredRow, WriteOptions, WriteResult};
use tonnage_client::{CallResult, RemoteStore};

use crate::support::Running;

fn now() -> WriteOptions {
    WriteOptions::default()
}

fn ship(id: i64) -> Row {
    Row::new().with("id", id)
}

fn ships(server: &Running) -> RemoteStore {
    let store = server.client();
    store.execute("CREATE TABLE fleet (id LONG, name STRING, PRIMARY KEY (id))").unwrap();
    store
}

fn stored(answer: Option<tonnage::Result<CallResult>>) -> StoredRow {
    match answer.unwrap().unwrap() {
        CallResult::Row(Some(row)) => row,
        other => panic!("{other:?}"),
    }
}

#[test]
fn answers_come_in_the_order_of_the_calls() {
    let server = Running::empty();
    let store = ships(&server);
    let mut calls = store.pipeline().unwrap();
    assert!(calls.next_answer().unwrap().is_none());
    for id in 0..5_000 {
        calls.put("fleet", &ship(id).with("name", "ARGO"), Condition::IfAbsent, &now()).unwrap();
        calls.get("fleet", &ship(id), &GetOptions::default()).unwrap();
    }
    assert_eq!(calls.unanswered(), 10_000);
    for id in 0..5_000 {
        let written = calls.next_answer().unwrap().unwrap().unwrap();
        let CallResult::Written(WriteResult::Stored { version }) = written else {
            panic!("{written:?}")
        };
        let row = stored(calls.next_answer().unwrap());
        assert_eq!((row.row, row.version), (ship(id).with("name", "ARGO"), version));
    }
    assert!(calls.next_answer().unwrap().is_none());
    assert_eq!(store.table("fleet").unwrap().count().unwrap(), 5_000);
}

#[test]
fn a_call_that_is_refused_leaves_the_others() {
    let server = Running::empty();
    let store = ships(&server);
    let mut calls = store.pipeline().unwrap();
    calls.put("fleet", &ship(1).with("nmae", "x"), Condition::Always, &now()).unwrap();
    calls.get("boats", &ship(1), &GetOptions::default()).unwrap();
    calls.put("fleet", &ship(2), Condition::Always, &now()).unwrap();
    calls.update("fleet", &ship(2).with("name", "ARGO"), Condition::IfPresent, &now()).unwrap();
    calls.get("fleet", &ship(2), &GetOptions::default()).unwrap();
    calls.delete("fleet", &ship(2), Condition::IfPresent, &now()).unwrap();
    calls.get("fleet", &ship(2), &GetOptions::default()).unwrap();
    let strange = calls.next_answer().unwrap().unwrap().unwrap_err();
    assert!(strange.kind() == ErrorKind::Invalid && strange.message().contains("nmae"));
    let missing = calls.next_answer().unwrap().unwrap().unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    for _ in 0..2 {
        calls.next_answer().unwrap().unwrap().unwrap();
    }
    assert_eq!(stored(calls.next_answer().unwrap()).row, ship(2).with("name", "ARGO"));
    calls.next_answer().unwrap().unwrap().unwrap();
    assert_eq!(calls.next_answer().unwrap().unwrap().unwrap(), CallResult::Row(None));
}

#[test]
fn pairs_go_over_the_same_stream() {
    let server = Running::empty();
    let store = server.client();
    let key = Key::of_major(["ship"]);
    let mut calls = store.pipeline().unwrap();
    calls.put_pair(&key, b"ARGO", Condition::IfAbsent, &now()).unwrap();
    calls.get_pair(&key, &GetOptions::default()).unwrap();
    calls.delete_pair(&key, Condition::IfPresent, &now()).unwrap();
    calls.get_pair(&key, &GetOptions::default()).unwrap();
    let mut next = || calls.next_answer().unwrap().unwrap().unwrap();
    assert!(matches!(next(), CallResult::Written(WriteResult::Stored { .. })));
    let CallResult::Pair(Some(pair)) = next() else { panic!("there is a pair") };
    assert_eq!((pair.key, pair.value), (key.clone(), b"ARGO".to_vec()));
    assert!(matches!(next(), CallResult::Written(WriteResult::Stored { .. })));
    assert_eq!(next(), CallResult::Pair(None));
}

#[test]
fn large_rows_do_not_stop_the_calls() {
    let server = Running::empty();
    let store = ships(&server);
    let mut calls = store.pipeline().unwrap();
    let name = "x".repeat(300_000);
    for id in 0..100 {
        let row = ship(id).with("name", name.as_str());
        calls.put("fleet", &row, Condition::Always, &now()).unwrap();
        calls.get("fleet", &ship(id), &GetOptions::default()).unwrap();
    }
    for _ in 0..100 {
        calls.next_answer().unwrap().unwrap().unwrap();
        assert_eq!(
            stored(calls.next_answer().unwrap()).row.get("name"),
            Some(&name.as_str().into())
        );
    }
}

/// Streams are held from call to call, and end with their server: the next call tries another one.
#[test]
fn a_held_stream_that_has_ended_is_replaced() {
    let server = Running::empty();
    let store = ships(&server);
    let fleet = store.table("fleet").unwrap();
    for id in 0..200 {
        fleet.put(&ship(id), &now()).unwrap();
    }
    std::thread::scope(|scope| {
        for thread in 0..100 {
            let fleet = &fleet;
            scope.spawn(move || assert!(fleet.get(&ship(thread)).unwrap().is_some()));
        }
    });
    let impatient = store.with_limits(&tonnage::Cancel::new(), Some(Duration::ZERO));
    let late = impatient.table("fleet").and_then(|table| table.get(&ship(1)));
    assert_eq!(late.unwrap_err().kind(), ErrorKind::TimedOut);
    assert!(fleet.get(&ship(1)).unwrap().is_some());
}
