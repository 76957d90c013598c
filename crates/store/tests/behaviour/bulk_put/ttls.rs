//! How long each entry of a batch lives.

use std::sync::Arc;
use std::time::Duration;

use rstest::rstest;
use tonnage::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use tonnage::{
    BulkPutOptions, EntryBatch, EntryStream, ErrorKind, Key, ManualClock, OnExisting, Pairs,
    Payload, Result, Row, row_stream_with_ttls,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, assert_error, failure, row};

const NOW_MS: u64 = 1_000;
const DAY: Duration = Duration::from_secs(86_400);
const DAY_MS: u64 = 86_400_000;
const NEVER: Duration = Duration::ZERO;

fn store(on: Backend) -> TestStore {
    let store = on.open_with_clock(Arc::new(ManualClock::new(NOW_MS)));
    store
        .execute(
            "CREATE TABLE t (k LONG, size INTEGER, PRIMARY KEY (k)) USING TTL 2 DAYS;
             CREATE INDEX sizes ON t (size)",
        )
        .unwrap();
    store
}

struct Batches(std::vec::IntoIter<EntryBatch>);

impl EntryStream for Batches {
    fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
        Ok(self.0.next())
    }
}

fn stream(batch: EntryBatch) -> Vec<Box<dyn EntryStream>> {
    vec![Box::new(Batches(vec![batch].into_iter()))]
}

fn batch(rows: Vec<Row>) -> EntryBatch {
    Payload::Rows { table: "t".into(), rows }.into()
}

/// When a row expires, in days from now; 0 for never.
fn days_of(store: &TestStore, k: i64) -> Option<u64> {
    let row = store.table("t").unwrap().get(&row! { "k" => k }).unwrap()?;
    Some(row.expires_at_ms.saturating_sub(NOW_MS) / DAY_MS)
}

fn days(store: &TestStore, keys: std::ops::Range<i64>) -> Vec<Option<u64>> {
    keys.map(|k| days_of(store, k)).collect()
}

#[rstest]
fn each_row_of_a_batch_has_a_time_to_live_of_its_own(#[values(Memory, RocksDb)] on: Backend) {
    let store = store(on);
    let rows = batch((0..4).map(|k| row! { "k" => k, "size" => 1 }).collect());
    let batch = rows.with_ttls([Some(DAY), None, Some(NEVER), Some(9 * DAY)]);
    store.bulk_put(stream(batch), &BulkPutOptions::default()).unwrap();
    assert_eq!(days(&store, 0..4), [Some(1), Some(2), Some(0), Some(9)]);
}

#[rstest]
fn each_row_of_a_record_batch_has_a_time_to_live_of_its_own(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(4, 700)] request_bytes_max: usize,
) {
    let store = store(on);
    let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1_000));
    let rows = RecordBatch::try_from_iter([("k", keys)]).unwrap();
    let ttls = (0..1_000_u32).map(|k| (k % 7 != 3).then_some((k % 7) * DAY));
    let options =
        BulkPutOptions { request_bytes_max: request_bytes_max << 10, ..BulkPutOptions::default() };
    store.bulk_put(stream(EntryBatch::rows("t", rows).with_ttls(ttls)), &options).unwrap();
    let expected = |k: u64| Some(if k % 7 == 3 { 2 } else { k % 7 });
    assert_eq!(days(&store, 0..1_000), (0..1_000).map(expected).collect::<Vec<_>>());
}

#[rstest]
fn entries_that_are_refused_leave_the_lives_of_the_others_alone(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(false, true)] by_column: bool,
) {
    let store = store(on);
    let sizes = ["1", "large", "3", "9999999999", "5"];
    let batch = if by_column {
        let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(0..5));
        let sizes: ArrayRef = Arc::new(StringArray::from_iter_values(sizes));
        EntryBatch::rows("t", RecordBatch::try_from_iter([("k", keys), ("size", sizes)]).unwrap())
    } else {
        batch((0..5).zip(sizes).map(|(k, size)| row! { "k" => k, "size" => size }).collect())
    };
    let batch = batch.with_ttls((3..8).map(|days| Some(days * DAY)));
    let report = store.bulk_put(stream(batch), &BulkPutOptions::default()).unwrap();
    assert_eq!((report.total.inserted, report.total.failed), (3, 2));
    assert_eq!(days(&store, 0..5), [Some(3), None, Some(5), None, Some(7)]);
}

