//! Write-ahead logs as power failures leave them, as accidents leave them, and the difference.
//!
//! A power failure takes what was not synced, in whole or in part. So a store that was open is
//! copied, and the end of its log is changed in the copy: what was synced is there after each of
//! them, what follows is there up to some point in time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tonnage_engine::{
    Condition, Durability, Engine, Entries, ErrorKind, KeyPart, KeyShape, LoadOptions, Maintenance,
    Ranges, Rows, ScanOptions, SpaceId, WriteBatch,
};
use tonnage_rocksdb::{RocksEngine, Settings};
use tonnage_testkit::{again, copy_tree};

use crate::common::{open, settings};

const SYNCED: u32 = 300;
const ROWS: u32 = 900;

fn put(engine: &RocksEngine, space: SpaceId, key: u32, durability: Durability) {
    let mut batch = WriteBatch::new(space);
    batch.put(&key.to_be_bytes(), &value(key), 0, Condition::Always);
    engine.write(&batch, durability).unwrap();
}

fn value(key: u32) -> Vec<u8> {
    format!("value {key} ").repeat(1 + key as usize % 20).into_bytes()
}

/// How many rows there are; they must be the first that were written.
fn rows(engine: &RocksEngine) -> u32 {
    let space = engine.spaces().unwrap()[0].id;
    let mut scanner = engine.scan(space, Ranges::whole_space(), ScanOptions::default()).unwrap();
    let (mut rows, mut next) = (Rows::new(), 0_u32);
    while scanner.next_batch(&mut rows).unwrap() {
        for index in 0..rows.len() {
            assert_eq!(rows.keys.get(index), next.to_be_bytes(), "a row is missing before others");
            assert_eq!(rows.values.get(index), value(next));
            next += 1;
        }
    }
    next
}

fn given_up(engine: &RocksEngine) -> u64 {
    let statistics = engine.statistics().unwrap();
    let details = statistics.shards.iter().flat_map(|shard| &shard.details);
    details
        .filter(|(name, _)| name.starts_with("log_") && name.ends_with("_bytes_given_up"))
        .map(|(_, bytes)| bytes)
        .sum()
}

/// A store with `SYNCED` rows that were synced and then others that were not, up to `ROWS`: copied
/// while it was open, and how much of its log was synced.
struct Crashed {
    place: TempDir,
    synced_bytes: u64,
}

impl Crashed {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("store");
        let engine = open(&root).unwrap();
        let space = engine.create_space("pairs", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
        (0..SYNCED).for_each(|key| put(&engine, space, key, Durability::Fsync));
        let synced_bytes = len(&log_of(&root));
        (SYNCED..ROWS).for_each(|key| put(&engine, space, key, Durability::Write));
        copy_tree(&root, &place.path().join("crashed"));
        Self { place, synced_bytes }
    }

    /// A copy to do something to.
    fn copied(&self, name: &str) -> PathBuf {
        let root = self.place.path().join(name);
        copy_tree(&self.place.path().join("crashed"), &root);
        root
    }
}

fn log_of(root: &Path) -> PathBuf {
    let entries = fs::read_dir(root.join("db")).unwrap().map(|entry| entry.unwrap().path());
    let logs = entries.filter(|path| path.extension().is_some_and(|extension| extension == "log"));
    logs.max_by_key(|path| len(path)).unwrap()
}

fn len(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_process_that_was_killed_loses_nothing() {
    let engine = open(&Crashed::new().copied("killed")).unwrap();
    assert_eq!((rows(&engine), given_up(&engine)), (ROWS, 0));
}

const KILLED: &str = "TORN_LOG_KILLED";
const ROUNDS: u32 = 40;

/// Not a test by itself: writes and loads over many small logs, and ends abruptly.
#[test]
fn in_a_child() {
    let Some(root) = std::env::var_os(KILLED).map(PathBuf::from) else { return };
    let settings = Settings { memtable_bytes: 64 << 10, ..settings() };
    let engine = RocksEngine::open(&root, settings).unwrap();
    let space = engine.create_space("pairs", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    for round in 0..ROUNDS {
        (round * 100..round * 100 + 50).for_each(|key| put(&engine, space, key, Durability::Write));
        // Over keys on both sides of those, and with so little memory that it makes files: these
        // take sequence numbers.
        let on_existing = tonnage_engine::OnExisting::Keep;
        let options = LoadOptions {
            on_existing,
            memory_bytes_max: 256 << 10,
            parallelism: 1,
            ..LoadOptions::default()
        };
        let session = engine.load(options).unwrap();
        let mut entries = Entries::new();
        (0..round * 100 + 100)
            .for_each(|key| entries.push(&key.to_be_bytes(), &value(key), u64::from(key), 0));
        session.push(space, 0, &entries).unwrap();
        session.finish().unwrap();
    }
    println!("all is written");
    std::process::abort();
}

/// Logs that follow one another with ingestions between them are taken for what they are.
#[test]
fn a_process_that_was_killed_after_many_loads_loses_nothing() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("store");
    let output = again("torn_log::in_a_child").env(KILLED, &root).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("all is written"), "{said} {}", String::from_utf8_lossy(&output.stderr));
    let engine = open(&root).unwrap();
    assert_eq!((rows(&engine), given_up(&engine)), (ROUNDS * 100, 0));
}

