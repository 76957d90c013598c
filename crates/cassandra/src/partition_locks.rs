//! Locks of partitions: rows of a partition have one writer at a time in this open store. Index
//! entries of small writes go without ([`crate::index_entries`]).
//!
//! Cassandra decides between processes, by conditions and time stamps. Within one process locks are
//! cheaper, and exact.

use tokio::sync::{Mutex, MutexGuard};
use tonnage_engine::{Deadline, Result, SpaceId};

use crate::blocking::with_deadline;
use crate::bucket::Bucket;

/// How many locks there are. Partitions share them by their numbers.
const LOCKS: usize = 1 << 16;

/// The locks of all partitions.
pub(crate) struct PartitionLocks {
    locks: Box<[Mutex<u64>]>,
}

/// A lock that is held. It guards the greatest version that this process stored in its partitions
/// by small writes and loads, or may have stored. A load whose rows are all newer need not look for
/// what is stored.
pub(crate) type PartitionLock<'a> = MutexGuard<'a, u64>;

impl PartitionLocks {
    pub(crate) fn new() -> Self {
        Self { locks: (0..LOCKS).map(|_| Mutex::new(0)).collect() }
    }

    /// Locks a partition. A holder of a lock must not ask for another one.
    ///
    /// # Errors
    /// `TimedOut`.
    pub(crate) async fn lock_by(
        &self,
        space: SpaceId,
        bucket: Bucket,
        deadline: Deadline,
    ) -> Result<PartitionLock<'_>> {
        let slot = (space.0 as usize).wrapping_mul(40_503).wrapping_add(bucket.0 as usize);
        let lock = async { Ok(self.locks[slot % LOCKS].lock().await) };
        with_deadline(deadline, "writes of the same rows", lock).await
    }
}
