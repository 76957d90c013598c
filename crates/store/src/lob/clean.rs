//! Finds missing chunks of large objects, and chunks that no object needs.

use std::collections::{BTreeMap, BTreeSet};

use tonnage_engine::{
    Deadline, Direction, Engine, Error, FillCache, Projection, Ranges, Result, Rows, ScanOptions,
    SpaceId,
};

use super::head::{LobDraft, LobHead};
use super::keys::{LobKeys, LobRow};
use super::space::space;
use crate::call_limits::CallLimits;
use crate::inner::Inner;

/// What a cleaning deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LobCleanReport {
    /// Chunks that no object and no writer needed.
    pub chunks: u64,
}

/// What there is of large objects.
#[derive(Debug, Default)]
pub(crate) struct LobCheck {
    pub(crate) objects: u64,
    pub(crate) orphan_chunks: u64,
    /// Objects with the fault of each.
    pub(crate) damages: Vec<(String, String)>,
}

/// Compares heads with chunks.
pub(crate) fn check_lobs(store: &Inner, limits: &CallLimits) -> Result<LobCheck> {
    let mut check = LobCheck::default();
    let Some(space) = space(store)? else { return Ok(check) };
    walk(&*store.engine, space, limits.deadline(), |object| {
        limits.check()?;
        // One damaged head is a finding: the objects after it are still checked.
        let (head, draft) = match object.keys.state(&*store.engine, space, limits.deadline()) {
            Ok(state) => state,
            Err(error) => {
                let error = limits.finding(error)?;
                check.damages.push((object.keys.name().to_owned(), error.message().to_owned()));
                return Ok(());
            }
        };
        check.orphan_chunks +=
            object.orphans(head.as_ref(), draft.as_ref()).map(|(_, count)| count).sum::<u64>();
        if let Some(head) = head {
            check.objects += 1;
            // A head that is newer than what was walked over names chunks that were not seen.
            if object.version == Some(head.version) && object.misses_chunks(&head) {
                let what =
                    "chunks of the large object are missing: restore the store from a backup";
                check.damages.push((object.keys.name().to_owned(), what.to_owned()));
            }
        }
        Ok(())
    })?;
    Ok(check)
}

/// Deletes unneeded chunks. Head and draft, read after the chunks were seen, decide that: a
/// writer's draft is there before its chunks, and disappears together with the change of the head
/// that names them. What neither names then, nothing will ever name.
pub(crate) fn clean(
    engine: &dyn Engine,
    space: SpaceId,
    give_up: &dyn Fn() -> bool,
) -> Result<LobCleanReport> {
    let mut report = LobCleanReport::default();
    walk(engine, space, Deadline::NONE, |object| {
        if give_up() {
            return Err(Error::cancelled("the cleaning of large objects was called off"));
        }
        let (head, draft) = object.keys.state(engine, space, Deadline::NONE)?;
        for (generation, count) in object.orphans(head.as_ref(), draft.as_ref()) {
            object.keys.delete_generation(engine, space, generation, Deadline::NONE)?;
            report.chunks += count;
        }
        Ok(())
    })?;
    Ok(report)
}

/// What was seen under one key.
struct ScannedObject {
    keys: LobKeys,
    /// That of the head.
    version: Option<u64>,
    /// How many chunks of each generation there are, and whether they begin with the first and
    /// follow each other.
    generations: BTreeMap<u64, u64>,
    gaps: BTreeSet<u64>,
}

impl ScannedObject {
    fn new(keys: LobKeys) -> Self {
        Self { keys, version: None, generations: BTreeMap::new(), gaps: BTreeSet::new() }
    }

    fn record(&mut self, row: LobRow, version: u64) {
        match row {
            LobRow::Head => self.version = Some(version),
            LobRow::Draft => {}
            LobRow::Chunk { generation, number } => {
                let count = self.generations.entry(generation).or_default();
                if *count != number {
                    self.gaps.insert(generation);
                }
                *count += 1;
            }
        }
    }

    fn orphans(
        &self,
        head: Option<&LobHead>,
        draft: Option<&LobDraft>,
    ) -> impl Iterator<Item = (u64, u64)> {
        let mut needed = BTreeSet::new();
        needed.extend(head.iter().flat_map(|head| &head.segments).map(|it| it.generation));
        needed.extend(draft.map(|draft| draft.generation));
        let generations = self.generations.iter().map(|(generation, count)| (*generation, *count));
        generations.filter(move |(generation, _)| !needed.contains(generation))
    }

    fn misses_chunks(&self, head: &LobHead) -> bool {
        head.segments.iter().any(|segment| {
            let wanted = segment.bytes.div_ceil(head.chunk_bytes as u64);
            let found = self.generations.get(&segment.generation).copied().unwrap_or(0);
            found < wanted || self.gaps.contains(&segment.generation)
        })
    }
}

/// Visits the objects one after another, by their keys alone.
fn walk(
    engine: &dyn Engine,
    space: SpaceId,
    deadline: Deadline,
    mut visit: impl FnMut(&ScannedObject) -> Result<()>,
) -> Result<()> {
    // Keys alone: the chunks may hold terabytes. In order, so that those of one object lie
    // together.
    let options = ScanOptions {
        direction: Direction::Forward,
        projection: Projection::KeysOnly,
        fill_cache: FillCache::No,
        batch_bytes_max: 1 << 20,
        deadline,
        ..ScanOptions::default()
    };
    let mut scanner = engine.scan(space, Ranges::whole_space(), options)?;
    let (mut rows, mut current): (Rows, Option<ScannedObject>) = (Rows::new(), None);
    while scanner.next_batch(&mut rows)? {
        for (at, key) in rows.keys.iter().enumerate() {
            let (keys, row) = LobKeys::split(key)?;
            if let Some(done) = current.take_if(|object| object.keys != keys) {
                visit(&done)?;
            }
            current.get_or_insert_with(|| ScannedObject::new(keys)).record(row, rows.versions[at]);
        }
    }
    // No key follows the last object to end it.
    current.iter().try_for_each(visit)
}
