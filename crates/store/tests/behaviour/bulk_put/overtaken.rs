//! Rows that others write while a load is under way.

use std::sync::Arc;

use rstest::rstest;
use tonnage::{
    BulkPutOptions, EntryBatch, EntryStream, OnExisting, Payload, Result, Row, Table, WriteOptions,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{all_rows, row};

const WORDS: &str = "CREATE TABLE words (id LONG, text STRING, PRIMARY KEY (id))";

fn word(text: &str) -> Row {
    row! { "id" => 1_i64, "text" => text }
}

/// What a stream does on each call.
enum Step {
    Yields(&'static str),
    Puts(&'static str),
}

/// A stream that also puts rows by itself.
struct Busy {
    table: Table,
    steps: std::vec::IntoIter<Step>,
}

impl EntryStream for Busy {
    fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
        for step in self.steps.by_ref() {
            match step {
                Step::Puts(text) => drop(self.table.put(&word(text), &WriteOptions::default())?),
                Step::Yields(text) => {
                    let payload =
                        Payload::Rows { table: Arc::from("words"), rows: vec![word(text)] };
                    return Ok(Some(payload.into()));
                }
            }
        }
        Ok(None)
    }
}

/// What is stored in the end, and how many entries were inserted, existed and were overtaken.
fn load(on: Backend, on_existing: OnExisting, steps: Vec<Step>) -> (Vec<Row>, [u64; 3]) {
    let store = on.with_tables(WORDS);
    let stream = Busy { table: store.table("words").unwrap(), steps: steps.into_iter() };
    let options = BulkPutOptions { on_existing, ..BulkPutOptions::default() };
    let total =
        store.bulk_put(vec![Box::new(stream) as Box<dyn EntryStream>], &options).unwrap().total;
    assert_eq!(total.read, total.inserted + total.existed + total.overtaken);
    (all_rows(&store, "words"), [total.inserted, total.existed, total.overtaken])
}

/// The bug's story: everything that was written since the load had begun won over all of its
/// entries. The load ended well, reported its entry as stored, and the older row was there.
#[rstest]
fn an_entry_replaces_a_row_that_was_put_before_it(#[values(Memory, RocksDb)] on: Backend) {
    for (on_existing, counts) in
        [(OnExisting::Replace, [0, 1, 0]), (OnExisting::BlindReplace, [1, 0, 0])]
    {
        let stored = load(on, on_existing, vec![Step::Puts("A"), Step::Yields("B")]);
        assert_eq!(stored, (vec![word("B")], counts), "{on_existing:?}");
    }
}

/// The report does not say inserted of what is not there.
#[rstest]
fn an_entry_that_a_later_put_overtakes_is_counted_apart(#[values(Memory, RocksDb)] on: Backend) {
    for on_existing in [OnExisting::Replace, OnExisting::BlindReplace] {
        let stored = load(on, on_existing, vec![Step::Yields("A"), Step::Puts("B")]);
        assert_eq!(stored, (vec![word("B")], [0, 0, 1]), "{on_existing:?}");
    }
}
