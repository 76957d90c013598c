//! Levels of writes and reads reach the engine: those of the call, otherwise those of the store.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tonnage::{
    Acks, BulkGetOptions, BulkPutOptions, Clock, Condition, Consistency, Deadline, Durability,
    GetOptions, KeySource, Result, Row, Store, TableScanOptions, WriteOptions,
};
use tonnage_engine::{
    Capability, Cuts, Engine, KeyShape, Levels, LoadOptions, LoadSession, MemoryEngine, Part,
    Ranges, ReadOptions, Rows, ScanOptions, Scanner, ShardId, Slices, SpaceId, SpaceInfo,
    Statistics, VerifyReport, WriteBatch, WriteOutcome,
};

use crate::common::row;

/// What was asked of an engine, and at which levels.
type Notes = Vec<(&'static str, Levels)>;

/// The notes of each URL.
static NOTED: Mutex<Option<HashMap<String, Notes>>> = Mutex::new(None);

/// An engine that notes at which levels it is asked to write and read.
struct Noting {
    engine: Arc<MemoryEngine>,
    url: String,
    levels: Levels,
}

impl Noting {
    fn note(&self, what: &'static str) {
        let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
        let noted = noted.get_or_insert_default().entry(self.url.clone()).or_default();
        noted.push((what, self.levels));
    }
}

impl Engine for Noting {
    fn at(&self, levels: Levels) -> Option<Arc<dyn Engine>> {
        let (engine, url) = (self.engine.clone(), self.url.clone());
        Some(Arc::new(Self { engine, url, levels }))
    }

    fn capability(&self) -> &Capability {
        self.engine.capability()
    }

    fn create_space_by(&self, name: &str, shape: &KeyShape, deadline: Deadline) -> Result<SpaceId> {
        self.engine.create_space_by(name, shape, deadline)
    }

    fn spaces(&self) -> Result<Vec<SpaceInfo>> {
        self.engine.spaces()
    }

    fn drop_space_by(&self, space: SpaceId, deadline: Deadline) -> Result<()> {
        self.engine.drop_space_by(space, deadline)
    }

    fn shard_of(&self, shard_key: &[u8]) -> ShardId {
        self.engine.shard_of(shard_key)
    }

    fn read_some(
        &self,
        space: SpaceId,
        keys: &Slices,
        options: &ReadOptions,
        rows: &mut Rows,
    ) -> Result<usize> {
        self.note("read");
        self.engine.read_some(space, keys, options, rows)
    }

    fn scan(
        &self,
        space: SpaceId,
        ranges: Ranges,
        options: ScanOptions,
    ) -> Result<Box<dyn Scanner>> {
        self.note("scan");
        self.engine.scan(space, ranges, options)
    }

    fn split(&self, space: SpaceId, parts: usize, cuts: Cuts) -> Result<Vec<Part>> {
        self.engine.split(space, parts, cuts)
    }

    fn scan_part(
        &self,
        space: SpaceId,
        part: &Part,
        options: ScanOptions,
    ) -> Result<Box<dyn Scanner>> {
        self.note("scan");
        self.engine.scan_part(space, part, options)
    }

    fn rows_estimate(&self, space: SpaceId, ranges: &Ranges) -> Result<u64> {
        self.engine.rows_estimate(space, ranges)
    }

    fn write_by(
        &self,
        batch: &WriteBatch,
        durability: Durability,
        deadline: Deadline,
    ) -> Result<WriteOutcome> {
        self.note("write");
        self.engine.write_by(batch, durability, deadline)
    }

    fn load(&self, options: LoadOptions) -> Result<Box<dyn LoadSession>> {
        self.note("load");
        self.engine.load(options)
    }

    fn delete_range_by(
        &self,
        space: SpaceId,
        ranges: &Ranges,
        durability: Durability,
        deadline: Deadline,
    ) -> Result<()> {
        self.engine.delete_range_by(space, ranges, durability, deadline)
    }

    fn sync(&self) -> Result<()> {
        self.engine.sync()
    }

    fn settle_by(&self, deadline: Deadline) -> Result<()> {
        self.engine.settle_by(deadline)
    }

    fn checkpoint(&self, directory: &Path) -> Result<()> {
        self.engine.checkpoint(directory)
    }

    fn verify_by(&self, deadline: Deadline) -> Result<VerifyReport> {
        self.engine.verify_by(deadline)
    }

    fn statistics(&self) -> Result<Statistics> {
        self.engine.statistics()
    }
}

fn open(url: &str, _create: bool, clock: Arc<dyn Clock>) -> Result<Arc<dyn Engine>> {
    let engine = Arc::new(MemoryEngine::with_clock(clock));
    Ok(Arc::new(Noting { engine, url: url.to_owned(), levels: Levels::default() }))
}

/// What a call asks of the engine that is not on its own levels, and at which; once what it asks
/// several times in a row.
fn noted(url: &str, call: impl FnOnce()) -> Notes {
    let take = || {
        let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
        noted.get_or_insert_default().remove(url).unwrap_or_default()
    };
    take();
    call();
    let mut noted = take();
    noted.retain(|(_, levels)| *levels != Levels::default());
    noted.dedup();
    noted
}

fn writing(acks: Acks) -> Levels {
    Levels { acks, ..Levels::default() }
}

fn reading(consistency: Consistency) -> Levels {
    Levels { consistency, ..Levels::default() }
}

const TABLE: &str = "CREATE TABLE t (s LONG, k LONG, PRIMARY KEY (SHARD(s), k))";

fn key() -> Row {
    row! { "s" => 1_i64, "k" => 1_i64 }
}

#[test]
fn a_call_writes_and_reads_at_the_levels_that_it_asks_for() {
    let url = "cassandra://calls/k";
    let store = Store::builder(url).cluster_engine(open).open().unwrap();
    store.execute(TABLE).unwrap();
    let table = store.table("t").unwrap();
    let put = WriteOptions { acks: Some(Acks::All), ..WriteOptions::default() };
    let all = writing(Acks::All);
    let one = || {
        table.put(&key(), &put).unwrap();
    };
    assert_eq!(noted(url, one), [("write", all)]);
    // The row that decides is always the latest.
    let exchange = || drop(table.put_returning(&key(), Condition::Always, &put).unwrap());
    assert_eq!(noted(url, exchange), [("write", all)]);
    let load = BulkPutOptions { acks: Some(Acks::None), ..BulkPutOptions::default() };
    let load = || drop(store.multi_put([("t", vec![key()])], &load).unwrap());
    assert_eq!(noted(url, load), [("load", writing(Acks::None))]);

    let none = Some(Consistency::None);
    let old = reading(Consistency::None);
    let get = GetOptions { consistency: none, ..GetOptions::default() };
    assert_eq!(noted(url, || drop(table.get_with(&key(), &get).unwrap())), [("read", old)]);
    let get = BulkGetOptions { consistency: none, ..BulkGetOptions::default() };
    let rows = |partial: Row| {
        let keys = KeySource::keys(vec![partial]);
        table.bulk_get(keys, &get).unwrap().for_each(|batch| drop(batch.unwrap()));
    };
    assert_eq!(noted(url, || rows(row! { "s" => 1_i64 })), [("scan", old)]);
    let scan = TableScanOptions { consistency: none, ..TableScanOptions::default() };
    let scan = || table.scan(&scan).unwrap().for_each(|batch| drop(batch.unwrap()));
    assert_eq!(noted(url, scan), [("scan", old)]);
}

#[test]
fn a_call_that_does_not_say_has_the_levels_of_its_store() {
    let url = "cassandra://stores/k";
    let builder = Store::builder(url).cluster_engine(open);
    let store = builder.acks(Acks::All).consistency(Consistency::None).open().unwrap();
    store.execute(TABLE).unwrap();
    let (table, pairs) = (store.table("t").unwrap(), store.kv());
    let (all, old) = (writing(Acks::All), reading(Consistency::None));
    let put = || {
        table.put(&key(), &WriteOptions::default()).unwrap();
    };
    assert_eq!(noted(url, put), [("write", all)]);
    assert_eq!(noted(url, || drop(table.get(&key()).unwrap())), [("read", old)]);
    let pair = "/a".parse().unwrap();
    assert_eq!(noted(url, || drop(pairs.get(&pair).unwrap())), [("read", old)]);
    let latest = GetOptions { consistency: Some(Consistency::Absolute), ..GetOptions::default() };
    assert!(noted(url, || drop(table.get_with(&key(), &latest).unwrap())).is_empty());
    let majority = WriteOptions { acks: Some(Acks::Majority), ..WriteOptions::default() };
    let put = || {
        table.put(&key(), &majority).unwrap();
    };
    assert!(noted(url, put).is_empty());
}
