//! Sources of keys that wait, maybe for the rows of the keys that they gave.
//!
//! Gathered keys were handed over when enough had come, and the clock was looked at only when
//! another key came: a caller that gave one key and waited for its row before the next one waited
//! for ever.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use rstest::rstest;
use tonnage::{
    BulkGetOptions, Depth, Direction, IndexRange, IndexScanOptions, Key, KeySource, PairGetOptions,
    RelatedRow, Value,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::{self, MAKERS, price_of};
use crate::common::{assert_error, row};

/// Far more than it takes: only a hang comes near.
const HANG: Duration = Duration::from_secs(60);

/// Runs a reader in a thread of its own, which passes on what it reads.
fn in_a_thread<T: Send + 'static>(read: impl FnOnce(Sender<T>) + Send + 'static) -> Receiver<T> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || read(sender));
    receiver
}

#[rstest]
fn each_key_is_answered_before_the_next_one_is_given(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(Direction::Unordered, Direction::Forward)] direction: Direction,
    #[values(true, false)] is_whole: bool,
) {
    let store = shop::stocked(on, 1);
    let (ask, asked) = channel::<Vec<Value>>();
    let table = store.table("phones").unwrap();
    let answers = in_a_thread::<RelatedRow>(move |answer| {
        let options = BulkGetOptions { direction, ..Default::default() };
        let rows =
            table.bulk_get(KeySource::keys(asked.into_iter()), &options).unwrap().into_rows();
        rows.for_each(|row| answer.send(row.unwrap()).unwrap());
    });
    for number in 0..40 {
        let maker = MAKERS[number % 4];
        let rest = if is_whole { vec![price_of(0).into(), Value::Long(0)] } else { Vec::new() };
        ask.send([vec![Value::from(maker)], rest].concat()).unwrap();
        let answer = answers.recv_timeout(HANG).expect("the row of the only key asked");
        assert_eq!(answer.row.get("maker"), Some(&maker.into()));
    }
    drop(ask);
    assert!(answers.recv_timeout(HANG).is_err(), "the end of the keys is the end of the rows");
}

#[rstest]
fn each_pair_is_answered_before_the_next_key_is_given(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(Depth::ParentOnly, Depth::ParentAndChildren)] depth: Depth,
) {
    let store = on.open();
    let key = |number: usize| Key::of_major([format!("{number}")]);
    for number in 0..20 {
        store.kv().put(&key(number), b"v", &Default::default()).unwrap();
    }
    let (ask, asked) = channel::<Key>();
    let pairs = store.kv();
    let answers = in_a_thread(move |answer| {
        let options = PairGetOptions { depth, ..Default::default() };
        for batch in pairs.bulk_get(asked, &options).unwrap() {
            let batch = batch.unwrap();
            (0..batch.len()).for_each(|index| answer.send(batch.key(index).unwrap()).unwrap());
        }
    });
    for number in 0..20 {
        ask.send(key(number)).unwrap();
        assert_eq!(
            answers.recv_timeout(HANG).expect("the pair of the only key asked"),
            key(number)
        );
    }
}

#[rstest]
fn each_range_of_an_index_is_answered_before_the_next_one_is_given(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables(
        "CREATE TABLE t (k LONG, v LONG, PRIMARY KEY (k)); CREATE INDEX by_v ON t (v)",
    );
    for k in 0..20_i64 {
        store.table("t").unwrap().put(&row! { "k" => k, "v" => k }, &Default::default()).unwrap();
    }
    let (ask, asked) = channel::<IndexRange>();
    let index = store.table("t").unwrap().index("by_v").unwrap();
    let answers = in_a_thread(move |answer| {
        let batches = index.bulk_get(asked, &IndexScanOptions::default()).unwrap();
        batches.for_each(|batch| answer.send(batch.unwrap().rows.num_rows()).unwrap());
    });
    for v in 0..20_i64 {
        ask.send(IndexRange::prefix([v])).unwrap();
        assert_eq!(answers.recv_timeout(HANG).expect("the rows of the only range asked"), 1);
    }
}

#[rstest]
fn a_source_that_panics_says_why_after_the_rows_before(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 10);
    let keys = KeySource::keys((0..).map(|number| match number {
        0..3 => vec![Value::from(MAKERS[number])],
        _ => panic!("the queue has gone away"),
    }));
    let (found, error) =
        super::until_error(store.table("phones").unwrap().bulk_get(keys, &super::forward()));
    assert_eq!(found.len(), 30);
    assert_error(error, tonnage::ErrorKind::Internal, &["the queue has gone away"]);
}
