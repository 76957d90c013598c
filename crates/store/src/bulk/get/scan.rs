//! Cuts a whole table into tasks: one for each part that the engine makes.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tonnage_engine::{
    Cuts, Direction, Engine, FillCache, KeyFilter, Part, Projection, Result, Rows, ScanOptions,
    SpaceId,
};

use crate::cancel::Cancel;
use crate::catalog::Relatives;
use crate::catalog::TableEntry;
use crate::inner::Inner;
use crate::read::ahead::ReadPiece;
use crate::read::{ReadControl, ReadPipeline, ReadPlan, ReadTask, Shaper, TaskSource};

/// Parts are cut by estimates, so there are more of them than workers: who is done early takes
/// another.
pub(crate) const PARTS_PER_WORKER: usize = 4;

/// Parts of a space, each a task.
pub(crate) struct SpaceParts {
    /// Those to come, in the order in which they come.
    parts: VecDeque<Part>,
}

impl SpaceParts {
    pub(crate) fn new(parts: Vec<Part>, direction: Direction) -> Self {
        let mut parts = VecDeque::from(parts);
        if direction == Direction::Reverse {
            parts.make_contiguous().reverse();
        }
        Self { parts }
    }

    /// At most so many parts of a table's space; cut between shard keys where what is of one must
    /// come from one part.
    pub(super) fn cut(
        store: &Inner,
        target: &TableEntry,
        by_shard_key: bool,
        parts: usize,
    ) -> Result<Vec<Part>> {
        let cuts = if by_shard_key { Cuts::BetweenShardKeys } else { Cuts::Anywhere };
        store.engine.split(target.space, parts.max(1), cuts)
    }
}

impl TaskSource for SpaceParts {
    fn next_task(&mut self) -> Result<Option<ReadTask>> {
        Ok(self.parts.pop_front().map(ReadTask::Part))
    }

    fn is_exhausted(&self) -> bool {
        self.parts.is_empty()
    }

    fn count_at_hand(&self) -> usize {
        self.parts.len()
    }
}

/// Counts the rows of a table by their keys.
pub(crate) fn count(
    store: &Inner,
    target: Arc<TableEntry>,
    timeout: Option<Duration>,
) -> Result<u64> {
    let relatives = Relatives::find(&store.catalog, target.clone(), &[])?;
    count_space(store, target.space, Some(relatives.filter()), timeout)
}

/// Counts the rows of a space that a filter lets through.
pub(crate) fn count_space(
    store: &Inner,
    space: SpaceId,
    filter: Option<Arc<dyn KeyFilter>>,
    timeout: Option<Duration>,
) -> Result<u64> {
    let control = ReadControl::new(&Cancel::default(), timeout);
    let workers = tonnage_engine::cores();
    // Nothing but keys, which fill the cache only if the space is small: a count reads each row
    // once.
    let scan = ScanOptions {
        projection: Projection::KeysOnly,
        filter,
        batch_rows_max: 65_536,
        fill_cache: FillCache::IfSmall,
        deadline: control.deadline(),
        ..ScanOptions::default()
    };
    let plan = ReadPlan {
        engine: store.engine.clone(),
        space,
        projection: scan.projection,
        scan,
        ordered: false,
        workers,
        control,
        ahead: store.ahead.clone(),
        threads: store.threads.clone(),
        shaper: RowCounter,
    };
    // Cut anywhere: several workers may count the rows of one shard key.
    let parts = store.engine.split(space, PARTS_PER_WORKER * workers, Cuts::Anywhere)?;
    ReadPipeline::new(plan, SpaceParts::new(parts, Direction::Unordered)).sum()
}

impl ReadPiece for u64 {
    fn bytes(&self) -> usize {
        size_of::<u64>()
    }
}

/// Makes numbers of batches.
struct RowCounter;

impl Shaper for RowCounter {
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
