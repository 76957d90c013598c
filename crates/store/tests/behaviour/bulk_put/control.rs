//! Loads that are watched, slowed down, stopped from outside, and kept within their memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rstest::rstest;
use tonnage::{
    BulkPutOptions, Cancel, Clock, EntryBatch, EntryStream, ErrorKind, ManualClock, Payload,
    Progress, Result, Row, row_stream,
};
use tonnage_testkit::alone;

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::rows_of;
use crate::common::{all_rows, assert_error, failure, row};

const GAUGES: &str = "CREATE TABLE gauges (id LONG, level DOUBLE, PRIMARY KEY (id))";

fn gauge(id: i64) -> Row {
    row! { "id" => id, "level" => id as f64 / 2.0 }
}

/// Rows without end, ten to a batch, a millisecond apart; calls before each batch.
struct Endless<F> {
    next: i64,
    before_batch: F,
}

impl<F: FnMut() + Send> EntryStream for Endless<F> {
    fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
        (self.before_batch)();
        std::thread::sleep(Duration::from_millis(1));
        let rows = (self.next..self.next + 10).map(gauge).collect();
        self.next += 10;
        Ok(Some(Payload::Rows { table: "gauges".into(), rows }.into()))
    }
}

#[rstest]
fn a_cancelled_load_stops_and_what_was_read_is_stored(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(GAUGES);
    let cancel = Cancel::new();
    let canceller = cancel.clone();
    let mut batches = 0;
    let before_batch = move || {
        batches += 1;
        if batches == 5 {
            canceller.cancel();
        }
    };
    let options = BulkPutOptions { cancel, ..Default::default() };
    let stopped =
        failure(store.bulk_put(vec![Box::new(Endless { next: 0, before_batch })], &options));
    assert_eq!(stopped.report.total.read, stopped.report.total.inserted);
    assert_eq!(all_rows(&store, "gauges").len() as u64, stopped.report.total.inserted);
    assert!(stopped.report.total.read >= 40);
    assert_error(stopped, ErrorKind::Cancelled, &["cancelled"]);
}

#[rstest]
fn a_load_that_runs_out_of_time_stops_and_what_was_read_is_stored(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables(GAUGES);
    // Time enough for some batches on a busy machine.
    let options = BulkPutOptions { timeout: Some(Duration::from_secs(3)), ..Default::default() };
    let started = Instant::now();
    let stopped =
        failure(store.bulk_put(vec![Box::new(Endless { next: 0, before_batch: || () })], &options));
    assert!(started.elapsed() < Duration::from_secs(60));
    assert_eq!(all_rows(&store, "gauges").len() as u64, stopped.report.total.inserted);
    assert!(stopped.report.total.inserted > 0);
    assert_error(stopped, ErrorKind::TimedOut, &["timeout"]);
}

#[rstest]
fn progress_can_be_watched_while_the_load_runs(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(GAUGES);
    let progress = Progress::default();
    let watched = progress.clone();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = seen.clone();
    let cancel = Cancel::new();
    let canceller = cancel.clone();
    let before_batch = move || {
        let mut noted = noted.lock().unwrap();
        noted.push(watched.total().read);
        if noted.len() == 20 {
            canceller.cancel();
        }
    };
    assert!(progress.report().is_empty());
    let options = BulkPutOptions { progress: Some(progress.clone()), cancel, ..Default::default() };
    let stopped =
        failure(store.bulk_put(vec![Box::new(Endless { next: 0, before_batch })], &options));
    let expected: Vec<u64> = (0..20).map(|batch| batch * 10).collect();
    assert_eq!(*seen.lock().unwrap(), expected);
    assert_eq!(progress.total(), stopped.report.total);
}

#[rstest]
fn the_rate_of_rows_is_held(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(GAUGES);
    let options = BulkPutOptions { rows_per_second_max: Some(2_000), ..Default::default() };
    let batches =
        (0..100).map(|batch| rows_of("gauges", (batch * 10..batch * 10 + 10).map(gauge))).collect();
    let report = store.bulk_put(batches, &options).unwrap();
    assert_eq!(report.total.inserted, 1_000);
    assert!(
        (0.35..20.0).contains(&report.seconds),
        "{} s for half a second's worth of rows",
        report.seconds
    );
}

#[rstest]
fn the_rate_of_bytes_is_held(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(GAUGES);
    let bytes = store
        .bulk_put(vec![rows_of("gauges", (-1_000..0).map(gauge))], &Default::default())
        .unwrap()
        .total
        .bytes;
    let options = BulkPutOptions {
        bytes_per_second_max: Some(2 * bytes),
        request_bytes_max: 4 << 10,
        ..Default::default()
    };
    let report = store.bulk_put(vec![rows_of("gauges", (0..1_000).map(gauge))], &options).unwrap();
    assert!(
        (0.35..20.0).contains(&report.seconds),
        "{} s for half a second's worth of bytes",
        report.seconds
    );
}

