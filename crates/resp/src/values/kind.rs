//! What kind a stored value is.

/// What values begin with that are not strings. It is not UTF-8, and not what programs pack, so no
/// string begins so by chance.
const MARK: [u8; 11] = *b"\xFE\0tonnage\0\xFE";

/// What follows the mark: the kind. A small letter where the whole value follows, a capital one
/// where its members are entries of their own.
const LETTERS: [(u8, ValueKind); 4] = [
    (b'h', ValueKind::Hash),
    (b'l', ValueKind::List),
    (b's', ValueKind::Set),
    (b'z', ValueKind::SortedSet),
];

/// What a hash begins with some of whose fields expire by themselves.
pub(crate) const EXPIRING_HASH: [u8; MARKED_BYTES] = *b"\xFE\0tonnage\0\xFEe";

/// The mark and the letter.
const MARKED_BYTES: usize = MARK.len() + 1;

/// What kind a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    String,
    Hash,
    List,
    Set,
    SortedSet,
    /// Marked by a later version, or by mistake.
    Unknown,
}

impl ValueKind {
    /// The kind of a stored value. Its first bytes decide, whatever follows.
    pub(crate) fn of(stored: &[u8]) -> Self {
        let Some(rest) = stored.strip_prefix(&MARK) else { return Self::String };
        if stored.starts_with(&EXPIRING_HASH) {
            return Self::Hash;
        }
        let letter = rest.first().map_or(0, u8::to_ascii_lowercase);
        let known = LETTERS.iter().find(|(known, _)| *known == letter);
        known.map_or(Self::Unknown, |(_, kind)| *kind)
    }

    /// Its name in TYPE and SCAN.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Hash => "hash",
            Self::List => "list",
            Self::Set => "set",
            Self::SortedSet => "zset",
            Self::Unknown => "unknown",
        }
    }

    /// What whole values of this kind begin with, unless they are strings.
    pub(crate) fn head(self) -> [u8; MARKED_BYTES] {
        let known = LETTERS.iter().find(|(_, kind)| *kind == self);
        let mut head = [known.map_or(0, |(letter, _)| *letter); MARKED_BYTES];
        head[..MARK.len()].copy_from_slice(&MARK);
        head
    }

    /// The same where the members are entries of their own.
    pub(crate) fn spread_head(self) -> [u8; MARKED_BYTES] {
        let mut head = self.head();
        head[MARK.len()].make_ascii_uppercase();
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
        for (_, kind) in LETTERS {
            assert_eq!(ValueKind::of(&kind.head()), kind);
            assert_eq!(ValueKind::of(&kind.spread_head()), kind);
        }
        assert_eq!(ValueKind::of(&EXPIRING_HASH), ValueKind::Hash);
        assert_eq!(ValueKind::of(&MARK), ValueKind::Unknown);
        assert_eq!(ValueKind::of(b"\xFE\0tonnage\0\xFEE"), ValueKind::Unknown);
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
