//! Parts of a space, for several readers.

use crate::{Error, Ranges, Result};

/// A part of a space, as its engine cut it.
///
/// Only that engine can read it: an embedded one keeps a range of keys in it, a cluster a range of
/// tokens. Its bytes may be handed to another process that has the same store open.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Part(Vec<u8>);

impl Part {
    /// A part that its engine describes by these bytes.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// What describes it.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The part of an engine that keeps keys in order: those from `start` up to `end`, which is
    /// empty for the end of the space.
    pub fn of_keys(start: &[u8], end: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(4 + start.len() + end.len());
        bytes.extend_from_slice(&(start.len() as u32).to_be_bytes());
        bytes.extend_from_slice(start);
        bytes.extend_from_slice(end);
        Self(bytes)
    }

    /// The parts between ascending cuts: one more than there are cuts.
    pub fn between(ranges: &Ranges) -> Vec<Self> {
        (0..ranges.len())
            .map(|index| Self::of_keys(ranges.start(index), ranges.end(index)))
            .collect()
    }

    /// The range that [`Part::of_keys`] turned into a part.
    ///
    /// # Errors
    /// `Invalid` for the part of an engine of another kind.
    pub fn keys(&self) -> Result<Ranges> {
        let whole = self
            .0
            .split_first_chunk::<4>()
            .and_then(|(len, rest)| rest.split_at_checked(u32::from_be_bytes(*len) as usize));
        let (start, end) = whole.ok_or_else(|| {
            Error::invalid("a part of a space is not of this engine: split the space anew")
        })?;
        let mut ranges = Ranges::new();
        ranges.push(start, end);
        Ok(ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_keeps_its_range() {
        for (start, end) in [(&b""[..], &b""[..]), (b"a", b""), (b"", b"b"), (b"a\0", b"b")] {
            let ranges = Part::of_keys(start, end).keys().unwrap();
            assert_eq!((ranges.len(), ranges.start(0), ranges.end(0)), (1, start, end));
        }
    }

    #[test]
    fn a_part_of_another_engine_is_invalid() {
        for bytes in [&b""[..], &[0, 0, 0], &[0, 0, 0, 3, b'a']] {
            let error = Part::from_bytes(bytes).keys().unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Invalid);
        }
    }
}
