//! Shards: the parts of a store that rows are spread over.

/// The number of a shard, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShardId(pub u32);
