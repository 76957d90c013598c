//! Opening, checking and copying stores.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, thread};

use rstest::rstest;
use tonnage::{BulkPutOptions, Clock, Error, ErrorKind, RocksDbSettings, Row, Store, WriteOptions};
use tonnage_engine::{Engine, MemoryEngine};
use tonnage_testkit::{Random, copy_tree};

use crate::common::Backend::{Memory, RocksDb};
use crate::common::shop::{self, rows_of};
use crate::common::{Backend, TestStore, all_rows, assert_error, builder, failure, row};

fn url(path: &Path) -> String {
    path.display().to_string()
}

fn open(path: &Path) -> tonnage::Result<Store> {
    builder(&url(path)).open()
}

#[test]
fn a_store_that_is_open_already_cannot_be_opened_again() {
    let store = RocksDb.open();
    assert_error(failure(open(&store.path().unwrap())), ErrorKind::Unavailable, &["store"]);
    store.execute("CREATE TABLE t (k LONG, PRIMARY KEY (k))").unwrap();
}

#[test]
fn a_store_closes_when_its_last_clone_and_its_tables_are_gone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let store = open(&path).unwrap();
    store.execute("CREATE TABLE t (k LONG, PRIMARY KEY (k))").unwrap();
    let table = store.clone().table("t").unwrap();
    drop(store);
    table.put(&row! { "k" => 1_i64 }, &WriteOptions::default()).unwrap();
    assert_error(failure(open(&path)), ErrorKind::Unavailable, &[]);
    drop(table);
    assert_eq!(open(&path).unwrap().table("t").unwrap().count().unwrap(), 1);
}

#[test]
fn a_directory_of_something_else_is_not_touched() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("thesis.tex"), "all my work").unwrap();
    let error = failure(open(directory.path()));
    assert!(matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Conflict), "{error:?}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_directory_that_cannot_be_made_is_unavailable() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("file"), "in the way").unwrap();
    let path = directory.path().join("file").join("store");
    assert_error(failure(open(&path)), ErrorKind::Unavailable, &["file"]);
}

#[test]
fn a_store_that_must_exist_is_not_made() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let opened = builder(&url(&path)).create_if_missing(false).open();
    assert_error(failure(opened), ErrorKind::NotFound, &["store"]);
    assert!(!path.exists());
}

#[rstest]
#[case("cassandra://a,b/keyspace", ErrorKind::Unsupported)]
#[case("postgres://a/b", ErrorKind::Invalid)]
fn a_store_of_another_kind_is_refused_naming_what_there_is(
    #[case] url: &str,
    #[case] kind: ErrorKind,
) {
    assert_error(failure(Store::open(url)), kind, &["rocksdb:PATH"]);
}

#[test]
fn a_url_with_its_kind_is_the_same_store_as_the_bare_path() {
    let directory = tempfile::tempdir().unwrap();
    let path = url(&directory.path().join("store"));
    builder(&format!("rocksdb:{path}"))
        .open()
        .unwrap()
        .execute("CREATE TABLE t (k LONG, PRIMARY KEY (k))")
        .unwrap();
    assert_eq!(builder(&path).create_if_missing(false).open().unwrap().tables().len(), 1);
}

/// The files of a store with this extension, the largest last.
fn files(root: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![root.to_path_buf()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort_by_key(|path| fs::metadata(path).unwrap().len());
    found
}

#[test]
fn a_store_of_a_newer_format_is_not_opened() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    drop(open(&path).unwrap());
    let manifest = fs::read_to_string(path.join("TONNAGE")).unwrap();
    fs::write(path.join("TONNAGE"), manifest.replace("format 1", "format 2")).unwrap();
    assert_error(failure(open(&path)), ErrorKind::Unsupported, &["newer", "2"]);
}

#[rstest]
fn a_sound_store_passes_its_check(#[values(Memory, RocksDb)] on: Backend) {
    let mut store = shop::stocked(on, 100);
    store.kv().put(&"/a".parse().unwrap(), b"x", &WriteOptions::default()).unwrap();
    store.reopen();
    let report = store.check().unwrap();
    assert!(report.is_sound(), "{:?}", report.damages);
    assert_eq!(
        report.rows,
        [("phones".to_string(), 400), ("phones.images".to_string(), 800)].into()
    );
    assert_eq!((report.pairs, report.leftover_rows), (1, 0));
}

/// A store of some thousand rows, closed, all in data files.
fn filled() -> (TestStore, PathBuf) {
    let mut store = RocksDb.with_tables("CREATE TABLE t (k LONG, v BINARY, PRIMARY KEY (k))");
    let rows: Vec<Row> = (0..20_000).map(sample).collect();
    store.bulk_put(vec![rows_of("t", rows)], &BulkPutOptions::default()).unwrap();
    // Recovery at open writes what is in the log to a data file.
    store.reopen();
    let path = store.path().unwrap();
    (store, path)
}

fn sample(key: i64) -> Row {
    row! { "k" => key, "v" => Random(key as u64).bytes(30) }
}

fn flip(file: &Path, bit: u64) {
    let mut bytes = fs::read(file).unwrap();
    bytes[(bit / 8) as usize] ^= 1 << (bit % 8);
    fs::write(file, bytes).unwrap();
}

#[test]
fn a_flipped_bit_in_a_data_file_is_reported_by_the_check() {
    let (_store, path) = filled();
    let directory = tempfile::tempdir().unwrap();
    let damaged = directory.path().join("damaged");
    copy_tree(&path, &damaged);
    let file = files(&damaged, "sst").pop().unwrap();
    flip(&file, fs::metadata(&file).unwrap().len() * 4);
    let report = open(&damaged).unwrap().check().unwrap();
    assert!(!report.is_sound());
    assert!(
        report.damages.iter().any(|damage| damage.what.to_ascii_lowercase().contains("checksum")),
        "{:?}",
        report.damages
    );
}

