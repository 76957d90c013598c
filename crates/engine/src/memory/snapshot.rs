//! The store at one point in time: the maps of all spaces, shared until they are changed.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, RwLock};

use crate::sync::read;
use crate::{Engine, RangeChanges, Result, ShardId, Snapshot, SpaceId, TrackedRange};

use super::space::MemorySpace;
use super::store::{MemorySpaces, MemoryStore};
use super::versions::MemoryVersions;

/// A snapshot, and what it found in the books.
pub(super) struct MemorySnapshot {
    engine: Arc<dyn Engine>,
    store: Arc<MemoryStore>,
    /// Of the spaces that were followed.
    found: BTreeMap<SpaceId, FoundRanges>,
}

struct FoundRanges {
    ranges: Vec<TrackedRange>,
    settled: u64,
    noted: u64,
}

impl MemorySnapshot {
    pub(super) fn take(
        store: &Arc<MemoryStore>,
        followed: &[SpaceId],
        open: impl FnOnce(MemoryStore) -> Arc<dyn Engine>,
    ) -> Result<Self> {
        followed.iter().try_for_each(|space| store.space(*space).map(drop))?;
        // No space is made or dropped meanwhile, and none is written to: writers lock them in this
        // order, too.
        let spaces = read(&store.spaces);
        let locked: Vec<_> = spaces.by_id.values().map(|space| (space, space.rows())).collect();
        let (mut by_id, mut found) = (BTreeMap::new(), BTreeMap::new());
        for (space, rows) in &locked {
            let info = space.info().clone();
            if followed.contains(&info.id) {
                space.follow();
            }
            found.extend(FoundRanges::of(space).map(|ranges| (info.id, ranges)));
            by_id.insert(info.id, Arc::new(MemorySpace::with_rows(info, Arc::clone(rows))));
        }
        let (names, next_id) = (HashSet::new(), spaces.next_id);
        let copy = MemoryStore {
            capability: store.capability.clone(),
            clock: Arc::clone(&store.clock),
            spaces: RwLock::new(MemorySpaces { by_id, names, next_id }),
            versions: MemoryVersions::default(),
            is_snapshot: true,
        };
        // Nobody asks a snapshot for a name: it makes no spaces.
        Ok(Self { engine: open(copy), store: Arc::clone(store), found })
    }
}

impl FoundRanges {
    fn of(space: &MemorySpace) -> Option<Self> {
        let book = space.book();
        let book = book.as_ref()?;
        let ranges = book.ranges().map(|(start, end, id)| TrackedRange {
            shard: ShardId(0),
            start: start.to_vec(),
            end: end.to_vec(),
            id,
        });
        Some(Self { ranges: ranges.collect(), settled: book.settled(), noted: book.noted() })
    }
}

impl Snapshot for MemorySnapshot {
    fn engine(&self) -> &Arc<dyn Engine> {
        &self.engine
    }

    fn ranges(&self, space: SpaceId) -> Result<Vec<TrackedRange>> {
        Ok(self.found.get(&space).map(|found| found.ranges.clone()).unwrap_or_default())
    }

    fn settled(&self, space: SpaceId, _shard: ShardId) -> Option<u64> {
        self.found.get(&space).map(|found| found.settled)
    }

    fn changes(&self, space: SpaceId, range: &TrackedRange, since: u64) -> Result<RangeChanges> {
        let (Some(id), Some(found)) = (range.id, self.found.get(&space)) else {
            return Ok(RangeChanges::Unknown);
        };
        let space = self.store.space(space)?;
        let mut book = space.book();
        let changes = book.as_mut().map(|book| book.changes(&range.start, id, since, found.noted));
        Ok(changes.unwrap_or(RangeChanges::Unknown))
    }
}
