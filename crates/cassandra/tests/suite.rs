//! The behaviour suite on nodes of Cassandra that this process starts: one, or as many as
//! `TONNAGE_CASSANDRA_NODES` says, up to 3, each of which then has a copy of every row.
//!
//! Keyspaces are used one after another: to make one takes as long as several tests.

mod cluster;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use cluster::{Nodes, open_at_last};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::statement::batch::{Batch, BatchType};
use scylla::value::{CqlValue, Row};
use tonnage_cassandra::{Address, CassandraEngine};
use tonnage_engine::conformance::{Harness, model_test};
use tonnage_engine::sync::lock;
use tonnage_engine::{
    Clock, Condition, Deadline, Direction, Durability, Engine, Entries, Error, ErrorKind, KeyPart,
    KeyShape, LoadObserver, LoadOptions, ManualClock, Projection, Ranges, Result, Rows,
    ScanOptions, Slices, SpaceId, StoredRun, SystemClock, WriteBatch, placement_hash,
};

/// The nodes, and the unused keyspaces.
struct Shared {
    hosts: String,
    /// How many nodes there are.
    count: usize,
    keyspaces: Mutex<Keyspaces>,
}

#[derive(Default)]
struct Keyspaces {
    free: Vec<String>,
    made: usize,
}

static NODES: Mutex<Option<Nodes>> = Mutex::new(None);

/// Starts the nodes with the first test.
fn shared() -> Option<&'static Shared> {
    static SHARED: OnceLock<Option<Shared>> = OnceLock::new();
    let start = || {
        let count = std::env::var("TONNAGE_CASSANDRA_NODES").map_or(1, |count| {
            count.parse().ok().filter(|count| (1..=3).contains(count)).expect("1, 2 or 3 nodes")
        });
        let nodes = Nodes::start(count)?;
        let hosts = nodes.hosts();
        *lock(&NODES) = Some(nodes);
        // SAFETY: the function is called once, when all tests are over.
        unsafe { libc::atexit(stop) };
        Some(Shared { hosts, count, keyspaces: Mutex::default() })
    };
    SHARED.get_or_init(start).as_ref()
}

/// Statics are never dropped: the node is removed here.
extern "C" fn stop() {
    lock(&NODES).take();
}

/// A store in a keyspace of its own.
struct OwnKeyspace {
    shared: &'static Shared,
    keyspace: String,
}

impl OwnKeyspace {
    /// Nothing where no node can be had.
    fn new() -> Option<Self> {
        let shared = shared()?;
        let mut keyspaces = lock(&shared.keyspaces);
        let keyspace = keyspaces.free.pop().unwrap_or_else(|| {
            keyspaces.made += 1;
            format!("tonnage_{}_{}", std::process::id(), keyspaces.made)
        });
        Some(Self { shared, keyspace })
    }

    fn engine(&self, clock: Arc<dyn Clock>) -> CassandraEngine {
        let Shared { hosts, count, .. } = self.shared;
        let url = format!("cassandra://{hosts}/{}?create={count}", self.keyspace);
        let address = Address::parse(&url).unwrap();
        open_at_last(|| CassandraEngine::open_with_clock(&address, Arc::clone(&clock)))
    }
}

impl Harness for OwnKeyspace {
    fn open(&mut self, clock: Arc<dyn Clock>) -> Box<dyn Engine> {
        let engine = self.engine(clock);
        for space in engine.spaces().unwrap() {
            engine.drop_space(space.id).unwrap();
        }
        Box::new(engine)
    }

    fn reopen(
        &mut self,
        engine: Box<dyn Engine>,
        clock: Arc<dyn Clock>,
    ) -> Option<Box<dyn Engine>> {
        drop(engine);
        Some(Box::new(self.engine(clock)))
    }
}

impl Drop for OwnKeyspace {
    fn drop(&mut self) {
        let mut keyspaces = lock(&self.shared.keyspaces);
        keyspaces.free.push(std::mem::take(&mut self.keyspace));
    }
}

tonnage_engine::conformance_suite!(match OwnKeyspace::new() {
    Some(harness) => harness,
    None => return,
});

