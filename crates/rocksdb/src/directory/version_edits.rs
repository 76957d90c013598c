//! What RocksDB's MANIFEST says: which data files are live, and from which log on recovery reads.
//!
//! Read before RocksDB opens, to know what it will ask for. Each record of the MANIFEST is a
//! version edit: a run of fields, each a tag and what belongs to it (RocksDB wiki, "MANIFEST").

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use crate::wal::log_format::Records;

/// A data file as the MANIFEST names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LiveFile {
    pub(crate) bytes: u64,
    /// The lower half of the id of the session that wrote it. Each file that was written to be
    /// ingested has its own.
    pub(crate) session: Option<u64>,
}

/// The state that a MANIFEST leads to.
#[derive(Debug, Default)]
pub(crate) struct LiveState {
    /// The live data files, by their numbers.
    pub(crate) files: BTreeMap<u64, LiveFile>,
    /// For each column family the first log that holds rows of it which are in no data file.
    first_logs: BTreeMap<u32, u64>,
    first_log_kept: u64,
    dropped: BTreeSet<u32>,
}

impl LiveState {
    /// Reads the MANIFEST of the database in a directory. Nothing when there is no database, or
    /// when its MANIFEST has fields that are not known here.
    pub(crate) fn read(directory: &Path) -> io::Result<Option<Self>> {
        let current = match fs::read_to_string(directory.join("CURRENT")) {
            Ok(current) => current,
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let manifest = match fs::read(directory.join(current.trim_end())) {
            Ok(manifest) => manifest,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Self::parse(&manifest))
    }

    fn parse(manifest: &[u8]) -> Option<Self> {
        let (mut records, mut edit) = (Records::new(manifest), Vec::new());
        let mut state = Self::default();
        while records.next(&mut edit, usize::MAX) {
            state.apply(EditReader(&edit))?;
        }
        Some(state)
    }

    /// The first log that recovery reads: what the ones before it hold is in data files.
    pub(crate) fn first_log(&self) -> u64 {
        let live = self.first_logs.iter().filter(|(family, _)| !self.dropped.contains(family));
        live.map(|(_, log)| *log).min().unwrap_or(0).max(self.first_log_kept)
    }

    fn apply(&mut self, mut input: EditReader<'_>) -> Option<()> {
        let (mut family, mut log, mut dropped) = (0, None, false);
        while !input.0.is_empty() {
            match input.varint()? {
                tag::COMPARATOR => drop(input.bytes()?),
                tag::LOG_NUMBER => log = Some(input.varint()?),
                tag::NEXT_FILE_NUMBER
                | tag::LAST_SEQUENCE
                | tag::PREV_LOG_NUMBER
                | tag::MAX_COLUMN_FAMILY => {
                    input.varint()?;
                }
                tag::MIN_LOG_NUMBER_TO_KEEP => self.keep_logs_from(input.varint()?),
                tag::COMPACT_CURSOR => {
                    input.varint()?;
                    input.bytes()?;
                }
                tag::DELETED_FILE => {
                    let _level = input.varint()?;
                    self.files.remove(&input.varint()?);
                }
                tag::NEW_FILE_4 => self.add_file(&mut input)?,
                tag::COLUMN_FAMILY => family = u32::try_from(input.varint()?).ok()?,
                tag::COLUMN_FAMILY_ADD => drop(input.bytes()?),
                tag::COLUMN_FAMILY_DROP => dropped = true,
                tag::IN_ATOMIC_GROUP => drop(input.varint()?),
                // Fields that may be skipped say how long they are.
                tag if tag & tag::MAY_BE_SKIPPED != 0 => drop(input.bytes()?),
                _ => return None,
            }
        }
        // After the loop: RocksDB writes the number of a log before that of its family.
        if let Some(log) = log {
            let first = self.first_logs.entry(family).or_default();
            *first = log.max(*first);
        }
        if dropped {
            self.dropped.insert(family);
        }
        Some(())
    }

    fn keep_logs_from(&mut self, log: u64) {
        self.first_log_kept = self.first_log_kept.max(log);
    }

    fn add_file(&mut self, input: &mut EditReader<'_>) -> Option<()> {
        let (_level, number, bytes) = (input.varint()?, input.varint()?, input.varint()?);
        let (_smallest, _largest) = (input.bytes()?, input.bytes()?);
        let (_first_sequence, _last_sequence) = (input.varint()?, input.varint()?);
        let mut session = None;
        loop {
            match input.varint()? {
                file_tag::END => break,
                file_tag::UNIQUE_ID => {
                    session = Some(u64::from_le_bytes(*input.bytes()?.first_chunk()?))
                }
                file_tag::MIN_LOG_NUMBER_TO_KEEP => {
                    self.keep_logs_from(u64::from_le_bytes(*input.bytes()?.first_chunk()?));
                }
                _ => drop(input.bytes()?),
            }
        }
        self.files.insert(number, LiveFile { bytes, session });
        Some(())
    }
}

/// The data files that one record of a MANIFEST adds. Nothing when it has fields that are not known
/// here.
pub(crate) fn files_added(edit: &[u8]) -> Option<Vec<u64>> {
    let mut state = LiveState::default();
    state.apply(EditReader(edit))?;
    Some(state.files.into_keys().collect())
}

/// The identity of the database, if one record of a MANIFEST tells it. RocksDB puts it before all
/// other fields of that record.
pub(crate) fn database_id_in(edit: &[u8]) -> Option<&str> {
    let mut input = EditReader(edit);
    if input.varint()? != tag::DATABASE_ID {
        return None;
    }
    std::str::from_utf8(input.bytes()?).ok().filter(|id| !id.is_empty())
}

/// What begins a field of a version edit.
mod tag {
    pub(super) const COMPARATOR: u64 = 1;
    pub(super) const LOG_NUMBER: u64 = 2;
    pub(super) const NEXT_FILE_NUMBER: u64 = 3;
    pub(super) const LAST_SEQUENCE: u64 = 4;
    pub(super) const COMPACT_CURSOR: u64 = 5;
    pub(super) const DELETED_FILE: u64 = 6;
    pub(super) const PREV_LOG_NUMBER: u64 = 9;
    pub(super) const MIN_LOG_NUMBER_TO_KEEP: u64 = 10;
    pub(super) const NEW_FILE_4: u64 = 103;
    pub(super) const COLUMN_FAMILY: u64 = 200;
    pub(super) const COLUMN_FAMILY_ADD: u64 = 201;
    pub(super) const COLUMN_FAMILY_DROP: u64 = 202;
    pub(super) const MAX_COLUMN_FAMILY: u64 = 203;
    pub(super) const IN_ATOMIC_GROUP: u64 = 300;
    pub(super) const MAY_BE_SKIPPED: u64 = 1 << 13;
    pub(super) const DATABASE_ID: u64 = MAY_BE_SKIPPED + 1;
}

/// What begins a field of a new file.
mod file_tag {
    pub(super) const END: u64 = 1;
    pub(super) const MIN_LOG_NUMBER_TO_KEEP: u64 = 3;
    pub(super) const UNIQUE_ID: u64 = 12;
}

/// The rest of a version edit.
struct EditReader<'a>(&'a [u8]);

impl<'a> EditReader<'a> {
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Bytes after their length.
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.varint()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }
}
