//! The bug's story: each open scan kept a thread for every worker, and the files that it read, as
//! long as its reader took: 1,000 of them took 504 threads and 2.1 GiB.

use rstest::rstest;
use tonnage_engine::Direction;
use tonnage_testkit::wait_until;

use crate::bulk::get::BulkGet;
use crate::bulk::get::TableScanOptions;
use crate::bulk::put::BulkPutOptions;
use crate::row::Row;
use crate::store::Store;

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
    wait_until("it has no threads", || scan.threads() == 0);
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

/// A paused scan leaves nothing after its drop: the store can be opened again.
#[test]
fn a_scan_that_rests_can_be_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store").display().to_string();
    let store = store(&path);
    let mut resting = scan(&store, Direction::Unordered);
    resting.next().unwrap().unwrap();
    rest(&resting);
    drop((resting, store));
    wait_until("the store can be opened", || Store::open(&path).is_ok());
}

/// 1,000 scans of which one batch each was taken held 11 GB: each had read six more.
#[rstest]
fn a_scan_reads_nothing_ahead_before_the_second_batch_is_asked_for(
    #[values(Direction::Unordered, Direction::Forward, Direction::Reverse)] direction: Direction,
) {
    let store = store("memory:");
    let mut resting = scan(&store, direction);
    let first = resting.next().unwrap().unwrap();
    rest(&resting);
    assert_eq!(store.bytes_ahead(), 0);
    let second = resting.next().unwrap().unwrap();
    rest(&resting);
    assert!(store.bytes_ahead() > 0, "now it reads ahead");
    let given = first.rows.num_rows() + second.rows.num_rows();
    let left = resting.map(|batch| batch.unwrap().rows.num_rows()).sum::<usize>();
    assert_eq!(given + left, ROWS as usize);
    assert_eq!(store.bytes_ahead(), 0);
}

/// However many scans are open and rest, what they hold is bounded, and nothing of it is lost.
#[test]
fn open_scans_share_a_bound_of_bytes() {
    const SCANS: usize = 20;
    const WIDE_ROWS: usize = 30_000;
    let bound = 2 << 20;
    let store = Store::builder("memory:").read_ahead_bytes(bound).open().unwrap();
    store.execute("CREATE TABLE wide (id LONG, v STRING, PRIMARY KEY (id))").unwrap();
    let value = "v".repeat(200);
    let row = |id| Row::new().with("id", id as i64).with("v", value.as_str());
    let rows: Vec<Row> = (0..WIDE_ROWS).map(row).collect();
    store.multi_put([("wide", rows)], &BulkPutOptions::default()).unwrap();
    let options =
        TableScanOptions { max_concurrent_requests: Some(2), ..TableScanOptions::default() };
    let mut scans: Vec<(BulkGet, usize)> = Vec::new();
    for _ in 0..SCANS {
        let mut scan = store.table("wide").unwrap().scan(&options).unwrap();
        let taken = (0..4).map(|_| scan.next().unwrap().unwrap().rows.num_rows()).sum();
        scans.push((scan, taken));
    }
    scans.iter().for_each(|(scan, _)| rest(scan));
    // Four that wait in a queue and one for each worker, of 128 KiB and what they take in Arrow.
    let small = 6 * (192 << 10);
    let ahead = store.bytes_ahead();
    assert!(ahead > bound / 2 && ahead < bound + SCANS * small, "{ahead} bytes");
    for (scan, taken) in scans {
        let left = scan.map(|batch| batch.unwrap().rows.num_rows()).sum::<usize>();
        assert_eq!(taken + left, WIDE_ROWS);
    }
    assert_eq!(store.bytes_ahead(), 0);
}
