//! An audit of the write-ahead logs before RocksDB recovers from them.
//!
//! RocksDB cannot tell a crash from damage. At the end of a log it takes anything that it does not
//! understand for the trace of a crash, and continues with the next log. So a flipped bit would
//! make acknowledged rows disappear without a word, and a later write might survive an earlier one
//! that is lost. In the middle of a log RocksDB refuses what a power failure may well leave there.
//!
//! This audit reads the logs first, and tells two cases apart:
//!
//! - *Torn*: a crash left the log so. The audit cuts it there.
//! - *Damaged*: everything else. The store stays closed, unless its opener asks for what is before
//!   the damage.
//!
//! It takes these steps:
//!
//! 1. Skip logs that RocksDB needs no more, as its MANIFEST says.
//! 2. Read records in turn while they are sound.
//! 3. What [`SyncedPosition`] says is on the disk must be sound. If it is not, that is damage.
//! 4. A power failure may have taken what follows, in whole or in part. A log whose end was never
//!    written ends early or in zeros. A page that was lost while later ones were written is zero
//!    from some byte on to its end. A record that such zeros or the end of the file break is torn.
//!    It is damage after all if it was whole once: its checksum fits the bytes that are there under
//!    another length or type, or sound records follow.
//! 5. Anything else is damage. Bits flip, but lost writes do not leave other bytes.
//! 6. After a torn log no log counts: it was written later than what is lost. The same applies to a
//!    log that begins later than the one before it ends. Sequence numbers tell: each record has as
//!    many as it has rows. An ingestion takes some, too, and leaves a note of them in the log
//!    ([`sequence_note`]).

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tonnage_engine::{Error, Result};

use crate::directory::manifest::unavailable;
use crate::directory::synced::{self, SyncedPosition, log_number};
use crate::directory::version_edits::LiveState;
use crate::wal::crc32c::Crc32c;
use crate::wal::log_format::{
    FragmentHeader, HEADER, LogStop, Records, TYPES, block_end, checksum,
};

/// What of a log was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogCut {
    pub(crate) log: u64,
    /// How many bytes of it stay.
    kept: u64,
    /// How many do not.
    pub(crate) lost: u64,
}

/// Audits the logs of the database `db` of a data directory, and cuts off what a crash has torn.
/// With `to_damage` a damaged log is cut before the damage.
pub(crate) fn audit(directory: &Path, db: &Path, to_damage: bool) -> Result<Vec<LogCut>> {
    let synced = SyncedPosition::read(directory)?;
    let live = LiveState::read(db).map_err(|error| unavailable(db, error))?;
    let first = live.as_ref().map_or(0, LiveState::first_log);
    let mut logs = Vec::new();
    for (number, path) in logs_in(db)?.into_iter().filter(|(number, _)| *number >= first) {
        let log = fs::read(&path).map_err(|error| unavailable(&path, error))?;
        logs.push(LogScan::of(number, &log));
    }
    // Only where the MANIFEST could be read is it known which logs must be there.
    let missing = synced.filter(|synced| live.is_some() && synced.log >= first && synced.bytes > 0);
    let verdict = judge(&logs, synced, missing.map(|synced| synced.log));
    if let Some(damage) = verdict.damage {
        if !to_damage {
            return Err(damage.error(db, &verdict.cuts));
        }
        cut(db, &verdict.cuts)?;
        // It speaks of bytes that are given up.
        let record = directory.join(synced::NAME);
        return match fs::remove_file(&record) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(unavailable(&record, error))
            }
            _ => Ok(verdict.cuts),
        };
    }
    cut(db, &verdict.cuts)?;
    Ok(verdict.cuts)
}

fn logs_in(db: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let entries = match fs::read_dir(db) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unavailable(db, error)),
    };
    let mut logs = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| unavailable(db, error))?.path();
        logs.extend(log_number(&path).map(|number| (number, path)));
    }
    logs.sort_unstable();
    Ok(logs)
}

/// Cuts the latest log first: after an interruption the verdict is the same.
fn cut(db: &Path, cuts: &[LogCut]) -> Result<()> {
    for cut in cuts.iter().rev() {
        let path = log_path(db, cut.log);
        let shorten = || {
            let file = File::options().write(true).open(&path)?;
            file.set_len(cut.kept)?;
            file.sync_all()
        };
        shorten().map_err(|error| unavailable(&path, error))?;
    }
    Ok(())
}

fn log_path(db: &Path, number: u64) -> PathBuf {
    db.join(format!("{number:06}.log"))
}

/// A place in a log that no crash explains.
#[derive(Debug, PartialEq, Eq)]
struct LogDamage {
    log: u64,
    offset: usize,
    what: &'static str,
}

