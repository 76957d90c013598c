//! One entry of a load, as stored in memory and in spill files.
//!
//! `varint key length, varint value length, varint stream, varint position, key, value`: the key is
//! the one that RocksDB keeps (space first), the value has its header. A record says everything
//! about its entry, so runs are sorted, spilled and merged by moving records and nothing else.

use std::cmp::Ordering;
use std::ops::Range;

use tonnage_engine::{Header, NEVER_MS, SpaceId};

/// Which of two entries with the same key is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precedence {
    /// The one that was pushed first.
    First,
    /// The one that was pushed last.
    Last,
}

/// An entry about to be encoded.
pub(super) struct NewRecord<'a> {
    pub(super) space: SpaceId,
    pub(super) key: &'a [u8],
    pub(super) header: Header,
    pub(super) payload: &'a [u8],
    pub(super) stream: u32,
    pub(super) position: u64,
}

/// The most bytes that the four numbers of a record take.
const NUMBERS_LEN_MAX: usize = 5 + 5 + 5 + 10;

impl NewRecord<'_> {
    /// An upper bound of what [`NewRecord::append_to`] appends.
    #[inline]
    pub(super) fn encoded_len_max(&self) -> usize {
        NUMBERS_LEN_MAX + 4 + self.key.len() + 17 + self.payload.len()
    }

    /// Appends the record, and returns the position of its key.
    #[inline]
    pub(super) fn append_to(&self, arena: &mut Vec<u8>) -> Range<usize> {
        arena.reserve(self.encoded_len_max());
        append_varint(arena, 4 + self.key.len() as u64);
        append_varint(arena, (self.header.encoded_len() + self.payload.len()) as u64);
        append_varint(arena, u64::from(self.stream));
        append_varint(arena, self.position);
        let key = arena.len();
        arena.extend_from_slice(&self.space.0.to_be_bytes());
        arena.extend_from_slice(self.key);
        let key = key..arena.len();
        self.header.append_to(arena);
        arena.extend_from_slice(self.payload);
        key
    }
}

/// Where the parts of a record lie in a buffer, and where it came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordSpan {
    start: usize,
    key: usize,
    value: usize,
    end: usize,
    stream: u32,
    position: u64,
}

impl RecordSpan {
    /// Reads the record that starts at `start`; `None` when the bytes there are not a record.
    #[inline]
    pub(super) fn read(buffer: &[u8], start: usize) -> Option<Self> {
        let mut at = start;
        let key_len = read_varint(buffer, &mut at)? as usize;
        let value_len = read_varint(buffer, &mut at)? as usize;
        let stream = read_varint(buffer, &mut at)? as u32;
        let position = read_varint(buffer, &mut at)?;
        let value = at.checked_add(key_len)?;
        let end = value.checked_add(value_len)?;
        (end <= buffer.len()).then_some(Self { start, key: at, value, end, stream, position })
    }

    /// Where the next record starts.
    #[inline]
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// The record itself. `buffer` is the one that the span was read from.
    #[inline]
    pub(super) fn of<'a>(&self, buffer: &'a [u8]) -> LoadRecord<'a> {
        LoadRecord {
            encoded: &buffer[self.start..self.end],
            key: &buffer[self.key..self.value],
            value: &buffer[self.value..self.end],
            stream: self.stream,
            position: self.position,
        }
    }
}

/// An entry, borrowed from its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoadRecord<'a> {
    /// All of it, to be copied as it is.
    pub(super) encoded: &'a [u8],
    /// Space and key.
    pub(super) key: &'a [u8],
    /// Header and payload.
    pub(super) value: &'a [u8],
    pub(super) stream: u32,
    pub(super) position: u64,
}

impl<'a> LoadRecord<'a> {
    /// The record at the start of a buffer that is known to hold one.
    ///
    /// # Panics
    /// If it does not.
    #[inline]
    pub(super) fn at(buffer: &'a [u8], start: usize) -> Self {
        RecordSpan::read(buffer, start).expect("offsets of a run point at records").of(buffer)
    }

    /// The version that the entry took when it was pushed.
    #[inline]
    pub(super) fn version(&self) -> u64 {
        u64::from_le_bytes(self.value[1..9].try_into().expect("every value starts with its header"))
    }

