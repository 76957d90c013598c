//! What small writes meet while compaction rests, and while it catches up.

use std::sync::mpsc;

use rocksdb::{ColumnFamilyDescriptor, CompactionDecision, Options, WriteOptions};
use tonnage_testkit::wait_until;

use super::*;

/// A database whose compaction waits until a word comes, or its sender is dropped.
fn open(place: &tempfile::TempDir) -> (Arc<DB>, mpsc::Sender<()>) {
    let (release, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    let mut rows = Options::default();
    rows.set_disable_auto_compactions(true);
    rows.set_compaction_filter("held", move |_level, _key, _value| {
        let _ = held.lock().unwrap().recv();
        CompactionDecision::Keep
    });
    let mut options = Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    let families = [
        ColumnFamilyDescriptor::new("default", Options::default()),
        ColumnFamilyDescriptor::new(ROWS, rows),
    ];
    (Arc::new(DB::open_cf_descriptors(&options, place.path(), families).unwrap()), release)
}

fn write(db: &DB, key: u32) {
    let mut options = WriteOptions::default();
    options.set_no_slowdown(true);
    db.put_cf_opt(db.cf_handle(ROWS).unwrap(), key.to_be_bytes(), [7; 100], &options).unwrap();
}

/// Leaves so many files at level 0 that overlap.
fn pile_up(db: &DB, files: u32) {
    for file in 0..files {
        (0..100).for_each(|key| write(db, key * files + file));
        db.flush_cf(db.cf_handle(ROWS).unwrap()).unwrap();
    }
}

fn pause(db: &Arc<DB>) -> CompactionPause {
    CompactionPause::new(Arc::clone(db), Arc::new(WriteThrottle::new(Arc::clone(db))))
}

/// Only the limits for files at level 0 were lifted. After a large load the bytes that waited for
/// compaction were past theirs, and small writes were stopped until compaction was through.
#[test]
fn what_waits_for_compaction_already_holds_no_small_write_up() {
    let place = tempfile::tempdir().unwrap();
    let (db, release) = open(&place);
    pile_up(&db, 12);
    let limits = [
        ("soft_pending_compaction_bytes_limit", "1000"),
        ("hard_pending_compaction_bytes_limit", "1000"),
    ];
    db.set_options_cf(db.cf_handle(ROWS).unwrap(), &limits).unwrap();
    assert!(CompactionBacklog::of(&db).bytes > 1_000);
    let pause = pause(&db);
    assert_eq!(pause.shared.state().phase, PausePhase::CatchingUp);
    for stopped in ["rocksdb.is-write-stopped", "rocksdb.actual-delayed-write-rate"] {
        assert_eq!(db.property_int_value(stopped).unwrap(), Some(0), "{stopped}");
    }
    write(&db, 7);
    drop(release);
    wait_until("compaction catches up", || pause.shared.state().phase == PausePhase::Steady);
    assert_eq!(pause.shared.files_at_top(), 0);
}

/// A load that merged for hours kept compaction off for as long, however many files small writes
/// left meanwhile.
#[test]
fn compaction_goes_on_under_many_files_though_a_load_still_merges() {
    let place = tempfile::tempdir().unwrap();
    let (db, release) = open(&place);
    drop(release);
    let pause = pause(&db);
    let merging = pause.begin_load();
    assert_eq!(pause.shared.state().phase, PausePhase::Paused);
    pile_up(&db, FILES_MAX as u32 + 1);
    wait_until("compaction goes on", || pause.shared.state().phase != PausePhase::Paused);
    drop(merging);
}

/// The number of the newest OPTIONS file. RocksDB takes two numbers for each that it writes: one
/// until it is whole, and one for good.
fn options_file(place: &tempfile::TempDir) -> u64 {
    let names = std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let number = |name: std::ffi::OsString| name.to_str()?.strip_prefix("OPTIONS-")?.parse().ok();
    names.filter_map(number).max().unwrap()
}

/// Each load after a pause had the OPTIONS file written three times, with two syncs each.
#[test]
fn a_load_that_leaves_little_to_compact_has_the_options_written_twice() {
    let place = tempfile::tempdir().unwrap();
    let (db, _release) = open(&place);
    let pause = pause(&db);
    let before = options_file(&place);
    drop(pause.begin_load());
    wait_until("the rest ends", || pause.shared.state().phase == PausePhase::Steady);
    assert_eq!(options_file(&place) - before, 2 * 2);
}
