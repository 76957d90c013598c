//! How loads end: well, abandoned, or stopped by what they meet.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rstest::rstest;
use tempfile::TempDir;
use tonnage_engine::{
    Engine, Entries, Error, ErrorKind, KeyPart, KeyShape, LoadObserver, LoadOptions, LoadSession,
    OnExisting, Result, SpaceId, StoredRun,
};
use tonnage_rocksdb::{RocksEngine, Settings};

use crate::common::{open, row_count, settings};

/// So little memory that a load spills and stores files.
const LITTLE_MEMORY: usize = 256 << 10;

struct Store {
    directory: TempDir,
    engine: RocksEngine,
}

impl Store {
    fn new(shards: usize) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data_directories =
            (0..shards).map(|shard| directory.path().join(format!("disk-{shard}"))).collect();
        let settings = Settings { data_directories, ..settings() };
        let engine = RocksEngine::open(directory.path().join("store"), settings).unwrap();
        Self { directory, engine }
    }

    fn space(&self, name: &str) -> SpaceId {
        self.engine.create_space(name, &KeyShape::new([KeyPart::Fixed(8)])).unwrap()
    }

    fn load(&self, options: LoadOptions) -> Box<dyn LoadSession> {
        self.engine.load(options).unwrap()
    }

    fn count(&self, space: SpaceId) -> usize {
        row_count(&self.engine, space)
    }

    /// Files that only a load has use for.
    fn load_files(&self) -> Vec<PathBuf> {
        let is_of_load = |path: &Path| path.parent().is_some_and(|parent| parent.ends_with("load"));
        files_below(self.directory.path(), is_of_load)
    }

    fn data_files(&self) -> Vec<PathBuf> {
        let is_data = |path: &Path| path.extension().is_some_and(|extension| extension == "sst");
        files_below(self.directory.path(), is_data)
    }
}

/// The wanted files below a directory, in order.
fn files_below(directory: &Path, is_wanted: fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path, is_wanted));
        } else if is_wanted(&path) {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn little_memory() -> LoadOptions {
    LoadOptions { memory_bytes_max: LITTLE_MEMORY, parallelism: 2, ..LoadOptions::default() }
}

fn rows(range: std::ops::Range<u64>, value: &[u8]) -> Entries {
    let mut entries = Entries::new();
    range.for_each(|row| {
        entries.push(&row.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes(), value, row, 0)
    });
    entries
}

fn push_all(session: &dyn LoadSession, space: SpaceId, count: u64) {
    for start in (0..count).step_by(1_000) {
        session.push(space, 0, &rows(start..count.min(start + 1_000), &[b'v'; 100])).unwrap();
    }
}

/// Misbehaves when it is called with rows.
struct Moody {
    on_stored: fn(),
    on_existed: fn() -> Result<()>,
}

impl LoadObserver for Moody {
    fn stored(&self, _run: StoredRun) {
        (self.on_stored)();
    }

    fn existed(&self, _stream: u32, _position: u64, _space: SpaceId, _key: &[u8]) -> Result<()> {
        (self.on_existed)()
    }
}

#[test]
fn an_abandoned_session_stores_nothing_and_leaves_no_files() {
    let store = Store::new(2);
    let space = store.space("abandoned");
    let session = store.load(little_memory());
    push_all(&*session, space, 50_000);
    drop(session);
    assert_eq!(store.load_files(), Vec::<PathBuf>::new());
    assert_eq!(store.count(space), 0);
}

#[test]
fn a_finished_session_leaves_no_files_of_its_own() {
    let store = Store::new(2);
    let space = store.space("finished");
    let session = store.load(little_memory());
    push_all(&*session, space, 50_000);
    session.finish().unwrap();
    assert_eq!(store.load_files(), Vec::<PathBuf>::new());
    assert_eq!(store.count(space), 50_000);
}

#[test]
fn spilled_runs_go_where_the_caller_wants_them() {
    let store = Store::new(1);
    let space = store.space("spilled");
    let elsewhere = tempfile::tempdir().unwrap();
    let spill = elsewhere.path().join("made").join("on demand");
    let session =
        store.load(LoadOptions { spill_directory: Some(spill.clone()), ..little_memory() });
    push_all(&*session, space, 20_000);
    session.finish().unwrap();
    assert!(spill.is_dir());
    assert_eq!(store.count(space), 20_000);
}

#[test]
fn a_spill_directory_that_cannot_be_made_stops_the_load() {
    let store = Store::new(1);
    let space = store.space("stopped");
    let file = store.directory.path().join("a file");
    std::fs::write(&file, b"").unwrap();
    let session =
        store.load(LoadOptions { spill_directory: Some(file.join("spill")), ..little_memory() });
    let stopped = (0..100).try_for_each(|batch| {
        session.push(space, 0, &rows(batch * 1_000..batch * 1_000 + 1_000, &[b'v'; 100]))
    });
    let error = stopped.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains("a file"), "{error}");
    assert_eq!(session.finish().unwrap_err().message(), error.message());
}

