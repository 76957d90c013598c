//! What kind a stored value is.

/// What values begin with that are no strings. It is not UTF-8, and not what programs pack, so no
/// string begins so by chance.
const MARK: [u8; 11] = *b"\xFE\0tonnage\0\xFE";

/// What stands behind the mark: the kind, in its first form.
const HASH: u8 = b'h';
const SORTED_SET: u8 = b'z';

/// What kind a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    String,
    Hash,
    SortedSet,
    /// Marked by a later version, or by mistake.
    Unknown,
}

impl ValueKind {
    /// The kind of a stored value. Its first bytes decide, whatever follows.
    pub(crate) fn of(stored: &[u8]) -> Self {
        match stored.strip_prefix(&MARK) {
            None => Self::String,
            Some([HASH, ..]) => Self::Hash,
            Some([SORTED_SET, ..]) => Self::SortedSet,
            Some(_) => Self::Unknown,
        }
    }

    /// Its name in TYPE and SCAN.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Hash => "hash",
            Self::SortedSet => "zset",
            Self::Unknown => "unknown",
        }
    }

    /// What values of this kind begin with, unless they are strings.
    pub(crate) fn head(self) -> [u8; MARK.len() + 1] {
        let letter = if self == Self::SortedSet { SORTED_SET } else { HASH };
        let mut head = [letter; MARK.len() + 1];
        head[..MARK.len()].copy_from_slice(&MARK);
        head
    }
}

/// Whether a string would begin with the mark, once these bytes stand at `offset` in it.
pub(crate) fn would_be_marked(string: &[u8], offset: usize, bytes: &[u8]) -> bool {
    if offset >= MARK.len() {
        return false;
    }
    // Only the first bytes matter, so only they are put together.
    let mut head = [0; MARK.len()];
    let kept = string.len().min(MARK.len());
    head[..kept].copy_from_slice(&string[..kept]);
    let put = bytes.len().min(MARK.len() - offset);
    head[offset..offset + put].copy_from_slice(&bytes[..put]);
    string.len().max(offset + bytes.len()) >= MARK.len() && head == MARK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_begins_with_the_mark_is_no_string() {
        for string in [&b""[..], b"x", b"\xFE", &MARK[..10], b"\xFE\0tonnage\0\xFD"] {
            assert_eq!(ValueKind::of(string), ValueKind::String);
        }
        for kind in [ValueKind::Hash, ValueKind::SortedSet] {
            assert_eq!(ValueKind::of(&kind.head()), kind);
        }
        assert_eq!(ValueKind::of(&MARK), ValueKind::Unknown);
        assert_eq!(ValueKind::of(b"\xFE\0tonnage\0\xFE?"), ValueKind::Unknown);
    }

    #[test]
    fn a_string_becomes_marked_by_its_first_bytes_however_they_come() {
        assert!(would_be_marked(b"", 0, &MARK));
        assert!(would_be_marked(&MARK[..4], 4, &MARK[4..]));
        assert!(would_be_marked(b"x\0tonnage\0\xFE...", 0, b"\xFE"));
        assert!(!would_be_marked(&MARK[..4], 4, &MARK[4..10]));
        assert!(!would_be_marked(b"x\0tonnage\0\xFE...", 1, b"\xFE"));
        assert!(!would_be_marked(b"x", 11, &MARK));
    }
}
