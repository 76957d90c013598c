//! Reports of entries that existed or failed, kept until the client reads them: 256 KiB in memory,
//! the rest in a temporary file.
//!
//! A load never waits for a client, and may report millions of entries. A client that asks for all
//! reports gets all of them, those of each kind in the order in which they came. If they do not
//! fit, the load stops.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tonnage::{Error, Result};

use super::choice::ReportsChoice;
use crate::spool::{Spool, SpoolReservation};

/// Reports that wait in memory; as many again may be on their way to the client.
const MEMORY_BYTES_MAX: usize = 256 << 10;

/// An entry that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FailureReport {
    pub(crate) position: u64,
    pub(crate) column: Option<String>,
    pub(crate) reason: String,
}

/// Entries of one kind, as a message tells them.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReportBatch {
    Existing(Vec<u64>),
    Failed(Vec<FailureReport>),
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct PendingReports {
    existing: Vec<u64>,
    failed: Vec<FailureReport>,
    #[serde(skip)]
    bytes: usize,
}

impl PendingReports {
    fn is_empty(&self) -> bool {
        self.existing.is_empty() && self.failed.is_empty()
    }
}

/// What waits for the client.
#[derive(Debug)]
pub(crate) struct ReportBacklog {
    choice: ReportsChoice,
    existing_left: usize,
    failed_left: usize,
    /// What came last.
    waiting: PendingReports,
    /// What came before it.
    file: Option<ReportFile>,
    /// What came first, and is out of the file.
    read: PendingReports,
    spool: Arc<Spool>,
}

impl ReportBacklog {
    /// Takes the first entries of each kind up to a number, and all of those that are chosen.
    pub(crate) fn new(choice: ReportsChoice, first_max: usize, spool: Arc<Spool>) -> Self {
        Self {
            choice,
            existing_left: first_max,
            failed_left: first_max,
            waiting: PendingReports::default(),
            file: None,
            read: PendingReports::default(),
            spool,
        }
    }

    /// Takes an entry that exists. False where it is only counted.
    ///
    /// # Errors
    /// `Exhausted` when it cannot wait on the disk.
    pub(super) fn existing(&mut self, position: u64) -> Result<bool> {
        if !take_quota(self.choice == ReportsChoice::All, &mut self.existing_left) {
            return Ok(false);
        }
        self.waiting.existing.push(position);
        self.waiting.bytes += size_of::<u64>();
        self.spill().map(|()| true)
    }

    /// Takes an entry that failed. False where it is only counted.
    ///
    /// # Errors
    /// As [`ReportBacklog::existing`].
    pub(super) fn failed(&mut self, failure: impl FnOnce() -> FailureReport) -> Result<bool> {
        if !take_quota(self.choice != ReportsChoice::First, &mut self.failed_left) {
            return Ok(false);
        }
        let failure = failure();
        let text = failure.reason.len() + failure.column.as_ref().map_or(0, String::len);
        self.waiting.bytes += size_of::<FailureReport>() + text;
        self.waiting.failed.push(failure);
        self.spill().map(|()| true)
    }

    fn spill(&mut self) -> Result<()> {
        if self.waiting.bytes < MEMORY_BYTES_MAX {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(ReportFile::create(self.spool.reservation())?),
        };
        file.push(&self.waiting)?;
        self.waiting = PendingReports::default();
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.read.is_empty() && self.waiting.is_empty() && !self.is_on_disk()
    }

    /// Whether the next entries must be read from the disk.
    pub(super) fn is_on_disk(&self) -> bool {
        self.read.is_empty() && self.file.as_ref().is_some_and(|file| !file.is_empty())
    }

    /// The entries that came first.
    ///
    /// # Errors
    /// `Exhausted` when they cannot be read from the disk.
    pub(super) fn pop(&mut self) -> Result<Option<ReportBatch>> {
        if self.read.is_empty() {
            self.read = match &mut self.file {
                Some(file) if !file.is_empty() => file.pop()?,
                _ => std::mem::take(&mut self.waiting),
            };
        }
        let PendingReports { existing, failed, .. } = &mut self.read;
        Ok(if !existing.is_empty() {
            Some(ReportBatch::Existing(std::mem::take(existing)))
        } else if !failed.is_empty() {
            Some(ReportBatch::Failed(std::mem::take(failed)))
        } else {
            None
        })
    }
}

fn take_quota(takes_all: bool, left: &mut usize) -> bool {
    let is_taken = takes_all || *left > 0;
    *left = left.saturating_sub(1);
    is_taken
}

/// A file of reports. It is gone with its stream.
#[derive(Debug)]
struct ReportFile {
    file: File,
    taken: SpoolReservation,
    written: u64,
    read: u64,
}

impl ReportFile {
    fn create(taken: SpoolReservation) -> Result<Self> {
        let file = tempfile::tempfile().map_err(|error| file_error(&error))?;
        Ok(Self { file, taken, written: 0, read: 0 })
    }

    fn is_empty(&self) -> bool {
        self.read == self.written
    }

