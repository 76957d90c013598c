//! A hash as it is stored, in one value. A sorted set is a hash whose values are scores, a set one
//! whose values are empty. A list is a set in which a member may come twice.
//!
//! | bytes | what |
//! |---|---|
//! | 12 | the mark, and the letter of the kind |
//! | 4 | how many fields, little-endian |
//! | for each field | the length of its name and that of its value; the name; the value |
//!
//! A length has seven bits a byte, the lowest first; each byte but its last has the top bit set.
//! Fields of a hash are in the order of their creation, members of a sorted set in that of their
//! scores, which are doubles, little-endian.

use std::ops::Range;

use super::kind::ValueKind;

/// The mark and the number of fields.
pub(crate) const HEAD_BYTES: usize = 16;

/// The bytes are no whole hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damaged;

/// A hash as it is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodedHash<'b> {
    bytes: &'b [u8],
    count: u32,
}

/// Where a field and its value stand in the bytes of their hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HashEntry {
    pub(crate) field: Range<usize>,
    pub(crate) value: Range<usize>,
}

/// The fields of a hash. The last item is an error where the bytes are no whole hash.
#[derive(Debug)]
pub(crate) struct HashEntries<'b> {
    bytes: &'b [u8],
    at: usize,
    left: u32,
    is_over: bool,
}

impl<'b> EncodedHash<'b> {
    /// Reads the head, and no field.
    pub(crate) fn open(bytes: &'b [u8], kind: ValueKind) -> Result<Self, Damaged> {
        let rest = bytes.strip_prefix(&kind.head()).ok_or(Damaged)?;
        let count = u32::from_le_bytes(*rest.first_chunk().ok_or(Damaged)?);
        // A hash without fields is not stored.
        if count == 0 { Err(Damaged) } else { Ok(Self { bytes, count }) }
    }

    /// How many fields it says that it has.
    pub(crate) fn len(self) -> usize {
        self.count as usize
    }

    pub(crate) fn entries(self) -> HashEntries<'b> {
        HashEntries { bytes: self.bytes, at: HEAD_BYTES, left: self.count, is_over: false }
    }
}

impl HashEntries<'_> {
    fn entry(&mut self) -> Option<HashEntry> {
        let (field, value) = (self.length()?, self.length()?);
        Some(HashEntry { field: self.take(field)?, value: self.take(value)? })
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

/// The score that a member of a sorted set has; NaN, which is none, where it is no double.
pub(crate) fn score_of(value: &[u8]) -> f64 {
    value.try_into().map_or(f64::NAN, f64::from_le_bytes)
}

/// Appends the head of a hash of so many fields.
pub(crate) fn write_head(kind: ValueKind, count: usize, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&kind.head());
    bytes.extend_from_slice(&(count as u32).to_le_bytes());
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
