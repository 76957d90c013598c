//! A hash as it is stored, in one value. A sorted set is a hash whose values are scores, a set one
//! whose values are empty. A list is a set in which a member may come twice.
//!
//! | bytes | what |
//! |---|---|
//! | 12 | the mark, and the letter of the kind |
//! | 4 | how many fields, little-endian |
//! | for each field | the length of its name and that of its value; the name; the value |
//!
//! Where fields expire by themselves, the letter is another one. The time when the last field
//! expires, or 0 if one never does, comes after the number of fields. Each field has its time, or
//! 0, after its two lengths. A time is eight bytes.
//!
//! A length has seven bits a byte, the lowest first; each byte but its last has the top bit set.
//! Fields of a hash are in the order of their creation, members of a sorted set in that of their
//! scores, which are doubles, little-endian.

use std::ops::Range;

use super::kind::{EXPIRING_HASH, ValueKind};

/// The mark and the number of fields.
pub(crate) const HEAD_BYTES: usize = 16;

/// The time of a field, and that of all.
pub(crate) const EXPIRY_BYTES: usize = 8;

/// The bytes are not a whole hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damaged;

/// A hash as it is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodedHash<'b> {
    bytes: &'b [u8],
    count: u32,
    has_times: bool,
}

/// Where a field and its value stand in the bytes of their hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HashEntry {
    pub(crate) field: Range<usize>,
    pub(crate) value: Range<usize>,
    /// When it expires; 0 for never.
    pub(crate) expires_at_ms: u64,
}

/// The fields of a hash. The last item is an error where the bytes are not a whole hash.
#[derive(Debug)]
pub(crate) struct HashEntries<'b> {
    bytes: &'b [u8],
    at: usize,
    left: u32,
    is_over: bool,
    has_times: bool,
}

impl<'b> EncodedHash<'b> {
    /// Reads the head, and no field.
    pub(crate) fn open(bytes: &'b [u8], kind: ValueKind) -> Result<Self, Damaged> {
        let has_times = kind == ValueKind::Hash && bytes.starts_with(&EXPIRING_HASH);
        let head = if has_times { EXPIRING_HASH } else { kind.head() };
        let rest = bytes.strip_prefix(&head).ok_or(Damaged)?;
        let count = u32::from_le_bytes(*rest.first_chunk().ok_or(Damaged)?);
        // A hash without fields is not stored.
        if count == 0 { Err(Damaged) } else { Ok(Self { bytes, count, has_times }) }
    }

    /// How many fields it says that it has.
    pub(crate) fn len(self) -> usize {
        self.count as usize
    }

    pub(crate) fn entries(self) -> HashEntries<'b> {
        let Self { bytes, count, has_times } = self;
        let at = if has_times { HEAD_BYTES + EXPIRY_BYTES } else { HEAD_BYTES };
        HashEntries { bytes, at, left: count, is_over: false, has_times }
    }
}

impl HashEntries<'_> {
    fn entry(&mut self) -> Option<HashEntry> {
        let (field, value) = (self.length()?, self.length()?);
        let expires_at_ms = if self.has_times { self.time()? } else { 0 };
        Some(HashEntry { field: self.take(field)?, value: self.take(value)?, expires_at_ms })
    }

    fn length(&mut self) -> Option<usize> {
        let mut length: u32 = 0;
        for shift in [0, 7, 14, 21] {
            let byte = u32::from(*self.bytes.get(self.at)?);
            self.at += 1;
            length |= (byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(length as usize);
            }
        }
        None
    }

    fn time(&mut self) -> Option<u64> {
        let time = self.take(EXPIRY_BYTES)?;
        Some(u64::from_le_bytes(*self.bytes.get(time)?.first_chunk()?))
    }

    fn take(&mut self, length: usize) -> Option<Range<usize>> {
        let start = self.at;
        self.at = start.checked_add(length).filter(|end| *end <= self.bytes.len())?;
        Some(start..self.at)
    }
}

impl Iterator for HashEntries<'_> {
    type Item = Result<HashEntry, Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        if self.left == 0 {
            self.is_over = true;
            return (self.at != self.bytes.len()).then_some(Err(Damaged));
        }
        self.left -= 1;
        let entry = self.entry();
        self.is_over = entry.is_none();
        Some(entry.ok_or(Damaged))
    }
}

