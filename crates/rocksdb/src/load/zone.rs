//! Which entries of a load lie together: those of shard-prefixed spaces are stored first, so they are kept
//! apart from the start.

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
