//! A store of more files than the process may have open.
//!
//! The story of a bug: every data file stayed open, and the usual limit of 1,024 ended a store at
//! some 60 GiB: it could neither be written nor opened.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tonnage_engine::{
    Condition, Durability, Engine, Entries, KeyPart, KeyShape, LoadOptions, Projection, Rows,
    SpaceId, WriteBatch,
};
use tonnage_rocksdb::RocksEngine;
use tonnage_testkit::again;

use crate::common::{open, row_count};

const ROOT: &str = "FEW_DESCRIPTORS_ROOT";
const LOADS: u32 = 150;
const ROWS: u32 = 40;

/// Stores some rows as a file of their own.
fn load(engine: &RocksEngine, space: SpaceId, number: u32) {
    // So little memory that entries are spilled, which makes it a file.
    let options =
        LoadOptions { memory_bytes_max: 256 << 10, parallelism: 1, ..LoadOptions::default() };
    let session = engine.load(options).unwrap();
    let mut entries = Entries::new();
    for row in 0..ROWS {
        entries.push(&(number * ROWS + row).to_be_bytes(), &[row as u8; 10_000], u64::from(row), 0);
    }
    session.push(space, 0, &entries).unwrap();
    session.finish().unwrap();
}

fn data_files(root: &Path) -> usize {
    let entries = fs::read_dir(root.join("db")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "sst")).count()
}

/// Not a test by itself: opens the store with few descriptors, reads it, and writes to it.
#[test]
fn in_a_child() {
    let Some(root) = std::env::var_os(ROOT).map(PathBuf::from) else { return };
    let engine = open(&root).unwrap();
    let space = engine.spaces().unwrap()[0].id;
    let mut rows = Rows::new();
    let keys: Vec<[u8; 4]> = (0..LOADS).map(|load| (load * ROWS).to_be_bytes()).collect();
    // A read holds all files open that it looks into at a time.
    for some in keys.chunks(10) {
        engine
            .read(
                space,
                &some.iter().map(|key| &key[..]).collect(),
                Projection::KeysAndValues,
                &mut rows,
            )
            .unwrap();
        assert_eq!(rows.len(), some.len());
    }
    let mut batch = WriteBatch::new(space);
    batch.put(&u32::MAX.to_be_bytes(), b"written", 0, Condition::Always);
    engine.write(&batch, Durability::Fsync).unwrap();
    load(&engine, space, LOADS);
    assert_eq!(row_count(&engine, space) as u32, (LOADS + 1) * ROWS + 1);
    println!("all is well");
}

#[test]
fn a_store_of_more_files_than_may_be_open_opens_and_works() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("store");
    let engine = open(&root).unwrap();
    let space = engine.create_space("pairs", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    (0..LOADS).for_each(|number| load(&engine, space, number));
    drop(engine);
    assert!(data_files(&root) > 100, "{} files", data_files(&root));
    let child = again("few_descriptors::in_a_child");
    let ended = Command::new("sh")
        .args(["-c", "ulimit -n 64 && exec \"$0\" \"$@\""])
        .arg(child.get_program())
        .args(child.get_args())
        .env(ROOT, &root)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(said.contains("all is well"), "{said} {}", String::from_utf8_lossy(&ended.stderr));
}