impl LogDamage {
    fn error(&self, db: &Path, cuts: &[LogCut]) -> Error {
        let bytes: u64 = cuts.iter().map(|cut| cut.lost).sum();
        Error::corruption(format!(
            "{}: the write-ahead log is damaged at byte {}: {}; restore the store from a copy, or give up the {bytes} bytes of \
             the log from there on: `tonnage check --cut-log`, or the setting `recover_log_to_damage`",
            log_path(db, self.log).display(),
            self.offset,
            self.what
        ))
    }
}

/// What becomes of the logs.
#[derive(Debug, Default, PartialEq, Eq)]
struct LogVerdict {
    /// By ascending log; with damage, what would have to be given up.
    cuts: Vec<LogCut>,
    damage: Option<LogDamage>,
}

/// What a log holds.
struct LogScan {
    number: u64,
    len: usize,
    /// Where its last whole record ends.
    sound_end: usize,
    broken: Option<LogBreak>,
    /// The sequence numbers from that of the first record to that after the last one; nothing for a
    /// log without records.
    sequences: Option<Range<u64>>,
    /// Sequence numbers that ingestions took.
    taken: Vec<Range<u64>>,
}

/// Where a log stops to be sound.
struct LogBreak {
    offset: usize,
    /// Where what is broken there would have ended.
    end: usize,
    what: &'static str,
    /// Whether a crash leaves that.
    is_torn: bool,
}

impl LogScan {
    fn of(number: u64, log: &[u8]) -> Self {
        let (mut records, mut payload) = (Records::new(log), Vec::new());
        let (mut sequences, mut taken) = (None::<Range<u64>>, Vec::new());
        while records.next(&mut payload, BATCH_HEAD + NOTE_BYTES) {
            let Some(batch) = batch_sequences(&payload) else { continue };
            taken.extend(parse_note(&payload));
            sequences = Some(sequences.map_or(batch.start, |all| all.start)..batch.end);
        }
        let broken = records.stop.map(|stop| LogBreak::of(log, records.offset, stop));
        Self { number, len: log.len(), sound_end: records.sound_end, broken, sequences, taken }
    }

    /// What is wrong with it, given how much of it was synced.
    fn problem(&self, synced: Option<SyncedPosition>) -> Option<LogBreak> {
        let bytes = match synced {
            Some(synced) if self.number < synced.log => usize::MAX,
            Some(synced) if self.number == synced.log => synced.bytes as usize,
            _ => 0,
        };
        if bytes < usize::MAX && self.len < bytes {
            let what = "it is shorter than what was synced";
            return Some(LogBreak { offset: self.len, end: self.len, what, is_torn: false });
        }
        let broken = self.broken.as_ref()?;
        Some(LogBreak { is_torn: broken.is_torn && broken.end > bytes, ..*broken })
    }

    fn cut_at(&self, kept: usize) -> LogCut {
        LogCut { log: self.number, kept: kept as u64, lost: (self.len - kept) as u64 }
    }

    /// Whether the next log may have lost nothing that it follows.
    fn leads_to(&self, next: &Self, taken: &[Range<u64>]) -> bool {
        let Some(later) = &next.sequences else { return true };
        // RocksDB begins no log after one that it wrote nothing to.
        let Some(own) = &self.sequences else { return false };
        let mut reached = own.end;
        while reached < later.start {
            let Some(range) = taken.iter().find(|range| range.contains(&reached)) else {
                return false;
            };
            reached = range.end;
        }
        true
    }
}

/// `needed` is the number of a log that must be there.
fn judge(logs: &[LogScan], synced: Option<SyncedPosition>, needed: Option<u64>) -> LogVerdict {
    let mut verdict = LogVerdict::default();
    // Of all logs: the note of an ingestion may be in the log that begins after its gap.
    let taken: Vec<_> = logs.iter().flat_map(|log| log.taken.iter().cloned()).collect();
    let mut is_over = false;
    for (index, log) in logs.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &logs[before]);
        if let Some(needed) = needed
            .filter(|needed| *needed < log.number && before.is_none_or(|log| log.number < *needed))
        {
            verdict.damage.get_or_insert(LogDamage { log: needed, offset: 0, what: MISSING });
            is_over = true;
        }
        // Stores of before have no notes: nothing can be said of their sequence numbers.
        let follows_sync = synced.is_some_and(|synced| log.number > synced.log);
        is_over |= follows_sync && before.is_some_and(|before| !before.leads_to(log, &taken));
        if is_over {
            verdict.cuts.push(log.cut_at(0));
            continue;
        }
        if let Some(place) = log.problem(synced) {
            verdict.cuts.push(log.cut_at(log.sound_end));
            is_over = true;
            if !place.is_torn {
                verdict.damage =
                    Some(LogDamage { log: log.number, offset: place.offset, what: place.what });
            }
        }
    }
    if let Some(needed) = needed.filter(|needed| logs.last().is_none_or(|log| log.number < *needed))
    {
        verdict.damage.get_or_insert(LogDamage { log: needed, offset: 0, what: MISSING });
    }
    verdict.cuts.retain(|cut| cut.lost > 0);
    verdict
}

