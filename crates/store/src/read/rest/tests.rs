//! The bug's story: each open scan kept a thread for every worker, and the files that it read, as
//! long as its reader took: 1,000 of them took 504 threads and 2.1 GiB.

use std::time::Instant;

use rstest::rstest;
use tonnage_engine::Direction;

use super::*;
use crate::bulk::get::BulkGet;
use crate::{BulkPutOptions, Row, Store, TableScanOptions};

const ROWS: i64 = 3_000;

fn store(url: &str) -> Store {
    let store = Store::open(url).unwrap();
    store.execute("CREATE TABLE t (g LONG, id LONG, PRIMARY KEY (SHARD(g), id))").unwrap();
    let rows: Vec<Row> = (0..ROWS).map(|id| Row::new().with("g", id % 7).with("id", id)).collect();
    store.multi_put([("t", rows)], &BulkPutOptions::default()).unwrap();
    store
}

fn scan(store: &Store, direction: Direction) -> BulkGet {
    let options = TableScanOptions { direction, batch_rows_max: 50, ..TableScanOptions::default() };
    store.table("t").unwrap().scan(&options).unwrap()
}

fn rest(scan: &BulkGet) {
    let began = Instant::now();
    while scan.threads() > 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "{} threads", scan.threads());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[rstest]
fn a_scan_that_nobody_reads_costs_no_thread_and_goes_on(
    #[values(Direction::Unordered, Direction::Forward, Direction::Reverse)] direction: Direction,
    #[values(false, true)] on_disk: bool,
) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store").display().to_string();
    let store = store(if on_disk { &path } else { "memory:" });
    let whole: Vec<_> = scan(&store, direction).into_rows().map(|row| row.unwrap().row).collect();
    assert_eq!(whole.len(), ROWS as usize);
    let mut resting = scan(&store, direction);
    let mut batches = vec![resting.next().unwrap().unwrap()];
    for pause in 0.. {
        // Read to the end after a few pauses: the last batches find room in the queue.
        if pause < 3 {
            rest(&resting);
        }
        match resting.next() {
            Some(batch) => batches.push(batch.unwrap()),
            None => break,
        }
    }
    let mut rows: Vec<String> = Vec::new();
    for batch in batches {
        let of_batch = (0..batch.rows.num_rows()).map(|row| Row::from_batch(&batch.rows, row));
        rows.extend(of_batch.map(|row| format!("{:?}", row.unwrap())));
    }
    let mut whole: Vec<String> = whole.iter().map(|row| format!("{row:?}")).collect();
    if direction == Direction::Unordered {
        rows.sort();
        whole.sort();
    }
    assert_eq!(rows, whole);
}

/// Whoever drops a scan that rests leaves nothing behind: the store can be opened again.
#[test]
fn a_scan_that_rests_can_be_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store").display().to_string();
    let store = store(&path);
    let mut resting = scan(&store, Direction::Unordered);
    resting.next().unwrap().unwrap();
    rest(&resting);
    drop((resting, store));
    let began = Instant::now();
    while let Err(error) = Store::open(&path) {
        assert!(began.elapsed() < Duration::from_secs(10), "{error}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
