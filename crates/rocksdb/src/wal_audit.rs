//! An audit of the write-ahead log before RocksDB recovers from it.
//!
//! RocksDB takes whatever it cannot make sense of at the end of a log for the trace of a crash, and goes on without it. A flipped
//! bit in a length there would make acknowledged rows disappear without a word. So this audit reads the logs first and tells a
//! *torn tail* (a crash cut the last record short: fine) from *damage* (everything else: the store stays closed).
//!
//! The format (RocksDB wiki, "Write Ahead Log File Format"): a log is a run of 32 KiB blocks; a block is a run of
//! records; a record is a masked CRC-32C of type and payload (4 bytes), the length of the payload (2), a type (1), and the payload.
//! What is left at the end of a block is filled with zeros when no header fits in. Long entries are split into records of type
//! first, middle and last.
//!
//! 1. Records are read in turn while they are sound.
//! 2. The file ends where a record should begin, or with zeros only (space set aside, never written): sound.
//! 3. A record reaches past the end of the file, or its header does. It is a torn tail unless one of these shows that it
//!    was whole once: its checksum fits the bytes that are there under another length or type, or sound records follow.
//! 4. Anything else is damage.

use std::fs;
use std::io;
use std::path::Path;

use tonnage_engine::{Error, Result};

use crate::crc32c::Crc32c;
use crate::manifest::unavailable;

const BLOCK: usize = 32 << 10;
const HEADER: usize = 7;

/// Types that this store's logs hold: the four of plain records, and RocksDB's notes on compression, timestamps and predecessors.
/// Logs are never recycled, so that the other half of the types, which RocksDB skips as stale, can only be damage.
const TYPES: [u8; 7] = [1, 2, 3, 4, 9, 10, 130];

/// Audits every log in a database's directory. A directory that is not there holds none.
pub(crate) fn audit(directory: &Path) -> Result<()> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unavailable(directory, error)),
    };
    for entry in entries {
        let path = entry.map_err(|error| unavailable(directory, error))?.path();
        if path.extension().is_some_and(|extension| extension == "log") {
            let log = fs::read(&path).map_err(|error| unavailable(&path, error))?;
            find_damage(&log).map_err(|damage| {
                Error::corruption(format!(
                    "{}: the write-ahead log is damaged at byte {}: {}; restore the store from a copy",
                    path.display(),
                    damage.offset,
                    damage.what
                ))
            })?;
        }
    }
    Ok(())
}

/// A place in a log that no crash explains.
#[derive(Debug, PartialEq, Eq)]
struct Damage {
    offset: usize,
    what: &'static str,
}

