//! Where a store may live, and what is said of places where it may not.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use tonnage_engine::{
    Condition, Durability, Engine, ErrorKind, KeyPart, KeyShape, Maintenance, Projection, Rows,
    SpaceId, WriteBatch,
};
use tonnage_rocksdb::{RocksEngine, Settings};

use crate::common::{open, settings};

fn refused(root: &Path, settings: Settings) -> tonnage_engine::Error {
    RocksEngine::open(root, settings).expect_err("the store must not open")
}

fn over(directories: &[&Path]) -> Settings {
    Settings {
        data_directories: directories.iter().map(|directory| directory.to_path_buf()).collect(),
        ..settings()
    }
}

/// A store over two data directories that holds one row in each of many shard keys.
fn two_shards(place: &TempDir) -> [std::path::PathBuf; 3] {
    let [root, first, second] = ["store", "first", "second"].map(|name| place.path().join(name));
    let engine = RocksEngine::open(&root, over(&[&first, &second])).unwrap();
    let space = engine.create_space("pairs", &KeyShape::new([KeyPart::Fixed(1)])).unwrap();
    (0..50).for_each(|key| put(&engine, space, &[key]));
    [root, first, second]
}

fn put(engine: &RocksEngine, space: SpaceId, key: &[u8]) {
    let mut batch = WriteBatch::new(space);
    batch.put(key, key, 0, Condition::Always);
    engine.write(&batch, Durability::Write).unwrap();
}

fn rows_found(engine: &RocksEngine) -> usize {
    let keys = (0..50_u8).map(|key| [key]).collect::<Vec<_>>();
    let mut rows = Rows::new();
    let space = engine.spaces().unwrap()[0].id;
    engine
        .read(
            space,
            &keys.iter().map(|key| &key[..]).collect(),
            Projection::KeysAndValues,
            &mut rows,
        )
        .unwrap();
    rows.len()
}

#[test]
fn a_store_remembers_its_data_directories() {
    let place = tempfile::tempdir().unwrap();
    let [root, first, second] = two_shards(&place);
    assert_eq!(rows_found(&open(&root).unwrap()), 50);
    let engine = RocksEngine::open(&root, over(&[&first, &second])).unwrap();
    assert_eq!(engine.capability().shards, 2);
}

#[test]
fn other_data_directories_than_before_are_invalid() {
    let place = tempfile::tempdir().unwrap();
    let [root, first, second] = two_shards(&place);
    for settings in [
        over(&[&first]),
        over(&[&second, &first]),
        over(&[&first, &second, &place.path().join("third")]),
    ] {
        let error = refused(&root, settings);
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(
            error.message().contains("first") && error.message().contains("second"),
            "it says what the store has: {error}"
        );
    }
}

#[test]
fn a_data_directory_given_twice_is_invalid() {
    let place = tempfile::tempdir().unwrap();
    let disk = place.path().join("disk");
    assert_eq!(
        refused(&place.path().join("store"), over(&[&disk, &disk])).kind(),
        ErrorKind::Invalid
    );
}

#[test]
fn mixed_up_data_directories_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let [root, first, second] = two_shards(&place);
    let aside = place.path().join("aside");
    fs::rename(&first, &aside).unwrap();
    fs::rename(&second, &first).unwrap();
    fs::rename(&aside, &second).unwrap();
    let error = refused(&root, settings());
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains("shard 0 of 2"), "{error}");
}

#[test]
fn a_missing_data_directory_is_never_made_anew() {
    let place = tempfile::tempdir().unwrap();
    let [root, _, second] = two_shards(&place);
    fs::remove_dir_all(&second).unwrap();
    for _ in 0..2 {
        let error = refused(&root, settings());
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(
            error.message().contains("second") && error.message().contains("mounted"),
            "{error}"
        );
    }
    fs::create_dir(&second).unwrap();
    assert_eq!(refused(&root, settings()).kind(), ErrorKind::Unavailable);
}

#[test]
fn a_missing_database_is_never_made_anew() {
    let place = tempfile::tempdir().unwrap();
    let [root, first, _] = two_shards(&place);
    fs::remove_dir_all(first.join("db")).unwrap();
    refused(&root, settings());
    assert!(!first.join("db").join("CURRENT").exists());
}

#[test]
fn a_store_of_a_newer_format_is_unsupported() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("store");
    drop(open(&root).unwrap());
    let manifest = fs::read_to_string(root.join("TONNAGE")).unwrap();
    fs::write(root.join("TONNAGE"), manifest.replace("format 1", "format 2")).unwrap();
    let error = refused(&root, settings());
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    for part in ["format 2", "up to 1", "newer Tonnage"] {
        assert!(error.message().contains(part), "{error}");
    }
}

#[test]
fn a_directory_of_something_else_is_invalid_and_stays_as_it_is() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("holiday.jpg"), b"beach").unwrap();
    let error = refused(place.path(), settings());
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains("holiday.jpg"), "{error}");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    assert_eq!(
        refused(&place.path().join("store"), over(&[place.path()])).kind(),
        ErrorKind::Invalid
    );
}

