//! However large rows are, a batch keeps to its bytes.
//!
//! The first 32 keys of a task used to be read together whatever their size, and what they gave set
//! how many came next: a hundred keys without rows, then large ones, were a batch of gigabytes,
//! which the decoder called damage.

use rstest::rstest;
use tonnage::arrow::array::{Array, AsArray, RecordBatch};
use tonnage::{
    BulkGetOptions, Direction, IndexRange, IndexScanOptions, KeySource, PairGetOptions, Row,
    TableScanOptions, Value,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, row};

const BATCH_BYTES: usize = 1 << 20;
const BODY: usize = 300_000;
const DOCUMENTS: i64 = 20;
/// What a batch of a scan, or of pairs, holds.
const SCAN_BATCH_BYTES: usize = 4 << 20;
/// Keys without rows come first, so that the size of the rows is a surprise.
const MISSING: i64 = 100;

fn document(id: i64) -> Row {
    row! { "id" => id, "kind" => 7, "body" => vec![id as u8; BODY] }
}

fn documents(on: Backend) -> TestStore {
    let store = on.with_tables(
        "CREATE TABLE documents (id LONG, kind INTEGER, body BINARY, PRIMARY KEY (id));
         CREATE TABLE documents.words (word LONG, PRIMARY KEY (word));
         CREATE INDEX by_kind ON documents (kind)",
    );
    let table = store.table("documents").unwrap();
    let words = store.table("documents.words").unwrap();
    for id in 0..DOCUMENTS {
        table.put(&document(id), &Default::default()).unwrap();
        words.put(&row! { "id" => id, "word" => 1_i64 }, &Default::default()).unwrap();
    }
    store
}

fn small_batches(direction: Direction) -> BulkGetOptions {
    BulkGetOptions { batch_bytes_max: BATCH_BYTES, direction, ..Default::default() }
}

fn keys() -> KeySource {
    KeySource::keys((-MISSING..DOCUMENTS).map(|id| vec![Value::from(id)]).collect::<Vec<_>>())
}

/// The bytes of a batch, and its rows.
fn weigh(batch: &RecordBatch) -> (usize, usize) {
    let body = batch.column_by_name("body").unwrap().as_binary::<i32>();
    (body.values().len(), body.len())
}

#[track_caller]
fn assert_bounded(bytes_max: usize, batches: impl Iterator<Item = RecordBatch>) {
    let mut rows = 0;
    for batch in batches {
        let (bytes, here) = weigh(&batch);
        assert!(bytes <= bytes_max, "a batch of {bytes} bytes");
        rows += here;
    }
    assert_eq!(rows, DOCUMENTS as usize);
}

#[rstest]
fn batches_of_whole_keys_keep_to_their_bytes(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(Direction::Unordered, Direction::Forward)] direction: Direction,
) {
    let store = documents(on);
    let get =
        store.table("documents").unwrap().bulk_get(keys(), &small_batches(direction)).unwrap();
    assert_bounded(BATCH_BYTES, get.map(|batch| batch.unwrap().rows));
}

#[rstest]
fn batches_of_a_multi_get_keep_to_their_bytes(#[values(Memory, RocksDb)] on: Backend) {
    let store = documents(on);
    let get =
        store.multi_get([("documents", keys())], &small_batches(Direction::Unordered)).unwrap();
    assert_bounded(BATCH_BYTES, get.map(|(_, batch)| batch.unwrap().rows));
}

#[rstest]
fn batches_of_an_index_scan_keep_to_their_bytes(#[values(Memory, RocksDb)] on: Backend) {
    let store = documents(on);
    let options = IndexScanOptions { batch_bytes_max: BATCH_BYTES, ..Default::default() };
    let index = store.table("documents").unwrap().index("by_kind").unwrap();
    assert_bounded(
        BATCH_BYTES,
        index.scan(&IndexRange::prefix([7]), &options).unwrap().map(|batch| batch.unwrap().rows),
    );
}

#[rstest]
fn large_parents_of_small_rows_come_in_batches_that_keep_to_their_bytes(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(Direction::Unordered, Direction::Forward)] direction: Direction,
) {
    let store = documents(on);
    let options =
        TableScanOptions { relatives: vec!["documents".into()], direction, ..Default::default() };
    let words = store.table("documents.words").unwrap();
    let batches = words.scan(&options).unwrap().map(|batch| batch.unwrap());
    assert_bounded(
        SCAN_BATCH_BYTES,
        batches.filter(|batch| &*batch.table == "documents").map(|batch| batch.rows),
    );
    let rows: Vec<_> = words.scan(&options).unwrap().into_rows().map(|row| row.unwrap()).collect();
    assert_eq!(rows.len(), 2 * DOCUMENTS as usize);
    for pair in rows.chunks(2) {
        assert_eq!((&*pair[0].table, &*pair[1].table), ("documents", "documents.words"));
        assert_eq!(pair[0].row.get("id"), pair[1].row.get("id"));
    }
}

#[rstest]
fn batches_of_large_pairs_keep_to_their_bytes(#[values(Memory, RocksDb)] on: Backend) {
    const PAIRS: i64 = 40;
    let store = on.open();
    let key = |id: i64| tonnage::Key::of_major([format!("{id}")]);
    for id in 0..PAIRS {
        store.kv().put(&key(id), &vec![0; BODY], &Default::default()).unwrap();
    }
    let keys: Vec<_> = (-MISSING..PAIRS).map(key).collect();
    let mut pairs = 0;
    for batch in store.kv().bulk_get(keys, &PairGetOptions::default()).unwrap() {
        let batch = batch.unwrap();
        assert!(batch.bytes() <= SCAN_BATCH_BYTES, "a batch of {} bytes", batch.bytes());
        pairs += batch.len();
    }
    assert_eq!(pairs, PAIRS as usize);
}

/// A batch of small rows from before the column came was decoded with the default for each of them.
#[rstest]
fn batches_keep_to_their_bytes_with_long_defaults_too(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables("CREATE TABLE old (id LONG, PRIMARY KEY (id))");
    for id in 0..50_i64 {
        store.table("old").unwrap().put(&row! { "id" => id }, &Default::default()).unwrap();
    }
    store
        .execute(&format!(
            "ALTER TABLE old ADD COLUMN note STRING DEFAULT '{}'",
            "n".repeat(100_000)
        ))
        .unwrap();
    let options = TableScanOptions::default();
    let mut rows = 0;
    for batch in store.table("old").unwrap().scan(&options).unwrap() {
        let batch = batch.unwrap().rows;
        let note = batch.column_by_name("note").unwrap().as_string::<i32>();
        assert!(note.values().len() <= SCAN_BATCH_BYTES, "{} bytes", note.values().len());
        rows += batch.num_rows();
    }
    assert_eq!(rows, 50);
}
