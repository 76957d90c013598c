//! The format of RocksDB's logs: the write-ahead log, and the MANIFEST, which is a log of changes
//! to the list of files.
//!
//! A log is a run of 32 KiB blocks; a block is a run of fragments; a fragment is a masked CRC-32C
//! of type and payload (4 bytes), the length of the payload (2), a type (1), and the payload. What
//! is left at the end of a block is filled with zeros when no header fits in. A record is one
//! fragment, or a first, middle ones and a last.

use crate::wal::crc32c::Crc32c;

pub(crate) const BLOCK: usize = 32 << 10;
pub(crate) const HEADER: usize = 7;

const WHOLE: u8 = 1;
const FIRST: u8 = 2;
const MIDDLE: u8 = 3;
const LAST: u8 = 4;

/// Types that this store's logs hold: the four of plain records, and RocksDB's notes on
/// compression, timestamps and predecessors. Logs are never recycled, so that the other half of the
/// types, which RocksDB skips as stale, can only be damage.
pub(crate) const TYPES: [u8; 7] = [WHOLE, FIRST, MIDDLE, LAST, 9, 10, 130];

/// The header of a fragment.
pub(crate) struct FragmentHeader {
    /// Masked, as it is stored.
    pub(crate) crc: u32,
    pub(crate) len: usize,
    pub(crate) kind: u8,
}

impl FragmentHeader {
    pub(crate) fn at(log: &[u8], offset: usize) -> Option<Self> {
        let &[a, b, c, d, low, high, kind] = log.get(offset..)?.first_chunk::<HEADER>()?;
        Some(Self {
            crc: u32::from_le_bytes([a, b, c, d]),
            len: usize::from(u16::from_le_bytes([low, high])),
            kind,
        })
    }
}

pub(crate) fn checksum(kind: u8, payload: &[u8]) -> u32 {
    Crc32c::new().update(&[kind]).update(payload).masked()
}

/// Where the block of a place ends.
pub(crate) fn block_end(offset: usize) -> usize {
    offset / BLOCK * BLOCK + BLOCK
}

/// What begins at a position in a log.
enum LogElement {
    /// A sound fragment that ends at this place.
    Fragment {
        kind: u8,
        payload: usize,
        end: usize,
    },
    /// Nothing more in this block; the next one begins here.
    BlockEnd(usize),
    End,
    Stopped(LogStop),
}

/// Why reading a log ends before the end of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogStop {
    /// From here on there are only zeros.
    Blank,
    /// Part of a fragment that reaches past the end of the file.
    Torn,
    /// The file ends between two fragments of one record.
    Unfinished,
    Broken(&'static str),
}

fn read_fragment(log: &[u8], offset: usize) -> LogElement {
    let block_end = block_end(offset);
    if block_end - offset < HEADER {
        let trailer = &log[offset.min(log.len())..block_end.min(log.len())];
        let is_blank = trailer.iter().all(|byte| *byte == 0);
        return if is_blank {
            LogElement::BlockEnd(block_end)
        } else {
            broken("the end of a block is not blank")
        };
    }
    if offset >= log.len() {
        return LogElement::End;
    }
    let Some(header) = FragmentHeader::at(log, offset) else {
        return LogElement::Stopped(LogStop::Torn);
    };
    // Before the checksum, which zeros do not fit: space that was never written to is no damage.
    if header.crc == 0 && header.len == 0 && header.kind == 0 {
        let is_blank = log[offset..].iter().all(|byte| *byte == 0);
        return if is_blank {
            LogElement::Stopped(LogStop::Blank)
        } else {
            broken("a record is blank, but more follows")
        };
    }
    let payload = offset + HEADER;
    let end = payload + header.len;
    // Damage even where the file ends first: no writer makes a fragment that leaves its block.
    if end > block_end {
        return broken("a record reaches past its block");
    }
    if end > log.len() {
        return LogElement::Stopped(LogStop::Torn);
    }
    if !TYPES.contains(&header.kind) {
        return broken("a record has an unknown type");
    }
    if checksum(header.kind, &log[payload..end]) != header.crc {
        return broken("the checksum of a record does not fit");
    }
    LogElement::Fragment { kind: header.kind, payload, end }
}