#[test]
fn flipped_bits_anywhere_are_reported_or_the_rows_are_exactly_right() {
    let (store, path) = filled();
    let expected: Vec<Row> = (0..20_000).map(sample).collect();
    // Some rows that are only in the log.
    for key in 0..200_i64 {
        store.table("t").unwrap().put(&sample(key), &WriteOptions::default()).unwrap();
    }
    let directory = tempfile::tempdir().unwrap();
    let sound = directory.path().join("sound");
    // The store is open but at rest.
    copy_tree(&path, &sound);
    let mut random = Random(11);
    let mut noticed = 0;
    for round in 0..24 {
        let damaged = directory.path().join(format!("damaged-{round}"));
        copy_tree(&sound, &damaged);
        let file = files(&damaged, if round % 2 == 0 { "sst" } else { "log" }).pop().unwrap();
        flip(&file, random.below(fs::metadata(&file).unwrap().len() * 8));
        let sound_after_all = match open(&damaged) {
            Ok(store) if store.check().unwrap().is_sound() => {
                assert_eq!(all_rows(&store, "t"), expected);
                true
            }
            Ok(_) => false,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corruption, "{error:?}");
                false
            }
        };
        noticed += usize::from(!sound_after_all);
        fs::remove_dir_all(&damaged).unwrap();
    }
    assert!(noticed >= 12, "only {noticed} of 24 flips were noticed");
}

#[test]
fn a_checkpoint_opens_as_a_store_of_its_own() {
    let store = shop::stocked(RocksDb, 20);
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("copy");
    store.checkpoint(&copy).unwrap();
    shop::stock(&store, &["Siemens"], 5);
    let copied = open(&copy).unwrap();
    assert_eq!(copied.table("phones").unwrap().count().unwrap(), 80);
    assert!(copied.check().unwrap().is_sound());
    assert_error(failure(store.checkpoint(&copy)), ErrorKind::Invalid, &["copy"]);
}

/// Data directories were copied one after another, while statements and writes went on. A copy had
/// rows of a schema that its catalog did not know, or an index that its catalog called complete
/// without some of the entries.
#[test]
fn checkpoints_over_three_directories_are_sound_beside_changes() {
    let place = tempfile::tempdir().unwrap();
    let data_directories = (0..3).map(|disk| place.path().join(format!("disk-{disk}"))).collect();
    let settings = RocksDbSettings { data_directories, ..crate::common::settings() };
    let store =
        Store::builder(url(&place.path().join("store"))).rocksdb_settings(settings).open().unwrap();
    store.execute("CREATE TABLE t (k LONG, v LONG, PRIMARY KEY (k))").unwrap();
    let done = AtomicBool::new(false);
    let copies = [0, 1, 2, 3, 4, 5].map(|number| place.path().join(format!("copy-{number}")));
    let copied = thread::scope(|threads| {
        threads.spawn(|| {
            for key in (0..).take_while(|_| !done.load(Ordering::Relaxed)) {
                store
                    .table("t")
                    .unwrap()
                    .put(&row! { "k" => key, "v" => key % 7_i64 }, &WriteOptions::default())
                    .unwrap();
            }
        });
        threads.spawn(|| {
            for round in (0..).take_while(|_| !done.load(Ordering::Relaxed)) {
                let add = format!(
                    "ALTER TABLE t ADD c{round} INTEGER DEFAULT 4; CREATE INDEX i ON t (v)"
                );
                store.execute(&add).unwrap();
                store
                    .execute(&format!("DROP INDEX i ON t; ALTER TABLE t DROP COLUMN c{round}"))
                    .unwrap();
            }
        });
        let copied: Vec<_> = copies.iter().map(|copy| store.checkpoint(copy)).collect();
        done.store(true, Ordering::Relaxed);
        copied
    });
    copied.into_iter().for_each(Result::unwrap);
    for copy in copies {
        let report = open(&copy).unwrap().check().unwrap();
        assert!(report.is_sound(), "{report:?}");
    }
}

#[rstest]
fn settling_and_statistics_tell_of_what_is_stored(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 100);
    store.settle().unwrap();
    let statistics = store.statistics().unwrap();
    assert_eq!(statistics.shards.len(), 1);
    assert!(statistics.rows_estimate() >= 1_200);
    assert_eq!(statistics.compaction_pending_bytes(), 0);
}

const CLUSTER: &str = "cassandra://host/keyspace";

/// Acts as the engine of a cluster.
fn open_cluster(
    url: &str,
    create: bool,
    clock: Arc<dyn Clock>,
) -> tonnage::Result<Arc<dyn Engine>> {
    match (url, create) {
        (CLUSTER, true) => Ok(Arc::new(MemoryEngine::with_clock(clock))),
        _ => Err(Error::not_found("there is no store")),
    }
}

#[test]
fn a_store_on_a_cluster_needs_an_engine_of_the_program() {
    let refused = ["this program comes without", "rocksdb:PATH"];
    assert_error(failure(Store::open(CLUSTER)), ErrorKind::Unsupported, &refused);
    let store = Store::builder(CLUSTER).cluster_engine(open_cluster).open().unwrap();
    store.execute("CREATE TABLE t (k LONG, PRIMARY KEY (k))").unwrap();
}

#[test]
fn a_store_on_a_cluster_is_made_only_if_it_may_be() {
    let builder = || Store::builder(CLUSTER).cluster_engine(open_cluster).create_if_missing(false);
    assert_eq!(builder().path().unwrap_err().kind(), ErrorKind::Unsupported);
    assert_error(failure(builder().open()), ErrorKind::NotFound, &["no store"]);
}