    /// The value with another version.
    pub(super) fn value_of_version(&self, version: u64) -> Vec<u8> {
        let mut value = self.value.to_vec();
        value[1..9].copy_from_slice(&version.to_le_bytes());
        value
    }

    /// The space of the entry.
    #[inline]
    pub(super) fn space(&self) -> SpaceId {
        space_of(self.key)
    }

    /// The key as the caller pushed it.
    #[inline]
    pub(super) fn logical_key(&self) -> &'a [u8] {
        &self.key[4..]
    }

    /// The bytes of key and value as the caller pushed them.
    #[inline]
    pub(super) fn logical_bytes(&self) -> u64 {
        let header = Header {
            version: 0,
            expires_at_ms: if self.value[0] & 0x80 == 0 { NEVER_MS } else { 1 },
        };
        (self.key.len() - 4 + self.value.len() - header.encoded_len()) as u64
    }

    /// Orders entries of equal keys: the one that is stored comes first.
    #[inline]
    pub(super) fn cmp_origin(&self, other: &LoadRecord<'_>, precedence: Precedence) -> Ordering {
        let origin = |record: &LoadRecord<'_>| (record.version(), record.stream, record.position);
        let order = origin(self).cmp(&origin(other));
        match precedence {
            Precedence::First => order,
            Precedence::Last => order.reverse(),
        }
    }
}

/// The space of a key as RocksDB keeps it.
#[inline]
pub(super) fn space_of(physical_key: &[u8]) -> SpaceId {
    SpaceId(u32::from_be_bytes(
        physical_key[..4].try_into().expect("every key starts with its space"),
    ))
}

/// `N` bytes of `key` from `depth` on as a number that orders like them, padded with zeros.
#[inline]
pub(super) fn prefix_number<const N: usize>(key: &[u8], depth: usize) -> u128 {
    const { assert!(N <= 16) };
    let rest = key.get(depth..).unwrap_or_default();
    let mut bytes = [0; 16];
    if let Some(whole) = rest.first_chunk::<16>() {
        bytes = *whole;
    } else {
        bytes[..rest.len()].copy_from_slice(rest);
    }
    u128::from_be_bytes(bytes) >> (8 * (16 - N))
}

/// How many leading bytes two keys share.
#[inline]
pub(super) fn common_len(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

#[inline]
fn append_varint(buffer: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        buffer.push(number as u8 | 0x80);
        number >>= 7;
    }
    buffer.push(number as u8);
}

#[inline]
fn read_varint(buffer: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *buffer.get(*at)?;
        *at += 1;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_back_as_it_was_pushed() {
        let header = Header { version: 7, expires_at_ms: 9 };
        let mut arena = Vec::new();
        for (key, payload, position) in [
            (&b""[..], &b""[..], 0),
            (b"key", b"value", u64::MAX),
            (&[9; 300], &[1; 70_000], 1 << 40),
        ] {
            let start = arena.len();
            NewRecord { space: SpaceId(258), key, header, payload, stream: u32::MAX, position }
                .append_to(&mut arena);
            let record = LoadRecord::at(&arena, start);
            assert_eq!(
                (record.space(), record.logical_key(), record.stream),
                (SpaceId(258), key, u32::MAX)
            );
            assert_eq!(
                (record.position, record.logical_bytes()),
                (position, (key.len() + payload.len()) as u64)
            );
            assert_eq!(Header::split(record.value).unwrap(), (header, payload));
            assert_eq!(record.encoded, &arena[start..]);
        }
    }

    #[test]
    fn bytes_that_are_no_record_are_noticed() {
        for bytes in [&[][..], &[1], &[5, 5, 0, 0, 1, 2], &[0xFF; 40]] {
            assert_eq!(RecordSpan::read(bytes, 0), None, "{bytes:?}");
        }
    }

    #[test]
    fn prefix_numbers_order_like_the_bytes() {
        assert_eq!(
            prefix_number::<12>(b"xxab", 2),
            u128::from_be_bytes(*b"\0\0\0\0ab\0\0\0\0\0\0\0\0\0\0")
        );
        assert!(prefix_number::<12>(b"ab", 0) < prefix_number::<12>(b"abc", 0));
        assert_eq!(prefix_number::<16>(b"ab", 5), 0);
    }
}
