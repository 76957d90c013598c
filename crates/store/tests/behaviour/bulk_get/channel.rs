//! Keys that are pushed, and sources side by side.

use std::time::Duration;

use rstest::rstest;
use tonnage::{BulkGetOptions, ErrorKind, KeySource, Value};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::{self, MAKERS};
use crate::common::{assert_error, failure};

/// Far more than it takes: only a hang comes near.
const HANG: Duration = Duration::from_secs(30);

#[rstest]
fn a_pushed_key_is_answered_before_the_next_is_pushed(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 1);
    let (sender, keys) = KeySource::channel();
    let get = store.table("phones").unwrap().bulk_get(keys, &BulkGetOptions::default()).unwrap();
    let mut rows = get.into_rows();
    for number in 0..40 {
        let maker = MAKERS[number % 4];
        sender.push(vec![Value::from(maker)]).unwrap();
        assert_eq!(rows.next().unwrap().unwrap().row.get("maker"), Some(&maker.into()));
    }
    drop(sender);
    assert!(rows.next().is_none(), "the last sender is the end of the keys");
}

#[rstest]
fn several_threads_push_into_one_read(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 2);
    let (sender, keys) = KeySource::channel();
    let threads: Vec<_> = MAKERS
        .into_iter()
        .map(|maker| {
            let sender = sender.clone();
            std::thread::spawn(move || {
                (0..500).for_each(|_| sender.push(vec![Value::from(maker)]).unwrap());
            })
        })
        .collect();
    drop(sender);
    let get = store.table("phones").unwrap().bulk_get(keys, &BulkGetOptions::default()).unwrap();
    assert_eq!(get.into_rows().map(Result::unwrap).collect::<Vec<_>>().len(), 4 * 500 * 2);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[rstest]
fn nothing_can_be_pushed_into_a_read_that_has_ended(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 1);
    let (sender, keys) = KeySource::channel();
    let mut get =
        store.table("phones").unwrap().bulk_get(keys, &BulkGetOptions::default()).unwrap();
    sender.push(vec![Value::from(MAKERS[0])]).unwrap();
    assert!(get.next().unwrap().is_ok());
    drop(get);
    let since = std::time::Instant::now();
    let refused = loop {
        if let Err(error) = sender.push(vec![Value::from(MAKERS[0])]) {
            break error;
        }
        assert!(since.elapsed() < HANG);
    };
    assert_error(refused, ErrorKind::Cancelled, &["ended"]);
}

#[test]
fn a_full_line_gives_the_key_back() {
    let (sender, _keys) = KeySource::channel();
    let mut pushed = 0;
    while sender.try_push(vec![Value::Long(1)]).unwrap().is_none() {
        pushed += 1;
        assert!(pushed < 1_000_000);
    }
    assert_eq!(pushed, 1_024);
}

#[rstest]
fn a_source_that_waits_holds_up_no_other(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 3);
    let (sender, waiting) = KeySource::channel();
    let sources = KeySource::side_by_side([waiting, super::makers(&["Nokia", "Apple"])]);
    let get = store.table("phones").unwrap().bulk_get(sources, &BulkGetOptions::default()).unwrap();
    let mut rows = get.into_rows();
    for _ in 0..6 {
        assert!(rows.next().unwrap().is_ok());
    }
    sender.push(vec![Value::from("Samsung")]).unwrap();
    drop(sender);
    assert_eq!(rows.map(Result::unwrap).collect::<Vec<_>>().len(), 3);
}

#[rstest]
fn an_error_of_one_source_names_source_and_place(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 1);
    let sources = KeySource::side_by_side([
        super::makers(&[]),
        KeySource::keys([vec![Value::from("Nokia")], vec![Value::Null]]),
    ]);
    let options = BulkGetOptions::default();
    let mut get = store.table("phones").unwrap().bulk_get(sources, &options).unwrap();
    let error = get.find_map(|batch| batch.err()).expect("a key without its maker");
    assert_error(error, ErrorKind::Invalid, &["source 1, key 1", "maker"]);
}

#[test]
fn too_many_sources_are_refused() {
    let store = shop::stocked(Memory, 1);
    let sources = KeySource::side_by_side((0..1_025).map(|_| super::makers(&["Nokia"])));
    let options = BulkGetOptions::default();
    let mut get = store.table("phones").unwrap().bulk_get(sources, &options).unwrap();
    assert_error(failure(get.next().unwrap()), ErrorKind::Invalid, &["1025", "1024"]);
}