/// The score that a member of a sorted set has; NaN, which is none, where it is not a double.
pub(crate) fn score_of(value: &[u8]) -> f64 {
    value.try_into().map_or(f64::NAN, f64::from_le_bytes)
}

/// Appends the head of a hash of so many fields.
pub(crate) fn write_head(kind: ValueKind, count: usize, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&kind.head());
    bytes.extend_from_slice(&(count as u32).to_le_bytes());
}

/// The same where fields expire by themselves, with the time when the last one does.
pub(crate) fn write_expiring_head(count: usize, ends_at_ms: u64, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&EXPIRING_HASH);
    bytes.extend_from_slice(&(count as u32).to_le_bytes());
    bytes.extend_from_slice(&ends_at_ms.to_le_bytes());
}

/// Whether the bytes are a hash all of whose fields have expired.
pub(crate) fn is_over(bytes: &[u8], now_ms: u64) -> bool {
    let head = bytes.strip_prefix(&EXPIRING_HASH).and_then(|rest| rest.get(4..));
    let ends_at_ms = head.and_then(|head| head.first_chunk()).map(|at| u64::from_le_bytes(*at));
    ends_at_ms.is_some_and(|ends_at_ms| ends_at_ms > 0 && ends_at_ms <= now_ms)
}

/// Appends the lengths that stand before a field and its value.
pub(crate) fn write_lengths(field: usize, value: usize, bytes: &mut Vec<u8>) {
    for mut length in [field, value] {
        while length >= 0x80 {
            bytes.push(length as u8 | 0x80);
            length >>= 7;
        }
        bytes.push(length as u8);
    }
}

