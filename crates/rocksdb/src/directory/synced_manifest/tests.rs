use std::fs;
use std::path::Path;

use tonnage_engine::ErrorKind;

use super::*;
use crate::wal::log_format::checksum;

/// A record that adds data files.
fn record(files: &[u64]) -> Vec<u8> {
    let mut edit = Vec::new();
    for file in files {
        // Tag 103: level, number, size, smallest and largest key, sequence numbers, and the end.
        edit.extend([103, 0, *file as u8, 10, 1, b'a', 1, b'z', 1, 2, 1]);
    }
    fragment(&edit)
}

fn fragment(edit: &[u8]) -> Vec<u8> {
    let mut fragment = checksum(1, edit).to_le_bytes().to_vec();
    fragment.extend((edit.len() as u16).to_le_bytes());
    fragment.push(1);
    fragment.extend(edit);
    fragment
}

fn write(db: &Path, number: u64, manifest: &[u8]) {
    fs::write(path_of(db, number), manifest).unwrap();
    fs::write(db.join("CURRENT"), format!("MANIFEST-{number:06}\n")).unwrap();
}

fn noted(directory: &Path) -> Option<(u64, u64)> {
    NOTE.read(&directory.join(NAME)).unwrap()
}

fn live(files: &[u64]) -> Option<HashSet<u64>> {
    Some(files.iter().copied().collect())
}

#[test]
fn a_record_is_noted_once_a_file_that_it_adds_is_live() {
    let place = tempfile::tempdir().unwrap();
    let db = place.path();
    let (first, second) = (record(&[7]), record(&[8, 9]));
    write(db, 4, &[&first[..], &second[..]].concat());
    let follower = ManifestFollower::new(db, db);
    follower.note(|| live(&[]));
    assert_eq!(noted(db), None);
    follower.note(|| live(&[7]));
    assert_eq!(noted(db), Some((4, first.len() as u64)));
    follower.note(|| live(&[7, 9]));
    assert_eq!(noted(db), Some((4, (first.len() + second.len()) as u64)));
}

/// Its record may not be synced when the file is known to be live from an earlier one.
#[test]
fn a_record_that_moves_a_file_says_nothing() {
    let place = tempfile::tempdir().unwrap();
    let db = place.path();
    let first = record(&[7]);
    write(db, 4, &[&first[..], &record(&[7])].concat());
    ManifestFollower::new(db, db).note(|| live(&[7]));
    assert_eq!(noted(db), Some((4, first.len() as u64)));
}

#[test]
fn a_manifest_is_followed_over_the_blocks_of_its_file_and_into_the_next_one() {
    let place = tempfile::tempdir().unwrap();
    let db = place.path();
    let follower = ManifestFollower::new(db, db);
    let (mut manifest, mut files) = (Vec::new(), Vec::new());
    for file in 1..100 {
        // A comparator of this length beside the file.
        let mut edit = vec![1, 0x80, 0x08];
        edit.extend([b'c'; 1024]);
        edit.extend([103, 0, file as u8, 10, 1, b'a', 1, b'z', 1, 2, 1]);
        let record = fragment(&edit);
        let room = BLOCK - manifest.len() % BLOCK;
        if room < record.len() {
            continue_in_next_block(&mut manifest, &edit, room);
        } else {
            manifest.extend(record);
        }
        write(db, 4, &manifest);
        files.push(file);
        follower.note(|| live(&files));
        assert_eq!(noted(db), Some((4, manifest.len() as u64)), "file {file}");
    }
    let next = record(&[99]);
    write(db, 6, &next);
    follower.note(|| live(&files));
    assert_eq!(noted(db), Some((6, next.len() as u64)));
}

/// Ends the block: with zeros where there is no room for a header, or with the first part of the
/// record.
fn continue_in_next_block(manifest: &mut Vec<u8>, edit: &[u8], room: usize) {
    if room <= 7 {
        manifest.resize(manifest.len() + room, 0);
        manifest.extend(fragment(edit));
        return;
    }
    let (head, tail) = edit.split_at(room - 7);
    for (kind, part) in [(2, head), (4, tail)] {
        manifest.extend(checksum(kind, part).to_le_bytes());
        manifest.extend((part.len() as u16).to_le_bytes());
        manifest.push(kind);
        manifest.extend(part);
    }
}

#[test]
fn a_manifest_with_fields_that_are_not_known_is_left_alone() {
    let place = tempfile::tempdir().unwrap();
    let db = place.path();
    write(db, 4, &[record(&[7]), fragment(&[99, 1])].concat());
    ManifestFollower::new(db, db).note(|| live(&[7]));
    assert_eq!(noted(db), None);
}

#[test]
fn a_manifest_that_is_sound_for_less_than_was_noted_is_damage() {
    let place = tempfile::tempdir().unwrap();
    let db = place.path();
    let manifest = [record(&[7]), record(&[8])].concat();
    write(db, 4, &manifest);
    ManifestFollower::new(db, db).note(|| live(&[8]));
    assert_eq!(check(db, db, false).unwrap(), None);
    for len in 0..manifest.len() {
        write(db, 4, &manifest[..len]);
        let error = check(db, db, false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption, "{len} bytes");
        assert!(error.message().contains("MANIFEST-000004"), "{error}");
        assert!(error.message().contains("--cut-log"), "{error}");
        let end = check(db, db, true).unwrap().unwrap();
        assert!(end.manifest == 4 && end.lost > 0, "{end:?}");
    }
    write(db, 3, &manifest);
    assert_eq!(check(db, db, false).unwrap_err().kind(), ErrorKind::Corruption, "an older one");
    write(db, 5, &manifest[..3]);
    assert_eq!(check(db, db, false).unwrap(), None, "nothing is known of a newer one");
}
