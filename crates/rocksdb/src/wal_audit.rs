//! An audit of the write-ahead log before RocksDB recovers from it.
//!
//! RocksDB takes whatever it cannot make sense of at the end of a log for the trace of a crash, and goes on without it. A flipped
//! bit in a length there would make acknowledged rows disappear without a word. So this audit reads the logs first and tells a
//! *torn tail* (a crash cut the last record short: fine) from *damage* (everything else: the store stays closed).
//!
//! 0. Logs that RocksDB needs no more, as its MANIFEST says, are passed over.
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
use crate::log_format::{HEADER, Header, Records, Stop, TYPES, block_end, checksum};
use crate::manifest::unavailable;
use crate::version_edits::LiveState;

/// Audits every log in a database's directory. A directory that is not there holds none.
pub(crate) fn audit(directory: &Path) -> Result<()> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unavailable(directory, error)),
    };
    let live = LiveState::read(directory).map_err(|error| unavailable(directory, error))?;
    let first = live.map_or(0, |live| live.first_log());
    for entry in entries {
        let path = entry.map_err(|error| unavailable(directory, error))?.path();
        if number_of(&path).is_some_and(|number| number >= first) {
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

/// The number of a log; nothing for another file.
fn number_of(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_suffix(".log")?.parse().ok()
}

/// A place in a log that no crash explains.
#[derive(Debug, PartialEq, Eq)]
struct Damage {
    offset: usize,
    what: &'static str,
}

fn find_damage(log: &[u8]) -> std::result::Result<(), Damage> {
    let mut records = Records::new(log);
    let mut payload = Vec::new();
    while records.next(&mut payload, 0) {}
    let offset = records.offset;
    match records.stop {
        Some(Stop::Broken(what)) => Err(Damage { offset, what }),
        Some(Stop::Torn) if was_whole(log, offset) => Err(whole_once(offset)),
        _ => Ok(()),
    }
}

fn whole_once(offset: usize) -> Damage {
    Damage { offset, what: "the header of a record that was whole once is damaged" }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_format::BLOCK;

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
