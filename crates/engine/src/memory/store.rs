//! What the memory engine, its scans and its loads share.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, RwLock};

use crate::sync::read;
use crate::{Capability, Clock, Error, Result, SpaceId, WriteBatch};

use super::space::MemorySpace;
use super::versions::MemoryVersions;

/// How many operations a batch may have where the engine acts as a cluster.
const OPERATIONS_OF_CLUSTER: usize = 1_000;

/// What the engine, its scans and its loads share.
#[derive(Debug)]
pub(super) struct MemoryStore {
    pub(super) capability: Capability,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) spaces: RwLock<MemorySpaces>,
    pub(super) versions: MemoryVersions,
    /// Whether it is the store at one point in time.
    pub(super) is_snapshot: bool,
}

/// The spaces that exist, and the number of the next one.
#[derive(Debug)]
pub(super) struct MemorySpaces {
    pub(super) by_id: BTreeMap<SpaceId, Arc<MemorySpace>>,
    /// The names in use.
    pub(super) names: HashSet<String>,
    pub(super) next_id: u32,
}

impl MemoryStore {
    pub(super) fn new(clock: Arc<dyn Clock>, shared: bool) -> Self {
        Self {
            capability: Capability {
                // The limits of the embedded engine: what fits here fits there.
                key_bytes_max: 64 << 10,
                value_bytes_max: 1 << 30,
                batch_bytes_max: 1 << 30,
                batch_operations_max: if shared { OPERATIONS_OF_CLUSTER } else { usize::MAX },
                spaces_per_batch: usize::MAX,
                total_order: true,
                absolute_consistency: true,
                // It acts as a cluster then.
                acks_all: !shared,
                fsync: false,
                persistent: false,
                shared,
                checkpoint: false,
                settle: true,
                shard_prefixed_spaces: true,
                shard_prefixed_atomic: true,
                shards: 1,
            },
            clock,
            spaces: RwLock::new(MemorySpaces {
                by_id: BTreeMap::new(),
                names: HashSet::new(),
                next_id: 0,
            }),
            versions: MemoryVersions::default(),
            is_snapshot: false,
        }
    }

    pub(super) fn space(&self, id: SpaceId) -> Result<Arc<MemorySpace>> {
        let spaces = read(&self.spaces);
        spaces.by_id.get(&id).cloned().ok_or_else(|| no_such_space(id))
    }

    /// Refuses to change a store of one point in time.
    pub(super) fn check_writable(&self) -> Result<()> {
        match self.is_snapshot {
            true => Err(Error::invalid("a snapshot is not written to: write to its store")),
            false => Ok(()),
        }
    }

    pub(super) fn all_spaces(&self) -> Vec<Arc<MemorySpace>> {
        let spaces = read(&self.spaces);
        spaces.by_id.values().cloned().collect()
    }

    pub(super) fn check_batch_size(&self, batch: &WriteBatch) -> Result<()> {
        let operations_max = self.capability.batch_operations_max;
        if batch.len() > operations_max {
            return Err(Error::invalid(format!(
                "a write batch of {} operations is over the limit of {operations_max}: use several, or a load",
                batch.len()
            )));
        }
        let bytes: usize =
            (0..batch.len()).map(|index| batch.key(index).len() + batch.value(index).len()).sum();
        let bytes_max = self.capability.batch_bytes_max;
        if bytes > bytes_max {
            return Err(Error::invalid(format!(
                "a write batch of {bytes} bytes is over the limit of {bytes_max}: use a load"
            )));
        }
        Ok(())
    }
}

#[cold]
pub(super) fn no_such_space(space: SpaceId) -> Error {
    Error::not_found(format!(
        "there is no space with the number {}: it was dropped, or is of another store",
        space.0
    ))
}
