//! Backups and restores onto a disk that fills up. Needs root for a small tmpfs.

use std::fs;

use tonnage::{BackupOptions, BackupRepository, ErrorKind, RestoreOptions, Store};
use tonnage_testkit::{Random, SmallDisk};

use crate::common::{assert_error, failure};
use crate::place::{Place, open, pairs, put};

/// A disk below the place of a test, if one can be mounted.
fn small_disk(place: &Place) -> Option<SmallDisk> {
    fs::create_dir(place.at("small")).unwrap();
    SmallDisk::mount_at(&place.at("small"), 8 << 20)
}

/// What is left of it takes less than the pairs.
const BALLAST_BYTES: usize = 5 << 20;

/// Puts more pairs than there is room for, of bytes that do not compress.
fn put_pairs(store: &Store) {
    (0..15).for_each(|at| put(store, &at.to_string(), &Random(at).bytes(300_000)));
}

#[test]
fn a_backup_to_a_full_disk_says_so_and_goes_on_once_there_is_room() {
    let place = Place::new();
    let Some(disk) = small_disk(&place) else { return };
    let store = place.store(1);
    put_pairs(&store);
    let repository = BackupRepository::open_or_create(&disk.path().join("backups")).unwrap();
    let ballast = disk.take(BALLAST_BYTES);
    let error = failure(store.backup(&repository, &BackupOptions::default()));
    assert_error(error, ErrorKind::Unavailable, &["small/backups/files", "free some space"]);
    assert_eq!(repository.list().unwrap(), []);
    drop(ballast);
    let made = store.backup(&repository, &BackupOptions::default()).unwrap();
    assert!(made.files_linked == 0 && made.files_copied > 0, "{made:?}");
    repository.restore(None, &place.at("restored"), &RestoreOptions::default()).unwrap();
    assert_eq!(pairs(&open(&place.at("restored"))), pairs(&store));
}

#[test]
fn a_restore_to_a_full_disk_says_so_and_begins_again_once_there_is_room() {
    let place = Place::new();
    let Some(disk) = small_disk(&place) else { return };
    let store = place.store(1);
    put_pairs(&store);
    store.backup(&place.repository(), &BackupOptions::default()).unwrap();
    let (target, ballast) = (disk.path().join("store"), disk.take(BALLAST_BYTES));
    let error = failure(place.repository().restore(None, &target, &RestoreOptions::default()));
    assert_error(error, ErrorKind::Unavailable, &["small/store", "free some space"]);
    assert!(!target.join("TONNAGE").exists());
    drop(ballast);
    place.repository().restore(None, &target, &RestoreOptions::default()).unwrap();
    assert_eq!(
        fs::read_dir(target.join("shard-0")).unwrap().count(),
        5,
        "db, LOCK, SHARD and both notes"
    );
}
