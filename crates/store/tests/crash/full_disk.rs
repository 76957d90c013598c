//! A full disk: an error before the acknowledgement, nothing acknowledged is lost, and the store
//! works again after space is freed. Needs root for a small tmpfs.

use std::time::{Duration, Instant};

use tonnage::{BulkPutOptions, Durability, Error, ErrorKind, Store, WriteOptions, row_stream};
use tonnage_testkit::SmallDisk;

use crate::child::put_single;
use crate::common::builder;
use crate::ledger::{Id, SINGLES, TABLE, assert_found_by_key, track};

/// Of a disk that each test fills.
const DISK_BYTES: u64 = 32 << 20;

fn open(disk: &SmallDisk) -> Store {
    let store = builder(&disk.path().join("store").display().to_string()).open().unwrap();
    store.execute(TABLE).unwrap();
    store
}

/// Tries until it works: an engine that met a full disk needs a short time to notice that there is
/// room again.
fn eventually(mut attempt: impl FnMut() -> Result<(), Error>) {
    let started = Instant::now();
    while let Err(error) = attempt() {
        assert!(error.is_retryable(), "{error:?}");
        assert!(started.elapsed() < Duration::from_secs(30), "still: {error}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn single_writes_on_a_full_disk_fail_before_they_are_acknowledged() {
    let Some(disk) = SmallDisk::mount(DISK_BYTES) else { return };
    let store = open(&disk);
    let ballast = disk.take(16 << 20);
    let options = WriteOptions { durability: Durability::Fsync, ..Default::default() };
    let mut acknowledged: Vec<Id> = Vec::new();
    let error =
        (0..1_000_000).find_map(|at| match put_single(&store, (1, SINGLES, at), &options) {
            Ok(()) => {
                acknowledged.push((1, SINGLES, at));
                None
            }
            Err(error) => Some(error),
        });
    assert_eq!(error.expect("the disk fills up").kind(), ErrorKind::Unavailable);
    assert_found_by_key(&store, acknowledged.iter().copied());

    drop(ballast);
    // Either the open store recovers, or reopening it does.
    drop(store);
    let store = open(&disk);
    assert_found_by_key(&store, acknowledged.iter().copied());
    eventually(|| put_single(&store, (2, SINGLES, 0), &options));
    assert_found_by_key(&store, [(2, SINGLES, 0)]);
    assert!(store.check().unwrap().is_sound());
}

#[test]
fn a_bulk_put_on_a_full_disk_fails_and_works_again_after_space_is_freed() {
    let Some(disk) = SmallDisk::mount(DISK_BYTES) else { return };
    let store = open(&disk);
    let rows = |run: i64, rows: i64| {
        let stream = (0..rows).map(move |at| Ok(("tracks".into(), track((run, 0, at)))));
        let options = BulkPutOptions {
            durability: Durability::Fsync,
            memory_bytes_max: Some(2 << 20),
            ..Default::default()
        };
        store.bulk_put(vec![row_stream(format!("run {run}"), stream)], &options)
    };
    rows(0, 5_000).unwrap();
    let ballast = disk.take(14 << 20);
    let stopped = rows(1, 200_000).expect_err("the disk fills up");
    assert_eq!(stopped.error.kind(), ErrorKind::Unavailable, "{:?}", stopped.error);
    assert!(!stopped.report.streams[0].completed);
    assert_found_by_key(&store, (0..5_000).map(|at| (0, 0, at)));

    drop(ballast);
    eventually(|| rows(2, 5_000).map(drop).map_err(Error::from));
    assert_found_by_key(&store, (0..5_000).map(|at| (2, 0, at)));
    drop(store);
    let store = open(&disk);
    assert_found_by_key(&store, (0..5_000).flat_map(|at| [(0, 0, at), (2, 0, at)]));
    assert!(store.check().unwrap().is_sound());
}
