//! The directories that a backup is restored into.
//!
//! 1. Each directory is locked, and gets a note, `RESTORE`, before anything else.
//! 2. The note distinguishes what an interrupted restore left from other data. Such a directory is
//!    emptied and filled again. The lock tells that a restore is still at work.
//! 3. The manifest is written last. Only then is it a store.

use std::fs;
use std::path::{Path, PathBuf};

use tonnage_engine::{Error, Result};

use super::locks::{DirectoryLocks, LOCK_NAME};
use super::manifest::{MARKER_NAME, NAME, NAME_NEW, unavailable};
use super::restore_note::{NOTE, check_cut_short, leave_note, remove_note};
use super::{COPIED_SHARD, check_empty, make_directory, relative, write_copy};

/// Empty directories for a store to be restored into, and the locks that keep others out.
pub struct RestoreTarget {
    root: PathBuf,
    shards: Vec<PathBuf>,
    locks: DirectoryLocks,
}

impl RestoreTarget {
    /// Takes directories that are empty or do not exist: the store's own and one for each shard,
    /// which is below it where none are given.
    ///
    /// # Errors
    /// `Invalid` when a directory holds anything, or there are not as many as shards;
    /// `Unavailable` when one cannot be used, or another restore is at it.
    pub fn prepare(root: &Path, shards: usize, data_directories: &[PathBuf]) -> Result<Self> {
        if !data_directories.is_empty() && data_directories.len() != shards {
            return Err(Error::invalid(format!(
                "{} data directories are given, but the backup has {shards}: give as many, or none",
                data_directories.len()
            )));
        }
        if root.join(NAME).exists() {
            return Err(Error::invalid(format!(
                "{}: there is a store already: restore into an empty directory or a new one",
                root.display()
            )));
        }
        make_directory(root)?;
        // Before the lock, which leaves a file: another owner's directory stays as it is.
        if !root.join(NOTE).exists() {
            check_empty(root, &[LOCK_NAME])?;
        }
        let mut locks = DirectoryLocks::default();
        locks.add(root)?;
        let root = fs::canonicalize(root).map_err(|error| unavailable(root, error))?;
        // Under the lock: its holder may be a restore that is still at work here.
        take(&root, &root)?;
        let mut target = Self { root, shards: Vec::new(), locks };
        for index in 0..shards {
            let directory = match data_directories.get(index) {
                Some(given) => given.clone(),
                None => target.root.join(format!("{COPIED_SHARD}{index}")),
            };
            target.add(&directory)?;
        }
        Ok(target)
    }

    fn add(&mut self, directory: &Path) -> Result<()> {
        make_directory(directory)?;
        let directory =
            fs::canonicalize(directory).map_err(|error| unavailable(directory, error))?;
        if self.shards.contains(&directory) {
            return Err(Error::invalid(format!(
                "{}: the data directory is given twice",
                directory.display()
            )));
        }
        if directory != self.root {
            self.locks.add(&directory)?;
            take(&directory, &self.root)?;
        }
        self.shards.push(directory);
        Ok(())
    }

    /// The data directory of a shard.
    pub fn shard(&self, index: usize) -> Option<&Path> {
        self.shards.get(index).map(PathBuf::as_path)
    }

    /// Makes a store of what was put into the data directories, all of which is on the disk. It
    /// gets an identity of its own, so that its directories are not taken for those of the store
    /// that was backed up.
    ///
    /// # Errors
    /// `Unavailable` when the disk refuses.
    pub fn finish(self) -> Result<()> {
        let shards = self.shards.iter().map(|shard| relative(&self.root, shard)).collect();
        write_copy(&self.root, shards)?;
        self.shards.iter().chain([&self.root]).try_for_each(|directory| remove_note(directory))
    }
}

/// Leaves the note in a directory that is empty, or that an earlier restore has left.
fn take(directory: &Path, root: &Path) -> Result<()> {
    if directory.join(NOTE).exists() {
        check_cut_short(directory)?;
        empty(directory)?;
    } else {
        check_empty(directory, &[LOCK_NAME])?;
    }
    leave_note(directory, root)
}

/// Removes what a restore writes; the note stays. Where there is anything else nothing is removed.
fn empty(directory: &Path) -> Result<()> {
    let failed = |error| unavailable(directory, error);
    let mut left = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if [NOTE, LOCK_NAME, "lost+found"].iter().any(|kept| name == **kept) {
            continue;
        }
        // Every name that a restore writes before the manifest, which makes a store of it. One left
        // out here would give its directory to another owner.
        let is_ours = ["db", "SYNCED", "SYNCED-MANIFEST", "SHARD.new", MARKER_NAME, NAME_NEW]
            .iter()
            .any(|ours| name == **ours)
            || name.to_string_lossy().starts_with(COPIED_SHARD);
        if !is_ours {
            return Err(Error::invalid(format!(
                "{}: an earlier restore into it was cut short, but it also holds '{}': remove that",
                directory.display(),
                name.display()
            )));
        }
        // Removed after all of them were looked at: a foreign file keeps everything in place.
        left.push(entry);
    }
    for entry in left {
        let path = entry.path();
        let removed = match entry.file_type().map_err(failed)?.is_dir() {
            true => fs::remove_dir_all(&path),
            false => fs::remove_file(&path),
        };
        removed.map_err(|error| unavailable(&path, error))?;
    }
    Ok(())
}

