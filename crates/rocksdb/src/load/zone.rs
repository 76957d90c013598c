//! Which entries of a load lie together: those of shard-prefixed spaces are stored first, so they are kept
//! apart from the start.

use tonnage_engine::SpaceId;

use super::range::KeyRange;

/// What kind of spaces entries are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Zone {
    /// Entries of shard-prefixed spaces: stored before all others, whatever is there.
    Placed,
    /// Entries of the other spaces.
    Ordinary,
}

/// Whose entries share runs: those of one shard and one zone. A run that holds rows and entries of
/// indexes alike would be sorted by fewer bytes of its keys, and read twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lane {
    pub(super) zone: Zone,
    pub(super) shard: usize,
}

/// All keys of a space.
pub(super) fn keys_of(space: SpaceId) -> KeyRange {
    let start = space.0.to_be_bytes().to_vec();
    KeyRange {
        lower: Some(start),
        upper: space.0.checked_add(1).map(|next| next.to_be_bytes().to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_a_space_end_where_those_of_the_next_begin() {
        assert_eq!(
            keys_of(SpaceId(3)),
            KeyRange { lower: Some(vec![0, 0, 0, 3]), upper: Some(vec![0, 0, 0, 4]) }
        );
        assert_eq!(keys_of(SpaceId(u32::MAX)).upper, None);
    }
}
