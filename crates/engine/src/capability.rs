//! What an engine can and cannot do.

/// What an engine offers beyond the plain contract, and its limits. What is missing here is
/// answered with `Unsupported`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// The longest key, in bytes.
    pub key_bytes_max: usize,
    /// The longest value, in bytes.
    pub value_bytes_max: usize,
    /// The most bytes in one atomic batch.
    pub batch_bytes_max: usize,
    /// The most operations in one atomic batch.
    pub batch_operations_max: usize,
    /// The most spaces that one atomic batch may write to. Shard-prefixed ones do not count where
    /// [`Capability::shard_prefixed_atomic`] is off.
    pub spaces_per_batch: usize,
    /// Whether rows of different shard keys come in byte order too, so that ranges may span shard
    /// keys. Holds within a shard; with more than one shard, scans give shard after shard.
    pub total_order: bool,
    /// Whether reads always see every write acknowledged before.
    pub absolute_consistency: bool,
    /// Whether a write can wait until every copy of its rows has it ([`crate::Acks::All`]). An
    /// engine that keeps one copy says so.
    pub acks_all: bool,
    /// Whether `Durability::Fsync` reaches a disk. Where it does not, `Fsync` is accepted all the
    /// same and means the most durable thing that the engine has: a memory store has nothing to
    /// lose to.
    pub fsync: bool,
    /// Whether the store is still there after it is closed.
    pub persistent: bool,
    /// Whether several processes may have the store open at once. Where they may, the order that
    /// [`crate::LoadSession`] promises beside the writes of others holds within one open store. To
    /// other openings, in this process or another, an entry takes its place when it is stored.
    pub shared: bool,
    /// Whether a consistent copy is possible.
    pub checkpoint: bool,
    /// Whether the engine can wait for its background work ([`crate::Maintenance::settle`]).
    pub settle: bool,
    /// Whether there are spaces whose keys name their shard ([`crate::KeyShape::shard_prefixed`]), which
    /// may be written together with rows of that shard.
    pub shard_prefixed_spaces: bool,
    /// Whether entries of shard-prefixed spaces are written in one atomic step with the rows of
    /// their batch. Where they are not, they take no conditions. Those put are stored before the
    /// rows, and stay though the batch is refused or fails. Those deleted go after the rows.
    pub shard_prefixed_atomic: bool,
    /// How many shards there are.
    pub shards: u32,
}
