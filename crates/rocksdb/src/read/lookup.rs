//! The arguments of a lookup, and the snapshot that it sees.

use std::sync::OnceLock;

use rocksdb::{ReadOptions, Snapshot};
use tonnage_engine::SpaceInfo;

use crate::open_store::OpenStore;
use crate::settings::read_options;
use crate::tracking::shard_snapshots::ShardSnapshots;

/// What a lookup needs besides the keys.
pub(crate) struct Lookup<'a> {
    pub(crate) engine: &'a OpenStore,
    pub(crate) space: &'a SpaceInfo,
    pub(crate) options: &'a tonnage_engine::ReadOptions,
    /// At which it reads; nothing for what is stored now.
    pub(crate) snapshots: Option<&'a ShardSnapshots>,
    /// Asked for by the first row that may have expired: most never do, and the clock costs as much
    /// as a cached block.
    pub(super) now_ms: OnceLock<u64>,
}

/// What a read sees: the newest rows at each look, or those of one snapshot in each shard. A batch is
/// of one shard.
pub(crate) enum View<'a> {
    /// What is stored when it is asked.
    Newest,
    /// Snapshots of its own, one for each shard.
    Own(Vec<Snapshot<'a>>),
    /// Those of a snapshot that others look at, too.
    Shared(&'a [Snapshot<'a>]),
}

impl<'a> Lookup<'a> {
    /// For a read that looks once.
    pub(super) fn newest(&self) -> View<'a> {
        self.snapshots.map_or(View::Newest, |snapshots| View::Shared(snapshots.shards()))
    }

    /// For one that looks several times.
    pub(super) fn of_one_snapshot(&self) -> View<'a> {
        match self.snapshots {
            Some(snapshots) => View::Shared(snapshots.shards()),
            None => {
                let shards = self.engine.shards().iter();
                View::Own(shards.map(|shard| shard.db().snapshot()).collect())
            }
        }
    }
}

impl View<'_> {
    /// How to read a shard. The view must outlive what is read with them.
    pub(crate) fn options(&self, shard: usize) -> ReadOptions {
        let mut options = read_options();
        let snapshots: &[Snapshot<'_>] = match self {
            Self::Newest => &[],
            Self::Own(snapshots) => snapshots,
            Self::Shared(snapshots) => snapshots,
        };
        if let Some(snapshot) = snapshots.get(shard) {
            options.set_snapshot(snapshot);
        }
        options
    }
}
