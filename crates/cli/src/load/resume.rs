//! `--resume FILE`: notes which records of which files are stored.
//!
//! 1. A file is noted as complete as soon as its stream is complete.
//! 2. While a load runs, each flush notes the number of the first record that is not yet durable.
//! 3. When a load stops in good order, everything that was read is stored. The note of each file
//!    then holds the number of the record to continue with.
//! 4. A note is valid as long as the [`Fingerprint`] of its file is the same. Otherwise the file is
//!    read from its beginning, which stores nothing twice.
//! 5. When the program dies, the notes claim too little, never too much. Records that are loaded
//!    again exist already.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

use serde::{Deserialize, Serialize};
use tonnage::internal::sync::lock;
use tonnage::{Error, Result};

use super::FileInput;
use super::fingerprint::Fingerprint;
use super::stream::StreamState;
use crate::display::Console;

/// What the file holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct ResumeNotes {
    /// The store and the table, so that a note of another load is not taken for this one.
    store: String,
    table: String,
    files: BTreeMap<String, FileNote>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct FileNote {
    /// What the file looked like before it was read: one that looks otherwise is another file.
    /// Notes of older versions have none.
    #[serde(default)]
    fingerprint: Option<Fingerprint>,
    /// Records from the first on that are stored (or were rejected).
    records: u64,
    /// Whether these are all.
    complete: bool,
}

/// The state of a load on disk.
pub(crate) struct ResumeFile {
    path: PathBuf,
    noted: Mutex<ResumeNotes>,
}

impl ResumeFile {
    /// Reads the notes of an earlier run; a missing file is a fresh start.
    pub(super) fn open(path: &Path, store: &str, table: &str) -> Result<Self> {
        let fresh = ResumeNotes {
            store: store.to_owned(),
            table: table.to_owned(),
            files: BTreeMap::new(),
        };
        // A note that cannot be read is an error: starting anew would write over it in silence.
        let noted = match std::fs::read(path) {
            Ok(bytes) => serde_json::from_slice::<ResumeNotes>(&bytes).map_err(|error| {
                Error::invalid(format!(
                    "--resume {}: not a note of an earlier load: {error}: delete it to start anew",
                    path.display()
                ))
            })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => fresh.clone(),
            Err(error) => {
                return Err(Error::unavailable(format!(
                    "--resume {}: cannot be read: {error}",
                    path.display()
                )));
            }
        };
        // A note of another load would have files skipped that this table does not hold.
        if (noted.store.as_str(), noted.table.as_str()) != (store, table) {
            return Err(Error::invalid(format!(
                "--resume {}: it is the note of a load of {} into {}: give each load its own",
                path.display(),
                noted.table,
                noted.store
            )));
        }
        Ok(Self { path: path.to_owned(), noted: Mutex::new(noted) })
    }

    /// Takes out the files that are stored already and lets the others begin where their notes end.
    /// Returns how many records are passed over.
    pub(super) fn skip(&self, inputs: &mut Vec<FileInput>, console: &Console) -> u64 {
        let noted = lock(&self.noted);
        let mut skipped = 0;
        inputs.retain_mut(|input| {
            let Some(note) = noted.files.get(input.name()) else { return true };
            if note.fingerprint.is_none() || note.fingerprint != input.fingerprint {
                console.warn(format_args!(
                    "{}: has changed since it was noted, or is read with other options: it is read from its beginning",
                    input.name()
                ));
                return true;
            }
            skipped += note.records;
            input.options.start_record = note.records;
            !note.complete
        });
        skipped
    }

    /// Notes how far a stream is stored.
    pub(super) fn note(&self, stream: &StreamState, complete: bool) -> Result<()> {
        // A batch in which the load stopped is stored, though the stream was not asked again.
        let records = stream.taken.load(Relaxed).max(stream.durable.load(Relaxed));
        self.note_records(stream, records, complete)
    }

    /// Notes that the records before one are stored, while the load runs on.
    pub(super) fn note_durable(&self, stream: &StreamState, records: u64) -> Result<()> {
        self.note_records(stream, records, false)
    }

    fn note_records(&self, stream: &StreamState, records: u64, complete: bool) -> Result<()> {
        let mut noted = lock(&self.noted);
        let fingerprint = stream.fingerprint.clone();
        let note = FileNote { fingerprint, records, complete };
        let is_done =
            |known: &FileNote| known.complete && !complete && known.fingerprint == note.fingerprint;
        if noted.files.get(&stream.name).is_some_and(is_done) {
            return Ok(());
        }
        noted.files.insert(stream.name.clone(), note);
        self.write(&noted).map_err(|error| {
            Error::unavailable(format!(
                "--resume {}: cannot be written: {error}",
                self.path.display()
            ))
            .with_source(error)
        })
    }

    /// The new note takes the place of the old one whole, or not at all.
    fn write(&self, noted: &ResumeNotes) -> std::io::Result<()> {
        let directory = self
            .path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        serde_json::to_writer_pretty(&mut file, noted)?;
        file.write_all(b"\n")?;
        file.as_file().sync_data()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}
