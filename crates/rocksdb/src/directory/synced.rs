//! How far the log of a shard is known to be on the disk: the file `SYNCED` in its data directory.
//!
//! ```text
//! tonnage synced log
//! log 00000000000000000017
//! bytes 00000000000000004096
//! check 5f0c1a2b
//! ```
//!
//! The first so many bytes of that log are on the disk, and all of the logs with smaller numbers.
//! The file is written in place after each sync, never synced itself: it costs no wait. What it
//! says is true of the disk before it is written, so a file that is older than the truth only says
//! less. It is always of one length and within one sector, so that a power failure leaves it as it
//! was before or after a change; one that cannot be read says nothing.
//!
//! A sync that failed leaves in doubt what it was to write: the kernel may drop those pages, and
//! report the next sync as done. So nothing is noted after one, until the database is opened again.
//!
//! Once a store is closed it names all of the log.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use tonnage_engine::Result;
use tonnage_engine::sync::lock;

use crate::directory::manifest::{sync_directory, unavailable};

/// The name of the file.
pub(crate) const NAME: &str = "SYNCED";

/// A place in the logs up to which everything is on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SyncedPosition {
    pub(crate) log: u64,
    pub(crate) bytes: u64,
}

impl SyncedPosition {
    /// What the file in a data directory says; nothing when there is none or it cannot be
    /// understood.
    pub(crate) fn read(directory: &Path) -> Result<Option<Self>> {
        let noted = NOTE.read(&directory.join(NAME))?;
        Ok(noted.map(|(log, bytes)| Self { log, bytes }))
    }
}

const NOTE: SyncNote = SyncNote { what: "log", number: "log" };

/// A note in a file: so many bytes of a file with this number are on the disk.
pub(crate) struct SyncNote {
    /// What kind of file it speaks of.
    pub(crate) what: &'static str,
    /// What the number is called.
    pub(crate) number: &'static str,
}

impl SyncNote {
    /// The number and the bytes that a file says; nothing when there is none or it cannot be
    /// understood.
    pub(crate) fn read(&self, path: &Path) -> Result<Option<(u64, u64)>> {
        match fs::read(path) {
            Ok(text) => Ok(std::str::from_utf8(&text).ok().and_then(|text| self.parse(text))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unavailable(path, error)),
        }
    }

    fn parse(&self, text: &str) -> Option<(u64, u64)> {
        let mut lines = text.lines().skip(1);
        let mut field =
            |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ')?.parse().ok();
        let (number, bytes) = (field(self.number)?, field("bytes")?);
        (self.text(number, bytes) == text).then_some((number, bytes))
    }

    /// What the file says. All notes of one kind have one length.
    pub(crate) fn text(&self, number: u64, bytes: u64) -> String {
        let Self { what, number: name } = self;
        let said = format!("tonnage synced {what}\n{name} {number:020}\nbytes {bytes:020}\n");
        let check = crc32fast::hash(said.as_bytes());
        format!("{said}check {check:08x}\n")
    }
}

/// Has the logs of a copied database on the disk, and notes that in its data directory.
pub(crate) fn write_for_copy(directory: &Path, db: &Path) -> io::Result<()> {
    for entry in fs::read_dir(db)? {
        let path = entry?.path();
        if log_number(&path).is_some() {
            File::open(&path)?.sync_all()?;
        }
    }
    sync_directory(db)?;
    let Some(log) = newest_log(db) else { return Ok(()) };
    let text = NOTE.text(log.number, fs::metadata(&log.path)?.len());
    let mut record = File::create(directory.join(NAME))?;
    record.write_all(text.as_bytes())?;
    record.sync_all()?;
    sync_directory(directory)
}

/// The number of a log; nothing for another file.
pub(crate) fn log_number(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_suffix(".log")?.parse().ok()
}

/// Follows the log that is written to.
pub(crate) struct LogFollower {
    db: PathBuf,
    state: Mutex<LogState>,
}

struct LogState {
    /// The newest log that is known.
    log: Option<LogFile>,
    noted: SyncedPosition,
    /// Whether a sync failed.
    in_doubt: bool,
    /// Nothing where the file could not be opened: what it says then gets old, which is safe.
    record: Option<File>,
}

/// A log, known by its name: one that is held open would keep its space on the disk when RocksDB
/// removes it.
#[derive(Clone)]
struct LogFile {
    number: u64,
    path: Arc<Path>,
}

impl LogFile {
    /// Nothing once it is removed.
    fn len(&self) -> Option<u64> {
        fs::metadata(&self.path).ok().map(|metadata| metadata.len())
    }
}

/// The length of the newest log at some time.
pub(crate) struct LogLength {
    log: LogFile,
    len: u64,
}

impl LogFollower {
    /// Follows the logs of a database that was just opened: what older logs held is in data files
    /// by now.
    pub(crate) fn new(directory: &Path, db: &Path) -> Self {
        let record =
            File::options().create(true).truncate(false).write(true).open(directory.join(NAME));
        let state = LogState {
            log: newest_log(db),
            noted: SyncedPosition::default(),
            in_doubt: false,
            record: record.ok(),
        };
        let follower = Self { db: db.to_path_buf(), state: Mutex::new(state) };
        let mut state = follower.state();
        if let Some(log) = state.log.as_ref().map(|log| log.number) {
            state.note(SyncedPosition { log, bytes: 0 });
        }
        drop(state);
        follower
    }

