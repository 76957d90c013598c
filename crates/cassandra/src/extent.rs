//! What a scan or a deletion covers: a range of one partition, or of the ring's tokens.

use tonnage_engine::{Error, Part, Ranges, Result, append_successor};

use crate::bucket::Bucket;
use crate::store::ClusterStore;
use crate::table::SpaceTable;

/// A range of the ring: tokens after `after`, up to `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TokenRange {
    pub(crate) after: i64,
    pub(crate) last: i64,
}

impl TokenRange {
    /// The whole ring: no partition has the least token.
    pub(crate) const RING: TokenRange = TokenRange { after: i64::MIN, last: i64::MAX };

    /// At most so many ranges of equal length.
    pub(crate) fn split(parts: usize) -> Vec<TokenRange> {
        let parts = parts.clamp(1, 1 << 16) as i128;
        let width = (i128::from(i64::MAX) - i128::from(i64::MIN)) / parts;
        let cut = |part: i128| match part {
            part if part == parts => i64::MAX,
            part => (i128::from(i64::MIN) + part * width) as i64,
        };
        (0..parts).map(|part| TokenRange { after: cut(part), last: cut(part + 1) }).collect()
    }

    /// As a part of a space.
    pub(crate) fn to_part(self) -> Part {
        let mut bytes = MARK.to_vec();
        bytes.extend_from_slice(&self.after.to_be_bytes());
        bytes.extend_from_slice(&self.last.to_be_bytes());
        Part::from_bytes(bytes)
    }

    /// Reads a part.
    ///
    /// # Errors
    /// `Invalid` for that of an engine of another kind.
    pub(crate) fn from_part(part: &Part) -> Result<Self> {
        let read = || {
            let bytes = part.as_bytes().strip_prefix(MARK)?;
            let (after, last) = bytes.split_first_chunk::<8>()?;
            let last = last.try_into().ok()?;
            Some(Self { after: i64::from_be_bytes(*after), last: i64::from_be_bytes(last) })
        };
        read().ok_or_else(|| {
            Error::invalid("a part of a space is not of this engine: split the space anew")
        })
    }

    /// How much of the ring it is.
    pub(crate) fn width(self) -> u64 {
        self.last.abs_diff(self.after)
    }

    /// Its beginning: so much of the ring at most.
    pub(crate) fn first(self, width: u64) -> Self {
        match self.width() <= width {
            true => self,
            false => Self { last: self.after.wrapping_add_unsigned(width), ..self },
        }
    }

    /// What follows its beginning, if anything does.
    pub(crate) fn behind(self, first: Self) -> Option<Self> {
        (first.last < self.last).then_some(Self { after: first.last, ..self })
    }

    pub(crate) fn holds(self, token: i64) -> bool {
        self.after < token && token <= self.last
    }
}

/// What begins the bytes of a part.
const MARK: &[u8] = b"ring";

/// What one range covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// No key can lie in it.
    Nothing,
    /// Keys of one partition, from `start` on and before `end`, if there is one.
    Within { bucket: Bucket, start: Vec<u8>, end: Option<Vec<u8>> },
    /// Whole partitions.
    Ring(TokenRange),
}

impl ClusterStore {
    /// What each range covers.
    ///
    /// # Errors
    /// `Unsupported` for a range across shard keys, short of the whole space.
    pub(crate) fn extents(&self, table: &SpaceTable, ranges: &Ranges) -> Result<Vec<Extent>> {
        (0..ranges.len())
            .map(|index| match ranges.is_whole_space(index) {
                true => Ok(Extent::Ring(TokenRange::RING)),
                false => self.extent(table, ranges.start(index), ranges.end(index)),
            })
            .collect()
    }

    fn extent(&self, table: &SpaceTable, start: &[u8], end: &[u8]) -> Result<Extent> {
        if !end.is_empty() && start >= end {
            return Ok(Extent::Nothing);
        }
        let len = table.info().shape.shard_key_len(start).map_err(|_| across(table))?;
        let shard_key = &start[..len];
        let mut successor = Vec::new();
        append_successor(shard_key, &mut successor);
        let is_inside = match (end.is_empty(), successor.is_empty()) {
            (true, is_last) => is_last,
            (false, true) => true,
            (false, false) => end <= &successor[..],
        };
        if !is_inside {
            return Err(across(table));
        }
        let end = (!end.is_empty()).then(|| end.to_vec());
        Ok(Extent::Within { bucket: self.bucket(shard_key), start: start.to_vec(), end })
    }
}

#[cold]
fn across(table: &SpaceTable) -> Error {
    Error::unsupported(format!(
        "{}: a range across shard keys needs a total order, which a cluster has not: read the whole space, or one shard key",
        table.display_name()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_ranges_cover_the_ring_without_gaps() {
        for parts in [1, 2, 3, 7, 1_000] {
            let token_ranges = TokenRange::split(parts);
            assert_eq!(token_ranges.len(), parts);
            assert_eq!(token_ranges[0].after, i64::MIN);
            assert_eq!(token_ranges[parts - 1].last, i64::MAX);
            assert!(token_ranges.windows(2).all(|pair| pair[0].last == pair[1].after));
        }
    }

    #[test]
    fn the_beginnings_of_a_token_range_cover_it() {
        for ring in
            [TokenRange::RING, TokenRange { after: -7, last: 6 }, TokenRange { after: 3, last: 3 }]
        {
            let (mut left, mut after) = (Some(ring), ring.after);
            while let Some(token_range) = left {
                let first = token_range.first(ring.width() / 3);
                assert_eq!(first.after, after);
                left = token_range.behind(first);
                after = first.last;
            }
            assert_eq!(after, ring.last);
        }
    }

    #[test]
    fn a_part_keeps_its_token_range() {
        let token_range = TokenRange { after: -5, last: i64::MAX };
        assert_eq!(TokenRange::from_part(&token_range.to_part()).unwrap(), token_range);
        for bytes in [&b""[..], b"ring", b"range of another engine"] {
            assert!(TokenRange::from_part(&Part::from_bytes(bytes)).is_err());
        }
    }
}
