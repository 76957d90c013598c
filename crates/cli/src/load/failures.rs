//! Entries that could not be stored: shown, and kept for mending.
//!
//! Each input has its own pair of files, made when its first record fails: the records as they
//! stood (CSV with the header, so that the file can be mended and loaded), and a `.reasons.jsonl`
//! that tells file, record, line, column and reason of each.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tonnage::{BulkPutCallbacks, Error, FailedEntry, Result, StreamReport};
use tonnage_files::{Format, RejectedRecord};

use super::resume::ResumeFile;
use super::stream::StreamState;
use crate::display::Console;

/// Failures that are shown where they are not kept.
const SHOWN_MAX: u64 = 10;

/// Listens to a bulk put.
pub(crate) struct Failures {
    console: Console,
    directory: Option<PathBuf>,
    streams: Vec<Arc<StreamState>>,
    kept: Mutex<Kept>,
    resume: Option<Arc<ResumeFile>>,
}

#[derive(Default)]
struct Kept {
    count: u64,
    files: Vec<Option<RejectFiles>>,
}

impl Failures {
    pub(crate) fn new(
        console: &Console,
        directory: Option<&Path>,
        streams: Vec<Arc<StreamState>>,
    ) -> Self {
        let files = streams.iter().map(|_| None).collect();
        let kept = Mutex::new(Kept { count: 0, files });
        Self {
            console: console.clone(),
            directory: directory.map(Path::to_owned),
            streams,
            kept,
            resume: None,
        }
    }

    /// The same, noting every stream that is complete.
    pub(super) fn noting(self, resume: Option<Arc<ResumeFile>>) -> Self {
        Self { resume, ..self }
    }

    /// Makes what was kept whole.
    pub(crate) fn finish(&self) -> Result<()> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for files in kept.files.iter_mut().flatten() {
            files.flush().map_err(|error| self.cannot_keep(error))?;
        }
        Ok(())
    }

    fn keep(&self, kept: &mut Kept, stream: usize, record: &RejectedRecord) -> io::Result<()> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let slot = &mut kept.files[stream];
        let files = match slot {
            Some(files) => files,
            None => slot.insert(RejectFiles::create(directory, stream, &self.streams)?),
        };
        files.add(record)
    }

    fn show(&self, count: u64, record: &RejectedRecord) {
        match count {
            _ if self.directory.is_some() => {}
            1..=SHOWN_MAX => {
                self.console.warn(format_args!("rejected: {}: {}", place(record), record.reason))
            }
            _ if count == SHOWN_MAX + 1 => {
                self.console.warn("rejected: further ones are only counted: --rejects DIR keeps them all with their reasons");
            }
            _ => {}
        }
    }

    fn warn_of(&self, noted: Result<()>) {
        if let Err(error) = noted {
            self.console.warn(format_args!("tonnage: {error}"));
        }
    }

    fn cannot_keep(&self, error: io::Error) -> Error {
        let directory = self.directory.as_deref().unwrap_or(Path::new("")).display();
        Error::unavailable(format!(
            "--rejects {directory}: rejected records cannot be kept: {error}"
        ))
        .with_source(error)
    }
}

/// `ships.csv, line 7, column LAT`
fn place(record: &RejectedRecord) -> String {
    let at = match record.line {
        Some(line) => format!("line {line}"),
        None => format!("record {}", record.record),
    };
    let column =
        record.column.as_ref().map(|column| format!(", column {column}")).unwrap_or_default();
    format!("{}, {at}{column}", record.source)
}

impl BulkPutCallbacks for Failures {
    fn failed(&self, entry: &FailedEntry<'_>) -> Result<()> {
        let record =
            self.streams[entry.stream].original(entry.position, entry.column, entry.reason);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.count += 1;
        self.show(kept.count, &record);
        self.keep(&mut kept, entry.stream, &record).map_err(|error| self.cannot_keep(error))
    }

    fn durable(&self, stream: usize, position: u64) {
        let state = &self.streams[stream];
        state.durable.fetch_max(position, Relaxed);
        // A record that was rejected is not read again, so it must be kept first.
        let kept = self.finish();
        if let (Some(resume), Ok(())) = (&self.resume, &kept) {
            self.warn_of(resume.note_durable(state, position));
        }
        self.warn_of(kept);
    }

    fn completed(&self, stream: &StreamReport) {
        let Some(resume) = &self.resume else { return };
        let state = &self.streams[stream.stream];
        self.warn_of(resume.note(state, true));
    }
}

/// The files of one input.
struct RejectFiles {
    records: BufWriter<File>,
    /// Whether a record is one line, whatever it was: elements of a JSON array may stand on many.
    has_lines: bool,
    reasons: BufWriter<File>,
}

impl RejectFiles {
    fn create(directory: &Path, stream: usize, streams: &[Arc<StreamState>]) -> io::Result<Self> {
        std::fs::create_dir_all(directory)?;
        let state = &streams[stream];
        let mut name = state.file_name();
        // Inputs of one name in different directories must not write over each other.
        let before = streams[..stream].iter().filter(|other| other.file_name() == name).count();
        if before > 0 {
            let stem = name.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let ending = name
                .extension()
                .map(|ending| format!(".{}", ending.to_string_lossy()))
                .unwrap_or_default();
            name = PathBuf::from(format!("{stem}-{}{ending}", before + 1));
        }
        let records = match state.format.is_text() {
            true => name.clone(),
            // Rows of a Parquet or Arrow file are kept as JSON.
            false => name.with_extension("jsonl"),
        };
        let mut records = BufWriter::new(File::create(directory.join(records))?);
        if let Some(header) = &state.header {
            writeln!(records, "{header}")?;
        }
        let reasons =
            format!("{}.reasons.jsonl", name.file_stem().unwrap_or_default().to_string_lossy());
        let has_lines = state.format == Format::JsonLines;
        Ok(Self {
            records,
            has_lines,
            reasons: BufWriter::new(File::create(directory.join(reasons))?),
        })
    }

    fn add(&mut self, record: &RejectedRecord) -> io::Result<()> {
        if !record.original.is_empty() {
            let is_end = |byte: &u8| self.has_lines && matches!(byte, b'\n' | b'\r');
            let text: Vec<u8> = record
                .original
                .iter()
                .map(|byte| if is_end(byte) { b' ' } else { *byte })
                .collect();
            self.records.write_all(&text)?;
            self.records.write_all(b"\n")?;
        }
        let reason = json!({
            "file": record.source,
            "record": record.record,
            "line": record.line,
            "column": record.column,
            "reason": record.reason,
        });
        writeln!(self.reasons, "{reason}")
    }

    fn flush(&mut self) -> io::Result<()> {
        self.records.flush()?;
        self.reasons.flush()
    }
}