    fn state(&self) -> MutexGuard<'_, LogState> {
        lock(&self.state)
    }

    /// To be asked before a sync begins.
    pub(crate) fn current_length(&self) -> Option<LogLength> {
        let log = self.state().log.clone()?;
        log.len().map(|len| LogLength { len, log }).or_else(|| self.newest_length())
    }

    /// Looks which log is the newest now.
    fn newest_length(&self) -> Option<LogLength> {
        let log = newest_log(&self.db)?;
        self.state().log = Some(log.clone());
        log.len().map(|len| LogLength { len, log })
    }

    /// To be called after a sync has succeeded: what was there before it is on the disk. Where
    /// `is_alone` says so afterwards, no other write came meanwhile, and so is what is there now.
    pub(crate) fn note_synced(&self, before: Option<LogLength>, is_alone: impl FnOnce() -> bool) {
        let Some(before) = before else { return };
        let after = match before.log.len() {
            Some(len) if len > before.len => Some(LogLength { len, log: before.log.clone() }),
            // Nothing was written to this log: there may be a newer one.
            _ => self.newest_length(),
        };
        let seen = after.filter(|_| is_alone()).unwrap_or(before);
        self.state().note(SyncedPosition { log: seen.log.number, bytes: seen.len });
    }

    /// To be called after a sync has failed: nothing more is noted.
    pub(crate) fn note_failed(&self) {
        self.state().in_doubt = true;
    }

    /// Says nothing any more.
    pub(crate) fn forget(&self) {
        let mut state = self.state();
        if let Some(record) = state.record.take() {
            let _ = record.set_len(0);
        }
    }

    /// Whether some of the log may not be on the disk.
    pub(crate) fn is_behind(&self) -> bool {
        let newest = self
            .newest_length()
            .map(|seen| SyncedPosition { log: seen.log.number, bytes: seen.len });
        newest.is_some_and(|newest| newest != self.state().noted)
    }
}

impl LogState {
    fn note(&mut self, synced: SyncedPosition) {
        if synced > self.noted && !self.in_doubt {
            self.noted = synced;
            if let Some(record) = &self.record {
                // What cannot be written stays older.
                let text = NOTE.text(synced.log, synced.bytes);
                let _ = record.write_all_at(text.as_bytes(), 0);
            }
        }
    }
}

fn newest_log(db: &Path) -> Option<LogFile> {
    let entries = fs::read_dir(db).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let (number, path) = entries.filter_map(|path| Some((log_number(&path)?, path))).max()?;
    Some(LogFile { number, path: path.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_read_back() {
        let place = tempfile::tempdir().unwrap();
        let db = place.path().join("db");
        fs::create_dir(&db).unwrap();
        fs::write(db.join("000004.log"), [7; 50]).unwrap();
        let follower = LogFollower::new(place.path(), &db);
        assert_eq!(
            SyncedPosition::read(place.path()).unwrap(),
            Some(SyncedPosition { log: 4, bytes: 0 })
        );
        follower.note_synced(follower.current_length(), || false);
        assert_eq!(
            SyncedPosition::read(place.path()).unwrap(),
            Some(SyncedPosition { log: 4, bytes: 50 })
        );
    }

    #[test]
    fn what_others_write_meanwhile_is_not_noted() {
        let place = tempfile::tempdir().unwrap();
        let log = place.path().join("000004.log");
        fs::write(&log, [7; 50]).unwrap();
        let follower = LogFollower::new(place.path(), place.path());
        let before = follower.current_length();
        fs::write(&log, [7; 90]).unwrap();
        follower.note_synced(before, || false);
        assert_eq!(
            SyncedPosition::read(place.path()).unwrap(),
            Some(SyncedPosition { log: 4, bytes: 50 })
        );
        let before = follower.current_length();
        fs::write(&log, [7; 95]).unwrap();
        fs::write(place.path().join("000009.log"), [7; 10]).unwrap();
        follower.note_synced(before, || true);
        assert!(follower.is_behind());
        follower.note_synced(follower.current_length(), || true);
        assert_eq!(
            SyncedPosition::read(place.path()).unwrap(),
            Some(SyncedPosition { log: 9, bytes: 10 })
        );
        assert!(!follower.is_behind());
    }

    /// The story of a bug: the pages of a failed sync were dropped, the next sync succeeded without
    /// them, and the log was called damaged where they had been.
    #[test]
    fn nothing_is_noted_after_a_failed_sync() {
        let place = tempfile::tempdir().unwrap();
        let log = place.path().join("000004.log");
        fs::write(&log, [7; 50]).unwrap();
        let follower = LogFollower::new(place.path(), place.path());
        follower.note_synced(follower.current_length(), || true);
        fs::write(&log, [7; 90]).unwrap();
        follower.note_failed();
        follower.note_synced(follower.current_length(), || true);
        assert_eq!(
            SyncedPosition::read(place.path()).unwrap(),
            Some(SyncedPosition { log: 4, bytes: 50 })
        );
    }

    #[test]
    fn a_record_that_is_not_whole_says_nothing() {
        let text = NOTE.text(12, 3456);
        assert_eq!(NOTE.parse(&text), Some((12, 3456)));
        for len in 0..text.len() {
            assert_eq!(NOTE.parse(&text[..len]), None);
        }
        assert_eq!(NOTE.parse(&text.replace('6', "7")), None);
    }
}
