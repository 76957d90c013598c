//! A MANIFEST that is shorter than it was: RocksDB takes that for the trace of a crash, and
//! continues with an older list of data files.
//!
//! The story of a bug: a MANIFEST that was cut between two of its records led to such a list, and
//! the rows of all other files were missing without a word.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use tonnage_engine::{
    Condition, Durability, Engine, Entries, Error, ErrorKind, KeyPart, KeyShape, LoadOptions,
    Maintenance, OnExisting, Ranges, Rows, ScanOptions, SpaceId, WriteBatch,
};
use tonnage_rocksdb::{RocksEngine, Settings};
use tonnage_testkit::copy_tree;

use crate::common;

const LOADS: u32 = 4;
const LOADED: u32 = 3_000;
const PUTS: u32 = 1_500;
const ROWS: u32 = LOADS * LOADED + PUTS;

fn settings() -> Settings {
    Settings { memtable_bytes: 1 << 20, ..common::settings() }
}

fn value(key: u32) -> Vec<u8> {
    format!("value {key} ").repeat(200).into_bytes()
}

/// Loads that store files, then so many puts that memtables become files.
fn fill(root: &Path) -> RocksEngine {
    let engine = RocksEngine::open(root, settings()).unwrap();
    let space = engine.create_space("pairs", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    (0..LOADS).for_each(|load| load_rows(&engine, space, load * LOADED..(load + 1) * LOADED));
    for key in ROWS - PUTS..ROWS {
        let mut batch = WriteBatch::new(space);
        batch.put(&key.to_be_bytes(), &value(key), 0, Condition::Always);
        engine.write(&batch, Durability::Write).unwrap();
    }
    engine.sync().unwrap();
    engine
}

fn load_rows(engine: &RocksEngine, space: SpaceId, keys: std::ops::Range<u32>) {
    let options = LoadOptions {
        on_existing: OnExisting::Keep,
        durability: Durability::Fsync,
        memory_bytes_max: 1 << 20,
        parallelism: 1,
        ..LoadOptions::default()
    };
    let session = engine.load(options).unwrap();
    let mut entries = Entries::new();
    keys.for_each(|key| entries.push(&key.to_be_bytes(), &value(key), u64::from(key), 0));
    session.push(space, 0, &entries).unwrap();
    session.finish().unwrap();
}

fn rows(engine: &RocksEngine) -> Result<u32, Error> {
    let space = engine.spaces()?[0].id;
    let mut scanner = engine.scan(space, Ranges::whole_space(), ScanOptions::default())?;
    let (mut rows, mut count) = (Rows::new(), 0);
    while scanner.next_batch(&mut rows)? {
        count += rows.len() as u32;
    }
    Ok(count)
}

fn manifest_of(root: &Path) -> PathBuf {
    let db = root.join("db");
    db.join(fs::read_to_string(db.join("CURRENT")).unwrap().trim_end())
}

/// Where each record of a MANIFEST of one block ends.
fn ends_of_records(manifest: &[u8]) -> Vec<usize> {
    assert!(manifest.len() < 32 << 10);
    let mut ends = vec![0];
    while let Some(head) = manifest.get(ends[ends.len() - 1]..).filter(|rest| rest.len() >= 7) {
        let len = usize::from(u16::from_le_bytes([head[4], head[5]]));
        ends.push(ends[ends.len() - 1] + 7 + len);
    }
    assert_eq!(ends[ends.len() - 1], manifest.len());
    ends
}

/// Opens copies of a store, cut at the end of each record and within them.
fn cut_everywhere(root: &Path, place: &Path) {
    let manifest = fs::read(manifest_of(root)).unwrap();
    let ends = ends_of_records(&manifest);
    assert!(ends.len() > LOADS as usize + 2, "{ends:?}");
    let mut refused = 0;
    for cut in ends.iter().flat_map(|end| [*end, end + 9]).filter(|cut| *cut <= manifest.len()) {
        let copied = place.join("cut");
        copy_tree(root, &copied);
        File::options()
            .write(true)
            .open(manifest_of(&copied))
            .and_then(|file| file.set_len(cut as u64))
            .unwrap();
        match RocksEngine::open(&copied, settings()).and_then(|engine| rows(&engine)) {
            Ok(found) => assert_eq!(found, ROWS, "cut at {cut} of {}, {ends:?}", manifest.len()),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corruption, "cut at {cut}: {error}");
                refused += 1;
            }
        }
        fs::remove_dir_all(&copied).unwrap();
    }
    assert!(refused > LOADS, "{refused} of {}", ends.len());
}

