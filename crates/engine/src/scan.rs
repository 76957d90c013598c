//! Range scans: options, filters and scanners.

use std::sync::Arc;

use crate::{Deadline, Result, Rows, ScanPosition, ShardId};

/// The order in which a scan gives its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Whatever order is fastest.
    #[default]
    Unordered,
    /// Ascending keys under each shard key; ranges one after another.
    Forward,
    /// Descending keys under each shard key; ranges one after another, each from its end.
    Reverse,
}

/// What of a row a read gives back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Projection {
    /// Key, version, expiry and value.
    #[default]
    KeysAndValues,
    /// All but the value.
    KeysOnly,
}

/// Whether what a scan reads stays in the cache of an engine that has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FillCache {
    /// Always: for reads of what is likely to be read again.
    #[default]
    Yes,
    /// If the whole space fits into a part of the cache, and is scanned often. For scans of a whole
    /// space, which would otherwise push out everything else.
    IfSmall,
    /// Never: for reads that pass over a space once.
    No,
}

/// What a [`KeyFilter`] says of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterDecision {
    /// The row is passed over.
    Skip,
    /// The row is given and counts towards the limits per range and per shard key.
    Count,
    /// The row is given but does not count towards these limits (a child row that comes along with
    /// its parent).
    Along,
}

/// Decides from its key alone whether a row is wanted, before its value is touched.
pub trait KeyFilter: Send + Sync {
    /// The decision on one key.
    fn decide(&self, key: &[u8]) -> FilterDecision;
}

/// How to scan.
#[derive(Clone)]
pub struct ScanOptions {
    /// The order of rows.
    pub direction: Direction,
    /// What of each row is wanted.
    pub projection: Projection,
    /// At most this many counted rows for each range.
    ///
    /// A forward scan also gives the rows that come [`FilterDecision::Along`] after the last
    /// counted row, up to the next counted one; a reverse scan gives those that come along before a
    /// counted row, and stops right after the last one.
    pub limit_per_range: Option<u64>,
    /// At most this many counted rows under each shard key within a range, likewise. The rest of a
    /// shard key is jumped over, not read.
    pub limit_per_shard_key: Option<u64>,
    /// About how many rows one batch holds.
    pub batch_rows_max: usize,
    /// About how many bytes of keys and values one batch holds; a single larger row still comes.
    pub batch_bytes_max: usize,
    /// Which keys are wanted; all without it.
    pub filter: Option<Arc<dyn KeyFilter>>,
    /// Whether what is read should stay in the cache.
    pub fill_cache: FillCache,
    /// Whether rows come too that only one copy has: those that were written with
    /// [`Acks::None`](crate::Acks::None). For a scan that an index is built from.
    pub every_copy: bool,
    /// Only rows of this shard, as those of a range of [`Snapshot::ranges`](crate::Snapshot::ranges)
    /// are. Engines without snapshots ignore it.
    pub shard: Option<ShardId>,
    /// Where to continue: the position of an earlier scan of the same ranges or part, with the same
    /// direction, limits and filter. What is written meanwhile before it is not seen.
    pub resume: Option<ScanPosition>,
    /// By when each batch must be there. One that is not is an error, and ends the scan; a new scan
    /// may continue from the last position.
    pub deadline: Deadline,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self {
            direction: Direction::Unordered,
            projection: Projection::KeysAndValues,
            limit_per_range: None,
            limit_per_shard_key: None,
            batch_rows_max: 8_192,
            batch_bytes_max: 4 << 20,
            filter: None,
            fill_cache: FillCache::Yes,
            every_copy: false,
            shard: None,
            resume: None,
            deadline: Deadline::NONE,
        }
    }
}

/// A scan under way.
pub trait Scanner: Send {
    /// Clears `rows` and fills it with the next batch. The answer is false, and `rows` empty, when
    /// the scan is over; asking again then gives the same answer. After an error the scan is over.
    fn next_batch(&mut self, rows: &mut Rows) -> Result<bool>;

    /// Where the next batch begins: to close the scan, and continue later with another one
    /// ([`ScanOptions::resume`]). After an error it is that of the end.
    ///
    /// # Errors
    /// Those of the next batch, where the engine knows of them already.
    fn position(&self) -> Result<ScanPosition>;

    /// Lets go of what the scan holds of the engine: files, caches, connections. The next batch
    /// takes it up again, for the price of a look-up. For a scan whose reader rests.
    ///
    /// # Errors
    /// As [`Scanner::position`].
    fn release(&mut self) -> Result<()>;

    /// By when the batches from now on must be there.
    fn set_deadline(&mut self, deadline: Deadline);

    /// About how many rows and bytes the batches from now on hold, in place of
    /// [`ScanOptions::batch_rows_max`] and [`ScanOptions::batch_bytes_max`]. What the engine has
    /// read already may still come in larger ones.
    fn set_batch_max(&mut self, rows: usize, bytes: usize);
}

impl std::fmt::Debug for ScanOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScanOptions")
            .field("direction", &self.direction)
            .field("projection", &self.projection)
            .field("limit_per_range", &self.limit_per_range)
            .field("limit_per_shard_key", &self.limit_per_shard_key)
            .field("batch_rows_max", &self.batch_rows_max)
            .field("batch_bytes_max", &self.batch_bytes_max)
            .field("fill_cache", &self.fill_cache)
            .finish_non_exhaustive()
    }
}
