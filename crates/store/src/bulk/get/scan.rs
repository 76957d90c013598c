//! A whole table as tasks: one for each part that the engine cuts it into.

use std::sync::Arc;

use tonnage_engine::{
    Direction, Engine, KeyFilter, Projection, Ranges, Result, Rows, ScanOptions, Slices, SpaceId,
};

use crate::catalog::Relatives;
use crate::catalog::TableEntry;
use crate::inner::Inner;
use crate::read::{ReadPipeline, ReadPlan, ReadTask, Shaper, TaskSource};

/// Parts are cut by estimates, so there are more of them than workers: who is done early takes
/// another.
pub(super) const PARTS_PER_WORKER: usize = 4;

/// Ranges of a space, each a task.
pub(super) struct SpaceParts {
    ranges: Ranges,
    next: usize,
    backwards: bool,
}

impl SpaceParts {
    pub(super) fn new(ranges: Ranges, direction: Direction) -> Self {
        Self { ranges, next: 0, backwards: direction == Direction::Reverse }
    }

    /// The ranges of at most `parts` parts of a table's space; cut between shard keys where what
    /// is of one must come from one part.
    pub(super) fn cut(
        store: &Inner,
        target: &TableEntry,
        by_shard_key: bool,
        parts: usize,
    ) -> Result<Ranges> {
        if parts <= 1 {
            return Ok(Ranges::whole_space());
        }
        let ranges = store.engine.split(target.space, parts)?;
        if by_shard_key { between_shard_keys(target, &ranges) } else { Ok(ranges) }
    }
}

/// The same ranges with their cuts moved back to where the shard keys begin.
fn between_shard_keys(target: &TableEntry, ranges: &Ranges) -> Result<Ranges> {
    let shape = target.schema.key_shape();
    let mut cuts = Slices::new();
    for index in 1..ranges.len() {
        let key = ranges.start(index);
        let cut = &key[..shape.shard_key_len(key)?];
        if cuts.is_empty() || cuts.get(cuts.len() - 1) < cut {
            cuts.push(cut);
        }
    }
    Ok(Ranges::between(&cuts))
}

impl TaskSource for SpaceParts {
    fn next_task(&mut self) -> Result<Option<ReadTask>> {
        if self.is_exhausted() {
            return Ok(None);
        }
        let index = if self.backwards { self.ranges.len() - 1 - self.next } else { self.next };
        self.next += 1;
        let mut range = Ranges::new();
        range.push(self.ranges.start(index), self.ranges.end(index));
        Ok(Some(ReadTask::Ranges(range)))
    }

    fn is_exhausted(&self) -> bool {
        self.next == self.ranges.len()
    }
}

/// Counts the rows of a table by their keys.
pub(crate) fn count(store: &Inner, target: Arc<TableEntry>) -> Result<u64> {
    let relatives = Relatives::find(&store.catalog, target.clone(), &[])?;
    count_space(store, target.space, Some(relatives.filter()))
}

/// Counts the rows of a space that a filter lets through.
pub(crate) fn count_space(
    store: &Inner,
    space: SpaceId,
    filter: Option<Arc<dyn KeyFilter>>,
) -> Result<u64> {
    let workers = tonnage_engine::cores();
    let scan = ScanOptions {
        projection: Projection::KeysOnly,
        filter,
        batch_rows_max: 65_536,
        fill_cache: false,
        ..ScanOptions::default()
    };
    let plan = ReadPlan {
        engine: store.engine.clone(),
        space,
        projection: scan.projection,
        scan,
        ordered: false,
        workers,
        control: Arc::default(),
        shaper: Counter,
    };
    let ranges = store.engine.split(space, PARTS_PER_WORKER * workers)?;
    ReadPipeline::new(plan, SpaceParts::new(ranges, Direction::Unordered)).sum()
}

/// Makes numbers of batches.
struct Counter;

impl Shaper for Counter {
    type Output = u64;
    type Memory = ();

    fn shape(
        &self,
        _: &dyn Engine,
        rows: &mut Rows,
        _: &mut (),
        emit: &mut dyn FnMut(u64) -> bool,
    ) -> Result<()> {
        emit(rows.len() as u64);
        Ok(())
    }
}