#[rstest]
fn a_slow_rate_does_not_outlast_the_timeout_and_stores_what_it_had_time_for(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables(GAUGES);
    let options = BulkPutOptions {
        rows_per_second_max: Some(1_000),
        timeout: Some(Duration::from_secs(4)),
        ..Default::default()
    };
    let started = Instant::now();
    let stopped =
        failure(store.bulk_put(vec![rows_of("gauges", (0..100_000).map(gauge))], &options));
    // At this rate all rows take 100 s.
    let seconds = started.elapsed().as_secs_f64();
    assert!(seconds < 60.0, "{seconds} s");
    let most = ((seconds + 0.5) * 1_000.0) as u64;
    assert!((100..most).contains(&stopped.report.total.inserted), "{:?}", stopped.report.total);
    assert_error(stopped, ErrorKind::TimedOut, &["timeout"]);
}

/// The most memory that this process ever had, as the kernel tells it.
fn peak_memory_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() << 10
}

/// In a process of its own: what other tests take meanwhile is no memory of the load.
#[test]
fn a_load_of_many_times_its_memory_stays_within_it() {
    let test = "bulk_put::control::a_load_of_many_times_its_memory_stays_within_it";
    alone(test, ("TONNAGE_TEST_ALONE", "1"), load_many_times_the_memory);
}

fn load_many_times_the_memory() {
    const ROWS: i64 = 600_000;
    let store = RocksDb.with_tables("CREATE TABLE logs (id LONG, line STRING, PRIMARY KEY (id))");
    let options = BulkPutOptions { memory_bytes_max: Some(8 << 20), ..Default::default() };
    // 300 MB of rows in random order.
    let line = "x".repeat(490);
    let rows = (0..ROWS).map(move |id| {
        Ok(("logs".into(), row! { "id" => (id * 7_919) % ROWS, "line" => line.as_str() }))
    });
    let before = peak_memory_bytes();
    let report = store.bulk_put(vec![row_stream("logs", rows)], &options).unwrap();
    assert_eq!(report.total.inserted, ROWS as u64);
    let grown = peak_memory_bytes() - before;
    assert!(grown < 200 << 20, "the load took {} MiB", grown >> 20);
}

#[rstest]
fn rows_live_as_long_as_their_batch_says_or_else_as_their_table_says(
    #[values(Memory, RocksDb)] on: Backend,
) {
    const DAY_MS: u64 = 86_400_000;
    let clock = Arc::new(ManualClock::new(1_000));
    let store = on.open_with_clock(clock.clone());
    store
        .execute("CREATE TABLE news (id LONG, text STRING, PRIMARY KEY (id)) USING TTL 2 DAYS")
        .unwrap();
    let batch = |id: i64, ttl: Option<Duration>| {
        let payload =
            Payload::Rows { table: "news".into(), rows: vec![row! { "id" => id, "text" => "t" }] };
        EntryBatch { ttl, ..payload.into() }
    };
    struct Batches(Vec<EntryBatch>);
    impl EntryStream for Batches {
        fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
            Ok(self.0.pop())
        }
    }
    let batches = vec![batch(1, Some(Duration::from_millis(DAY_MS))), batch(2, None)];
    store.bulk_put(vec![Box::new(Batches(batches))], &BulkPutOptions::default()).unwrap();

    let ids = || {
        all_rows(&store, "news")
            .iter()
            .map(|row| row.get("id").unwrap().to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(), ["1", "2"]);
    clock.set_ms(1_000 + DAY_MS);
    assert_eq!(ids(), ["2"]);
    clock.set_ms(1_000 + 2 * DAY_MS);
    assert!(ids().is_empty());
    // The key is free again.
    let report = store
        .bulk_put(vec![Box::new(Batches(vec![batch(1, None)]))], &BulkPutOptions::default())
        .unwrap();
    assert_eq!((report.total.inserted, report.total.existed), (1, 0));
}

/// A clock that counts how often it is asked.
#[derive(Debug, Default)]
struct CountingClock(AtomicU64);

impl Clock for CountingClock {
    fn now_ms(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

#[test]
fn the_clock_is_not_asked_for_each_row() {
    let clock = Arc::new(CountingClock::default());
    let store = Memory.open_with_clock(clock.clone());
    store.execute("CREATE TABLE news (id LONG, PRIMARY KEY (id)) USING TTL 2 DAYS").unwrap();
    let before = clock.0.load(Ordering::Relaxed);
    store
        .bulk_put(
            vec![rows_of("news", (0..10_000).map(|id| row! { "id" => id as i64 }))],
            &Default::default(),
        )
        .unwrap();
    assert!(clock.0.load(Ordering::Relaxed) - before < 1_000);
}