/// Cleaning of an index must not hit an entry that was just stored again.
#[test]
fn of_stale_entries_the_old_ones_go_and_those_stored_again_stay() {
    let Some(mut harness) = OwnKeyspace::new() else { return };
    let engine = harness.open(Arc::new(SystemClock));
    let shape = KeyShape::shard_prefixed();
    let space = engine.create_space("entries", &shape).unwrap();
    let entry = |number: u8| [&[0, 3][..], &[number]].concat();
    let put = |number: u8| {
        let mut batch = WriteBatch::new(space);
        batch.put(&entry(number), &[], 0, Condition::Always);
        assert!(engine.write(&batch, Durability::Write).unwrap().version().is_some());
    };
    let stored = || {
        let (keys, mut rows) = ((0..3).map(entry).collect::<Vec<_>>(), Rows::new());
        let keys: Slices = keys.iter().map(Vec::as_slice).collect();
        engine.read(space, &keys, Projection::KeysOnly, &mut rows).unwrap();
        rows.origins.clone()
    };
    let delete = |age: Duration| {
        let keys: Vec<_> = (0..3).map(entry).collect();
        let keys: Slices = keys.iter().map(Vec::as_slice).collect();
        engine.delete_older(space, &keys, age, Deadline::NONE).unwrap()
    };
    (0..2).for_each(put);
    assert_eq!((delete(Duration::from_secs(3_600)), stored()), (0, vec![0, 1]));
    thread::sleep(Duration::from_secs(4));
    put(1);
    assert_eq!((delete(Duration::from_secs(3)), stored()), (1, vec![1]));
    assert_eq!((delete(Duration::ZERO), stored()), (1, vec![]));
    put(0);
    assert_eq!(stored(), [0], "what was deleted can be stored again");
}

/// Pages end within partitions of one row, of some, and of more than a page holds.
#[test]
fn a_scan_along_the_ring_gives_each_row_once_wherever_its_pages_end() {
    let Some(mut harness) = OwnKeyspace::new() else { return };
    let engine = harness.open(Arc::new(SystemClock));
    let space = engine.create_space("pages", &KeyShape::new([KeyPart::Fixed(2)])).unwrap();
    let rows_of = |group: u16| if group == 60 { 700 } else { 1 + u32::from(group) * 37 % 97 };
    let mut expected: Vec<Vec<u8>> = (0..=60_u16)
        .flat_map(|group| {
            let key = move |row: u32| [&group.to_be_bytes()[..], &row.to_be_bytes()].concat();
            (0..rows_of(group)).map(key)
        })
        .collect();
    let mut entries = Entries::new();
    expected.iter().for_each(|key| entries.push(key, b"value", 1, 0));
    let session = engine.load(LoadOptions::default()).unwrap();
    session.push(space, 0, &entries).unwrap();
    session.finish().unwrap();
    expected.sort();
    for batch_rows_max in [3, 16, 100, 129, 1_000, 10_000] {
        let options = ScanOptions { batch_rows_max, ..ScanOptions::default() };
        let mut scanner = engine.scan(space, Ranges::whole_space(), options).unwrap();
        let (mut found, mut rows) = (Vec::new(), Rows::new());
        while scanner.next_batch(&mut rows).unwrap() {
            found.extend(rows.keys.iter().map(<[u8]>::to_vec));
        }
        found.sort();
        assert_eq!(found.len(), expected.len(), "in batches of {batch_rows_max}");
        assert!(found == expected, "in batches of {batch_rows_max}");
    }
}

