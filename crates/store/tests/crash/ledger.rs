//! The ledger kept outside the killed process: what was attempted, what was acknowledged, and
//! whether a store agrees.
//!
//! All content is a function of its key, so that a torn or invented row can be recognised by
//! itself.

use std::collections::BTreeSet;
use std::path::Path;

use tonnage::{BulkGetOptions, Key, PairGetOptions, Row, Store, TableScanOptions};
use tonnage_testkit::Random;

use crate::common::{builder, row};

pub(crate) const TABLE: &str = "CREATE TABLE IF NOT EXISTS tracks (run LONG, stream LONG, at LONG, body BINARY, sum LONG, PRIMARY KEY (SHARD(run, stream), at));
    CREATE TABLE IF NOT EXISTS tracks.marks (mark LONG, body BINARY, PRIMARY KEY (mark))";

/// The key of a row: the run of the child process, its stream, and its place there.
pub(crate) type Id = (i64, i64, i64);

/// The stream number of rows that were put one by one.
pub(crate) const SINGLES: i64 = -1;

fn body(id: Id) -> Vec<u8> {
    let mut random = Random((id.0 as u64) << 40 ^ (id.1 as u64) << 20 ^ id.2 as u64);
    let len = random.below(400) as usize;
    random.bytes(len)
}

/// A hash of all content under a key.
pub(crate) fn hash(id: Id) -> i64 {
    body(id).iter().fold(id.2, |sum, byte| sum.wrapping_mul(31).wrapping_add(i64::from(*byte)))
}

fn key_row(id: Id) -> Row {
    row! { "run" => id.0, "stream" => id.1, "at" => id.2 }
}

pub(crate) fn track(id: Id) -> Row {
    key_row(id).with("body", body(id)).with("sum", hash(id))
}

pub(crate) fn mark(id: Id) -> Row {
    key_row(id).with("mark", 7_i64).with("body", body(id))
}

pub(crate) fn pair_key(id: Id) -> Key {
    Key::new([id.0.to_string()], [id.1.to_string(), id.2.to_string()])
}

pub(crate) fn pair_value(id: Id) -> Vec<u8> {
    body(id)
}

/// What a child process said before it was killed.
#[derive(Default)]
pub(crate) struct Ledger {
    /// Streams that were begun, with the number of their rows.
    begun: BTreeSet<(i64, i64, i64)>,
    /// Single rows that were begun.
    tried: BTreeSet<Id>,
    /// What must be there.
    acknowledged: BTreeSet<Id>,
}

impl Ledger {
    /// Takes in one line of a child: `begin RUN STREAM ROWS`, `done RUN STREAM ROWS`, `try RUN AT`
    /// or `ack RUN AT HASH`. Other lines, and a last line cut short, are none of them.
    pub(crate) fn note(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        let verb = words.next();
        let numbers: Vec<i64> = words.filter_map(|word| word.parse().ok()).collect();
        match (verb, numbers.as_slice()) {
            (Some("begin"), &[run, stream, rows]) => drop(self.begun.insert((run, stream, rows))),
            (Some("done"), &[run, stream, rows]) => {
                self.acknowledged.extend((0..rows).map(|at| (run, stream, at)))
            }
            (Some("try"), &[run, at]) => drop(self.tried.insert((run, SINGLES, at))),
            (Some("ack"), &[run, at, sum]) => {
                assert_eq!(sum, hash((run, SINGLES, at)), "the child acknowledged another row");
                self.acknowledged.insert((run, SINGLES, at));
            }
            _ => {}
        }
    }

    pub(crate) fn acknowledged(&self) -> usize {
        self.acknowledged.len()
    }

    fn was_attempted(&self, id: &Id) -> bool {
        let (run, stream, at) = *id;
        self.tried.contains(id)
            || self
                .begun
                .range((run, stream, 0)..=(run, stream, i64::MAX))
                .any(|begun| at < begun.2)
    }

    /// Opens the store and compares it with the ledger.
    pub(crate) fn verify(&self, path: &Path) {
        let store = builder(&path.display().to_string()).open().expect("a store reopens by itself");
        let checked = store.check().unwrap();
        assert!(checked.is_sound(), "{:?}", checked.damages);
        // A child may be killed before it has created them.
        store.execute(TABLE).unwrap();
        let tracks = self.verify_rows(&store, "tracks", track);
        let marks = self.verify_rows(&store, "tracks.marks", mark);
        let pairs = self.verify_pairs(&store);
        for id in &self.acknowledged {
            assert!(tracks.contains(id), "the acknowledged row {id:?} is lost");
        }
        // Singles put a row, its child and nothing else in one atomic write, and then a pair.
        for single in tracks.iter().filter(|id| id.1 == SINGLES) {
            assert!(marks.contains(single), "half of the atomic write of {single:?} is there");
        }
        let single_acks = self.acknowledged.iter().filter(|id| id.1 == SINGLES);
        single_acks.for_each(|id| {
            assert!(marks.contains(id) && pairs.contains(id), "part of {id:?} is lost")
        });
        assert_eq!(marks.len(), tracks.iter().filter(|id| id.1 == SINGLES).count());
    }

    /// Reads all rows of a table: each must be whole and have been attempted.
    fn verify_rows(&self, store: &Store, table: &str, whole: impl Fn(Id) -> Row) -> BTreeSet<Id> {
        let mut found = BTreeSet::new();
        for stored in
            store.table(table).unwrap().scan(&TableScanOptions::default()).unwrap().into_rows()
        {
            let stored = stored.unwrap().row;
            let number = |name: &str| {
                if let Some(tonnage::Value::Long(number)) = stored.get(name) {
                    *number
                } else {
                    panic!("{stored:?}")
                }
            };
            let id = (number("run"), number("stream"), number("at"));
            assert_eq!(stored, whole(id), "a torn row");
            assert!(self.was_attempted(&id), "the row {id:?} was never put");
            assert!(found.insert(id), "the row {id:?} came twice");
        }
        found
    }

    fn verify_pairs(&self, store: &Store) -> BTreeSet<Id> {
        let mut found = BTreeSet::new();
        for batch in store.kv().scan(&PairGetOptions::default()).unwrap() {
            let batch = batch.unwrap();
            for index in 0..batch.len() {
                let key = batch.key(index).unwrap();
                let number =
                    |part: &[u8]| std::str::from_utf8(part).unwrap().parse::<i64>().unwrap();
                let id =
                    (number(&key.major()[0]), number(&key.minor()[0]), number(&key.minor()[1]));
                assert_eq!(batch.value(index), pair_value(id), "a torn pair");
                assert!(self.was_attempted(&id), "the pair {id:?} was never put");
                found.insert(id);
            }
        }
        found
    }
}

/// That each acknowledged row can also be got by its key.
pub(crate) fn assert_found_by_key(store: &Store, ids: impl IntoIterator<Item = Id>) {
    let ids: Vec<Id> = ids.into_iter().collect();
    let keys = tonnage::KeySource::keys(ids.iter().map(|id| key_row(*id)).collect::<Vec<_>>());
    let options = BulkGetOptions { direction: tonnage::Direction::Forward, ..Default::default() };
    let found = store.table("tracks").unwrap().bulk_get(keys, &options).unwrap().into_rows();
    let found: Vec<Row> = found.map(|row| row.unwrap().row).collect();
    assert_eq!(found, ids.iter().map(|id| track(*id)).collect::<Vec<_>>());
}
