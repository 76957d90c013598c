//! Makes a backup.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tonnage_engine::{CheckpointFile, Result};

use super::copy::{file_error, read_through, sync_directory, tail_checksum};
use super::entry::{FileEntry, WHOLE};
use super::manifest::{BackupInfo, BackupManifest};
use super::owner::check_owner;
use super::repository::{BackupRepository, LockMode, PARTIAL};
use crate::call_limits::CallLimits;
use crate::cancel::Cancel;
use crate::inner::Inner;

/// How to make a backup.
#[derive(Clone, Debug, Default)]
pub struct BackupOptions {
    /// Copies data files even where they could be linked, because the store and the backup are on
    /// one disk. A linked file takes no space and no time, but damage to it is damage to both.
    pub copy_always: bool,
    /// Calls the backup off; what was copied is kept for the next one.
    pub cancel: Cancel,
    /// The longest that the backup may take; then it ends with `TimedOut`, and what was copied is
    /// kept likewise.
    pub timeout: Option<Duration>,
}

/// What a backup is and cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BackupReport {
    /// The backup.
    pub info: BackupInfo,
    /// Files that the repository had already.
    pub files_known: u64,
    /// Files that were linked.
    pub files_linked: u64,
    /// Files that were copied.
    pub files_copied: u64,
    /// How many bytes were copied.
    pub bytes_copied: u64,
}

pub(crate) fn make(
    store: &Inner,
    repository: &BackupRepository,
    options: &BackupOptions,
) -> Result<BackupReport> {
    let kept = "what was copied is kept, and the next one continues from there";
    let limits = CallLimits::new("the backup", kept, &options.cancel, options.timeout)?;
    // Alone: partial files may belong to another run, and two runs would take the same number.
    let _lock = repository.lock(LockMode::Alone)?;
    repository.remove_partial()?;
    let number = repository.numbers()?.last().map_or(1, |last| last + 1);
    let made_ms = store.clock.now_ms();
    limits.check()?;
    // Held to the end: dropping it removes the files that are copied below.
    let staged = store.engine.stage_checkpoint()?;
    check_owner(repository, &staged.files)?;
    let mut maker = BackupMaker {
        repository,
        options,
        limits: &limits,
        stored: repository.stored()?,
        known: 0,
        linked: 0,
        copied: 0,
        bytes_copied: 0,
    };
    let files = staged.files.iter().map(|file| maker.add(file)).collect::<Result<Vec<_>>>()?;
    sync_directory(&repository.files())?;
    // The manifest comes after its files are durable: a backup cut short has none, and does not
    // count.
    let manifest = BackupManifest { number, made_ms, shards: staged.shards, files };
    repository.write_manifest(&manifest)?;
    Ok(BackupReport {
        info: manifest.info(),
        files_known: maker.known,
        files_linked: maker.linked,
        files_copied: maker.copied,
        bytes_copied: maker.bytes_copied,
    })
}

struct BackupMaker<'a> {
    repository: &'a BackupRepository,
    options: &'a BackupOptions,
    limits: &'a CallLimits,
    /// Checksums of the files that are there, by what is known of a file before it is read.
    stored: HashMap<String, String>,
    known: u64,
    linked: u64,
    copied: u64,
    bytes_copied: u64,
}

impl BackupMaker<'_> {
    /// Has a file in the repository.
    fn add(&mut self, file: &CheckpointFile) -> Result<FileEntry> {
        self.limits.check()?;
        if !file.is_immutable {
            return self.copy(file, WHOLE.to_owned());
        }
        let bytes = fs::metadata(&file.path).map_err(|error| file_error(&file.path, error))?.len();
        let tail = tail_checksum(&file.path, bytes)?;
        let identity = FileEntry::identity(&file.name, bytes, &tail);
        let Some(checksum) = self.stored.get(&identity) else {
            return if self.options.copy_always {
                self.copy(file, tail)
            } else {
                self.link(file, bytes, tail)
            };
        };
        let checksum = checksum.clone();
        let entry = FileEntry { name: file.name.clone(), bytes, tail, checksum };
        let stored = self.repository.files().join(entry.stored_name());
        let there = fs::metadata(&stored).map_err(|error| file_error(&stored, error))?.len();
        if there == bytes {
            self.known += 1;
            return Ok(entry);
        }
        self.copy(file, entry.tail)
    }

    fn copy(&mut self, file: &CheckpointFile, tail: String) -> Result<FileEntry> {
        let partial = self.repository.files().join(format!("{}{PARTIAL}", flat(&file.name)));
        let copied = read_through(&file.path, Some(&partial), self.limits);
        let (bytes, checksum) = copied.inspect_err(|_| drop(fs::remove_file(&partial)))?;
        let entry = FileEntry { name: file.name.clone(), bytes, tail, checksum };
        let stored = self.repository.files().join(entry.stored_name());
        fs::rename(&partial, &stored).map_err(|error| file_error(&stored, error))?;
        self.copied += 1;
        self.bytes_copied += bytes;
        Ok(entry)
    }

    /// Links a file, or copies it where that cannot be. It is read once for its checksum.
    fn link(&mut self, file: &CheckpointFile, bytes: u64, tail: String) -> Result<FileEntry> {
        let partial = self.repository.files().join(format!("{}{PARTIAL}", flat(&file.name)));
        if !link_file(&file.path, &partial)? {
            return self.copy(file, tail);
        }
        let (_, checksum) = read_through(&partial, None, self.limits)?;
        let entry = FileEntry { name: file.name.clone(), bytes, tail, checksum };
        let stored = self.repository.files().join(entry.stored_name());
        fs::rename(&partial, &stored).map_err(|error| file_error(&stored, error))?;
        self.linked += 1;
        Ok(entry)
    }
}

fn flat(name: &str) -> String {
    name.replace('/', "_")
}

/// Whether a file could be linked: not to another disk, nor where there are no links.
fn link_file(from: &Path, to: &Path) -> Result<bool> {
    use io::ErrorKind::{CrossesDevices, PermissionDenied, TooManyLinks, Unsupported};
    match fs::hard_link(from, to) {
        Ok(()) => Ok(true),
        Err(error)
            if matches!(
                error.kind(),
                CrossesDevices | PermissionDenied | TooManyLinks | Unsupported
            ) =>
        {
            Ok(false)
        }
        Err(error) => Err(file_error(to, error)),
    }
}