    fn push(&mut self, reports: &PendingReports) -> Result<()> {
        let text = serde_json::to_vec(reports)
            .map_err(|error| Error::internal(format!("reports cannot be written: {error}")))?;
        let bytes = (size_of::<u64>() + text.len()) as u64;
        self.taken.reserve(bytes)?;
        self.file
            .seek(SeekFrom::Start(self.written))
            .and_then(|_| self.file.write_all(&(text.len() as u64).to_le_bytes()))
            .and_then(|()| self.file.write_all(&text))
            .map_err(|error| file_error(&error))?;
        self.written += bytes;
        Ok(())
    }

    /// What was written first. A file that was read to its end begins anew: a client that reads as
    /// fast as reports come needs little of the disk.
    fn pop(&mut self) -> Result<PendingReports> {
        let text = self.read_next().map_err(|error| file_error(&error))?;
        self.read += (size_of::<u64>() + text.len()) as u64;
        if self.is_empty() {
            self.file.set_len(0).map_err(|error| file_error(&error))?;
            self.taken.clear();
            (self.read, self.written) = (0, 0);
        }
        serde_json::from_slice(&text)
            .map_err(|error| Error::internal(format!("reports cannot be read: {error}")))
    }

    fn read_next(&mut self) -> io::Result<Vec<u8>> {
        let mut length = [0; size_of::<u64>()];
        self.file.seek(SeekFrom::Start(self.read))?;
        self.file.read_exact(&mut length)?;
        let mut text = vec![0; u64::from_le_bytes(length) as usize];
        self.file.read_exact(&mut text)?;
        Ok(text)
    }
}

fn file_error(error: &io::Error) -> Error {
    Error::exhausted(format!("reports cannot wait in a temporary file: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backlog(choice: ReportsChoice, first_max: usize, disk_bytes: u64) -> ReportBacklog {
        ReportBacklog::new(choice, first_max, Arc::new(Spool::new(disk_bytes)))
    }

    fn failure(position: u64) -> FailureReport {
        let column = Some("name".to_owned());
        FailureReport { position, column, reason: format!("entry {position} is not text") }
    }

    /// Everything that comes out, as the positions of existing and of failed entries.
    fn drained(backlog: &mut ReportBacklog) -> [Vec<u64>; 2] {
        let mut told = [Vec::new(), Vec::new()];
        while let Some(reported) = backlog.pop().unwrap() {
            match reported {
                ReportBatch::Existing(positions) => told[0].extend(positions),
                ReportBatch::Failed(failures) => {
                    assert!(failures.iter().all(|failed| *failed == failure(failed.position)));
                    told[1].extend(failures.iter().map(|failed| failed.position));
                }
            }
        }
        told
    }

    #[test]
    fn a_million_entries_wait_in_little_memory_and_all_come_out() {
        let mut backlog = backlog(ReportsChoice::All, 0, 1 << 30);
        for position in 0..1_000_000 {
            match position % 2 {
                0 => assert!(backlog.existing(position).unwrap()),
                _ => assert!(backlog.failed(|| failure(position)).unwrap()),
            }
            assert!(backlog.waiting.bytes < MEMORY_BYTES_MAX + 1_000);
        }
        assert!(backlog.spool.reservation().reserve(1 << 30).is_err(), "they take of the disk");
        let [existing, failed] = drained(&mut backlog);
        assert!(existing.into_iter().eq((0..1_000_000).step_by(2)));
        assert!(failed.into_iter().eq((1..1_000_000).step_by(2)));
        assert!(backlog.is_empty());
        assert!(
            backlog.spool.reservation().reserve(1 << 30).is_ok(),
            "what was read is given back"
        );
    }

    #[test]
    fn entries_that_come_while_others_are_read_keep_their_order() {
        let mut backlog = backlog(ReportsChoice::Failed, 0, 1 << 30);
        let mut told = Vec::new();
        for position in 0..50_000 {
            backlog.failed(|| failure(position)).unwrap();
            if position % 7_000 == 0
                && let Some(ReportBatch::Failed(failures)) = backlog.pop().unwrap()
            {
                told.extend(failures.iter().map(|failed| failed.position));
            }
        }
        told.extend(&drained(&mut backlog)[1]);
        assert!(told.into_iter().eq(0..50_000));
    }

    #[test]
    fn only_the_kinds_that_are_chosen_are_told_to_the_last() {
        for (choice, told) in [
            (ReportsChoice::First, [3, 3]),
            (ReportsChoice::Failed, [3, 10]),
            (ReportsChoice::All, [10, 10]),
        ] {
            let mut backlog = backlog(choice, 3, 1 << 20);
            for position in 0..10 {
                backlog.existing(position).unwrap();
                backlog.failed(|| failure(position)).unwrap();
            }
            assert_eq!(drained(&mut backlog).map(|positions| positions.len()), told, "{choice:?}");
        }
    }

    #[test]
    fn what_has_no_room_on_the_disk_is_refused_and_not_left_out() {
        let mut backlog = backlog(ReportsChoice::All, 0, 10_000);
        let refused = (0..1_000_000).find_map(|position| backlog.existing(position).err()).unwrap();
        assert!(refused.message().contains("spool_bytes_max"), "{refused}");
    }
}
