//! A snapshot of the store, and what the books said when it was taken.

use std::collections::BTreeMap;
use std::sync::Arc;

use tonnage_engine::{Engine, RangeChanges, Result, ShardId, Snapshot, SpaceId, TrackedRange};

use super::books::FoundBook;
use super::shard_snapshots::ShardSnapshots;
use super::snapshot_engine::SnapshotEngine;
use crate::open_store::OpenStore;

/// What the books of a shard said, by space.
pub(super) type FoundBooks = BTreeMap<SpaceId, FoundBook>;

/// The store as of a snapshot.
pub(crate) struct RocksSnapshot {
    engine: Arc<dyn Engine>,
    store: Arc<OpenStore>,
    /// Of each shard.
    found: Vec<FoundBooks>,
}

impl RocksSnapshot {
    /// The store now; from now on these spaces are followed.
    pub(crate) fn take(store: &Arc<OpenStore>, followed: &[SpaceId]) -> Result<Self> {
        followed.iter().try_for_each(|space| follow(store, *space))?;
        let mut found = find(store);
        let snapshots = ShardSnapshots::take(store);
        complete(store, &mut found);
        Ok(Self::new(found, snapshots))
    }

    pub(super) fn new(found: Vec<FoundBooks>, snapshots: ShardSnapshots) -> Self {
        let store = Arc::clone(snapshots.store());
        Self { engine: Arc::new(SnapshotEngine::new(snapshots)), store, found }
    }

    fn found(&self, space: SpaceId, shard: ShardId) -> Option<&FoundBook> {
        self.found.get(shard.0 as usize)?.get(&space)
    }
}

/// Has a space followed in all shards.
fn follow(store: &OpenStore, space: SpaceId) -> Result<()> {
    store.space(space)?;
    for shard in store.shards() {
        if !shard.books.is_following(space) {
            // Current writers do not know the book.
            let _alone = shard.gate.write();
            // Again: no call would end the book of a space that is gone.
            store.space(space)?;
            shard.books.follow(space);
        }
    }
    Ok(())
}

/// What the books say before the snapshots.
pub(super) fn find(store: &OpenStore) -> Vec<FoundBooks> {
    store.shards().iter().map(|shard| shard.books.find()).collect()
}

/// What they say after it.
pub(super) fn complete(store: &OpenStore, found: &mut [FoundBooks]) {
    for (shard, found) in store.shards().iter().zip(found) {
        shard.books.complete(found);
    }
}

impl Snapshot for RocksSnapshot {
    fn engine(&self) -> &Arc<dyn Engine> {
        &self.engine
    }

    fn ranges(&self, space: SpaceId) -> Result<Vec<TrackedRange>> {
        let of_shards = self.found.iter().filter_map(|found| found.get(&space));
        Ok(of_shards.flat_map(|found| found.ranges.iter().cloned()).collect())
    }

    fn settled(&self, space: SpaceId, shard: ShardId) -> Option<u64> {
        self.found(space, shard).map(|found| found.settled)
    }

    fn changes(&self, space: SpaceId, range: &TrackedRange, since: u64) -> Result<RangeChanges> {
        self.store.space(space)?;
        let (Some(id), Some(found)) = (range.id, self.found(space, range.shard)) else {
            return Ok(RangeChanges::Unknown);
        };
        let books = &self.store.shards()[range.shard.0 as usize].books;
        Ok(books.changes(space, (&range.start, id), (since, found.noted)))
    }
}