/// How many bytes a field and its value take.
pub(crate) fn entry_bytes(field: usize, value: usize) -> usize {
    let digits = |length: usize| (1..).find(|digits| length >> (7 * digits) == 0).unwrap_or(1);
    digits(field) + digits(value) + field + value
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Fields = Vec<(Vec<u8>, Vec<u8>)>;

    fn encoded(fields: &Fields) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_head(ValueKind::Hash, fields.len(), &mut bytes);
        for (field, value) in fields {
            let before = bytes.len();
            write_lengths(field.len(), value.len(), &mut bytes);
            bytes.extend_from_slice(field);
            bytes.extend_from_slice(value);
            assert_eq!(bytes.len() - before, entry_bytes(field.len(), value.len()));
        }
        bytes
    }

    fn decoded(bytes: &[u8]) -> Result<Fields, Damaged> {
        let text = |range: Range<usize>| bytes[range].to_vec();
        let entries = EncodedHash::open(bytes, ValueKind::Hash)?.entries();
        entries.map(|entry| entry.map(|entry| (text(entry.field), text(entry.value)))).collect()
    }

    #[test]
    fn the_form_is_the_one_that_is_documented() {
        let fields = vec![(b"f".to_vec(), b"12".to_vec()), (b"long".to_vec(), vec![b'x'; 300])];
        let mut expected = b"\xFE\0tonnage\0\xFEh\x02\0\0\0\x01\x02f12\x04\xAC\x02long".to_vec();
        expected.extend_from_slice(&[b'x'; 300]);
        assert_eq!(encoded(&fields), expected);
    }

    #[test]
    fn a_hash_without_fields_and_lengths_without_end_are_damaged() {
        let mut empty = Vec::new();
        write_head(ValueKind::Hash, 0, &mut empty);
        assert_eq!(decoded(&empty), Err(Damaged));
        let mut endless = Vec::new();
        write_head(ValueKind::Hash, 1, &mut endless);
        endless.extend_from_slice(&[0x80; 40]);
        assert_eq!(decoded(&endless), Err(Damaged));
    }

    fn fields() -> impl Strategy<Value = Fields> {
        let bytes = || proptest::collection::vec(any::<u8>(), 0..200);
        proptest::collection::vec((bytes(), bytes()), 1..6)
    }

    type Timed = Vec<(Vec<u8>, Vec<u8>, u64)>;

    fn encoded_with_times(fields: &Timed, ends_at_ms: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_expiring_head(fields.len(), ends_at_ms, &mut bytes);
        for (field, value, expires_at_ms) in fields {
            write_lengths(field.len(), value.len(), &mut bytes);
            bytes.extend_from_slice(&expires_at_ms.to_le_bytes());
            bytes.extend_from_slice(field);
            bytes.extend_from_slice(value);
        }
        bytes
    }

    fn decoded_with_times(bytes: &[u8]) -> Result<Timed, Damaged> {
        let text = |range: Range<usize>| bytes[range].to_vec();
        let entries = EncodedHash::open(bytes, ValueKind::Hash)?.entries();
        let entry = |entry: HashEntry| (text(entry.field), text(entry.value), entry.expires_at_ms);
        entries.map(|read| read.map(entry)).collect()
    }

    #[test]
    fn the_form_with_times_is_the_one_that_is_documented() {
        let fields = vec![(b"f".to_vec(), b"12".to_vec(), 258), (b"g".to_vec(), Vec::new(), 0)];
        let expected = b"\xFE\0tonnage\0\xFEe\x02\0\0\0\x07\0\0\0\0\0\0\0\
                         \x01\x02\x02\x01\0\0\0\0\0\0f12\x01\0\0\0\0\0\0\0\0\0g";
        assert_eq!(encoded_with_times(&fields, 7), expected);
        assert!(is_over(expected, 7) && !is_over(expected, 6));
        // One that has a field for ever, one without times, and one that is cut off.
        assert!(!is_over(&encoded_with_times(&fields, 0), u64::MAX));
        assert!(!is_over(&encoded(&vec![(Vec::new(), Vec::new())]), u64::MAX));
        assert!(!is_over(&expected[..23], u64::MAX));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Every prefix, every further byte, and every changed byte.
        #[test]
        fn what_was_written_is_read_and_what_was_damaged_never_panics(
            fields in fields(), changed in 1..=255_u8, more in 0..=255_u8,
        ) {
            let bytes = encoded(&fields);
            prop_assert_eq!(decoded(&bytes), Ok(fields));
            for end in 0..bytes.len() {
                prop_assert_eq!(decoded(&bytes[..end]), Err(Damaged));
            }
            let longer = [&bytes[..], &[more]].concat();
            prop_assert_eq!(decoded(&longer), Err(Damaged));
            for at in 0..bytes.len() {
                let mut other = bytes.clone();
                other[at] ^= changed;
                // An error, or another hash of the very same bytes.
                if let Ok(fields) = decoded(&other) {
                    let read: usize =
                        fields.iter().map(|(field, value)| field.len() + value.len()).sum();
                    prop_assert!(read + HEAD_BYTES + 2 * fields.len() <= other.len());
                }
            }
        }

        #[test]
        fn times_are_read_back_and_what_was_damaged_never_panics(
            fields in proptest::collection::vec(
                (proptest::collection::vec(any::<u8>(), 0..200), any::<u64>()), 1..6),
            ends_at_ms: u64, changed in 1..=255_u8, more: u8,
        ) {
            let field = |(name, time): (Vec<u8>, u64)| (name.clone(), name, time);
            let fields: Timed = fields.into_iter().map(field).collect();
            let bytes = encoded_with_times(&fields, ends_at_ms);
            prop_assert_eq!(decoded_with_times(&bytes), Ok(fields.clone()));
            prop_assert_eq!(is_over(&bytes, u64::MAX), ends_at_ms > 0);
            for end in 0..bytes.len() {
                prop_assert_eq!(decoded_with_times(&bytes[..end]), Err(Damaged));
            }
            prop_assert_eq!(decoded_with_times(&[&bytes[..], &[more]].concat()), Err(Damaged));
            for at in 0..bytes.len() {
                let mut other = bytes.clone();
                other[at] ^= changed;
                if let Ok(read) = decoded_with_times(&other) {
                    let lens = |fields: &Timed| -> usize {
                        fields.iter().map(|(name, value, _)| name.len() + value.len()).sum()
                    };
                    prop_assert!(lens(&read) <= other.len());
                }
            }
        }

        #[test]
        fn any_bytes_behind_the_mark_are_read_without_a_panic(
            rest in proptest::collection::vec(any::<u8>(), 0..100),
        ) {
            let bytes = [&ValueKind::Hash.head()[..], &rest].concat();
            if let Ok(fields) = decoded(&bytes) {
                let count = EncodedHash::open(&bytes, ValueKind::Hash).map(EncodedHash::len);
                prop_assert_eq!(count, Ok(fields.len()));
            }
        }
    }
}
