//! Turns: who writes a partition does so alone in this open store.
//!
//! Cassandra decides between processes, by conditions and time stamps. Within one it is
//! cheaper, and exact, to take turns.

use tokio::sync::{Mutex, MutexGuard};
use tonnage_engine::{Deadline, Result, SpaceId};

use crate::blocking::by;
use crate::bucket::Bucket;

/// How many turns there are. Partitions share them by their numbers.
const TURNS: usize = 1 << 16;

/// A place to wait at for each partition.
pub(crate) struct Turns {
    places: Box<[Mutex<u64>]>,
}

/// A turn. It holds the greatest version that this process stored in its partitions by small
/// writes and loads: what a load need not look for.
pub(crate) type Turn<'a> = MutexGuard<'a, u64>;

impl Turns {
    pub(crate) fn new() -> Self {
        Self { places: (0..TURNS).map(|_| Mutex::new(0)).collect() }
    }

    /// Waits for the turn of a partition. Whoever holds one must not ask for another.
    ///
    /// # Errors
    /// `TimedOut`.
    pub(crate) async fn take_by(
        &self,
        space: SpaceId,
        bucket: Bucket,
        deadline: Deadline,
    ) -> Result<Turn<'_>> {
        let place = (space.0 as usize).wrapping_mul(40_503).wrapping_add(bucket.0 as usize);
        let turn = async { Ok(self.places[place % TURNS].lock().await) };
        by(deadline, "writes of the same rows", turn).await
    }
}
