//! Making, listing, pruning and restoring backups.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rstest::rstest;
use tonnage::{
    BackupOptions, BackupRepository, Cancel, ErrorKind, ManualClock, RestoreOptions, Store,
    WriteOptions,
};

use crate::common::{assert_error, builder, failure, row};
use crate::place::{Place, backup, open, pairs, put, text};

#[rstest]
fn a_restored_store_holds_what_was_there_and_is_sound(#[values(1, 3)] directories: usize) {
    let place = Place::new();
    let store = place.store(directories);
    let ddl = "CREATE TABLE ships (no LONG, flag STRING, PRIMARY KEY (no)); CREATE INDEX by_flag ON ships (flag)";
    store.execute(ddl).unwrap();
    let ships = store.table("ships").unwrap();
    for no in 0..300_i64 {
        let row = row! { "no" => no, "flag" => format!("flag {}", no % 7) };
        ships.put(&row, &WriteOptions::default()).unwrap();
        put(&store, &no.to_string(), &[no as u8; 50]);
    }
    let made = backup(&store, &place.repository());
    assert_eq!((made.info.number, made.info.shards), (1, directories));
    ships.put(&row! { "no" => 1_000_i64 }, &WriteOptions::default()).unwrap();

    let target = place.at("restored");
    place.repository().restore(None, &target, &RestoreOptions::default()).unwrap();
    let restored = open(&target);
    assert_eq!(restored.table("ships").unwrap().count().unwrap(), 300);
    assert_eq!(pairs(&restored), pairs(&store));
    assert!(restored.check().unwrap().is_sound());
    // It is a store of its own, which is written to and opened again.
    put(&restored, "new", b"1");
    drop(restored);
    assert_eq!(pairs(&open(&target)).len(), 301);
}

#[rstest]
fn files_that_the_last_backup_has_are_not_copied_again(#[values(false, true)] copy_always: bool) {
    let place = Place::new();
    let store = place.store(1);
    let options = BackupOptions { copy_always, ..BackupOptions::default() };
    put(&store, "a", &[1; 5_000]);
    let first = store.backup(&place.repository(), &options).unwrap();
    assert_eq!(first.files_known, 0);
    assert_eq!(first.files_linked == 0, copy_always, "{first:?}");
    put(&store, "b", &[2; 5_000]);
    let second = store.backup(&place.repository(), &options).unwrap();
    let data_files =
        place.files().iter().filter(|file| text(file).contains(".sst.")).count() as u64;
    assert!(second.files_known >= 1, "{second:?}");
    let is_new = if copy_always { second.files_copied } else { second.files_linked };
    assert!(data_files <= first.files_known + second.files_known + is_new, "{second:?}");
    assert_eq!(place.restored(Some(1)).len(), 1);
    assert_eq!(place.restored(Some(2)).len(), 2);
}

/// A writer puts each number under two keys, of different shards, one after the other.
#[test]
fn a_backup_is_of_one_moment_while_writing_goes_on() {
    let place = Place::new();
    let store = place.store(3);
    let is_over = Arc::new(AtomicBool::new(false));
    let writer = std::thread::spawn({
        let (store, is_over) = (store.clone(), is_over.clone());
        move || {
            for number in 0_u32.. {
                for name in ["first", "second", "third", "fourth"] {
                    put(&store, name, &number.to_be_bytes());
                }
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
            }
        }
    });
    while pairs(&store).len() < 4 {}
    for _ in 0..5 {
        backup(&store, &place.repository());
    }
    is_over.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    let mut last = 0;
    for number in 1..=5 {
        let found = place.restored(Some(number));
        let numbers = ["/first", "/second", "/third", "/fourth"]
            .map(|name| u32::from_be_bytes(found[name].as_slice().try_into().unwrap()));
        assert!(numbers.is_sorted_by(|before, after| before >= after), "{numbers:?}");
        assert!(numbers[0] - numbers[3] <= 1 && numbers[3] >= last, "{numbers:?} after {last}");
        last = numbers[3];
    }
}

#[test]
fn a_prune_keeps_the_latest_backups_and_what_they_need() {
    let place = Place::new();
    let store = place.store(1);
    for number in 0..4 {
        put(&store, &number.to_string(), &[number; 3_000]);
        backup(&store, &place.repository());
    }
    // Compaction replaces all data files.
    store.settle().unwrap();
    put(&store, "late", b"");
    backup(&store, &place.repository());
    let before = place.files().len();
    let report = place.repository().prune(2).unwrap();
    assert_eq!(report.removed, [1, 2, 3]);
    assert!(report.files > 0 && place.files().len() == before - report.files as usize);
    let numbers: Vec<u64> =
        place.repository().list().unwrap().iter().map(|info| info.number).collect();
    assert_eq!(numbers, [4, 5]);
    assert!(place.repository().verify(None, &Cancel::new()).unwrap().is_sound());
    assert_eq!(place.restored(Some(4)).len(), 4);
    assert_eq!(place.restored(None).len(), 5);
    assert_eq!(place.repository().prune(2).unwrap(), Default::default());
    assert_error(failure(place.repository().prune(0)), ErrorKind::Invalid, &["at least one"]);
}