/// The story of a bug: a scan with a limit for each shard key never ended where a page of nothing
/// but expired rows followed a shard key in its partition: it read that page again and again.
#[test]
fn a_scan_gets_past_expired_rows_behind_a_shard_key_that_has_given_its_rows() {
    const BUCKETS: u64 = 1 << 16;
    let Some(mut harness) = OwnKeyspace::new() else { return };
    let clock = Arc::new(ManualClock::new(1_000_000));
    let engine = harness.open(clock.clone());
    let space = engine.create_space("expired", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    let bucket = |shard_key: u32| placement_hash(&shard_key.to_be_bytes()) % BUCKETS;
    let lively = 1_000_000_u32;
    let is_beside = |other: &u32| bucket(*other) == bucket(lively);
    let expired = [(0..lively).find(is_beside).unwrap(), (lively + 1..).find(is_beside).unwrap()];
    let key = |shard_key: u32, row: u32| [shard_key.to_be_bytes(), row.to_be_bytes()].concat();
    let mut entries = Entries::new();
    (0..3).for_each(|row| entries.push(&key(lively, row), b"", row.into(), 0));
    for (row, shard_key) in (0..100).flat_map(|row| expired.map(|shard_key| (row, shard_key))) {
        entries.push(&key(shard_key, row), b"", row.into(), 1_000_100);
    }
    let session = engine.load(LoadOptions::default()).unwrap();
    session.push(space, 0, &entries).unwrap();
    session.finish().unwrap();
    clock.set_ms(1_000_200);
    for direction in [Direction::Unordered, Direction::Reverse] {
        let options = ScanOptions {
            direction,
            limit_per_shard_key: Some(1),
            batch_rows_max: 10,
            deadline: Deadline::after(Duration::from_secs(60)),
            ..ScanOptions::default()
        };
        let mut scanner = engine.scan(space, Ranges::whole_space(), options).unwrap();
        let (mut found, mut rows) = (Vec::new(), Rows::new());
        while scanner.next_batch(&mut rows).unwrap() {
            found.extend(rows.keys.iter().map(<[u8]>::to_vec));
        }
        let given = if direction == Direction::Reverse { 2 } else { 0 };
        assert_eq!(found, [key(lively, given)], "{direction:?}");
    }
}

/// Of a process that pauses after the first row that it sent. Called with it, it writes in the
/// row's partition.
struct StoodStill {
    engine: Arc<dyn Engine>,
    questions: AtomicUsize,
    told: AtomicUsize,
}

impl LoadObserver for StoodStill {
    fn stored(&self, _run: StoredRun) {}

    fn existed(&self, _stream: u32, _position: u64, _space: SpaceId, _key: &[u8]) -> Result<()> {
        Ok(())
    }

    /// It is called when the row has its turn, right before it is sent, and after it.
    fn check_may_send(&self) -> Result<()> {
        match self.questions.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => Ok(()),
            _ => Err(Error::unavailable("others have gone on without this process")),
        }
    }

    fn sent_late(&self, space: SpaceId, rows: &Entries) -> Result<()> {
        self.told.fetch_add(rows.len(), Ordering::SeqCst);
        let mut batch = WriteBatch::new(space);
        batch.put(rows.key(0), b"by a small write", 0, Condition::Always);
        let deadline = Deadline::after(Duration::from_secs(20));
        self.engine.write_by(&batch, Durability::Write, deadline).map(drop)
    }
}

/// The story of a bug: a chunk of a load kept its turn while its observer learned that it came
/// late. The observer stores entries, which take turns too, and partitions share these: now and
/// then one waited for the other for ever.
#[test]
fn whoever_is_told_of_late_rows_may_write_in_their_partition() {
    let Some(mut harness) = OwnKeyspace::new() else { return };
    let engine: Arc<dyn Engine> = harness.open(Arc::new(SystemClock)).into();
    let space = engine.create_space("late rows", &KeyShape::new([KeyPart::Fixed(2)])).unwrap();
    let observer = Arc::new(StoodStill {
        engine: Arc::clone(&engine),
        questions: AtomicUsize::new(0),
        told: AtomicUsize::new(0),
    });
    let options = LoadOptions { observer: observer.clone(), ..LoadOptions::default() };
    let session = engine.load(options).unwrap();
    let mut entries = Entries::new();
    entries.push(b"row", b"by a load", 0, 0);
    session.push(space, 0, &entries).unwrap();
    session.finish().unwrap();
    assert_eq!(observer.told.load(Ordering::SeqCst), 1);
    let (keys, mut rows) = ([&b"row"[..]].into_iter().collect::<Slices>(), Rows::new());
    engine.read(space, &keys, Projection::KeysAndValues, &mut rows).unwrap();
    assert_eq!(rows.values.get(0), b"by a small write");
}