#[rstest]
fn an_entry_without_a_time_to_live_lives_as_its_batch_says(#[values(Memory, RocksDb)] on: Backend) {
    let store = store(on);
    let rows = batch(vec![row! { "k" => 0_i64 }, row! { "k" => 1_i64 }]);
    let batch = EntryBatch { ttl: Some(5 * DAY), ..rows.with_ttls([None, Some(DAY)]) };
    store.bulk_put(stream(batch), &BulkPutOptions::default()).unwrap();
    assert_eq!(days(&store, 0..2), [Some(5), Some(1)]);
}

#[rstest]
fn each_pair_of_a_batch_has_a_time_to_live_of_its_own(#[values(Memory, RocksDb)] on: Backend) {
    let store = store(on);
    let keys: Vec<Key> = (0..4).map(|n| format!("/a/-/{n}").parse().unwrap()).collect();
    let mut pairs = Pairs::new();
    keys.iter().for_each(|key| pairs.push(key, b"v").unwrap());
    let batch = EntryBatch::pairs(pairs).with_ttls([None, Some(DAY), Some(NEVER), Some(3 * DAY)]);
    store.bulk_put(stream(batch), &BulkPutOptions::default()).unwrap();
    let expiry = |key| store.kv().get(key).unwrap().unwrap().expires_at_ms;
    let expiries: Vec<_> = keys.iter().map(expiry).collect();
    assert_eq!(expiries, [0, NOW_MS + DAY_MS, 0, NOW_MS + 3 * DAY_MS]);
}

#[rstest]
fn of_equal_keys_the_one_that_is_stored_brings_its_time_to_live(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(OnExisting::Replace, OnExisting::Keep)] on_existing: OnExisting,
) {
    let store = store(on);
    let rows = batch((0..3).map(|size| row! { "k" => 0_i64, "size" => size }).collect());
    let batch = rows.with_ttls([Some(DAY), Some(NEVER), Some(3 * DAY)]);
    let options = BulkPutOptions { on_existing, ..BulkPutOptions::default() };
    store.bulk_put(stream(batch), &options).unwrap();
    let stored = if on_existing == OnExisting::Keep { 1 } else { 3 };
    assert_eq!(days_of(&store, 0), Some(stored));
}

#[rstest]
fn a_row_stream_tells_the_time_to_live_of_each_row(#[values(Memory, RocksDb)] on: Backend) {
    let store = store(on);
    store.execute("CREATE TABLE u (k LONG, PRIMARY KEY (k))").unwrap();
    let put = |table: &str, k: i64, ttl| Ok((table.into(), row! { "k" => k }, ttl));
    let rows = [
        put("t", 0, Some(DAY)),
        put("u", 0, Some(4 * DAY)),
        put("t", 1, None),
        put("t", 2, Some(NEVER)),
    ];
    let stream = row_stream_with_ttls("rows", rows);
    store.bulk_put(vec![stream], &BulkPutOptions::default()).unwrap();
    assert_eq!(days(&store, 0..3), [Some(1), Some(2), Some(0)]);
    let other = store.table("u").unwrap().get(&row! { "k" => 0_i64 }).unwrap().unwrap();
    assert_eq!(other.expires_at_ms, NOW_MS + 4 * DAY_MS);
}

#[rstest]
fn as_many_times_to_live_as_entries_are_wanted(#[values(Memory, RocksDb)] on: Backend) {
    let store = store(on);
    let batch = batch(vec![row! { "k" => 0_i64 }]).with_ttls([Some(DAY), None]);
    let stopped = failure(store.bulk_put(stream(batch), &BulkPutOptions::default()));
    assert_error(stopped.error, ErrorKind::Invalid, &["1 entries", "2 times to live"]);
    assert_eq!(days_of(&store, 0), None);
}
