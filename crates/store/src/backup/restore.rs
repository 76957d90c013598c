//! Restores a store from a backup.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tonnage_engine::{Error, Result};
use tonnage_rocksdb::RestoreTarget;

use super::copy::{file_error, read_through, sync_directory};
use super::entry::FileEntry;
use super::manifest::{BackupInfo, BackupManifest};
use super::repository::{BackupRepository, LockMode};
use crate::call_limits::CallLimits;
use crate::cancel::Cancel;

/// How to restore a backup.
#[derive(Clone, Debug, Default)]
pub struct RestoreOptions {
    /// The data directories of the restored store, as many as the backup has; below the store's own
    /// directory where none are given.
    pub data_directories: Vec<PathBuf>,
    /// Calls the restore off.
    pub cancel: Cancel,
    /// The longest that the restore may take; then it ends with `TimedOut`. What was copied is no
    /// store.
    pub timeout: Option<Duration>,
}

/// What was restored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RestoreReport {
    /// The backup.
    pub info: BackupInfo,
}

impl BackupRepository {
    /// Makes a store of a backup, of the latest one when no number is given, in a directory that is
    /// empty or does not exist. Checksums are compared meanwhile.
    ///
    /// # Errors
    /// `NotFound` when there is no such backup, `Invalid` when a directory is not empty,
    /// `Corruption` naming a file that is damaged or missing, `Unavailable` when a disk refuses.
    /// Then there is no store; the same call empties the directories and begins again.
    pub fn restore(
        &self,
        number: Option<u64>,
        target: &Path,
        options: &RestoreOptions,
    ) -> Result<RestoreReport> {
        let _lock = self.lock(LockMode::Shared)?;
        let manifest = self.manifest(self.find(number)?)?;
        restore(self, &manifest, target, options)
    }
}

fn restore(
    repository: &BackupRepository,
    manifest: &BackupManifest,
    target: &Path,
    options: &RestoreOptions,
) -> Result<RestoreReport> {
    let left = "what was copied is not a store: run it again";
    let limits = CallLimits::new("the restore", left, &options.cancel, options.timeout)?;
    // Missing files are reported before anything is copied.
    manifest.files.iter().try_for_each(|file| check_presence(repository, file))?;
    let target = RestoreTarget::prepare(target, manifest.shards, &options.data_directories)?;
    let mut directories = BTreeSet::new();
    for file in &manifest.files {
        let (shard, path) = file.shard_path()?;
        let shard = target.shard(shard).ok_or_else(|| Error::internal("a shard was not made"))?;
        let path = shard.join(path);
        make_parents(shard, &path, &mut directories)?;
        copy_checked(repository, file, &path, &limits)?;
    }
    // The innermost first.
    directories.iter().rev().try_for_each(|directory| sync_directory(directory))?;
    target.finish()?;
    Ok(RestoreReport { info: manifest.info() })
}

/// Whether the file is there and has its size.
pub(super) fn check_presence(repository: &BackupRepository, file: &FileEntry) -> Result<()> {
    let path = repository.files().join(file.stored_name());
    match fs::metadata(&path) {
        Ok(metadata) if metadata.len() == file.bytes => Ok(()),
        Ok(metadata) => Err(damaged(
            &path,
            &format!("it has {} bytes instead of {}", metadata.len(), file.bytes),
        )),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(damaged(&path, "it is missing"))
        }
        Err(error) => Err(file_error(&path, error)),
    }
}

fn make_parents(shard: &Path, path: &Path, made: &mut BTreeSet<PathBuf>) -> Result<()> {
    let parent = path.parent().unwrap_or(shard);
    if !made.contains(parent) {
        fs::create_dir_all(parent).map_err(|error| file_error(parent, error))?;
        let between = parent.ancestors().take_while(|above| above.starts_with(shard));
        made.extend(between.map(Path::to_path_buf));
    }
    Ok(())
}

fn copy_checked(
    repository: &BackupRepository,
    file: &FileEntry,
    to: &Path,
    limits: &CallLimits,
) -> Result<()> {
    let path = repository.files().join(file.stored_name());
    let (bytes, checksum) = read_through(&path, Some(to), limits)?;
    if (bytes, &checksum) != (file.bytes, &file.checksum) {
        return Err(damaged(&path, "its checksum differs"));
    }
    Ok(())
}

pub(super) fn damaged(path: &Path, what: &str) -> Error {
    Error::corruption(format!(
        "{}: a file of the backup is damaged, {what}: restore another backup, or remove the file \
         and back the store up again",
        path.display()
    ))
}
