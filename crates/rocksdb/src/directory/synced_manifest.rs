//! How far the MANIFEST of a shard is known to be on the disk: the file `SYNCED-MANIFEST` in its
//! data directory.
//!
//! ```text
//! tonnage synced manifest
//! manifest 00000000000000000012
//! bytes 00000000000000004096
//! check 5f0c1a2b
//! ```
//!
//! RocksDB takes a MANIFEST that ends early for the trace of a crash, and continues with the older
//! list of data files that it leads to: the rows of all other files would be missing without a
//! word. So the length that is known to be on the disk is noted, and a MANIFEST that is sound for
//! less than that is [damage](check).
//!
//! The data files that RocksDB lists as live show what is known:
//!
//! 1. RocksDB syncs the record that adds a file before it shows the file. So the MANIFEST is on the
//!    disk up to the first record that names a live file, and so is everything before it.
//! 2. A later record may move the file to another level. It shows nothing, because the file was
//!    live before.
//! 3. RocksDB begins a new MANIFEST now and then, syncs it, and then names it in `CURRENT`. The
//!    directory is synced before anything is noted of a new one, so `CURRENT` stays with it.
//! 4. Records after that add no files. Without them RocksDB finds a list that leads to the same
//!    rows, or misses a file that is gone, and refuses.
//!
//! Nothing of the MANIFEST is synced here, and the note is never synced itself: it says less than
//! the truth, never more, as `SYNCED` does ([`super::synced`]).

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tonnage_engine::sync::lock;
use tonnage_engine::{Error, Result};

use crate::directory::manifest::{sync_directory, unavailable};
use crate::directory::synced::SyncNote;
use crate::directory::version_edits::files_added;
use crate::wal::log_format::{BLOCK, Records};

/// The name of the file.
const NAME: &str = "SYNCED-MANIFEST";

const NOTE: SyncNote = SyncNote { what: "manifest", number: "manifest" };

/// What of a MANIFEST is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MissingEnd {
    /// The number of the MANIFEST.
    pub(crate) manifest: u64,
    /// How many bytes of it were on the disk and are not sound any more.
    pub(crate) lost: u64,
}