#[rstest]
fn a_space_dropped_meanwhile_is_not_found(#[values(10, 50_000)] count: u64) {
    let store = Store::new(1);
    let (dropped, kept) = (store.space("dropped"), store.space("kept"));
    let session = store.load(little_memory());
    push_all(&*session, dropped, count);
    store.engine.drop_space(dropped).unwrap();
    assert_eq!(session.flush().unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(session.push(kept, 0, &rows(0..1, b"")).unwrap_err().kind(), ErrorKind::NotFound);
    drop(session);
    assert_eq!(store.load_files(), Vec::<PathBuf>::new());
    let again = store.load(little_memory());
    push_all(&*again, kept, count);
    again.finish().unwrap();
    assert_eq!(store.count(kept), count as usize);
}

#[rstest]
fn an_observer_that_panics_stops_the_load(#[values(10, 50_000)] count: u64) {
    let store = Store::new(1);
    let space = store.space("panics");
    let observer = Moody { on_stored: || panic!("seen too much"), on_existed: || Ok(()) };
    let session = store.load(LoadOptions { observer: Arc::new(observer), ..little_memory() });
    push_all(&*session, space, count);
    let error = session.flush().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert!(error.message().contains("seen too much"), "{error}");
    assert_eq!(session.finish().unwrap_err().message(), error.message());
    push_all(&*store.load(little_memory()), space, 10);
}

#[rstest]
fn the_error_of_an_observer_stops_the_load(#[values(10, 50_000)] count: u64) {
    let store = Store::new(1);
    let space = store.space("stops");
    let observer = Moody { on_stored: || (), on_existed: || Err(Error::invalid("enough")) };
    let session = store.load(LoadOptions { observer: Arc::new(observer), ..little_memory() });
    push_all(&*session, space, count);
    session.flush().unwrap();
    push_all(&*session, space, count);
    let error = session.flush().unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Invalid, "enough"));
}

#[rstest]
fn fail_names_the_key_that_exists(#[values(10, 50_000)] count: u64) {
    let store = Store::new(1);
    let space = store.space("fails");
    let first = store.load(little_memory());
    first.push(space, 0, &rows(7..8, b"stored")).unwrap();
    first.finish().unwrap();
    let session = store.load(LoadOptions { on_existing: OnExisting::Fail, ..little_memory() });
    push_all(&*session, space, count);
    let error = session.finish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.message().starts_with("entry 7 of stream 0"), "{error}");
}

#[test]
fn values_larger_than_the_memory_pass() {
    let store = Store::new(1);
    let space = store.space("huge");
    let session = store.load(little_memory());
    let huge = vec![b'h'; 5 << 20];
    for row in 0..6 {
        session.push(space, 0, &rows(row..row + 1, &huge)).unwrap();
    }
    session.finish().unwrap();
    assert_eq!(store.count(space), 6);
}

#[test]
fn a_load_into_many_spaces_puts_each_row_into_its_own() {
    let store = Store::new(2);
    let spaces: Vec<SpaceId> =
        (0..40).map(|number| store.space(&format!("space {number}"))).collect();
    let session = store.load(little_memory());
    for (place, space) in (1..).zip(&spaces) {
        push_all(&*session, *space, place * 100);
    }
    session.finish().unwrap();
    let counts: Vec<usize> = spaces.iter().map(|space| store.count(*space)).collect();
    assert_eq!(counts, (1..=40).map(|place| place * 100).collect::<Vec<_>>());
}

