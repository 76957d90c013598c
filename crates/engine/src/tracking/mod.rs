//! Tracked ranges: what lets a copy of rows outside the engine know which of them were written
//! since.
//!
//! 1. A caller takes a [`Snapshot`] and names the spaces to be followed from then on.
//! 2. It copies the rows of a range at that snapshot, and has the range tracked under an id of its
//!    own ([`crate::Engine::track`]).
//! 3. A later snapshot says which keys were written since ([`Snapshot::changes`]). The caller reads
//!    these at the snapshot; its copy has the others.
//! 4. Each write has a *ticket*, a number that grows, which is *open* until the write has ended.
//!    Below the *settled* ticket of a snapshot none is open: its writes show. What shows has a
//!    ticket below the *noted* one. A write between the two may show or not, and later snapshots
//!    tell its keys again.

mod book;
mod change_list;
#[cfg(test)]
mod interleaving_tests;
mod range_starts;

use std::sync::Arc;

use crate::{Engine, Result, ShardId, SpaceId};

pub use book::TicketBook;

/// What was written into a tracked range.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RangeChange {
    /// A row was put or deleted under this key.
    Key(Vec<u8>),
    /// All rows from a key up to another were deleted; an empty end is that of the space.
    Deleted(Vec<u8>, Vec<u8>),
}

/// A range of a shard, as a snapshot found it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TrackedRange {
    /// Where its rows lie.
    pub shard: ShardId,
    /// Its first key.
    pub start: Vec<u8>,
    /// The first key behind it; empty for the end of the space.
    pub end: Vec<u8>,
    /// The id of the copy of its rows, if there is one.
    pub id: Option<u128>,
}

/// What happened to a range since its rows were copied.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RangeChanges {
    /// These changes, with their tickets, in the order of these.
    Known(Vec<(u64, RangeChange)>),
    /// It cannot be told any more, or the copy was replaced: read the range from the store.
    Unknown,
}

/// The store at one point in time, with everything that was acknowledged before. Rows expire as
/// time continues, as they do in the store. Whether a space that is dropped later is still there is
/// up to the engine: otherwise it is `NotFound`.
pub trait Snapshot: Send + Sync {
    /// An engine that reads at that time and refuses writes.
    fn engine(&self) -> &Arc<dyn Engine>;

    /// The ranges of a space that was followed when the snapshot was taken, those of each shard in
    /// order; none of another space.
    fn ranges(&self, space: SpaceId) -> Result<Vec<TrackedRange>>;

    /// The settled ticket of a shard; nothing for a space that was not followed.
    fn settled(&self, space: SpaceId, shard: ShardId) -> Option<u64>;

    /// What was noted of a range from the ticket `since` on, up to the noted ticket of this
    /// snapshot. The first `since` of a copy is the settled ticket of the snapshot that it was made
    /// of.
    fn changes(&self, space: SpaceId, range: &TrackedRange, since: u64) -> Result<RangeChanges>;
}
