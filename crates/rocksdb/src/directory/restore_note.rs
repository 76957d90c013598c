//! The note in a directory that a restore fills, until it belongs to a store.

use std::fs;
use std::io;
use std::path::Path;

use tonnage_engine::Result;

use super::manifest::{sync_directory, unavailable};

/// The name of the note.
pub(super) const NOTE: &str = "RESTORE";

/// Removes the note of a directory that belongs to a store by now.
pub(super) fn remove_note(directory: &Path) -> Result<()> {
    let removed = match fs::remove_file(directory.join(NOTE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        removed => removed.and_then(|()| sync_directory(directory)),
    };
    removed.map_err(|error| unavailable(directory, error))
}
