//! The summary of a load: a line for people, JSON for programs.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use serde::Serialize;
use tonnage::{BulkPutReport, Counts, Error, Result};

use super::stream::StreamState;
use crate::exit::Exit;
use crate::values::grouped;

/// The report of a load as `--summary` writes it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LoadSummary {
    /// The table, or what else was loaded.
    table: String,
    /// `complete`, `rejected`, `stopped` or `interrupted`.
    outcome: &'static str,
    /// Why it stopped.
    error: Option<String>,
    dry_run: bool,
    /// Whether new and replaced rows are counted separately. If not, all count as inserted.
    tells_new: bool,
    read: u64,
    inserted: u64,
    existed: u64,
    /// Left out because someone else wrote the row after the record was read.
    overtaken: u64,
    failed: u64,
    /// Records that the condition of the load left out.
    left_out: u64,
    /// Records that were read when the load stopped, and not stored.
    not_stored: u64,
    bytes: u64,
    /// Records passed over because an earlier run stored them.
    resumed: u64,
    seconds: f64,
    rows_per_second: f64,
    files: Vec<FileSummary>,
}

#[derive(Clone, Debug, Serialize)]
struct FileSummary {
    file: String,
    read: u64,
    inserted: u64,
    existed: u64,
    overtaken: u64,
    failed: u64,
    left_out: u64,
    bytes: u64,
    complete: bool,
}

impl LoadSummary {
    /// `resumed` are the names of files that an earlier run stored.
    pub(crate) fn new(
        table: &str,
        report: &BulkPutReport,
        resumed: &[String],
        exit: Exit,
        error: Option<String>,
    ) -> Self {
        let Counts { read, inserted, existed, overtaken, failed, bytes } = report.total;
        let files = report.streams.iter().map(|stream| FileSummary {
            file: stream.name.clone(),
            read: stream.counts.read,
            inserted: stream.counts.inserted,
            existed: stream.counts.existed,
            overtaken: stream.counts.overtaken,
            failed: stream.counts.failed,
            // The store never sees these records: `with_left_out` adds them from the streams.
            left_out: 0,
            bytes: stream.counts.bytes,
            complete: stream.completed,
        });
        // Files of an earlier run count as complete, with zeros: their records are in that run's
        // summary.
        let earlier = resumed.iter().map(|file| FileSummary {
            file: file.clone(),
            read: 0,
            inserted: 0,
            existed: 0,
            overtaken: 0,
            failed: 0,
            left_out: 0,
            bytes: 0,
            complete: true,
        });
        Self {
            table: table.to_owned(),
            outcome: match exit {
                Exit::Success => "complete",
                Exit::Rejected => "rejected",
                Exit::Interrupted => "interrupted",
                Exit::Stopped | Exit::Usage | Exit::Internal => "stopped",
            },
            error,
            dry_run: false,
            tells_new: true,
            read,
            inserted,
            existed,
            overtaken,
            failed,
            left_out: 0,
            not_stored: read.saturating_sub(inserted + existed + overtaken + failed),
            bytes,
            resumed: 0,
            seconds: report.seconds,
            rows_per_second: report.rows_per_second(),
            files: earlier.chain(files).collect(),
        }
    }

    pub(crate) fn of_dry_run(self) -> Self {
        Self { dry_run: true, not_stored: 0, ..self }
    }

    pub(super) fn of_overwriting(self, overwrites: bool) -> Self {
        Self { tells_new: !overwrites, ..self }
    }

    pub(super) fn with_resumed(self, resumed: u64) -> Self {
        Self { resumed, ..self }
    }

    /// The same with the records that the condition of the load left out of each file. They were
    /// read, too.
    pub(crate) fn with_left_out(mut self, states: &[Arc<StreamState>]) -> Self {
        for state in states {
            let left_out = state.left_out.load(Relaxed);
            self.left_out += left_out;
            self.read += left_out;
            if let Some(file) = self.files.iter_mut().find(|file| file.file == state.name) {
                file.left_out += left_out;
                file.read += left_out;
            }
        }
        self
    }

    /// Writes it as JSON, if a file was asked for.
    pub(crate) fn write(&self, path: Option<&Path>) -> Result<()> {
        let Some(path) = path else { return Ok(()) };
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        std::fs::write(path, text).map_err(|error| {
            Error::unavailable(format!("--summary {}: cannot be written: {error}", path.display()))
                .with_source(error)
        })
    }
}

impl fmt::Display for LoadSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.table)?;
        if self.resumed > 0 {
            write!(f, "{} read by an earlier run, ", grouped(self.resumed))?;
        }
        write!(f, "{} read, ", grouped(self.read))?;
        if self.dry_run {
            let fit = grouped(self.read.saturating_sub(self.failed + self.left_out));
            write!(
                f,
                "{} would fail, {fit} fit the table (dry run, nothing was written)",
                grouped(self.failed)
            )?;
        } else {
            let (inserted, existed, failed) =
                (grouped(self.inserted), grouped(self.existed), grouped(self.failed));
            // A load that looks nothing up cannot tell new rows from replaced ones, so it claims
            // less.
            match self.tells_new {
                true => write!(f, "{inserted} inserted, {existed} existed, {failed} failed")?,
                false => write!(f, "{inserted} stored, {failed} failed")?,
            }
            // Rare figures show only when there are any: the line stays short for the usual load.
            if self.overtaken > 0 {
                write!(f, ", {} overtaken by other writers", grouped(self.overtaken))?;
            }
            if self.not_stored > 0 {
                write!(f, ", {} not stored", grouped(self.not_stored))?;
            }
        }
        if self.left_out > 0 {
            write!(f, ", {} left out", grouped(self.left_out))?;
        }
        write!(f, ", in {:.1} s ({} rows/s)", self.seconds, grouped(self.rows_per_second as u64))
    }
}
