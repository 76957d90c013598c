//! Copies files and computes their checksums.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use tonnage_engine::{Error, Result};

use super::entry::TAIL_LEN;
use crate::call_limits::CallLimits;

/// How much is read at a time.
const CHUNK_BYTES: usize = 1 << 20;

/// How much of its end tells one data file from another.
const TAIL_BYTES: u64 = 16 << 10;

/// Reads a file to its end, writes it to `to` where there is one, and answers how many bytes it has
/// and their checksum. What was written is on the disk.
pub(super) fn read_through(
    from: &Path,
    to: Option<&Path>,
    limits: &CallLimits,
) -> Result<(u64, String)> {
    let mut source = File::open(from).map_err(|error| file_error(from, error))?;
    let mut target = match to {
        Some(to) => Some((File::create(to).map_err(|error| file_error(to, error))?, to)),
        None => None,
    };
    let (mut buffer, mut hasher, mut bytes) = (vec![0; CHUNK_BYTES], blake3::Hasher::new(), 0);
    loop {
        // In each round, since one data file may take minutes.
        limits.check()?;
        let read = match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(file_error(from, error)),
        };
        hasher.update(&buffer[..read]);
        bytes += read as u64;
        if let Some((target, to)) = &mut target {
            target.write_all(&buffer[..read]).map_err(|error| file_error(to, error))?;
        }
    }
    // Before the caller gives the file its name: a crash must not leave a short file under it.
    if let Some((target, to)) = target {
        target.sync_all().map_err(|error| file_error(to, error))?;
    }
    Ok((bytes, hasher.finalize().to_hex().to_string()))
}

/// The checksum of the end of a file of this size.
pub(super) fn tail_checksum(path: &Path, bytes: u64) -> Result<String> {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL_BYTES)))?;
        let mut tail = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut tail)?;
        Ok(tail)
    };
    let tail = read().map_err(|error| file_error(path, error))?;
    let mut text = blake3::hash(&tail).to_hex().to_string();
    text.truncate(TAIL_LEN);
    Ok(text)
}

/// Writes a small file in one step, durably.
pub(super) fn write_whole(directory: &Path, name: &str, text: &str) -> Result<()> {
    let (path, partial) = (directory.join(name), directory.join(format!("{name}.partial")));
    let write = || {
        let mut file = File::create(&partial)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&partial, &path)
    };
    write().map_err(|error| file_error(&path, error))?;
    sync_directory(directory)
}

/// Makes renamed, created and removed entries of a directory durable.
pub(super) fn sync_directory(directory: &Path) -> Result<()> {
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(|error| file_error(directory, error))
}

/// The error of a file that cannot be read or written now.
pub(super) fn file_error(path: &Path, error: io::Error) -> Error {
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "give this user the right to do that"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space and start again: what was copied is kept"
        }
        _ => "check the path and the disk",
    };
    Error::unavailable(format!("{}: {error} ({remedy})", path.display())).with_source(error)
}