#[test]
fn a_backup_tells_when_it_was_made_by_the_clock_of_the_store() {
    let place = Place::new();
    let clock = Arc::new(ManualClock::new(1_763_786_406_000));
    let store = builder(&text(&place.at("store"))).clock(clock).open().unwrap();
    assert_eq!(backup(&store, &place.repository()).info.made_ms, 1_763_786_406_000);
    assert_eq!(place.repository().list().unwrap()[0].made_ms, 1_763_786_406_000);
}

#[test]
fn a_restore_spreads_over_the_directories_that_are_given() {
    let place = Place::new();
    let store = place.store(2);
    (0..50).for_each(|at| put(&store, &at.to_string(), b"value"));
    backup(&store, &place.repository());
    let data_directories = vec![place.at("new-0"), place.at("new-1")];
    let options = RestoreOptions { data_directories, ..RestoreOptions::default() };
    place.repository().restore(None, &place.at("target"), &options).unwrap();
    assert!(place.at("new-1/db/CURRENT").exists() && !place.at("new-1/RESTORE").exists());
    assert_eq!(pairs(&open(&place.at("target"))), pairs(&store));

    let data_directories = vec![place.at("new-2")];
    let options = RestoreOptions { data_directories, ..RestoreOptions::default() };
    let refused = place.repository().restore(None, &place.at("other"), &options);
    assert_error(failure(refused), ErrorKind::Invalid, &["1 data directories", "has 2"]);
}

#[test]
fn a_restore_into_a_directory_that_holds_anything_is_refused() {
    let place = Place::new();
    let store = place.store(1);
    backup(&store, &place.repository());
    let target = place.at("target");
    fs::create_dir(&target).unwrap();
    fs::write(target.join("letters.txt"), b"dear").unwrap();
    for (target, name) in [(target, "letters.txt"), (place.at("store"), "there is a store")] {
        let refused = place.repository().restore(None, &target, &RestoreOptions::default());
        assert_error(failure(refused), ErrorKind::Invalid, &[name]);
    }
    assert_eq!(fs::read(place.at("target/letters.txt")).unwrap(), b"dear");
}

#[test]
fn a_backup_that_is_called_off_is_none_and_the_next_one_goes_on() {
    let place = Place::new();
    let store = place.store(1);
    put(&store, "a", b"1");
    let options = BackupOptions { cancel: Cancel::new(), ..BackupOptions::default() };
    options.cancel.cancel();
    let stopped = store.backup(&place.repository(), &options);
    assert_error(failure(stopped), ErrorKind::Cancelled, &[]);
    assert_eq!(place.repository().list().unwrap(), []);
    backup(&store, &place.repository());
    assert_eq!(place.restored(None).len(), 1);
}

#[test]
fn a_backup_or_a_restore_that_is_out_of_time_is_none() {
    let place = Place::new();
    let store = place.store(1);
    put(&store, "a", b"1");
    let timeout = Some(std::time::Duration::from_nanos(1));
    let late = BackupOptions { timeout, ..BackupOptions::default() };
    let stopped = store.backup(&place.repository(), &late);
    assert_error(failure(stopped), ErrorKind::TimedOut, &["the backup", "kept"]);
    assert_eq!(place.repository().list().unwrap(), []);
    backup(&store, &place.repository());
    let late = RestoreOptions { timeout, ..RestoreOptions::default() };
    let stopped = place.repository().restore(None, &place.at("late"), &late);
    assert_error(failure(stopped), ErrorKind::TimedOut, &["the restore", "not a store"]);
    assert!(Store::open(place.at("late").display().to_string()).is_err());
    assert_eq!(place.restored(None).len(), 1);
}

#[test]
fn what_is_not_there_is_said_by_name() {
    let place = Place::new();
    let opened = BackupRepository::open(&place.at("nowhere"));
    assert_error(failure(opened), ErrorKind::NotFound, &["nowhere"]);
    backup(&place.store(1), &place.repository());
    let restored = place.repository().restore(Some(9), &place.at("x"), &RestoreOptions::default());
    assert_error(failure(restored), ErrorKind::NotFound, &["backup 9", "there are: 1"]);
    assert!(!place.at("x").exists());
    fs::write(place.at("file"), b"").unwrap();
    let other = BackupRepository::open_or_create(place.0.path());
    assert_error(failure(other), ErrorKind::Invalid, &["not empty"]);
}

#[test]
fn a_store_in_memory_has_no_backups() {
    let place = Place::new();
    let store = Store::open("memory:").unwrap();
    let made = store.backup(&place.repository(), &BackupOptions::default());
    assert_error(failure(made), ErrorKind::Unsupported, &["backups"]);
}