impl std::fmt::Debug for RestoreTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RestoreTarget").field("root", &self.root).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::StoreDirectories;
    use super::*;
    use crate::settings::Settings;
    use tonnage_engine::ErrorKind;

    #[test]
    fn what_a_restore_that_was_cut_short_has_left_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("store");
        let target = RestoreTarget::prepare(&root, 2, &[]).unwrap();
        fs::write(target.shard(1).unwrap().join("SYNCED"), b"old").unwrap();
        drop(target);
        let target = RestoreTarget::prepare(&root, 1, &[]).unwrap();
        assert!(!root.join("shard-1").exists());
        assert!(target.shard(0).unwrap().ends_with("shard-0") && target.shard(1).is_none());
    }

    #[test]
    fn a_directory_that_holds_anything_else_is_refused_by_name() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("store");
        drop(RestoreTarget::prepare(&root, 1, &[]).unwrap());
        fs::write(root.join("letters.txt"), b"dear").unwrap();
        let other = place.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("plain.txt"), b"dear").unwrap();
        for (directory, name) in [(&root, "letters.txt"), (&other, "plain.txt")] {
            let error = RestoreTarget::prepare(directory, 1, &[]).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(error.message().contains(name), "{error}");
            assert!(directory.join(name).exists());
        }
    }

    /// The story of a bug: a restore was killed when the store was whole, but before it had removed
    /// the notes in all data directories. Months later a user named one of these for a restore of
    /// another store, by mistake. It was emptied, and that shard of the first store was gone.
    #[test]
    fn the_data_directory_of_a_store_is_never_emptied_by_a_restore() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let restored = RestoreTarget::prepare(&at("store"), 1, &[at("disk")]).unwrap();
        fs::create_dir(at("disk/db")).unwrap();
        restored.finish().unwrap();
        leave_note(&at("disk"), &fs::canonicalize(at("store")).unwrap()).unwrap();
        drop(StoreDirectories::open(&at("store"), &Settings::default()).unwrap());
        let again = RestoreTarget::prepare(&at("other"), 1, &[at("disk")]).err().unwrap();
        assert_eq!(again.kind(), ErrorKind::Invalid);
        assert!(at("disk/db").exists() && at("disk").join(MARKER_NAME).exists());
    }

    /// The story of a bug: only the next opening of such a store removed the notes. A restore into
    /// the same data directory before that emptied it. Nor may it where the store's own directory
    /// has another name by now, or where a version that left empty notes was killed.
    #[test]
    fn the_data_directory_of_a_store_that_was_never_opened_is_not_emptied_either() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let restored = RestoreTarget::prepare(&at("store"), 1, &[at("disk")]).unwrap();
        fs::create_dir(at("disk/db")).unwrap();
        let note = fs::read(at("disk").join(NOTE)).unwrap();
        restored.finish().unwrap();
        let refused = |note: &[u8]| {
            fs::write(at("disk").join(NOTE), note).unwrap();
            let again = RestoreTarget::prepare(&at("other"), 1, &[at("disk")]).err().unwrap();
            assert_eq!(again.kind(), ErrorKind::Invalid);
            assert!(at("disk/db").exists() && at("disk").join(MARKER_NAME).exists());
        };
        refused(&note);
        refused(b"");
        fs::rename(at("store"), at("moved")).unwrap();
        refused(&note);
    }

    /// A restore that was killed between the markers and the manifest created no store.
    #[test]
    fn a_data_directory_with_the_marker_of_a_store_that_never_was_is_emptied() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        drop(RestoreTarget::prepare(&at("store"), 1, &[at("disk")]).unwrap());
        fs::write(at("disk").join(MARKER_NAME), b"tonnage shard").unwrap();
        drop(RestoreTarget::prepare(&at("other"), 1, &[at("disk")]).unwrap());
        assert!(!at("disk").join(MARKER_NAME).exists());
    }

    /// What was ours went before something else was met.
    #[test]
    fn nothing_is_removed_beside_somebody_elses_files() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("store");
        let target = RestoreTarget::prepare(&root, 1, &[]).unwrap();
        let left: Vec<_> = (0..20).map(|shard| root.join(format!("shard-{shard}"))).collect();
        left.iter().for_each(|shard| fs::create_dir_all(shard).unwrap());
        fs::create_dir(root.join("load")).unwrap();
        drop(target);
        assert!(RestoreTarget::prepare(&root, 1, &[]).is_err());
        assert!(left.iter().all(|shard| shard.exists()));
    }

    #[test]
    fn two_restores_into_one_directory_do_not_mix() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("store");
        let first = RestoreTarget::prepare(&root, 1, &[]).unwrap();
        let second = RestoreTarget::prepare(&root, 1, &[]).err().unwrap();
        assert_eq!(second.kind(), ErrorKind::Unavailable);
        drop(first);
        assert!(RestoreTarget::prepare(&root, 1, &[]).is_ok());
    }

    /// The story of a bug: only the store's own directory was locked. A second restore, into
    /// another one with the same data directory, took that for one that a restore which was cut
    /// short had left. Both reported success, and neither store opened.
    #[test]
    fn two_restores_into_one_data_directory_do_not_mix() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let first = RestoreTarget::prepare(&at("one"), 1, &[at("disk")]).unwrap();
        let second = RestoreTarget::prepare(&at("other"), 1, &[at("disk")]).err().unwrap();
        assert_eq!(second.kind(), ErrorKind::Unavailable);
        first.finish().unwrap();
        let open = StoreDirectories::open(&at("one"), &Settings::default()).unwrap();
        let third = RestoreTarget::prepare(&at("third"), 1, &[at("disk")]).err().unwrap();
        assert_eq!(third.kind(), ErrorKind::Unavailable);
        drop(open);
    }
}
