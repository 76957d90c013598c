//! Which entries of a load lie together. Those of shard-prefixed spaces are stored first, so they
//! are kept apart from the start.

/// What kind of spaces entries are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SpaceKind {
    /// Entries of shard-prefixed spaces: stored before all others, whatever is there.
    ShardPrefixed,
    /// Entries of the other spaces.
    Ordinary,
}

/// Whose entries share runs: those of one shard and one kind of space. A run that holds rows and
/// entries of indexes alike would be sorted by fewer bytes of its keys, and read twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lane {
    pub(super) space_kind: SpaceKind,
    pub(super) shard: usize,
}
