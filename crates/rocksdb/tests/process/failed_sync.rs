//! A disk that fails one sync of the MANIFEST.
//!
//! The story of a bug: RocksDB removes a file that it was taking in when the sync of its MANIFEST
//! fails, but the MANIFEST names the file by then. The store never opened again, and everything in
//! it was out of reach (docs/rocksdb-ingestion-fsync.md).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use tonnage_engine::{
    Condition, Durability, Engine, Entries, KeyPart, KeyShape, LoadOptions, Maintenance,
    Projection, Rows, SpaceId, WriteBatch,
};
use tonnage_rocksdb::RocksEngine;
use tonnage_testkit::{again, copy_tree};

use crate::common::open;
use crate::shim;

const STORE: &str = "FAILED_SYNC_STORE";
const ABORT: &str = "FAILED_SYNC_ABORT";
const LOADED: u32 = 120_000;

/// A store with one synced row.
fn make(root: &Path) {
    let engine = open(root).unwrap();
    let space = engine.create_space("pairs", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    let mut batch = WriteBatch::new(space);
    batch.put(&u32::MAX.to_be_bytes(), b"acknowledged", 0, Condition::Always);
    engine.write(&batch, Durability::Fsync).unwrap();
}

fn space(engine: &RocksEngine) -> SpaceId {
    engine.spaces().unwrap()[0].id
}

fn load(engine: &RocksEngine) -> tonnage_engine::Result<()> {
    let session =
        engine.load(LoadOptions { durability: Durability::Fsync, ..LoadOptions::default() })?;
    let mut entries = Entries::new();
    for key in 0..LOADED {
        let value = format!("{:0120}", u64::from(key) * 7919);
        entries.push(&key.to_be_bytes(), value.as_bytes(), u64::from(key), 0);
    }
    session.push(space(engine), 0, &entries)?;
    session.flush()
}

fn row(engine: &RocksEngine, key: u32) -> Option<Vec<u8>> {
    let mut rows = Rows::new();
    let key = key.to_be_bytes();
    engine
        .read(
            space(engine),
            &[&key[..]].into_iter().collect(),
            Projection::KeysAndValues,
            &mut rows,
        )
        .unwrap();
    (rows.len() == 1).then(|| rows.values.get(0).to_vec())
}

/// Runs `in_a_child` on a store, with the `nth` sync of its MANIFEST failing.
fn run_child(shim: &Path, root: &Path, nth: usize, more: &[(&str, &str)]) -> Output {
    again("failed_sync::in_a_child")
        .env("LD_PRELOAD", shim)
        .env(STORE, root)
        .env("FAIL_PATH", "/db/MANIFEST-")
        .env("FAIL_NTH", nth.to_string())
        .envs(more.iter().copied())
        .output()
        .unwrap()
}

/// Not a test by itself: what the child processes of the others do.
#[test]
fn in_a_child() {
    let Some(root) = std::env::var_os(STORE).map(PathBuf::from) else { return };
    let outcome = open(&root).and_then(|engine| {
        let loaded = load(&engine);
        if loaded.is_err() && std::env::var_os(ABORT).is_some() {
            println!("load failed");
            std::process::abort();
        }
        loaded
    });
    println!("load {}", if outcome.is_ok() { "succeeded" } else { "failed" });
}

fn kept_files(root: &Path) -> usize {
    fs::read_dir(root.join("load")).map_or(0, Iterator::count)
}

/// Lets each of the first syncs of the MANIFEST fail in turn, on a copy of a store each, and hands
/// the copy over. Tells in how many of them a file was kept.
fn each_sync_failing(more: &[(&str, &str)], mut judge: impl FnMut(usize, &Path, &Path)) {
    let place = tempfile::tempdir().unwrap();
    let Some(shim) = shim::syncs_shim(place.path()) else { return };
    let root = place.path().join("store");
    make(&root);
    let mut kept = 0;
    for nth in 1..=6 {
        let copied = place.path().join(format!("copy-{nth}"));
        copy_tree(&root, &copied);
        let output = run_child(&shim, &copied, nth, more);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("load "), "{said} {}", String::from_utf8_lossy(&output.stderr));
        kept += usize::from(kept_files(&copied) > 0);
        judge(nth, &copied, &shim);
    }
    assert!(kept > 0, "no ingestion failed at its note");
}

fn assert_whole(nth: usize, root: &Path) {
    let engine = open(root).unwrap_or_else(|error| panic!("after failed sync {nth}: {error}"));
    assert_eq!(
        row(&engine, u32::MAX).as_deref(),
        Some(&b"acknowledged"[..]),
        "after failed sync {nth}"
    );
    assert_eq!(engine.verify().unwrap().damages, [], "after failed sync {nth}");
    load(&engine).unwrap();
    assert!(row(&engine, 0).is_some() && row(&engine, LOADED - 1).is_some());
    assert_eq!(kept_files(root), 0, "nothing is left behind");
}

#[test]
fn a_failed_sync_of_the_manifest_during_a_load_costs_nothing_but_the_load() {
    each_sync_failing(&[], |nth, root, _| assert_whole(nth, root));
}

#[test]
fn a_process_that_ends_abruptly_after_the_failure_leaves_a_store_that_opens() {
    each_sync_failing(&[(ABORT, "1")], |nth, root, _| assert_whole(nth, root));
}

/// The opening that puts things right meets the same failure, again and again.
#[test]
fn failures_may_repeat_before_the_store_opens() {
    each_sync_failing(&[], |nth, root, shim| {
        for _ in 0..2 {
            run_child(shim, root, 1, &[("FAIL_ALL", "1")]);
        }
        assert_whole(nth, root);
    });
}
