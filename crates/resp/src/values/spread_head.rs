//! The head of a collection whose members are entries of their own.
//!
//! | bytes | what |
//! |---|---|
//! | 12 | the mark, and the capital letter of the kind |
//! | 8 | the generation: which entries are its members |
//! | 8 | how many members |
//! | 8 | for lists only: the position of the first element |
//!
//! Numbers are little-endian.

use super::encoded_hash::Damaged;
use super::kind::ValueKind;

/// The head of a collection whose members are entries of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpreadHead {
    pub(crate) kind: ValueKind,
    /// Entries of other generations are left from a collection that had the key before.
    pub(crate) generation: u64,
    /// How many members there are, at least one.
    pub(crate) count: u64,
    /// Where a list begins; 0 in others.
    pub(crate) first: i64,
}

impl SpreadHead {
    /// The head that a value is; none where the whole value is there.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<Self>, Damaged> {
        let kind = ValueKind::of(bytes);
        if matches!(kind, ValueKind::String | ValueKind::Unknown) {
            return Ok(None);
        }
        let Some(rest) = bytes.strip_prefix(&kind.spread_head()) else { return Ok(None) };
        let words = if kind == ValueKind::List { 3 } else { 2 };
        if rest.len() != 8 * words {
            return Err(Damaged);
        }
        let word = |number: usize| {
            let bytes = rest.get(8 * number..8 * number + 8).unwrap_or(&[0; 8]);
            bytes.try_into().map_or(0, u64::from_le_bytes)
        };
        let head = Self { kind, generation: word(0), count: word(1), first: word(2) as i64 };
        // A collection without members is not stored, and one of so many is none.
        let is_whole = head.count > 0
            && i64::try_from(head.count).is_ok_and(|count| head.first.checked_add(count).is_some());
        if is_whole { Ok(Some(head)) } else { Err(Damaged) }
    }

    pub(crate) fn append_to(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.kind.spread_head());
        bytes.extend_from_slice(&self.generation.to_le_bytes());
        bytes.extend_from_slice(&self.count.to_le_bytes());
        if self.kind == ValueKind::List {
            bytes.extend_from_slice(&self.first.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_form_is_the_one_that_is_documented() {
        let head = SpreadHead { kind: ValueKind::List, generation: 7, count: 2, first: -1 };
        let mut bytes = Vec::new();
        head.append_to(&mut bytes);
        let expected = b"\xFE\0tonnage\0\xFEL\x07\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0";
        assert_eq!(bytes, [&expected[..], &[0xFF; 8]].concat());
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_and_what_was_damaged_never_panics(
            generation in any::<u64>(), count in 1..1_u64 << 40, first in -1_i64 << 40..1 << 40,
            at in 0..36_usize, changed in 1..=255_u8,
        ) {
            for kind in [ValueKind::Hash, ValueKind::List, ValueKind::Set, ValueKind::SortedSet] {
                let first = if kind == ValueKind::List { first } else { 0 };
                let head = SpreadHead { kind, generation, count, first };
                let mut bytes = Vec::new();
                head.append_to(&mut bytes);
                prop_assert_eq!(SpreadHead::read(&bytes), Ok(Some(head)));
                for end in 12..bytes.len() {
                    prop_assert_eq!(SpreadHead::read(&bytes[..end]), Err(Damaged));
                }
                let at = at % bytes.len();
                bytes[at] ^= changed;
                prop_assert_ne!(SpreadHead::read(&bytes), Ok(Some(head)));
            }
        }
    }
}
