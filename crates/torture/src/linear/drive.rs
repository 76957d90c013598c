//! One round: small writes and reads on few rows, beside bulk puts, DDL and the making of an index.

use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use tonnage::internal::sync::into_inner;
use tonnage::{BulkPutOptions, OnExisting, Result, Row, row_stream};

use super::client::HistoryClient;
use super::history::{HistoryEvent, HistoryOperation, KEYS, LoadMode};
use super::round::{OBJECTS, ObjectHistory, Round, write_of};
use crate::random::SeededRandom;

const CLIENTS: u64 = 8;
const OPERATIONS: u64 = 40;
const LOADERS: u64 = 2;

pub(super) const TABLE: &str = "\
    CREATE TABLE r (s LONG, k LONG, w LONG, pad STRING, PRIMARY KEY (SHARD(s), k)); \
    CREATE INDEX by_w ON r (w)";

impl Round<'_> {
    /// Plays the round; gives the objects with their histories, and the number of loads.
    pub(super) fn play(self) -> Result<(Vec<ObjectHistory>, u64)> {
        let round = &self;
        std::thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|n| {
                    scope.spawn(move || {
                        HistoryClient::new(round, n).and_then(|client| client.run(OPERATIONS))
                    })
                })
                .collect();
            let mut others: Vec<_> =
                (0..LOADERS).map(|n| scope.spawn(move || round.load(n))).collect();
            others.push(scope.spawn(|| round.run_ddl()));
            let ends: Vec<_> = clients.into_iter().map(|client| client.join()).collect();
            round.stop.store(true, SeqCst);
            let others = others.into_iter().map(|other| other.join());
            ends.into_iter().chain(others).try_for_each(|end| {
                end.unwrap_or_else(|_| Err(tonnage::Error::internal("a thread panicked")))
            })
        })?;
        self.read_final_rows()?;
        let objects = self.objects.into_iter().map(into_inner);
        Ok((objects.collect(), self.loads.into_inner()))
    }

    /// Loads of some rows of all objects; some are large enough to come in by files.
    fn load(&self, loader: u64) -> Result<()> {
        let mut random = SeededRandom::new(self.seed ^ 0xb0 ^ loader << 40);
        while !self.stop.load(SeqCst) {
            let mode = *random.choose(&[LoadMode::Keep, LoadMode::Replace, LoadMode::Overwrite]);
            let (mut rows, mut entries) = (Vec::new(), Vec::new());
            for (object, key) in
                (0..OBJECTS).flat_map(|object| (0..KEYS).map(move |key| (object, key)))
            {
                // Half of the entries are left out, so that loads and small writes meet at some
                // rows only.
                if random.chance(50) {
                    let write = self.write();
                    rows.push(self.row(object, key, write));
                    entries.push((object, HistoryOperation::Load { key, write, mode }));
                }
            }
            if random.chance(50) {
                rows.extend(filling(-1 - random.below(1 << 30) as i64));
            }
            let options = BulkPutOptions {
                on_existing: match mode {
                    LoadMode::Keep => OnExisting::Keep,
                    LoadMode::Replace => OnExisting::Replace,
                    LoadMode::Overwrite => OnExisting::BlindReplace,
                },
                memory_bytes_max: Some(1 << 20),
                ..BulkPutOptions::default()
            };
            // Right around the call: a wider span would let more orders explain a wrong answer.
            let call = self.tick();
            let rows = rows.into_iter().map(|row| Ok(("r".into(), row)));
            let done = self.store.bulk_put(vec![row_stream("load", rows)], &options);
            done.map_err(|error| error.error)?;
            let end = self.tick();
            for (object, operation) in entries {
                let thread = 100 + loader as usize;
                self.note(object, HistoryEvent { call, end, thread, operation });
            }
            self.loads.fetch_add(1, SeqCst);
            std::thread::sleep(Duration::from_millis(random.below(10)));
        }
        Ok(())
    }

    /// An index and a table that come and go.
    fn run_ddl(&self) -> Result<()> {
        while !self.stop.load(SeqCst) {
            self.store.execute("CREATE INDEX flicker ON r (pad, w)")?;
            self.store.execute("CREATE TABLE other (a LONG, PRIMARY KEY (a))")?;
            self.store.execute("ALTER TABLE other (ADD x INTEGER)")?;
            self.store.execute("DROP INDEX flicker ON r; DROP TABLE other")?;
        }
        Ok(())
    }

    /// What is there when all is over.
    fn read_final_rows(&self) -> Result<()> {
        let table = self.store.table("r")?;
        for object in 0..OBJECTS {
            for key in 0..KEYS {
                let call = self.tick();
                let found = table.get(&self.key(object, key))?;
                let write = found.map_or(0, |found| write_of(&found.row));
                let operation = HistoryOperation::Get { key, write };
                self.note(object, HistoryEvent { call, end: self.tick(), thread: 200, operation });
            }
        }
        Ok(())
    }
}

/// Rows of no object, enough to make a load spill.
fn filling(shard: i64) -> impl Iterator<Item = Row> {
    (0..2_500_i64).map(move |key| {
        let row = Row::new().with("s", shard).with("k", key);
        row.with("w", -1 - key).with("pad", "f".repeat(600))
    })
}