const MISSING: &str = "it is not there, though some of it was synced";

impl LogBreak {
    fn of(log: &[u8], offset: usize, stop: LogStop) -> Self {
        match stop {
            LogStop::Blank => Self {
                offset,
                end: offset + 1,
                what: "there are zeros where records were synced",
                is_torn: true,
            },
            LogStop::Unfinished => Self {
                offset,
                // Past the end: the record was never synced in whole, even if all of the file was.
                end: log.len() + 1,
                what: "its last record has no end",
                is_torn: true,
            },
            LogStop::Torn => {
                let what = "the header of a record that was whole once is damaged";
                Self { offset, end: log.len() + 1, what, is_torn: !was_whole(log, offset) }
            }
            LogStop::Broken(what) => {
                let end = offset
                    + HEADER
                    + FragmentHeader::at(log, offset).map_or(0, |header| header.len);
                // A broken length may point anywhere, but a fragment ends within its block.
                let end = end.clamp(offset + HEADER, block_end(offset).max(offset + HEADER));
                Self { offset, end, what, is_torn: lacks_a_page(log, offset..end) }
            }
        }
    }
}

const SECTOR: usize = 512;
const PAGE: usize = 4096;
/// So many zeros at the end of a sector that is not the end of a page are not a coincidence.
const ZEROS: usize = 8;

/// Whether a page or sector of these bytes of a log seems never to have been written: it is zero
/// from some place on.
fn lacks_a_page(log: &[u8], range: Range<usize>) -> bool {
    let sectors = (range.start / SECTOR)..=((range.end.min(log.len()).max(1) - 1) / SECTOR);
    sectors.into_iter().any(|sector| {
        let (start, end) =
            ((sector * SECTOR).max(range.start), ((sector + 1) * SECTOR).min(log.len()));
        let zeros = log[start.min(end)..end].iter().rev().take_while(|byte| **byte == 0).count();
        let is_end = end.is_multiple_of(PAGE) || end == log.len();
        zeros >= ZEROS || (is_end && zeros > 0)
    })
}

/// Whether the fragment at `offset`, which reaches past the end of the file, did not do so when it
/// was written.
fn was_whole(log: &[u8], offset: usize) -> bool {
    let Some(header) = FragmentHeader::at(log, offset) else { return false };
    fits_otherwise(header.crc, &log[offset + HEADER..]) || sound_fragment_follows(log, offset + 1)
}

/// Whether a checksum fits the beginning of `payload` under any length and type.
fn fits_otherwise(crc: u32, payload: &[u8]) -> bool {
    TYPES.iter().any(|kind| {
        let mut running = Crc32c::new().update(&[*kind]);
        if running.masked() == crc {
            return true;
        }
        payload.iter().any(|byte| {
            running = running.update(&[*byte]);
            running.masked() == crc
        })
    })
}

/// Whether a sound fragment begins anywhere from here on. A torn one is the last thing in its file,
/// so it is in the last block, and so is all that is checked here.
fn sound_fragment_follows(log: &[u8], from: usize) -> bool {
    (from..log.len()).any(|offset| {
        let Some(header) = FragmentHeader::at(log, offset) else { return false };
        let end = offset + HEADER + header.len;
        TYPES.contains(&header.kind)
            && end <= log.len()
            && end <= block_end(offset)
            && checksum(header.kind, &log[offset + HEADER..end]) == header.crc
    })
}

/// What a batch begins with: the sequence number of its first row (8 bytes) and the count of its
/// rows (4).
const BATCH_HEAD: usize = 12;
/// A note in a batch: its tag, its length, and what it says.
const NOTE_BYTES: usize = 2 + NOTE.len() + 16;
const NOTE: &[u8] = b"tonnage took ";
const NOTE_TAG: u8 = 3;

/// What to leave in the log, as a note of RocksDB's, when sequence numbers were taken that no
/// record there has.
pub(crate) fn sequence_note(taken: Range<u64>) -> Vec<u8> {
    [NOTE, &taken.start.to_le_bytes(), &taken.end.to_le_bytes()].concat()
}

fn batch_sequences(batch: &[u8]) -> Option<Range<u64>> {
    let (&sequence, rest) = batch.split_first_chunk()?;
    let (first, rows) = (u64::from_le_bytes(sequence), u32::from_le_bytes(*rest.first_chunk()?));
    Some(first..first.saturating_add(u64::from(rows)))
}

fn parse_note(batch: &[u8]) -> Option<Range<u64>> {
    let note = batch
        .get(BATCH_HEAD..)?
        .strip_prefix(&[NOTE_TAG, (NOTE_BYTES - 2) as u8])?
        .strip_prefix(NOTE)?;
    let (&start, end) = note.split_first_chunk()?;
    Some(u64::from_le_bytes(start)..u64::from_le_bytes(*end.first_chunk()?))
}

#[cfg(test)]
mod tests;