#[test]
fn a_closed_store_with_a_cut_manifest_has_all_rows_or_stays_closed() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("store");
    drop(fill(&root));
    cut_everywhere(&root, place.path());
}

#[test]
fn a_killed_store_with_a_cut_manifest_has_all_rows_or_stays_closed() {
    let place = tempfile::tempdir().unwrap();
    let (root, killed) = (place.path().join("store"), place.path().join("killed"));
    let engine = fill(&root);
    let began = Instant::now();
    // Until RocksDB has stored what it wants to, and that was seen.
    let mut len = 0;
    while fs::metadata(manifest_of(&root)).unwrap().len()
        != std::mem::replace(&mut len, fs::metadata(manifest_of(&root)).unwrap().len())
    {
        assert!(began.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(500));
    }
    copy_tree(&root, &killed);
    drop(engine);
    cut_everywhere(&killed, place.path());
}

#[test]
fn a_copy_with_a_cut_manifest_has_all_rows_or_stays_closed() {
    let place = tempfile::tempdir().unwrap();
    let copy = place.path().join("copy");
    let engine = fill(&place.path().join("store"));
    engine.checkpoint(&copy).unwrap();
    drop(engine);
    let shard = copy.join("shard-0");
    let manifest = fs::read(manifest_of(&shard)).unwrap();
    for end in ends_of_records(&manifest).into_iter().filter(|end| *end < manifest.len()) {
        fs::write(manifest_of(&shard), &manifest[..end]).unwrap();
        let error = RocksEngine::open(&copy, settings()).expect_err("it is cut");
        assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
    }
    fs::write(manifest_of(&shard), &manifest).unwrap();
    assert_eq!(rows(&RocksEngine::open(&copy, settings()).unwrap()).unwrap(), ROWS);
}

/// The store stays closed, and says how to open it all the same.
#[test]
fn the_rows_of_files_that_are_not_listed_any_more_can_be_given_up() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("store");
    drop(fill(&root));
    let manifest = fs::read(manifest_of(&root)).unwrap();
    let giving_up = Settings { recover_log_to_damage: true, ..settings() };
    // From the end, as far as data files are missing from the list.
    let found = ends_of_records(&manifest).into_iter().rev().find_map(|end| {
        let cut = place.path().join(format!("cut-{end}"));
        copy_tree(&root, &cut);
        fs::write(manifest_of(&cut), &manifest[..end]).unwrap();
        let refused = RocksEngine::open(&cut, settings()).err();
        let engine = RocksEngine::open(&cut, giving_up.clone()).unwrap();
        let found = rows(&engine).unwrap();
        if found == ROWS {
            return None;
        }
        let refused = refused.expect("rows are missing");
        assert!(refused.message().contains("--cut-log"), "{refused}");
        let details = engine.statistics().unwrap().shards.remove(0).details;
        let given_up = |(name, bytes): &(String, u64)| {
            name.starts_with("manifest_") && name.ends_with("_bytes_given_up") && *bytes > 0
        };
        assert!(details.iter().any(given_up), "{details:?}");
        drop(engine);
        assert_eq!(rows(&RocksEngine::open(&cut, settings()).unwrap()).unwrap(), found);
        Some(found)
    });
    assert!(found.is_some_and(|found| found < ROWS), "{found:?}");
}