/// Holds the MANIFEST of the database `db` against what is noted in the data directory. Damage is
/// an error; with `to_damage` it is the answer.
pub(crate) fn check(directory: &Path, db: &Path, to_damage: bool) -> Result<Option<MissingEnd>> {
    let path = directory.join(NAME);
    let Some((noted, bytes)) = NOTE.read(&path)? else { return Ok(None) };
    // Without `CURRENT` RocksDB finds no database.
    let Some(current) = current(db).map_err(|error| unavailable(db, error))? else {
        return Ok(None);
    };
    // The note may lag the truth: of a newer MANIFEST nothing is known yet.
    if current > noted {
        return Ok(None);
    }
    let manifest = path_of(db, current);
    let sound = match fs::read(&manifest) {
        Ok(found) => sound_bytes(&found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(unavailable(&manifest, error)),
    };
    // Where `CURRENT` fell back RocksDB reads nothing of the MANIFEST that was noted.
    let lost = if current < noted { bytes } else { bytes.saturating_sub(sound) };
    if lost == 0 {
        return Ok(None);
    }
    if to_damage {
        return Ok(Some(MissingEnd { manifest: noted, lost }));
    }
    let what = if current < noted {
        format!("CURRENT names it, though MANIFEST-{noted:06} was in its place")
    } else {
        format!("{bytes} bytes of it were on the disk, and {sound} are sound")
    };
    Err(Error::corruption(format!(
        "{}: the list of data files is damaged: {what}; without its end rows would be missing: restore the store from a \
         copy, or give up the rows of the files that are not listed any more: `tonnage check --cut-log`, or the \
         setting `recover_log_to_damage`",
        manifest.display()
    )))
}

/// Notes all of the MANIFEST of a database that is not open, once it is on the disk.
pub(crate) fn note_closed(directory: &Path, db: &Path) -> io::Result<()> {
    let Some(number) = current(db)? else { return Ok(()) };
    let path = path_of(db, number);
    File::open(&path)?.sync_all()?;
    let bytes = sound_bytes(&fs::read(&path)?);
    fs::write(directory.join(NAME), NOTE.text(number, bytes))
}

fn sound_bytes(manifest: &[u8]) -> u64 {
    let (mut records, mut edit) = (Records::new(manifest), Vec::new());
    while records.next(&mut edit, 0) {}
    records.sound_end as u64
}

/// The number of the MANIFEST that `CURRENT` names. Nothing where it names none.
fn current(db: &Path) -> io::Result<Option<u64>> {
    match fs::read_to_string(db.join("CURRENT")) {
        Ok(text) => Ok(text
            .strip_suffix('\n')
            .and_then(|name| name.strip_prefix("MANIFEST-")?.parse().ok())),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn path_of(db: &Path, number: u64) -> PathBuf {
    db.join(format!("MANIFEST-{number:06}"))
}

/// Follows the MANIFEST of an open database.
pub(crate) struct ManifestFollower {
    db: PathBuf,
    /// Nothing where the file could not be opened: what it says then gets old, which is safe.
    note: Option<File>,
    state: Mutex<ManifestState>,
}

#[derive(Default)]
struct ManifestState {
    manifest: u64,
    /// Up to where it was read: the end of a record.
    read: usize,
    /// How long it was then.
    len: u64,
    /// The files that it names so far.
    files: HashSet<u64>,
    /// Records that add files none of which was seen to be live: where each ends, and its files.
    unproven: Vec<(u64, Vec<u64>)>,
    /// Whether it holds what cannot be understood here: then nothing is noted of it.
    is_foreign: bool,
}

impl ManifestFollower {
    /// Follows the MANIFEST of a database in a data directory.
    pub(crate) fn new(directory: &Path, db: &Path) -> Self {
        let note =
            File::options().create(true).truncate(false).write(true).open(directory.join(NAME));
        Self { db: db.to_path_buf(), note: note.ok(), state: Mutex::default() }
    }

    /// Notes what is known to be on the disk by now. `live` tells the data files that are live; it
    /// is asked only when there is something new. What cannot be read or written now is noted the
    /// next time.
    pub(crate) fn note(&self, live: impl FnOnce() -> Option<HashSet<u64>>) {
        let mut state = lock(&self.state);
        let grown = state.follow(&self.db).unwrap_or(false);
        if !grown && state.unproven.is_empty() {
            return;
        }
        // Read after the records: a file that is live now and listed there was synced there.
        let Some(live) = live() else { return };
        let is_live = |(_, files): &(u64, Vec<u64>)| files.iter().any(|file| live.contains(file));
        let Some(last) = state.unproven.iter().rposition(is_live) else { return };
        let (bytes, _) = state.unproven[last];
        let text = NOTE.text(state.manifest, bytes);
        if let Some(note) = &self.note
            && note.write_all_at(text.as_bytes(), 0).is_ok()
        {
            state.unproven.drain(..=last);
        }
    }
}

impl ManifestState {
    /// Reads what was added since. Returns whether there was anything.
    fn follow(&mut self, db: &Path) -> io::Result<bool> {
        let Some(manifest) = current(db)? else { return Ok(false) };
        if manifest != self.manifest {
            // Before anything is noted of the new MANIFEST: `CURRENT` must not fall back to the old
            // one.
            sync_directory(db)?;
            *self = Self { manifest, ..Self::default() };
        }
        let file = File::open(path_of(db, manifest))?;
        let len = file.metadata()?.len();
        if len == self.len || self.is_foreign {
            return Ok(false);
        }
        // From the beginning of a block, by which fragments are laid out.
        let base = self.read / BLOCK * BLOCK;
        let mut tail = vec![0; usize::try_from(len).unwrap_or(usize::MAX).saturating_sub(base)];
        file.read_exact_at(&mut tail, base as u64)?;
        let (mut records, mut edit) = (Records::from(&tail, self.read - base), Vec::new());
        while records.next(&mut edit, usize::MAX) {
            let Some(mut added) = files_added(&edit) else {
                self.is_foreign = true;
                self.unproven.clear();
                return Ok(false);
            };
            added.retain(|file| self.files.insert(*file));
            if !added.is_empty() {
                self.unproven.push(((base + records.sound_end) as u64, added));
            }
        }
        self.read = base + records.sound_end;
        self.len = len;
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