#[test]
fn more_pushers_than_memory_for_them_all_come_through() {
    let store = Store::new(3);
    let space = store.space("crowded");
    let session =
        store.load(LoadOptions { memory_bytes_max: 1, parallelism: 1, ..LoadOptions::default() });
    thread::scope(|threads| {
        for pusher in 0..8 {
            let session = &session;
            threads.spawn(move || {
                for batch in 0..20 {
                    let start = (pusher * 20 + batch) * 250;
                    session
                        .push(space, pusher as u32, &rows(start..start + 250, &[b'v'; 50]))
                        .unwrap();
                }
            });
        }
        for _ in 0..5 {
            session.flush().unwrap();
            thread::sleep(Duration::from_millis(2));
        }
    });
    session.finish().unwrap();
    assert_eq!(store.count(space), 40_000);
}

/// Enough spill files that they are merged among themselves before the end.
#[test]
fn hundreds_of_spilled_runs_are_merged() {
    let store = Store::new(1);
    let space = store.space("spills");
    let session =
        store.load(LoadOptions { memory_bytes_max: 1, parallelism: 2, ..LoadOptions::default() });
    push_all(&*session, space, 150_000);
    session.finish().unwrap();
    assert_eq!(store.count(space), 150_000);
}

#[test]
fn the_rows_of_a_load_are_there_after_reopening() {
    let store = Store::new(2);
    let space = store.space("kept");
    let session = store.load(little_memory());
    push_all(&*session, space, 30_000);
    session.finish().unwrap();
    let Store { directory, engine } = store;
    drop(engine);
    let engine = open(&directory.path().join("store")).unwrap();
    assert_eq!(Store { directory, engine }.count(space), 30_000);
}

/// What makes it quick: it uses the log, as a small write does.
#[test]
fn a_small_load_makes_no_files() {
    let store = Store::new(1);
    let space = store.space("quick");
    let before = store.data_files();
    for row in 0..50 {
        let session = store.load(LoadOptions::default());
        session.push(space, 0, &rows(row..row + 1, b"value")).unwrap();
        session.flush().unwrap();
        assert_eq!(store.load_files(), Vec::<PathBuf>::new());
        session.finish().unwrap();
    }
    assert_eq!(store.data_files(), before);
    assert_eq!(store.count(space), 50);
}

/// Every entry is reported once, with the counts of its stream, however the keys of several streams
/// collide.
#[rstest]
fn counts_add_up(
    #[values(OnExisting::Keep, OnExisting::Replace)] on_existing: OnExisting,
    #[values(20, 20_000)] count: u64,
) {
    #[derive(Default)]
    struct Ledger(Mutex<[(u64, u64, u64); 3]>);
    impl LoadObserver for Ledger {
        fn stored(&self, run: StoredRun) {
            let counts = &mut self.0.lock().unwrap()[run.stream as usize];
            counts.0 += run.inserted;
            counts.1 += run.replaced;
        }
        fn existed(&self, stream: u32, _position: u64, _space: SpaceId, _key: &[u8]) -> Result<()> {
            self.0.lock().unwrap()[stream as usize].2 += 1;
            Ok(())
        }
    }
    let store = Store::new(2);
    let space = store.space("counted");
    let ledger = Arc::new(Ledger::default());
    let session = store.load(LoadOptions {
        on_existing,
        observer: Arc::clone(&ledger) as _,
        ..little_memory()
    });
    for stream in 0..3 {
        session.push(space, stream, &rows(0..count, b"value of a row")).unwrap();
        session.push(space, stream, &rows(count / 2..count, b"again")).unwrap();
    }
    session.finish().unwrap();
    let counts = ledger.0.lock().unwrap();
    assert!(counts.iter().all(|(inserted, replaced, existed)| inserted + replaced + existed == count + count / 2), "{counts:?}");
    assert_eq!(counts.iter().map(|counts| counts.0).sum::<u64>(), count);
    let lost = counts
        .iter()
        .map(|counts| if on_existing == OnExisting::Keep { counts.1 } else { counts.2 })
        .sum::<u64>();
    assert_eq!(lost, 0);
    assert_eq!(store.count(space), count as usize);
}
