//! Reads that are called off, or take too long, whatever their source of keys does.

use std::time::{Duration, Instant};

use rstest::rstest;
use tonnage::{
    BulkGetOptions, Cancel, ErrorKind, Key, KeySource, MultiGetRequest, PairGetOptions,
    TableScanOptions, Value,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::{self, MAKERS};
use crate::common::{assert_error, failure};

/// Far more than it takes: only a hang comes near.
const HANG: Duration = Duration::from_secs(30);

/// One maker, then nothing for as long as the test lasts.
fn one_key_then_silence() -> KeySource {
    let first = std::iter::once(vec![Value::from(MAKERS[0])]);
    let silence = std::iter::once_with(|| {
        std::thread::sleep(2 * HANG);
        vec![Value::from(MAKERS[1])]
    });
    KeySource::keys(first.chain(silence))
}

#[rstest]
fn a_read_ends_in_time_although_its_source_waits(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 3);
    // Time enough for the first rows on a busy machine.
    let options = BulkGetOptions { timeout: Some(Duration::from_secs(5)), ..Default::default() };
    let started = Instant::now();
    let get = store.table("phones").unwrap().bulk_get(one_key_then_silence(), &options).unwrap();
    let mut rows = get.into_rows();
    for _ in 0..3 {
        assert_eq!(rows.next().unwrap().unwrap().row.get("maker"), Some(&MAKERS[0].into()));
    }
    assert_error(failure(rows.next().unwrap()), ErrorKind::TimedOut, &["5s"]);
    assert!(rows.next().is_none(), "the error is the end");
    assert!(started.elapsed() < HANG);
}

#[rstest]
fn a_read_is_cancelled_although_its_source_waits(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 1);
    let cancel = Cancel::new();
    let options = BulkGetOptions { cancel: cancel.clone(), ..Default::default() };
    let get = store.table("phones").unwrap().bulk_get(one_key_then_silence(), &options).unwrap();
    let mut rows = get.into_rows();
    assert!(rows.next().unwrap().is_ok());
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        cancel.cancel();
    });
    let started = Instant::now();
    assert_error(failure(rows.next().unwrap()), ErrorKind::Cancelled, &[]);
    assert!(started.elapsed() < HANG);
    canceller.join().unwrap();
}

#[rstest]
fn a_multi_get_ends_in_time_although_a_source_waits(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 1);
    let options =
        BulkGetOptions { timeout: Some(Duration::from_millis(300)), ..Default::default() };
    let requests = [
        MultiGetRequest::new("phones", one_key_then_silence()),
        MultiGetRequest::new("phones", KeySource::keys([vec![Value::from(MAKERS[2])]])),
    ];
    let started = Instant::now();
    let answers = store.multi_get_requests(requests, &options).unwrap().into_answers();
    assert_error(failure(answers.into_iter().next().unwrap()), ErrorKind::TimedOut, &["300ms"]);
    assert!(started.elapsed() < HANG);
}

#[rstest]
fn a_multi_get_that_nobody_reads_on_waits_for_no_source(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 1);
    let requests = [
        ("phones", one_key_then_silence()),
        ("phones", KeySource::keys([vec![Value::from(MAKERS[2])]])),
    ];
    let mut get = store.multi_get(requests, &BulkGetOptions::default()).unwrap();
    assert!(get.next().unwrap().1.is_ok());
    let started = Instant::now();
    drop(get);
    assert!(started.elapsed() < HANG);
}

#[rstest]
fn a_scan_and_a_read_of_pairs_can_be_cancelled(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 1);
    let cancel = Cancel::new();
    cancel.cancel();
    let scan = TableScanOptions { cancel: cancel.clone(), ..Default::default() };
    let mut rows = store.table("phones").unwrap().scan(&scan).unwrap();
    assert_error(failure(rows.next().unwrap()), ErrorKind::Cancelled, &[]);
    let options = PairGetOptions { cancel, ..Default::default() };
    let mut pairs = store.kv().bulk_get([Key::new(["a"], [""; 0])], &options).unwrap();
    assert_error(failure(pairs.next().unwrap()), ErrorKind::Cancelled, &[]);
}

#[rstest]
fn a_read_with_time_enough_gives_all_rows(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 50);
    let options =
        BulkGetOptions { timeout: Some(Duration::MAX), batch_rows_max: 7, ..Default::default() };
    let get = store.table("phones").unwrap().bulk_get(super::makers(&MAKERS), &options).unwrap();
    assert_eq!(get.into_rows().map(Result::unwrap).collect::<Vec<_>>().len(), 200);
}
