//! Backups and restores onto a disk that fills up. Needs root for a small tmpfs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tonnage::{BackupOptions, BackupRepository, ErrorKind, RestoreOptions};

use crate::common::{assert_error, failure};
use crate::place::{Place, open, pairs, put};

/// A tmpfs of 8 MiB, unmounted in the end.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: PathBuf) -> Option<Self> {
        fs::create_dir(&at).unwrap();
        let mut mount = Command::new("mount");
        let mount = mount.args(["-t", "tmpfs", "-o", "size=8m", "tmpfs"]).arg(&at).output();
        if mount.is_ok_and(|output| output.status.success()) {
            return Some(Self(at));
        }
        println!("passed over, no tmpfs here");
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Bytes that do not compress.
fn noise(seed: u8) -> Vec<u8> {
    let mut state = u64::from(seed) + 1;
    let step = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..300_000).map(step).collect()
}

fn fill(disk: &Path) -> PathBuf {
    let ballast = disk.join("ballast");
    fs::write(&ballast, vec![1; 5 << 20]).unwrap();
    ballast
}

#[test]
fn a_backup_to_a_full_disk_says_so_and_goes_on_once_there_is_room() {
    let place = Place::new();
    let Some(disk) = SmallDisk::mount(place.at("small")) else { return };
    let store = place.store(1);
    (0..15).for_each(|at| put(&store, &at.to_string(), &noise(at)));
    let repository = BackupRepository::open_or_create(&disk.0.join("backups")).unwrap();
    let ballast = fill(&disk.0);
    let error = failure(store.backup(&repository, &BackupOptions::default()));
    assert_error(error, ErrorKind::Unavailable, &["small/backups/files", "free some space"]);
    assert_eq!(repository.list().unwrap(), []);
    fs::remove_file(&ballast).unwrap();
    let made = store.backup(&repository, &BackupOptions::default()).unwrap();
    assert!(made.files_linked == 0 && made.files_copied > 0, "{made:?}");
    repository.restore(None, &place.at("restored"), &RestoreOptions::default()).unwrap();
    assert_eq!(pairs(&open(&place.at("restored"))), pairs(&store));
}

#[test]
fn a_restore_to_a_full_disk_says_so_and_begins_again_once_there_is_room() {
    let place = Place::new();
    let Some(disk) = SmallDisk::mount(place.at("small")) else { return };
    let store = place.store(1);
    (0..15).for_each(|at| put(&store, &at.to_string(), &noise(at)));
    store.backup(&place.repository(), &BackupOptions::default()).unwrap();
    let (target, ballast) = (disk.0.join("store"), fill(&disk.0));
    let error = failure(place.repository().restore(None, &target, &RestoreOptions::default()));
    assert_error(error, ErrorKind::Unavailable, &["small/store", "free some space"]);
    assert!(!target.join("TONNAGE").exists());
    fs::remove_file(&ballast).unwrap();
    place.repository().restore(None, &target, &RestoreOptions::default()).unwrap();
    assert_eq!(
        fs::read_dir(target.join("shard-0")).unwrap().count(),
        5,
        "db, LOCK, SHARD and both notes"
    );
}