/// What begins at a place in a log.
enum Found {
    /// A sound record; the next one begins at this place.
    Record(usize),
    /// Nothing more.
    End,
    /// Part of a record that reaches past the end of the file.
    Torn,
    Broken(&'static str),
}

fn find_damage(log: &[u8]) -> std::result::Result<(), Damage> {
    let mut offset = 0;
    loop {
        match look(log, offset) {
            Found::Record(next) => offset = next,
            Found::End => return Ok(()),
            Found::Torn => return if was_whole(log, offset) { Err(whole_once(offset)) } else { Ok(()) },
            Found::Broken(what) => return Err(Damage { offset, what }),
        }
    }
}

fn whole_once(offset: usize) -> Damage {
    Damage { offset, what: "the header of a record that was whole once is damaged" }
}

/// Where the block of a place ends.
fn block_end(offset: usize) -> usize {
    offset / BLOCK * BLOCK + BLOCK
}

fn look(log: &[u8], offset: usize) -> Found {
    let block_end = block_end(offset);
    if block_end - offset < HEADER {
        let trailer = &log[offset.min(log.len())..block_end.min(log.len())];
        let is_blank = trailer.iter().all(|byte| *byte == 0);
        return if is_blank { Found::Record(block_end) } else { Found::Broken("the end of a block is not blank") };
    }
    if offset >= log.len() {
        return Found::End;
    }
    let Some(header) = Header::at(log, offset) else { return Found::Torn };
    if header.crc == 0 && header.len == 0 && header.kind == 0 {
        let is_blank = log[offset..].iter().all(|byte| *byte == 0);
        return if is_blank { Found::End } else { Found::Broken("a record is blank, but more follows") };
    }
    let end = offset + HEADER + header.len;
    if end > block_end {
        return Found::Broken("a record reaches past its block");
    }
    if end > log.len() {
        return Found::Torn;
    }
    if !TYPES.contains(&header.kind) {
        return Found::Broken("a record has an unknown type");
    }
    if checksum(header.kind, &log[offset + HEADER..end]) != header.crc {
        return Found::Broken("the checksum of a record does not fit");
    }
    Found::Record(end)
}

/// Whether the record at `offset`, which reaches past the end of the file, did not do so when it was written.
fn was_whole(log: &[u8], offset: usize) -> bool {
    let Some(header) = Header::at(log, offset) else { return false };
    fits_otherwise(header.crc, &log[offset + HEADER..]) || sound_record_follows(log, offset + 1)
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

/// Whether a sound record begins anywhere from here on. A torn record is the last thing in its file, so it lies in the last
/// block, and so does all that is looked at here.
fn sound_record_follows(log: &[u8], from: usize) -> bool {
    (from..log.len()).any(|offset| {
        let Some(header) = Header::at(log, offset) else { return false };
        let end = offset + HEADER + header.len;
        TYPES.contains(&header.kind)
            && end <= log.len()
            && end <= block_end(offset)
            && checksum(header.kind, &log[offset + HEADER..end]) == header.crc
    })
}

/// The header of a record.
struct Header {
    /// Masked, as it is stored.
    crc: u32,
    len: usize,
    kind: u8,
}

impl Header {
    fn at(log: &[u8], offset: usize) -> Option<Self> {
        let &[a, b, c, d, low, high, kind] = log.get(offset..)?.first_chunk::<HEADER>()?;
        Some(Self { crc: u32::from_le_bytes([a, b, c, d]), len: usize::from(u16::from_le_bytes([low, high])), kind })
    }
}

fn checksum(kind: u8, payload: &[u8]) -> u32 {
    Crc32c::new().update(&[kind]).update(payload).masked()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of plain records with these payloads.
    fn log(payloads: &[&[u8]]) -> Vec<u8> {
        let mut log = Vec::new();
        for payload in payloads {
            log.extend_from_slice(&checksum(1, payload).to_le_bytes());
            log.extend_from_slice(&(payload.len() as u16).to_le_bytes());
            log.push(1);
            log.extend_from_slice(payload);
        }
        log
    }

    #[test]
    fn a_sound_log_has_no_damage() {
        assert_eq!(find_damage(&[]), Ok(()));
        assert_eq!(find_damage(&log(&[b"one", b"", b"three"])), Ok(()));
        let blank_tail = [log(&[b"one"]), vec![0; 5_000]].concat();
        assert_eq!(find_damage(&blank_tail), Ok(()));
    }

    #[test]
    fn a_log_cut_anywhere_in_its_last_record_is_a_torn_tail() {
        let whole = log(&[b"one", b"two", b"the last record"]);
        let last = log(&[b"one", b"two"]).len();
        for len in last..=whole.len() {
            assert_eq!(find_damage(&whole[..len]), Ok(()), "cut at {len}");
        }
    }

    #[test]
    fn every_flipped_bit_is_damage() {
        let whole = log(&[b"one", b"two", b"the last record"]);
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(find_damage(&flipped).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn records_go_on_in_the_next_block() {
        let mut log = log(&[&[7; BLOCK - 2 * HEADER + 2]]);
        assert!(BLOCK - log.len() < HEADER);
        log.resize(BLOCK, 0);
        log.extend(self::log(&[b"in the second block"]));
        assert_eq!(find_damage(&log), Ok(()));
        log[BLOCK - 1] = 1;
        assert!(find_damage(&log).is_err(), "the filling of a block is blank");
    }
}