/// Asks the nodes without the engine.
fn asked<T>(harness: &OwnKeyspace, ask: impl AsyncFnOnce(Session) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let hosts: Vec<_> = harness.shared.hosts.split(',').collect();
        ask(SessionBuilder::new().known_nodes(hosts).build().await.unwrap()).await
    })
}

/// The story of a bug: a node gives up a read that meets too many deleted rows, 100,000 as it
/// comes, 20,000 here. After a large DELETE no scan of the table came to its end for days, nor did
/// CREATE INDEX, however few rows were asked for at a time.
#[test]
fn a_scan_gets_past_more_deleted_rows_than_a_node_reads_at_a_time() {
    const PARTITIONS: u32 = 300;
    let Some(mut harness) = OwnKeyspace::new() else { return };
    let engine = harness.open(Arc::new(SystemClock));
    let space = engine.create_space("deleted", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    let mut entries = Entries::new();
    (0..40_u32).for_each(|row| entries.push(&row.to_be_bytes(), b"", row.into(), 0));
    let session = engine.load(LoadOptions::default()).unwrap();
    session.push(space, 0, &entries).unwrap();
    session.finish().unwrap();
    let table = format!("{}.s_{:08x}", harness.keyspace, space.0);
    let is_given_up = asked(&harness, async |session| {
        let delete = format!("DELETE FROM {table} WHERE p = ? AND c = ?");
        let delete = session.prepare(delete).await.unwrap();
        for partition in 0..PARTITIONS {
            let mut batch = Batch::new(BatchType::Unlogged);
            (0..250).for_each(|_| batch.append_statement(delete.clone()));
            let key = |row: u32| (partition.to_be_bytes().to_vec(), row.to_be_bytes().to_vec());
            let keys: Vec<_> = (1_000..1_250).map(key).collect();
            session.batch(&batch, keys).await.unwrap();
        }
        session.query_unpaged(format!("SELECT c FROM {table}"), ()).await.is_err()
    });
    assert!(is_given_up || std::env::var("TONNAGE_CASSANDRA").is_ok(), "nothing was in the way");
    for direction in [Direction::Unordered, Direction::Reverse] {
        let options = ScanOptions { direction, batch_rows_max: 7, ..ScanOptions::default() };
        let mut scanner = engine.scan(space, Ranges::whole_space(), options).unwrap();
        let (mut found, mut rows) = (Vec::new(), Rows::new());
        while scanner.next_batch(&mut rows).unwrap() {
            found.extend(rows.keys.iter().map(<[u8]>::to_vec));
        }
        found.sort();
        let expected: Vec<_> = (0..40_u32).map(|row| row.to_be_bytes().to_vec()).collect();
        assert_eq!(found, expected, "{direction:?}");
    }
    assert_eq!(engine.rows_estimate(space, &Ranges::whole_space()).unwrap(), 40);
    engine.delete_range(space, &Ranges::whole_space(), Durability::Write).unwrap();
    assert_eq!(engine.rows_estimate(space, &Ranges::whole_space()).unwrap(), 0);
}

/// Whether the cluster has the table of a space.
fn has_table(harness: &OwnKeyspace, space: SpaceId) -> bool {
    const FIND: &str =
        "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?";
    let names = (&harness.keyspace, format!("s_{:08x}", space.0));
    asked(harness, async |session| {
        let found = session.query_unpaged(FIND, names).await.unwrap();
        found.into_rows_result().unwrap().rows_num() > 0
    })
}

/// The story of a bug: a node that was cut off when an index was created did not know its table. A
/// load took the index for dropped, left its entries out, and stored the rows.
#[test]
fn a_load_fails_whose_entries_a_node_knows_no_table_for_though_nobody_dropped_it() {
    let Some(mut harness) = OwnKeyspace::new() else { return };
    let engine = harness.open(Arc::new(SystemClock));
    let space = engine.create_space("unknown", &KeyShape::shard_prefixed()).unwrap();
    let table = format!("{}.s_{:08x}", harness.keyspace, space.0);
    asked(&harness, async |session| {
        session.query_unpaged(format!("DROP TABLE {table}"), ()).await.unwrap();
    });
    let mut entries = Entries::new();
    entries.push(&[0, 3, 7], b"", 0, 0);
    let session = engine.load(LoadOptions::default()).unwrap();
    let loaded = session.push(space, 0, &entries).and_then(|()| session.finish());
    assert_eq!(loaded.unwrap_err().kind(), ErrorKind::Unavailable);
}

/// The story of a bug: a request for a new row that reached a node late, after its writer had given
/// it up and others had put and deleted the row, found no row and put it once more.
#[test]
fn a_request_for_a_new_row_that_comes_late_does_not_bring_back_what_was_deleted() {
    let Some(mut harness) = OwnKeyspace::new() else { return };
    let engine = harness.open(Arc::new(SystemClock));
    let space = engine.create_space("late", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    let table = format!("{}.s_{:08x}", harness.keyspace, space.0);
    let write = |fill: &dyn Fn(&mut WriteBatch)| {
        let mut batch = WriteBatch::new(space);
        fill(&mut batch);
        assert!(engine.write(&batch, Durability::Write).unwrap().version().is_some());
    };
    let found = || {
        let mut rows = Rows::new();
        engine
            .read(space, &[&b"late"[..]].into_iter().collect(), Projection::KeysOnly, &mut rows)
            .unwrap();
        rows.len()
    };
    let put = |batch: &mut WriteBatch| batch.put(b"late", b"v", 0, Condition::IfAbsent);
    write(&put);
    let (place, header): (Vec<u8>, Vec<u8>) = asked(&harness, async |session| {
        let rows = session.query_unpaged(format!("SELECT p, h FROM {table}"), ()).await.unwrap();
        rows.into_rows_result().unwrap().first_row().unwrap()
    });
    write(&|batch| batch.delete(b"late", Condition::Always));
    assert_eq!(found(), 0);
    let is_put = asked(&harness, async |session| {
        let late = format!("UPDATE {table} SET h = ?, d = ? WHERE p = ? AND c = ? IF h = null");
        let values = (header, &b"v"[..], place, &b"late"[..]);
        let answer = session.query_unpaged(late, values).await.unwrap();
        let answer: Row = answer.into_rows_result().unwrap().first_row().unwrap();
        answer.columns[0] == Some(CqlValue::Boolean(true))
    });
    assert!(!is_put && found() == 0, "the row is back");
    write(&put);
    assert_eq!(found(), 1);
}

/// The story of a bug: the row of a space went first, then its table. A drop that was cut short in
/// between left a table with all its rows that nothing named any more, so it stayed for ever.
#[test]
fn a_drop_that_was_cut_short_is_done_by_the_next() {
    let Some(mut harness) = OwnKeyspace::new() else { return };
    let engine = harness.open(Arc::new(SystemClock));
    let mut cuts = 0;
    for patience_ms in [5, 15, 40, 100] {
        let space = engine.create_space("left", &KeyShape::new([KeyPart::Fixed(2)])).unwrap();
        let cut = engine.drop_space_by(space, Deadline::after(Duration::from_millis(patience_ms)));
        let is_listed = engine.spaces().unwrap().iter().any(|info| info.id == space);
        if is_listed {
            assert_eq!(cut.unwrap_err().kind(), ErrorKind::Unavailable);
            engine.drop_space(space).unwrap();
            cuts += 1;
        }
        // What is left once the space is gone for everybody is done in the background. Three busy
        // nodes take longer for it than the deadline of the drop.
        let patience = Instant::now() + Duration::from_secs(60);
        while has_table(&harness, space) {
            assert!(Instant::now() < patience, "cut after {patience_ms} ms");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    assert!(cuts > 0, "none was cut short");
}

fn agrees_with_the_memory_engine(cases: u32) {
    if OwnKeyspace::new().is_some() {
        model_test(|| OwnKeyspace::new().expect("there is a node"), cases);
    }
}

#[test]
fn the_engine_agrees_with_the_memory_engine() {
    agrees_with_the_memory_engine(6);
}

#[test]
#[ignore = "takes many minutes: make cluster-test"]
fn the_engine_agrees_with_the_memory_engine_again_and_again() {
    agrees_with_the_memory_engine(100);
}
