//! The store at one moment: a snapshot of RocksDB's in each shard.
//!
//! One moment means: if a write shows, so does every write that was acknowledged before it began.
//! One shard by itself gives that. Of several the snapshots are taken one after another; they are of
//! one moment if no write ended in between. Where writers leave no such pause, their gates are held.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rocksdb::Snapshot;
use self_cell::self_cell;

use crate::open_store::OpenStore;
use crate::shard::Shard;

/// How often the snapshots are taken beside writers before these are held up.
const TRIES: usize = 3;

/// One for each shard.
type ShardSnapshots<'a> = Vec<Snapshot<'a>>;

self_cell! {
    struct OwnedSnapshots {
        owner: Arc<OpenStore>,
        #[covariant]
        dependent: ShardSnapshots,
    }
}

/// The store at one moment, which it keeps open.
pub(crate) struct Moment {
    snapshots: OwnedSnapshots,
}

impl Moment {
    /// The store now.
    pub(crate) fn now(store: &Arc<OpenStore>) -> Self {
        // Counted first: whoever finds no snapshot under the gate did so before there was one.
        store.shards().iter().for_each(|shard| {
            shard.snapshots.fetch_add(1, Ordering::SeqCst);
        });
        Self { snapshots: OwnedSnapshots::new(Arc::clone(store), |store| together(store.shards())) }
    }

    pub(crate) fn store(&self) -> &Arc<OpenStore> {
        self.snapshots.borrow_owner()
    }

    /// By the numbers of the shards.
    pub(crate) fn shards(&self) -> &[Snapshot<'_>] {
        self.snapshots.borrow_dependent()
    }
}

impl Drop for Moment {
    fn drop(&mut self) {
        self.store().shards().iter().for_each(|shard| {
            shard.snapshots.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

fn together(shards: &[Shard]) -> ShardSnapshots<'_> {
    for _ in 0..TRIES {
        let before = ended(shards);
        let taken = shards.iter().map(|shard| {
            // No file is being ingested meanwhile: RocksDB shows its rows later than their number
            // says.
            let _gate = shard.gate.read();
            shard.db().snapshot()
        });
        let taken: ShardSnapshots<'_> = taken.collect();
        if shards.len() == 1 || ended(shards) == before {
            return taken;
        }
    }
    let _alone: Vec<_> = shards.iter().map(|shard| shard.gate.write()).collect();
    shards.iter().map(|shard| shard.db().snapshot()).collect()
}

/// How many writes have ended. Each is counted before it is acknowledged.
fn ended(shards: &[Shard]) -> u64 {
    shards.iter().map(|shard| shard.changes.ended()).sum()
}