#[test]
fn a_store_that_is_not_there_is_not_found_unless_it_may_be_made() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("store");
    let error = refused(&root, Settings { create_if_missing: false, ..settings() });
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(!root.exists());
}

#[test]
fn a_place_that_cannot_be_written_is_unavailable_and_named() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("file"), b"").unwrap();
    let root = place.path().join("file").join("store");
    let error = refused(&root, settings());
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains(&root.display().to_string()), "{error}");
}

#[test]
fn a_store_is_open_once() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("store");
    let engine = open(&root).unwrap();
    let error = refused(&root, settings());
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let told = "the store is open: this process has it open already; close it there";
    assert!(error.message().contains(told), "{error}");
    drop(engine);
    open(&root).unwrap();
}

/// The story of a bug: the one that came second found a directory that was not empty any more, and
/// took it for someone else's.
#[test]
fn of_those_who_make_one_store_at_once_each_has_it_or_is_told_that_it_is_open() {
    let place = tempfile::tempdir().unwrap();
    for round in 0..25 {
        let root = place.path().join(format!("store-{round}"));
        let start = std::sync::Barrier::new(3);
        let make = || {
            start.wait();
            match open(&root) {
                Ok(engine) => Some(engine),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
                    assert!(error.message().contains("the store is open: "), "{error}");
                    None
                }
            }
        };
        let made = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..3).map(|_| scope.spawn(make)).collect();
            makers.into_iter().filter_map(|maker| maker.join().unwrap()).count()
        });
        assert!(made > 0);
        open(&root).unwrap();
    }
}

/// What a crash leaves while a store is being created: a lock; half a manifest; a manifest in state
/// `making`, with or without directories.
#[test]
fn a_store_whose_making_was_cut_short_is_completed() {
    let place = tempfile::tempdir().unwrap();
    let [root, first, _] = two_shards(&place);
    let manifest =
        fs::read_to_string(root.join("TONNAGE")).unwrap().replace("state ready", "state making");
    let making = |name: &str, text: &str| {
        for entry in fs::read_dir(place.path()).unwrap() {
            fs::remove_dir_all(entry.unwrap().path()).unwrap();
        }
        fs::create_dir(&root).unwrap();
        fs::write(root.join("LOCK"), b"").unwrap();
        fs::write(root.join(name), text).unwrap();
    };

    making("TONNAGE.new", &manifest[..20]);
    open(&root).unwrap();
    making("TONNAGE", &manifest);
    assert_eq!(open(&root).unwrap().capability().shards, 2);
    making("TONNAGE", &manifest);
    fs::create_dir_all(first.join("db")).unwrap();
    drop(open(&root).unwrap());
    assert!(fs::read_to_string(root.join("TONNAGE")).unwrap().contains("state ready"));
    open(&root).unwrap();
}

#[test]
fn a_checkpoint_opens_as_a_store_of_its_own() {
    let place = tempfile::tempdir().unwrap();
    let [root, ..] = two_shards(&place);
    let copy = place.path().join("copy");
    let engine = open(&root).unwrap();
    engine.checkpoint(&copy).unwrap();
    let space = engine.spaces().unwrap()[0].id;
    put(&engine, space, &[200]);
    // A copy can be moved, and lives while the original is open.
    let moved = place.path().join("moved");
    fs::rename(&copy, &moved).unwrap();
    let opened = open(&moved).unwrap();
    assert_eq!(opened.spaces().unwrap(), engine.spaces().unwrap());
    assert_eq!((opened.capability().shards, rows_found(&opened)), (2, 50));
    assert_eq!(opened.verify().unwrap().rows, 50);
    assert_eq!(engine.verify().unwrap().rows, 51);
    assert_eq!(engine.checkpoint(&moved).unwrap_err().kind(), ErrorKind::Invalid);
}

/// The story of a bug: what a copy that was cut short had left kept old data files on the disk, and
/// no copy could be written there before a user had removed it by hand.
#[test]
fn a_copy_takes_the_place_of_one_that_was_cut_short() {
    let place = tempfile::tempdir().unwrap();
    let [root, ..] = two_shards(&place);
    let engine = open(&root).unwrap();
    let (copy, leftover) = (place.path().join("copy"), place.path().join("copy.partial"));
    fs::create_dir_all(leftover.join("shard-0/db")).unwrap();
    fs::write(leftover.join("shard-0/db/000012.sst"), b"old rows").unwrap();
    fs::write(leftover.join("LOCK"), b"").unwrap();
    engine.checkpoint(&copy).unwrap();
    assert!(!leftover.exists());
    assert_eq!(rows_found(&open(&copy).unwrap()), 50);
}

#[test]
fn a_copy_does_not_remove_what_is_not_its_own() {
    let place = tempfile::tempdir().unwrap();
    let [root, ..] = two_shards(&place);
    let engine = open(&root).unwrap();
    let other = place.path().join("copy.partial");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("holiday.jpg"), b"beach").unwrap();
    let error = engine.checkpoint(&place.path().join("copy")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains("holiday.jpg"), "{error}");
    assert!(other.join("holiday.jpg").exists());
}