#[test]
fn an_end_that_was_never_written_is_given_up_and_counted() {
    let crashed = Crashed::new();
    for (name, known) in [("known", true), ("unknown", false)] {
        let root = crashed.copied(name);
        let log = log_of(&root);
        let zeros = len(&log) * 2 / 3 / 4096 * 4096;
        assert!(zeros > crashed.synced_bytes);
        change(&log, |log| log[zeros as usize..].fill(0));
        if !known {
            // A store created before there was such a record.
            fs::remove_file(root.join("SYNCED")).unwrap();
        }
        let engine = open(&root).unwrap();
        let found = rows(&engine);
        assert!((SYNCED..ROWS).contains(&found), "{found} rows");
        assert!(given_up(&engine) > 0);
        // From here on it is as any other store.
        put(&engine, engine.spaces().unwrap()[0].id, found, Durability::Fsync);
        drop(engine);
        let engine = open(&root).unwrap();
        assert_eq!((rows(&engine), given_up(&engine)), (found + 1, 0));
    }
}

#[test]
fn pages_that_were_not_written_take_with_them_what_was_written_later() {
    let crashed = Crashed::new();
    let pages = crashed.synced_bytes as usize / 4096 + 1
        ..len(&log_of(&crashed.copied("len"))) as usize / 4096;
    assert!(pages.len() > 5);
    for page in pages.step_by(3) {
        let root = crashed.copied(&format!("without-{page}"));
        change(&log_of(&root), |log| log[page * 4096..(page + 1) * 4096].fill(0));
        let engine = open(&root).unwrap();
        assert!((SYNCED..ROWS).contains(&rows(&engine)), "without page {page}");
    }
}

/// The store stays closed, and says how to open it all the same.
#[test]
fn damage_to_what_was_synced_is_an_error_with_a_way_out() {
    let crashed = Crashed::new();
    let at = crashed.synced_bytes as usize / 2;
    let zeroed = |log: &mut Vec<u8>| log[at..at + 4_096].fill(0);
    let cut = |log: &mut Vec<u8>| log.truncate(at);
    let flipped = |log: &mut Vec<u8>| log[at] ^= 4;
    for (name, damage) in
        [("zeroed", &zeroed as &dyn Fn(&mut Vec<u8>)), ("cut", &cut), ("flipped", &flipped)]
    {
        let root = crashed.copied(name);
        change(&log_of(&root), damage);
        for _ in 0..2 {
            let error = open(&root).expect_err("it is damaged");
            assert_eq!(error.kind(), ErrorKind::Corruption, "{name}");
            assert!(
                error.message().contains("--cut-log") && error.message().contains(".log"),
                "{error}"
            );
        }
        let settings = Settings { recover_log_to_damage: true, ..settings() };
        let engine = RocksEngine::open(&root, settings).unwrap();
        let found = rows(&engine);
        assert!((1..SYNCED).contains(&found), "{name}: {found} rows");
        assert!(given_up(&engine) > 0, "{name}");
        drop(engine);
        assert_eq!(rows(&open(&root).unwrap()), found, "{name}: nothing is wrong any more");
    }
}

/// The story of a bug: a log that lacked its end after a clean close was taken for the trace of a
/// crash.
#[test]
fn a_log_cut_after_a_clean_close_is_damage() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("store");
    let engine = open(&root).unwrap();
    let space = engine.create_space("pairs", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    (0..50).for_each(|key| put(&engine, space, key, Durability::Write));
    drop(engine);
    let log = log_of(&root);
    let whole = fs::read(&log).unwrap();
    for bytes in [1, 10, 100, whole.len()] {
        fs::write(&log, &whole[..whole.len() - bytes]).unwrap();
        assert_eq!(
            open(&root).err().map(|error| error.kind()),
            Some(ErrorKind::Corruption),
            "{bytes} bytes cut off"
        );
    }
    fs::remove_file(&log).unwrap();
    assert_eq!(
        open(&root).err().map(|error| error.kind()),
        Some(ErrorKind::Corruption),
        "the log is gone"
    );
    fs::write(&log, &whole).unwrap();
    assert_eq!(rows(&open(&root).unwrap()), 50);
}

#[test]
fn a_record_of_what_was_synced_that_is_damaged_keeps_no_store_closed() {
    let crashed = Crashed::new();
    let root = crashed.copied("damaged");
    change(&root.join("SYNCED"), |record| record[30] ^= 1);
    assert_eq!(rows(&open(&root).unwrap()), ROWS);
    let root = crashed.copied("empty");
    File::create(root.join("SYNCED")).unwrap();
    assert_eq!(rows(&open(&root).unwrap()), ROWS);
}
