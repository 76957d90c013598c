//! Puts data files back whose ingestion failed, if the MANIFEST names them.
//!
//! RocksDB links a file under a number of its own, adds it to its MANIFEST, and syncs that. If the
//! sync fails, RocksDB removes its link, but the MANIFEST names the file already: the next opening
//! would ask for a file that is gone (docs/rocksdb-ingestion-fsync.md). So:
//!
//! 1. The load makes its own link to the file durable before RocksDB takes the file in. RocksDB
//!    removes that link after it has succeeded, never before.
//! 2. After a failure the link stays as long as the MANIFEST names the file.
//! 3. Before RocksDB opens, each file that is missing though the MANIFEST names it gets its link
//!    back. Its size and the id of the session that wrote it identify the file: both MANIFEST and
//!    file hold them.
//!
//! A process that is killed at any time in between leaves the link of step 1, too.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use tonnage_engine::Result;

use crate::directory::manifest::{sync_directory, unavailable};
use crate::directory::version_edits::LiveState;

/// How much of the end of a data file is searched for the id of its session: the properties stand
/// just before the footer.
const TAIL_BYTES: u64 = 1 << 20;

/// What precedes the id of the session in the properties of a data file: the end of its name.
const SESSION_NAME: &[u8] = b"session.identity";
const SESSION_LEN: usize = 20;

/// Puts files back under their numbers whose ingestion failed after the MANIFEST named them.
pub(crate) fn restore_missing_files(db: &Path, load: &Path) -> Result<()> {
    let kept = files_of_loads(load).map_err(|error| unavailable(load, error))?;
    if kept.is_empty() {
        return Ok(());
    }
    let state = LiveState::read(db).map_err(|error| unavailable(db, error))?;
    let mut restored = false;
    for (number, file) in state.iter().flat_map(|state| &state.files) {
        let place = db.join(format!("{number:06}.sst"));
        if place.exists() {
            continue;
        }
        if let Some(kept) =
            kept.iter().find(|kept| kept.bytes == file.bytes && kept.session == file.session)
        {
            link(&kept.path, &place).map_err(|error| unavailable(&place, error))?;
            restored = true;
        }
    }
    if restored { sync_directory(db).map_err(|error| unavailable(db, error)) } else { Ok(()) }
}

/// Whether the MANIFEST may name a file of a load, though RocksDB said that it did not take it in.
pub(crate) fn may_be_named(db: &Path, file: &Path) -> bool {
    let Ok(Some(state)) = LiveState::read(db) else { return true };
    let Ok(kept) = LeftoverFile::read(file.to_path_buf()) else { return true };
    state.files.values().any(|file| file.bytes == kept.bytes && file.session == kept.session)
}

/// A file of a load that RocksDB did not take over.
struct LeftoverFile {
    path: PathBuf,
    bytes: u64,
    session: Option<u64>,
}

impl LeftoverFile {
    fn read(path: PathBuf) -> io::Result<Self> {
        let mut file = File::open(&path)?;
        let bytes = file.metadata()?.len();
        let mut tail = Vec::new();
        file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL_BYTES)))?;
        file.read_to_end(&mut tail)?;
        Ok(Self { path, bytes, session: session_in(&tail) })
    }
}

fn files_of_loads(load: &Path) -> io::Result<Vec<LeftoverFile>> {
    let entries = match fs::read_dir(load) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "sst") {
            files.push(LeftoverFile::read(path)?);
        }
    }
    // A file that was cut short while it was written names no session, and no MANIFEST names it.
    files.retain(|file| file.session.is_some());
    Ok(files)
}

/// The lower half of the id of the session that wrote a data file: of 20 digits to the base of 36
/// the last twelve, and two bits of those before.
fn session_in(tail: &[u8]) -> Option<u64> {
    let at = tail.windows(SESSION_NAME.len()).rposition(|window| window == SESSION_NAME)?
        + SESSION_NAME.len();
    let digits = std::str::from_utf8(tail.get(at..at + SESSION_LEN)?).ok()?;
    let (high, low) = digits.split_at_checked(SESSION_LEN - 12)?;
    let (high, low) = (u64::from_str_radix(high, 36).ok()?, u64::from_str_radix(low, 36).ok()?);
    Some(low & (u64::MAX >> 2) | high << 62)
}

/// Links a file, or copies it where the file system has no links.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    if fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    // A copy that was cut short must not pass for the file.
    let partial = to.with_extension("restoring");
    fs::copy(from, &partial)?;
    File::open(&partial)?.sync_all()?;
    fs::rename(partial, to)
}
