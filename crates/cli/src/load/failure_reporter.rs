//! Prints the entries that could not be stored, and keeps them in files to be fixed.
//!
//! Each input has its own pair of files, created when its first record fails:
//!
//! - The unchanged records, CSV with the header, so that the file can be fixed and loaded again.
//!   With `--folders` they go into folders of the same names.
//! - A `.reasons.jsonl` with file, record, line, column and reason of each.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use tonnage::internal::sync::lock;
use tonnage::{BulkPutCallbacks, Error, FailedEntry, Result, StreamReport};
use tonnage_files::RejectedRecord;

use super::reject_files::RejectFiles;
use super::resume::ResumeFile;
use super::stream::StreamState;
use crate::display::Console;

/// Failures that are shown where they are not kept.
const SHOWN_MAX: u64 = 10;

/// Listens to a bulk put.
pub(crate) struct FailureReporter {
    console: Console,
    directory: Option<PathBuf>,
    streams: Vec<Arc<StreamState>>,
    kept: Mutex<RejectState>,
    resume: Option<Arc<ResumeFile>>,
    /// Why the last note could not be written. Each note covers all inputs, so a later one replaces
    /// it.
    not_noted: Mutex<Option<Error>>,
}

#[derive(Default)]
struct RejectState {
    count: u64,
    /// Whether a value of a column was one of them.
    has_values: bool,
    files: Vec<Option<RejectFiles>>,
    /// The names of the files.
    names: HashSet<PathBuf>,
}

impl FailureReporter {
    pub(crate) fn new(
        console: &Console,
        directory: Option<&Path>,
        streams: Vec<Arc<StreamState>>,
    ) -> Self {
        let files = streams.iter().map(|_| None).collect();
        let kept = Mutex::new(RejectState { files, ..RejectState::default() });
        Self {
            console: console.clone(),
            directory: directory.map(Path::to_owned),
            streams,
            kept,
            resume: None,
            not_noted: Mutex::default(),
        }
    }

    /// The same, noting every stream that is complete.
    pub(super) fn with_resume(self, resume: Option<Arc<ResumeFile>>) -> Self {
        Self { resume, ..self }
    }

    /// Makes what was kept whole. What a note says is done with is on the disk before the note.
    pub(crate) fn finish(&self) -> Result<()> {
        let mut kept = lock(&self.kept);
        for files in kept.files.iter_mut().flatten() {
            let done = if self.resume.is_some() { files.sync() } else { files.flush() };
            done.map_err(|error| self.rejects_error(error))?;
        }
        Ok(())
    }

    fn write_reject(
        &self,
        kept: &mut RejectState,
        stream: usize,
        record: &RejectedRecord,
    ) -> io::Result<()> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let RejectState { files, names, .. } = kept;
        let slot = &mut files[stream];
        let files = match slot {
            Some(files) => files,
            None => {
                // Inputs of one name in different directories must not write over each other.
                let state = &self.streams[stream];
                let place = |state: &StreamState| (state.column_folders(), state.file_stem());
                let before = self.streams[..stream].iter();
                let before = before.filter(|other| place(other) == place(state)).count();
                slot.insert(RejectFiles::open(directory, state, before + 1, names)?)
            }
        };
        files.add(record)
    }

    fn print_reject(&self, count: u64, record: &RejectedRecord) {
        match count {
            _ if self.directory.is_some() => {}
            1..=SHOWN_MAX => self.console.warn(format_args!(
                "rejected: {}: {}",
                record_location(record),
                record.reason
            )),
            _ if count == SHOWN_MAX + 1 => {
                self.console.warn("rejected: further ones are only counted: --rejects DIR keeps them all with their reasons");
            }
            _ => {}
        }
    }

    /// Whether a value that does not fit its column was rejected.
    pub(super) fn rejected_values(&self) -> bool {
        lock(&self.kept).has_values
    }

    /// What is wrong with the notes at the end of the load.
    pub(super) fn note_result(&self) -> Result<()> {
        let error = lock(&self.not_noted).take();
        error.map_or(Ok(()), Err)
    }

    /// Shows the first of several notes that cannot be written, and remembers whether the last one
    /// could be.
    fn store_note_result(&self, noted: Result<()>) {
        let mut known = lock(&self.not_noted);
        if let (Err(error), None) = (&noted, &*known) {
            self.console.warn(format_args!("tonnage: {error}"));
        }
        *known = noted.err();
    }

    fn rejects_error(&self, error: io::Error) -> Error {
        let directory = self.directory.as_deref().unwrap_or(Path::new("")).display();
        Error::unavailable(format!(
            "--rejects {directory}: rejected records cannot be kept: {error}"
        ))
        .with_source(error)
    }
}

/// `ships.csv, line 7, column LAT`
fn record_location(record: &RejectedRecord) -> String {
    let at = match record.line {
        Some(line) => format!("line {line}"),
        None => format!("record {}", record.record),
    };
    let column =
        record.column.as_ref().map(|column| format!(", column {column}")).unwrap_or_default();
    format!("{}, {at}{column}", record.source)
}

impl BulkPutCallbacks for FailureReporter {
    fn failed(&self, entry: &FailedEntry<'_>) -> Result<()> {
        let record =
            self.streams[entry.stream].original(entry.position, entry.column, entry.reason);
        let mut kept = lock(&self.kept);
        kept.count += 1;
        kept.has_values |= record.column.is_some();
        self.print_reject(kept.count, &record);
        self.write_reject(&mut kept, entry.stream, &record)
            .map_err(|error| self.rejects_error(error))
    }

    fn durable(&self, stream: usize, position: u64) {
        let state = &self.streams[stream];
        state.durable.fetch_max(position, Relaxed);
        // A record that was rejected is not read again, so it must be kept first.
        let kept = self.finish();
        match &self.resume {
            Some(resume) => {
                self.store_note_result(kept.and_then(|()| resume.note_durable(state, position)))
            }
            None => self.store_note_result(kept),
        }
    }

    fn completed(&self, stream: &StreamReport) {
        let Some(resume) = &self.resume else { return };
        // Here, too, what was rejected comes first.
        let noted = self.finish().and_then(|()| resume.note(&self.streams[stream.stream], true));
        self.store_note_result(noted);
    }
}