fn broken(what: &'static str) -> LogElement {
    LogElement::Stopped(LogStop::Broken(what))
}

/// Reads the records of a log in turn, as long as they are sound.
pub(crate) struct Records<'a> {
    log: &'a [u8],
    /// Where the next fragment begins.
    pub(crate) offset: usize,
    /// Where the last whole record ends: all before is sound.
    pub(crate) sound_end: usize,
    /// Why reading ended, once it has; nothing at a proper end of the file.
    pub(crate) stop: Option<LogStop>,
}

impl<'a> Records<'a> {
    pub(crate) fn new(log: &'a [u8]) -> Self {
        Self { log, offset: 0, sound_end: 0, stop: None }
    }

    /// The records from a place on where one begins; the log begins with one of its blocks.
    pub(crate) fn from(log: &'a [u8], offset: usize) -> Self {
        Self { log, offset, sound_end: offset, stop: None }
    }

    /// Puts up to `payload_max` bytes of the next record into `payload`; false at the end.
    pub(crate) fn next(&mut self, payload: &mut Vec<u8>, payload_max: usize) -> bool {
        payload.clear();
        let mut within = false;
        while self.stop.is_none() {
            let (kind, start, end) = match read_fragment(self.log, self.offset) {
                LogElement::Fragment { kind, payload, end } => (kind, payload, end),
                LogElement::BlockEnd(next) => {
                    self.offset = next;
                    continue;
                }
                LogElement::End => {
                    self.stop = within.then_some(LogStop::Unfinished);
                    return false;
                }
                LogElement::Stopped(stop) => {
                    self.stop = Some(stop);
                    return false;
                }
            };
            // RocksDB's notes come between records, so one that comes within a record is damage.
            if within != matches!(kind, MIDDLE | LAST) {
                self.stop =
                    Some(LogStop::Broken("the parts of a record do not follow one another"));
                return false;
            }
            self.offset = end;
            // Who needs only the head of a record, or nothing of it, does not pay for the rest.
            let room = payload_max - payload.len();
            if matches!(kind, WHOLE | FIRST | MIDDLE | LAST) {
                payload.extend_from_slice(&self.log[start..end.min(start.saturating_add(room))]);
            }
            match kind {
                FIRST | MIDDLE => within = true,
                WHOLE | LAST => {
                    self.sound_end = end;
                    return true;
                }
                // A note of RocksDB's on the log itself.
                _ => self.sound_end = end,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(kind: u8, payload: &[u8]) -> Vec<u8> {
        let header = [
            &checksum(kind, payload).to_le_bytes()[..],
            &(payload.len() as u16).to_le_bytes(),
            &[kind],
        ]
        .concat();
        [&header[..], payload].concat()
    }

    fn read(log: &[u8]) -> (Vec<Vec<u8>>, usize, Option<LogStop>) {
        let (mut records, mut payload, mut found) = (Records::new(log), Vec::new(), Vec::new());
        while records.next(&mut payload, usize::MAX) {
            found.push(payload.clone());
        }
        (found, records.sound_end, records.stop)
    }

    #[test]
    fn fragments_are_put_together() {
        let log = [
            fragment(WHOLE, b"a"),
            fragment(FIRST, b"b"),
            fragment(MIDDLE, b"c"),
            fragment(LAST, b"d"),
        ]
        .concat();
        assert_eq!(read(&log), (vec![b"a".to_vec(), b"bcd".to_vec()], log.len(), None));
    }

    #[test]
    fn a_record_without_its_last_fragment_is_unfinished() {
        let whole = fragment(WHOLE, b"a");
        let log = [whole.clone(), fragment(FIRST, b"b")].concat();
        assert_eq!(read(&log), (vec![b"a".to_vec()], whole.len(), Some(LogStop::Unfinished)));
    }

    #[test]
    fn fragments_out_of_order_are_broken() {
        let log = [fragment(FIRST, b"a"), fragment(WHOLE, b"b")].concat();
        assert!(matches!(read(&log), (_, 0, Some(LogStop::Broken(_)))));
        assert!(matches!(read(&fragment(LAST, b"a")), (_, 0, Some(LogStop::Broken(_)))));
    }
}
