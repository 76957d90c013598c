//! Files of backups that are damaged or missing: never a wrong restore.

use std::fs;
use std::path::{Path, PathBuf};

use tonnage::{BackupOptions, Cancel, ErrorKind, RestoreOptions};

use crate::common::{assert_error, failure};
use crate::place::{Place, backup, open, pairs, put};

/// A repository with one backup of copied files.
fn place() -> Place {
    let place = Place::new();
    let store = place.store(1);
    (0..200).for_each(|at| put(&store, &at.to_string(), &[at as u8; 100]));
    let options = BackupOptions { copy_always: true, ..BackupOptions::default() };
    store.backup(&place.repository(), &options).unwrap();
    place
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

fn assert_told(place: &Place, file: &Path, what: &str) {
    let report = place.repository().verify(None, &Cancel::new()).unwrap();
    let [damage] = report.damages.as_slice() else { panic!("{report:?}") };
    assert!(damage.what.contains(name(file)) && damage.what.contains(what), "{damage:?}");
    assert_eq!(damage.location, "backup 1");
    let restored = place.repository().restore(None, &place.at("to"), &RestoreOptions::default());
    assert_error(failure(restored), ErrorKind::Corruption, &[name(file), what]);
    assert!(!place.at("to/TONNAGE").exists(), "no store is left by a restore that failed");
}

#[test]
fn a_file_that_was_changed_is_named_by_verify_and_by_restore() {
    let place = place();
    for file in place.files() {
        let len = fs::metadata(&file).unwrap().len() as usize;
        let places = if len == 0 { vec![] } else { vec![0, len / 2, len - 1] };
        for at in places {
            flip(&file, at);
            assert_told(&place, &file, "checksum");
            flip(&file, at);
        }
    }
    assert_eq!(place.restored(None).len(), 200);
}

#[test]
fn a_file_that_is_missing_or_cut_is_named_by_verify_and_by_restore() {
    let place = place();
    for file in place.files() {
        let bytes = fs::read(&file).unwrap();
        // A log that was just begun is empty.
        if let Some((_, shorter)) = bytes.split_last() {
            fs::write(&file, shorter).unwrap();
            assert_told(&place, &file, "bytes instead of");
        }
        fs::remove_file(&file).unwrap();
        assert_told(&place, &file, "missing");
        fs::write(&file, &bytes).unwrap();
    }
    assert!(place.repository().verify(Some(1), &Cancel::new()).unwrap().is_sound());
}

#[test]
fn a_restore_after_one_that_failed_begins_again() {
    let place = place();
    let last: PathBuf = place.files().pop().unwrap();
    flip(&last, 0);
    let target = place.at("to");
    let restored = place.repository().restore(None, &target, &RestoreOptions::default());
    assert_error(failure(restored), ErrorKind::Corruption, &[]);
    flip(&last, 0);
    place.repository().restore(None, &target, &RestoreOptions::default()).unwrap();
    assert_eq!(pairs(&open(&target)).len(), 200);
}

#[test]
fn a_damaged_manifest_is_named_and_nothing_is_pruned_by_it() {
    let place = place();
    let store = open(&place.at("store"));
    put(&store, "more", b"");
    backup(&store, &place.repository());
    let files = place.files();
    flip(&place.at("backups/backups/000002"), 40);
    let listed = place.repository().list();
    assert_error(failure(listed), ErrorKind::Corruption, &["000002"]);
    assert_error(failure(place.repository().prune(1)), ErrorKind::Corruption, &["000002"]);
    assert_eq!(place.files(), files);
    let report = place.repository().verify(None, &Cancel::new()).unwrap();
    assert!(report.damages[0].what.contains("000002"), "{report:?}");
    assert_eq!(place.restored(Some(1)).len(), 200);
}

/// The file that a later backup would have shared is replaced by it.
#[test]
fn a_file_that_was_cut_is_copied_again_by_the_next_backup() {
    let place = place();
    let store = open(&place.at("store"));
    let data = place.files().into_iter().find(|file| name(file).contains(".sst.")).unwrap();
    let bytes = fs::read(&data).unwrap();
    fs::write(&data, &bytes[..9]).unwrap();
    backup(&store, &place.repository());
    assert_eq!(fs::read(&data).unwrap(), bytes);
    assert_eq!(place.restored(None).len(), 200);
}
