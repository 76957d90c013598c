//! Lock files, which keep other processes out of directories.

use std::fs::{File, TryLockError};
use std::path::Path;

use tonnage_engine::{Error, Result};

use super::manifest::unavailable;
use super::owner;

/// The name of the file in each of them.
pub(super) const LOCK_NAME: &str = "LOCK";

/// Directories that no other process uses, until this is dropped.
#[derive(Default)]
pub(super) struct DirectoryLocks(Vec<File>);

impl DirectoryLocks {
    /// Keeps others out of one more directory.
    ///
    /// # Errors
    /// `Unavailable`, saying who has it.
    pub(super) fn add(&mut self, directory: &Path) -> Result<()> {
        self.0.push(lock(directory)?);
        Ok(())
    }
}

impl Drop for DirectoryLocks {
    /// Closing the files is not enough: a process that this one is just forking holds them too, up
    /// to its exec.
    fn drop(&mut self) {
        self.0.iter().for_each(|file| drop(file.unlock()));
    }
}

/// The lock belongs to the open file, so it also keeps out a second opening in this process, and
/// ends with the process.
pub(super) fn lock(directory: &Path) -> Result<File> {
    let path = directory.join(LOCK_NAME);
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(|error| unavailable(&path, error))?;
    match file.try_lock() {
        Ok(()) => {
            owner::note(&file);
            Ok(file)
        }
        Err(TryLockError::WouldBlock) => Err(Error::unavailable(format!(
            "{}: the store is open: {}; close it there",
            directory.display(),
            owner::describe(&path)
        ))),
        Err(TryLockError::Error(error)) => Err(unavailable(&path, error)),
    }
}
