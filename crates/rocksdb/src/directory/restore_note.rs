//! The note in a directory that a restore fills, until the directory belongs to a store.
//!
//! The note names the store's own directory. So a note distinguishes two cases: the restore was
//! interrupted, or it created a store and was killed before it removed its notes. Notes of older
//! versions are empty.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tonnage_engine::{Error, Result};

use super::manifest::{MARKER_NAME, NAME, sync_directory, unavailable};

/// The name of the note.
pub(super) const NOTE: &str = "RESTORE";

/// Leaves the note in a directory that is to belong to the store in `root`.
pub(super) fn leave_note(directory: &Path, root: &Path) -> Result<()> {
    let path = directory.join(NOTE);
    let leave = || {
        let mut note = File::create(&path)?;
        note.write_all(root.to_string_lossy().as_bytes())?;
        note.sync_all()?;
        sync_directory(directory)
    };
    leave().map_err(|error| unavailable(&path, error))
}

/// Refuses a directory with a note that may belong to a whole store all the same. Its marker is
/// written at the end of a restore, when only the manifest is missing. So from then on the root
/// must show that the manifest never came: a root that is gone may have been moved.
///
/// # Errors
/// `Invalid`.
pub(super) fn check_cut_short(directory: &Path) -> Result<()> {
    let path = directory.join(NOTE);
    let note = fs::read_to_string(&path).map_err(|error| unavailable(&path, error))?;
    if !directory.join(MARKER_NAME).exists() {
        return Ok(());
    }
    let root = PathBuf::from(&note);
    if !note.is_empty() && root.join(NOTE).exists() && !root.join(NAME).exists() {
        return Ok(());
    }
    let whose = match note.is_empty() {
        true => "a store".to_owned(),
        false => format!("the store in {}", root.display()),
    };
    Err(Error::invalid(format!(
        "{}: an earlier restore into it may have become {whose}: open that once, or remove the file {NOTE} and all else if there is no such store",
        directory.display()
    )))
}

/// Removes the note of a directory that belongs to a store by now.
pub(super) fn remove_note(directory: &Path) -> Result<()> {
    let removed = match fs::remove_file(directory.join(NOTE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        removed => removed.and_then(|()| sync_directory(directory)),
    };
    removed.map_err(|error| unavailable(directory, error))
}
