//! What callbacks may do with the store.

use rstest::rstest;
use tonnage::{BulkPutOptions, Row};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::recorder::Recorder;
use crate::common::shop::rows_of;
use crate::common::{all_rows, row};

const TABLES: &str = "CREATE TABLE words (id LONG, text STRING, PRIMARY KEY (id)); \
                      CREATE TABLE twice (id LONG, text STRING, PRIMARY KEY (id)); CREATE INDEX by_text ON twice (text)";

fn word(id: i64, text: &str) -> Row {
    row! { "id" => id, "text" => text }
}

/// The obvious thing to do with a duplicate: to put it into another table.
///
/// The bug's story: the callback was called while the load kept all others out of the shard, and
/// the load in it waited for ever.
#[rstest]
fn a_duplicate_can_be_put_elsewhere_while_it_is_called_back(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(1 << 20, 64 << 20)] memory_bytes_max: usize,
) {
    const ROWS: i64 = 3_000;
    let store = on.with_tables(TABLES);
    let text = "x".repeat(1_000);
    let rows = || rows_of("words", (0..ROWS).map(|id| word(id, &text)).collect::<Vec<_>>());
    let options =
        BulkPutOptions { memory_bytes_max: Some(memory_bytes_max), ..BulkPutOptions::default() };
    store.bulk_put(vec![rows()], &options).unwrap();

    let inner = (*store).clone();
    let put_elsewhere = move |entry: &crate::common::recorder::Existing| {
        if entry.position.is_multiple_of(500) {
            let duplicate = word(entry.position as i64, "twice");
            inner.multi_put([("twice", vec![duplicate])], &BulkPutOptions::default()).unwrap();
        }
        Ok(())
    };
    let recorder = Recorder { on_existing: Some(Box::new(put_elsewhere)), ..Recorder::default() };
    let (recorder, options) = recorder.watch(options);
    let report = store.bulk_put(vec![rows()], &options).unwrap();
    assert_eq!((report.total.existed, recorder.existing().len()), (ROWS as u64, ROWS as usize));
    assert_eq!(
        all_rows(&store, "twice"),
        (0..ROWS).step_by(500).map(|id| word(id, "twice")).collect::<Vec<_>>()
    );
}
