//! The directories that a backup is restored into.
//!
//! Each gets a note, `RESTORE`, before anything else. So a directory that a restore which was cut
//! short has left is told from one that holds somebody's data: it is emptied and filled again. The
//! store is one once its manifest is written, which comes last.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use tonnage_engine::{Error, Result};

use super::manifest::{MARKER_NAME, NAME, NAME_NEW, sync_directory, unavailable};
use super::restore_note::{NOTE, remove_note};
use super::{COPIED_SHARD, LOCK_NAME, check_empty, lock, make_directory, relative, write_copy};

/// Empty directories for a store to be restored into, and the lock that keeps others out.
pub struct RestoreTarget {
    root: PathBuf,
    shards: Vec<PathBuf>,
    lock: File,
}

impl Drop for RestoreTarget {
    /// Closing the file is not enough: a process that this one is just forking holds it too, up to
    /// its exec.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

impl RestoreTarget {
    /// Takes directories that are empty or do not exist: the store's own and one for each shard,
    /// which lies below it where none are given.
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
        if !root.join(NOTE).exists() {
            check_empty(root, &[LOCK_NAME])?;
        }
        let lock = lock(root)?;
        let root = fs::canonicalize(root).map_err(|error| unavailable(root, error))?;
        take(&root)?;
        let mut target = Self { root, shards: Vec::new(), lock };
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
            take(&directory)?;
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
fn take(directory: &Path) -> Result<()> {
    let note = directory.join(NOTE);
    if note.exists() {
        empty(directory)?;
    } else {
        check_empty(directory, &[LOCK_NAME])?;
    }
    let written = File::create(&note).and_then(|note| note.sync_all());
    written.and_then(|()| sync_directory(directory)).map_err(|error| unavailable(&note, error))
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
    /// the notes in all data directories. Months later somebody named one of these for a restore of
    /// another store, by mistake. It was emptied, and that shard of the first store was gone.
    #[test]
    fn the_data_directory_of_a_store_is_never_emptied_by_a_restore() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let restored = RestoreTarget::prepare(&at("store"), 1, &[at("disk")]).unwrap();
        fs::create_dir(at("disk/db")).unwrap();
        restored.finish().unwrap();
        File::create(at("disk").join(NOTE)).unwrap();
        drop(StoreDirectories::open(&at("store"), &Settings::default()).unwrap());
        let again = RestoreTarget::prepare(&at("other"), 1, &[at("disk")]).err().unwrap();
        assert_eq!(again.kind(), ErrorKind::Invalid);
        assert!(at("disk/db").exists() && at("disk").join(MARKER_NAME).exists());
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
}
