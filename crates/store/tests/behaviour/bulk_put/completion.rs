//! When streams end and are reported complete.

use std::sync::{Arc, Mutex};

use rstest::rstest;
use tonnage::{
    BulkPutOptions, Durability, EntryBatch, EntryStream, ErrorKind, Payload, Result, Row,
    record_batch_stream,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::recorder::Recorder;
use crate::common::shop::rows_of;
use crate::common::{all_rows, assert_error, failure, row};

const SHIPS: &str = "CREATE TABLE ships (id LONG, cargo STRING, PRIMARY KEY (id))";

fn ship(id: i64) -> Row {
    row! { "id" => id, "cargo" => format!("cargo of {id}") }
}

#[rstest]
fn a_load_without_streams_is_refused(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    assert_error(
        failure(store.bulk_put(Vec::new(), &BulkPutOptions::default())),
        ErrorKind::Invalid,
        &["at least one stream"],
    );
}

#[rstest]
fn an_empty_stream_completes_with_nothing(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(SHIPS);
    let (recorder, options) = Recorder::default().watch(BulkPutOptions::default());
    let report =
        store.bulk_put(vec![rows_of("ships", []), rows_of("ships", [ship(1)])], &options).unwrap();

    assert_eq!(report.streams[0].counts.read, 0);
    assert!(report.streams.iter().all(|stream| stream.completed));
    assert_eq!(recorder.completed().iter().map(|stream| stream.stream).collect::<Vec<_>>(), [0, 1]);
}

/// Says that it is over, but would give more if asked again.
struct Resumes(u32);

impl EntryStream for Resumes {
    fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
        self.0 += 1;
        let rows = vec![ship(self.0.into())];
        Ok((self.0 != 2).then(|| Payload::Rows { table: "ships".into(), rows }.into()))
    }
}

#[rstest]
fn what_follows_the_end_of_a_stream_is_not_read(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(SHIPS);
    store.bulk_put(vec![Box::new(Resumes(0))], &BulkPutOptions::default()).unwrap();
    assert_eq!(all_rows(&store, "ships"), [ship(1)]);
}

#[rstest]
fn streams_read_one_after_another_complete_when_their_entries_are_stored_and_readable(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(Durability::Write, Durability::Fsync)] durability: Durability,
) {
    let store = on.with_tables(SHIPS);
    let table = store.table("ships").unwrap();
    let sizes = [10_i64, 3_000, 200];
    let unreadable = Arc::new(Mutex::new(Vec::new()));
    let noted = unreadable.clone();
    let on_completed = move |stream: &tonnage::StreamReport| {
        for id in 0..sizes[stream.stream] {
            let id = id + 10_000 * stream.stream as i64;
            if table.get(&row! { "id" => id })?.is_none() {
                noted.lock().unwrap().push(id);
            }
        }
        Ok(())
    };
    let recorder = Recorder { on_completed: Some(Box::new(on_completed)), ..Default::default() };
    let (recorder, options) = recorder.watch(BulkPutOptions {
        stream_parallelism: Some(1),
        durability,
        ..Default::default()
    });
    let stream = |(number, size): (usize, &i64)| {
        rows_of("ships", (0..*size).map(move |id| ship(id + 10_000 * number as i64)))
    };
    store.bulk_put(sizes.iter().enumerate().map(stream).collect(), &options).unwrap();

    assert_eq!(*unreadable.lock().unwrap(), Vec::<i64>::new());
    let completed: Vec<_> =
        recorder.completed().iter().map(|stream| (stream.stream, stream.counts.inserted)).collect();
    assert_eq!(completed, [(0, 10), (1, 3_000), (2, 200)]);
}

/// Batches of a stream that asks, from its tenth batch on, whether another stream is complete by
/// now.
struct Watching {
    batches: u32,
    watched: Arc<Recorder>,
    seen: Arc<Mutex<bool>>,
}

impl EntryStream for Watching {
    fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
        self.batches += 1;
        *self.seen.lock().unwrap() |=
            self.watched.completed().iter().any(|stream| stream.stream == 0);
        let first = i64::from(self.batches) * 1_000;
        let rows = (first..first + 1_000)
            .map(|id| row! { "id" => id, "cargo" => "x".repeat(1_000) })
            .collect();
        Ok((self.batches <= 10).then(|| Payload::Rows { table: "ships".into(), rows }.into()))
    }
}

#[rstest]
fn a_small_flush_limit_completes_ended_streams_while_others_still_run(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables(SHIPS);
    let (recorder, options) = Recorder::default().watch(BulkPutOptions {
        stream_parallelism: Some(1),
        flush_bytes_max: 1 << 20,
        ..Default::default()
    });
    let seen = Arc::new(Mutex::new(false));
    let watching = Watching { batches: 0, watched: recorder, seen: seen.clone() };
    store.bulk_put(vec![rows_of("ships", [ship(1)]), Box::new(watching)], &options).unwrap();
    assert!(*seen.lock().unwrap());
}

#[rstest]
fn a_row_of_two_mebibytes_passes_among_small_ones(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(SHIPS);
    let large = row! { "id" => 1_i64, "cargo" => "x".repeat(2 << 20) };
    let options = BulkPutOptions {
        memory_bytes_max: Some(1 << 20),
        request_bytes_max: 4 << 10,
        ..Default::default()
    };
    store.bulk_put(vec![rows_of("ships", [ship(0), large.clone(), ship(2)])], &options).unwrap();
    assert_eq!(all_rows(&store, "ships"), [ship(0), large, ship(2)]);
}

#[rstest]
fn what_completed_is_there_after_reopening(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(Durability::None, Durability::Write, Durability::Fsync)] durability: Durability,
    #[values(10, 30_000)] ships: i64,
) {
    let mut store = on.with_tables(SHIPS);
    let options = BulkPutOptions { durability, ..Default::default() };
    store.bulk_put(vec![rows_of("ships", (0..ships).map(ship))], &options).unwrap();
    store.sync().unwrap();
    store.reopen();
    assert_eq!(store.table("ships").unwrap().count().unwrap(), ships as u64);
    assert!(store.check().unwrap().is_sound());
}

#[rstest]
fn a_stream_of_record_batches_is_read_to_its_end(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(SHIPS);
    store.bulk_put(vec![rows_of("ships", (0..100).map(ship))], &BulkPutOptions::default()).unwrap();
    let batches = store.table("ships").unwrap().scan(&Default::default()).unwrap();
    let batches: Vec<_> = batches.map(|batch| batch.map(|batch| batch.rows)).collect();
    store.execute("CREATE TABLE copies (id LONG, cargo STRING, PRIMARY KEY (id))").unwrap();
    store
        .bulk_put(vec![record_batch_stream("copy", "copies", batches)], &BulkPutOptions::default())
        .unwrap();
    assert_eq!(all_rows(&store, "copies"), all_rows(&store, "ships"));
}
