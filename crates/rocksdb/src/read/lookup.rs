//! The arguments of a lookup, and the moment that it sees.

use std::sync::OnceLock;

use rocksdb::{ReadOptions, Snapshot};
use tonnage_engine::SpaceInfo;

use crate::open_store::OpenStore;
use crate::settings::read_options;

/// What a lookup needs besides the keys.
pub(crate) struct Lookup<'a> {
    pub(crate) engine: &'a OpenStore,
    pub(crate) space: &'a SpaceInfo,
    pub(crate) options: &'a tonnage_engine::ReadOptions,
    /// Asked for by the first row that may have expired: most never do, and the clock costs as much
    /// as a cached block.
    pub(super) now_ms: OnceLock<u64>,
}

/// What a read sees: the newest rows at each look, or those of one moment in each shard. A batch is
/// of one shard.
pub(crate) struct View<'a> {
    /// One for each shard, or none.
    snapshots: Vec<Snapshot<'a>>,
}

impl<'a> View<'a> {
    pub(super) fn newest() -> Self {
        Self { snapshots: Vec::new() }
    }

    pub(super) fn of_one_moment(engine: &'a OpenStore) -> Self {
        Self { snapshots: engine.shards().iter().map(|shard| shard.db().snapshot()).collect() }
    }

    /// How to read a shard. The view must outlive what is read with them.
    pub(crate) fn options(&self, shard: usize) -> ReadOptions {
        let mut options = read_options();
        if let Some(snapshot) = self.snapshots.get(shard) {
            options.set_snapshot(snapshot);
        }
        options
    }
}
