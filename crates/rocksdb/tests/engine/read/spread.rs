//! Keys whose blocks are not in the cache are read by several threads: the answer is that of the
//! memory engine, in order and within its bytes.

use std::path::Path;
use std::sync::Arc;

use rstest::rstest;
use tonnage_engine::{
    Condition, Deadline, Durability, Engine, Entries, FillCache, KeyPart, KeyShape, LoadOptions,
    Maintenance, ManualClock, MemoryEngine, Projection, Ranges, ReadOptions, Rows, ScanOptions,
    Slices, SpaceId, WriteBatch,
};
use tonnage_rocksdb::{RocksEngine, Settings};
use tonnage_testkit::Random;

use crate::common;

const ROWS: u32 = 40_000;
const NOW_MS: u64 = 1_000;

fn key(row: u32) -> [u8; 4] {
    row.to_be_bytes()
}

/// What does not compress: 300 bytes, in every thousandth row 20,000.
fn value(row: u32) -> Vec<u8> {
    let len = if row % 1_000 == 500 { 20_000 } else { 300 };
    Random(row.into()).bytes(len)
}

/// Every second number is a row; some are expired and some deleted.
fn fill(engine: &dyn Engine) -> SpaceId {
    let space = engine.create_space("rows", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    let session = engine.load(LoadOptions::default()).unwrap();
    let mut entries = Entries::new();
    for row in (0..ROWS).map(|row| row * 2) {
        let expires_at_ms = if row % 90 == 0 { NOW_MS - 1 } else { 0 };
        entries.push(&key(row), &value(row), u64::from(row), expires_at_ms);
    }
    session.push(space, 0, &entries).unwrap();
    session.finish().unwrap();
    for row in (0..2 * ROWS).step_by(1_400) {
        let mut batch = WriteBatch::new(space);
        batch.delete(&key(row), Condition::Always);
        engine.write(&batch, Durability::Write).unwrap();
    }
    space
}

/// All rows of a store take 13 MB of files.
const CACHE_BYTES: usize = 64 << 20;

fn open(place: &Path, directories: u32, clock: Arc<ManualClock>) -> RocksEngine {
    open_with_cache(place, directories, clock, CACHE_BYTES)
}

fn open_with_cache(
    place: &Path,
    directories: u32,
    clock: Arc<ManualClock>,
    cache_bytes: usize,
) -> RocksEngine {
    let data_directories =
        (0..directories).map(|number| place.join(format!("disk-{number}"))).collect();
    let settings = Settings { data_directories, cache_bytes, ..common::settings() };
    RocksEngine::open_with_clock(place.join("store"), settings, clock).unwrap()
}

/// A store that was just opened, and what the memory engine has of the same rows.
struct Ground {
    rocksdb: (RocksEngine, SpaceId),
    memory: (MemoryEngine, SpaceId),
    _place: tempfile::TempDir,
}

fn cold(directories: u32) -> Ground {
    cold_with_cache(directories, CACHE_BYTES)
}

fn cold_with_cache(directories: u32, cache_bytes: usize) -> Ground {
    let clock = Arc::new(ManualClock::new(NOW_MS));
    let place = tempfile::tempdir().unwrap();
    let engine = open(place.path(), directories, clock.clone());
    let space = fill(&engine);
    engine.settle().unwrap();
    drop(engine);
    let memory = MemoryEngine::with_clock(clock.clone());
    let memory_space = fill(&memory);
    let rocksdb = (open_with_cache(place.path(), directories, clock, cache_bytes), space);
    Ground { rocksdb, memory: (memory, memory_space), _place: place }
}

/// All rows of the keys, in as many reads as answers of so many bytes take.
fn read(
    (engine, space): (&dyn Engine, SpaceId),
    keys: &Slices,
    projection: Projection,
    bytes_max: usize,
) -> (Slices, Slices, Vec<u32>) {
    let (mut rows, mut all) = (Rows::new(), (Slices::new(), Slices::new(), Vec::new()));
    let mut first = 0;
    while first < keys.len() {
        let options = ReadOptions {
            projection,
            keys: first..keys.len(),
            bytes_max,
            deadline: Deadline::NONE,
        };
        let taken = engine.read_some(space, keys, &options, &mut rows).unwrap();
        assert!(taken > 0 && (rows.len() == 1 || rows.bytes() <= bytes_max));
        assert!(rows.origins.iter().all(|origin| (*origin as usize) < first + taken));
        rows.keys.iter().for_each(|key| all.0.push(key));
        rows.values.iter().for_each(|value| all.1.push(value));
        all.2.extend(&rows.origins);
        first += taken;
    }
    all
}

fn keys(numbers: impl Iterator<Item = u32>) -> Slices {
    numbers.map(key).collect::<Vec<_>>().iter().map(|key| &key[..]).collect()
}

/// Every 10th number is a few in a block, every 100th less than one in two blocks.
#[rstest]
fn the_answer_is_that_of_the_memory_engine(
    #[values(1, 3)] directories: u32,
    #[values(10, 100)] stride: usize,
    #[values(false, true)] is_sorted: bool,
    #[values(3_000, 200_000, 1 << 30)] bytes_max: usize,
) {
    let ground = cold(directories);
    let numbers = (0..2 * ROWS + 300).step_by(stride);
    let keys = if is_sorted { keys(numbers) } else { keys(numbers.rev()) };
    let (rocksdb, memory) = ((&ground.rocksdb.0 as &dyn Engine, ground.rocksdb.1), &ground.memory);
    for projection in [Projection::KeysAndValues, Projection::KeysOnly] {
        let found = read(rocksdb, &keys, projection, bytes_max);
        assert!(found == read((&memory.0, memory.1), &keys, projection, bytes_max));
        assert!(!found.2.is_empty());
    }
}

#[test]
fn the_cache_keeps_what_is_read() {
    let ground = cold(1);
    let (engine, space) = (&ground.rocksdb.0, ground.rocksdb.1);
    let keys = keys((0..2 * ROWS).step_by(10));
    assert!(cached(engine) < 1 << 20, "{} bytes are cached before", cached(engine));
    read((engine, space), &keys, Projection::KeysAndValues, 1 << 30);
    assert!(cached(engine) > 8 << 20, "{} bytes are cached after", cached(engine));
}

fn cached(engine: &RocksEngine) -> u64 {
    engine.statistics().unwrap().shards.iter().map(|shard| shard.cache_bytes).sum()
}

/// A scan of a whole space asks for `IfSmall`. It once left nothing in the cache whatever its size,
/// and however often it came: each query of a table unpacked all of it again.
#[rstest]
#[case::a_space_that_is_small_beside_the_cache(256 << 20, FillCache::IfSmall, true)]
#[case::a_space_that_would_push_out_the_rest(64 << 20, FillCache::IfSmall, false)]
#[case::a_scan_that_passes_once(256 << 20, FillCache::No, false)]
fn scans_of_everything_fill_the_cache_where_it_is_small_and_scanned_often(
    #[values(1, 3)] directories: u32,
    #[case] cache_bytes: usize,
    #[case] fill_cache: FillCache,
    #[case] is_kept: bool,
) {
    let ground = cold_with_cache(directories, cache_bytes);
    let (engine, space) = (&ground.rocksdb.0, ground.rocksdb.1);
    let scan = || {
        let options = ScanOptions { fill_cache, ..ScanOptions::default() };
        let mut scanner = engine.scan(space, Ranges::whole_space(), options).unwrap();
        let (mut rows, mut count) = (Rows::new(), 0);
        while scanner.next_batch(&mut rows).unwrap() {
            count += rows.len();
        }
        assert!(count > 30_000);
    };
    let before = cached(engine);
    scan();
    let kept = cached(engine) - before;
    assert!(kept < 1 << 20, "{kept} bytes more are cached after one scan");
    (0..6).for_each(|_| scan());
    let kept = cached(engine) - before;
    assert_eq!(kept > 8 << 20, is_kept, "{kept} bytes more are cached after seven");
}

/// The first keys of a read are looked up on their own, to see where their blocks are. Reads of so
/// few keys that no snapshot is taken for them were cut in two by that, at two points in time.
#[test]
fn a_read_of_few_keys_sees_all_of_a_batch_or_nothing() {
    const WRITES: u32 = 3_000;
    let place = tempfile::tempdir().unwrap();
    let engine = open(place.path(), 1, Arc::new(ManualClock::new(NOW_MS)));
    let space = engine.create_space("group", &KeyShape::new([KeyPart::Fixed(1)])).unwrap();
    let keys: Slices =
        (0..60).map(|row| [0, row]).collect::<Vec<_>>().iter().map(|key| &key[..]).collect();
    let write = |number: u32| {
        let mut batch = WriteBatch::new(space);
        keys.iter().for_each(|key| batch.put(key, &number.to_be_bytes(), 0, Condition::Always));
        engine.write(&batch, Durability::None).unwrap();
    };
    write(0);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (1..WRITES).for_each(write));
        let mut rows = Rows::new();
        while !writer.is_finished() {
            engine.read(space, &keys, Projection::KeysAndValues, &mut rows).unwrap();
            assert!(rows.versions.iter().all(|version| *version == rows.versions[0]));
        }
    });
}
