//! Reads that are given up early.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rstest::rstest;
use tonnage::{BulkGetOptions, Direction, KeySource, Value};
use tonnage_testkit::wait_until;

use super::forward;
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::{self, MAKERS};

#[rstest]
fn an_endless_key_source_may_be_dropped_at_any_time_and_the_store_reopened(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(Direction::Unordered, Direction::Forward, Direction::Reverse)] direction: Direction,
    #[values(0, 1, 50)] batches: usize,
) {
    let mut store = shop::stocked(on, 20);
    let keys = KeySource::keys((0_usize..).map(|number| vec![Value::from(MAKERS[number % 4])]));
    let options = BulkGetOptions { direction, ..Default::default() };
    let mut read = store.table("phones").unwrap().bulk_get(keys, &options).unwrap();
    for _ in 0..batches {
        assert!(read.next().unwrap().unwrap().rows.num_rows() > 0);
    }
    let started = Instant::now();
    drop(read);
    store.reopen();
    assert_eq!(store.table("phones").unwrap().count().unwrap(), 80);
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[rstest]
fn the_pace_of_the_reader_limits_the_pace_of_the_keys(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 20);
    let drawn = Arc::new(AtomicU64::new(0));
    let counted = drawn.clone();
    let keys = KeySource::keys((0_usize..).map(move |number| {
        counted.fetch_add(1, Ordering::Relaxed);
        vec![Value::from(MAKERS[number % 4])]
    }));
    let mut read = store.table("phones").unwrap().bulk_get(keys, &forward()).unwrap();
    read.next().unwrap().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let before = drawn.load(Ordering::Relaxed);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(drawn.load(Ordering::Relaxed), before, "keys were drawn that nobody waits for");
    assert!(before < 100_000);
}

/// Says when it is dropped.
struct Dropped(Arc<AtomicU64>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[rstest]
fn a_read_that_is_over_lets_go_of_its_key_source(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 20);
    let drops = Arc::new(AtomicU64::new(0));
    let guard = Dropped(drops.clone());
    let keys = KeySource::keys((0_usize..).map(move |number| {
        let _held = &guard;
        vec![Value::from(MAKERS[number % 4])]
    }));
    let mut read =
        store.table("phones").unwrap().bulk_get(keys, &BulkGetOptions::default()).unwrap();
    read.next().unwrap().unwrap();
    drop(read);
    wait_until("the dispatcher ends", || drops.load(Ordering::SeqCst) > 0);
}

#[rstest]
fn a_slow_key_source_does_not_hold_up_the_closing(#[values(Memory, RocksDb)] on: Backend) {
    let mut store = shop::stocked(on, 20);
    let (release, wait) = std::sync::mpsc::channel::<()>();
    let keys = KeySource::keys((0_usize..).map(move |number| {
        if number == 8 {
            let _ = wait.recv();
        }
        vec![Value::from(MAKERS[number % 4])]
    }));
    let mut read =
        store.table("phones").unwrap().bulk_get(keys, &BulkGetOptions::default()).unwrap();
    read.next().unwrap().unwrap();
    drop(read);
    // The source still waits for its ninth key, and the store can be closed and opened all the
    // same.
    store.reopen();
    drop(release);
    assert_eq!(store.table("phones").unwrap().count().unwrap(), 80);
}
