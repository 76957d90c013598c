//! The position where a client continues, as opaque bytes.

use crate::wire::{Failure, FailureCode, Outcome};

/// What leads the bytes.
const LEAD: [u8; 3] = *b"TQ1";

/// The position where an answer continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Continuation {
    /// After a key, with so many rows to skip and so many to return at most.
    Behind { token: Vec<u8>, offset: u64, left: Option<u64> },
    /// At a row of an answer that is kept.
    Kept { cursor: u64, row: u64 },
}

impl Continuation {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = LEAD.to_vec();
        let (kind, one, other) = match self {
            Continuation::Behind { offset, left, .. } => (0, *offset, left.unwrap_or(u64::MAX)),
            Continuation::Kept { cursor, row } => (1, *cursor, *row),
        };
        bytes.push(kind);
        bytes.extend(one.to_be_bytes());
        bytes.extend(other.to_be_bytes());
        if let Continuation::Behind { token, .. } = self {
            bytes.extend(token);
        }
        bytes
    }

    /// # Errors
    /// That the bytes are of no answer of this store.
    pub(super) fn read(bytes: &[u8]) -> Outcome<Self> {
        let rest = bytes.strip_prefix(&LEAD).ok_or_else(rubbish)?;
        let (kind, rest) = rest.split_first().ok_or_else(rubbish)?;
        let (one, rest) = rest.split_first_chunk().ok_or_else(rubbish)?;
        let (other, token) = rest.split_first_chunk().ok_or_else(rubbish)?;
        let (one, other) = (u64::from_be_bytes(*one), u64::from_be_bytes(*other));
        match kind {
            0 => Ok(Continuation::Behind {
                token: token.to_vec(),
                offset: one,
                left: Some(other).filter(|left| *left != u64::MAX),
            }),
            1 if token.is_empty() => Ok(Continuation::Kept { cursor: one, row: other }),
            _ => Err(rubbish()),
        }
    }
}

/// The position in the table that the bytes of a query hold; nothing where they are no such bytes.
pub(crate) fn table_position(bytes: &[u8]) -> Option<Vec<u8>> {
    match Continuation::read(bytes) {
        Ok(Continuation::Behind { token, .. }) => Some(token),
        _ => None,
    }
}

#[cold]
fn rubbish() -> Failure {
    Failure::new(FailureCode::UnknownError, "QUERY: Failed to parse continuation key")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_continuation_reads_back_and_other_bytes_are_none() {
        for continuation in [
            Continuation::Behind { token: vec![1, 2, 3], offset: 7, left: None },
            Continuation::Behind { token: Vec::new(), offset: 0, left: Some(5) },
            Continuation::Kept { cursor: 9, row: 4 },
        ] {
            let bytes = continuation.to_bytes();
            assert_eq!(Continuation::read(&bytes).as_ref(), Ok(&continuation));
            for len in 0..20 {
                assert!(Continuation::read(&bytes[..len]).is_err(), "{len}");
            }
        }
        assert!(Continuation::read(b"rubbish!").is_err());
    }
}
