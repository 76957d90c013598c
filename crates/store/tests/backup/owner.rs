//! A repository belongs to one store.

use std::fs;
use std::path::Path;

use rstest::rstest;
use tonnage::{BackupOptions, BackupRepository, ErrorKind, RestoreOptions, Store};

use crate::common::{assert_error, builder, failure};
use crate::place::{Place, backup, open, pairs, put, text};

fn other_store(place: &Place) -> Store {
    let other = builder(&text(&place.at("other"))).open().unwrap();
    put(&other, "other", b"2");
    other
}

#[track_caller]
fn assert_refused(store: &Store, repository: &BackupRepository, latest: &str) {
    let refused = store.backup(repository, &BackupOptions::default());
    let named = ["backups holds backups of another store", latest, "a repository of its own"];
    assert_error(failure(refused), ErrorKind::Conflict, &named);
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

/// The story of a bug: the backup was taken, and `--keep 1` removed all those of the first store.
#[rstest]
fn another_store_is_refused_and_nothing_is_removed(#[values(1, 3)] directories: usize) {
    let place = Place::new();
    let store = place.store(directories);
    put(&store, "a", b"1");
    for _ in 0..3 {
        backup(&store, &place.repository());
    }
    let (listed, files) = (place.repository().list().unwrap(), place.files());
    assert_refused(&other_store(&place), &place.repository(), "backup 3");
    assert_eq!(place.repository().list().unwrap(), listed);
    assert_eq!(place.files(), files);
    assert_eq!(place.restored(None), pairs(&store));
    // The store that it belongs to continues.
    assert_eq!(backup(&store, &place.repository()).info.number, 4);
}

#[rstest]
fn a_restored_store_goes_on_in_the_repository_that_it_came_from(
    #[values(Some(1), None)] number: Option<u64>,
) {
    let place = Place::new();
    let store = place.store(2);
    for name in ["a", "b"] {
        put(&store, name, b"1");
        backup(&store, &place.repository());
    }
    drop(store);
    let target = place.at("target");
    place.repository().restore(number, &target, &RestoreOptions::default()).unwrap();
    // On another machine both have other paths.
    fs::rename(&target, place.at("moved")).unwrap();
    fs::create_dir(place.at("machine")).unwrap();
    fs::rename(place.at("backups"), place.at("machine/backups")).unwrap();
    let repository = BackupRepository::open(&place.at("machine/backups")).unwrap();
    for expected in [3, 4] {
        let moved = open(&place.at("moved"));
        put(&moved, &expected.to_string(), b"2");
        assert_eq!(backup(&moved, &repository).info.number, expected);
    }
    repository.restore(None, &place.at("again"), &RestoreOptions::default()).unwrap();
    assert_eq!(pairs(&open(&place.at("again"))), pairs(&open(&place.at("moved"))));
    assert_refused(&other_store(&place), &repository, "backup 4");
}

#[test]
fn a_copy_of_a_store_counts_as_the_same() {
    let place = Place::new();
    let store = place.store(2);
    put(&store, "a", b"1");
    backup(&store, &place.repository());
    store.checkpoint(&place.at("copy")).unwrap();
    assert_eq!(backup(&open(&place.at("copy")), &place.repository()).info.number, 2);
    assert_eq!(backup(&store, &place.repository()).info.number, 3);
}

/// Nor does a damaged backup prevent the next one.
#[test]
fn a_repository_that_does_not_tell_its_store_takes_the_next_backup() {
    let place = Place::new();
    let store = place.store(1);
    put(&store, "a", b"1");
    backup(&store, &place.repository());
    let files = place.files();
    let teller = files.iter().find(|file| text(file).contains("/shard-0_db_MANIFEST-")).unwrap();
    flip(teller, 20);
    assert_eq!(backup(&store, &place.repository()).info.number, 2);
    // That one tells.
    assert_refused(&other_store(&place), &place.repository(), "backup 2");
}

#[test]
fn where_the_latest_backup_is_damaged_the_one_before_tells_the_store() {
    let place = Place::new();
    let store = place.store(1);
    for name in ["a", "b"] {
        put(&store, name, b"1");
        backup(&store, &place.repository());
    }
    flip(&place.at("backups/backups/000002"), 40);
    assert_refused(&other_store(&place), &place.repository(), "backup 1");
    assert_eq!(backup(&store, &place.repository()).info.number, 3);
}
