//! Stores what a flush gathered.
//!
//! 1. Sort what is not sorted yet.
//! 2. Let the threads of the load take one range after another: first those of shard-prefixed
//!    spaces, then, when all of these are stored, the others.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tonnage_engine::sync::{into_inner, lock};
use tonnage_engine::{Error, Result, SpaceId};

use super::context::{LoadContext, catch};
use super::index_output::IndexOutput;
use super::lane::{Lane, SpaceKind};
use super::output::RangeOutput;
use super::pool::DrainedRuns;
use super::range::KeyBounds;
use super::run::{RunBuffer, SortedRun};
use super::small;
use super::sources::Sources;
use crate::compaction::pause::MergingLoad;

/// Up to this size the entries of a shard go through the write-ahead log.
const SMALL_BYTES_MAX: u64 = 8 << 20;
/// About how large an output file is before compression.
const FILE_BYTES: u64 = 128 << 20;

/// What a thread does next: stores a range of a lane.
struct FlushTask<'a> {
    lane: Lane,
    sources: &'a Sources,
    range: KeyBounds,
    route: StorageRoute,
}

/// How a range is stored.
#[derive(Clone, Copy)]
enum StorageRoute {
    /// Through the write-ahead log.
    Log,
    /// By a file, of rows.
    File,
    /// By a file, of entries of one shard-prefixed space.
    IndexFile(SpaceId),
}

impl FlushTask<'_> {
    fn makes_file_in(&self, shard: usize) -> bool {
        self.lane.shard == shard && !matches!(self.route, StorageRoute::Log)
    }
}

/// Stores everything. When it returns, all of it is durable and reported.
pub(super) fn flush(context: &LoadContext<'_>, gathered: DrainedRuns) -> Result<()> {
    let DrainedRuns { unsorted, sorted, spilled } = gathered;
    let mut sources: BTreeMap<Lane, Sources> = BTreeMap::new();
    for run in sort_all(context, unsorted)?.into_iter().chain(sorted) {
        sources.entry(run.lane).or_default().runs.push(run);
    }
    for file in spilled {
        sources.entry(file.lane).or_default().files.push(file);
    }
    let tasks = plan(context, &sources);
    let _paused = pause_compaction(context, &tasks);
    let (prefixed, ordinary): (Vec<_>, Vec<_>) =
        tasks.into_iter().partition(|task| task.lane.space_kind == SpaceKind::ShardPrefixed);
    run_all(context, &prefixed, |task| carry_out(context, task))?;
    sync_prefixed(context, &ordinary)?;
    run_all(context, &ordinary, |task| carry_out(context, task))
}

fn carry_out(context: &LoadContext<'_>, task: &FlushTask<'_>) -> Result<()> {
    let FlushTask { lane, sources, range, route } = task;
    let shard = &context.engine.shards()[lane.shard];
    match *route {
        StorageRoute::Log => small::store(context, shard, sources, lane.space_kind, range),
        StorageRoute::File => RangeOutput { context, shard, sources, range }.store(),
        StorageRoute::IndexFile(space) => {
            IndexOutput { context, shard, sources, space, range }.store()
        }
    }
}

/// Entries of shard-prefixed spaces may have gone into the log, by this flush or one before. A file
/// survives a power failure at once, the log only once it is synced: so that comes first.
fn sync_prefixed(context: &LoadContext<'_>, ordinary: &[FlushTask<'_>]) -> Result<()> {
    if context.prefixed_spaces.is_empty() {
        return Ok(());
    }
    for (index, shard) in context.engine.shards().iter().enumerate() {
        if ordinary.iter().any(|task| task.makes_file_in(index)) {
            shard.sync_log()?;
        }
    }
    Ok(())
}

fn sort_all(context: &LoadContext<'_>, unsorted: Vec<RunBuffer>) -> Result<Vec<SortedRun>> {
    let unsorted: Vec<Mutex<Option<RunBuffer>>> =
        unsorted.into_iter().map(|run| Mutex::new(Some(run))).collect();
    let sorted = Mutex::new(Vec::with_capacity(unsorted.len()));
    run_all(context, &unsorted, |slot| {
        let run = lock(slot).take();
        if let Some(run) = run.map(|run| run.sort(context.precedence())) {
            lock(&sorted).push(run);
        }
        Ok(())
    })?;
    Ok(into_inner(sorted))
}

/// Keeps compaction from working in the shards that get files.
fn pause_compaction<'a>(
    context: &LoadContext<'a>,
    tasks: &[FlushTask<'_>],
) -> Vec<MergingLoad<'a>> {
    let gets_files = |shard: usize| tasks.iter().any(|task| task.makes_file_in(shard));
    let shards = context.engine.shards().iter().enumerate().filter(|(index, _)| gets_files(*index));
    shards.map(|(_, shard)| shard.compaction_pause.begin_load()).collect()
}

fn plan<'a>(context: &LoadContext<'_>, sources: &'a BTreeMap<Lane, Sources>) -> Vec<FlushTask<'a>> {
    // By shard, not by lane: both lanes of a shard would go through the same log.
    let is_small = |shard: usize| {
        let lanes =
            sources.iter().filter(|(lane, _)| lane.shard == shard).map(|(_, sources)| sources);
        lanes.clone().all(|sources| sources.files.is_empty())
            && lanes.map(Sources::bytes).sum::<u64>() < SMALL_BYTES_MAX
    };
    let mut tasks = Vec::new();
    for (&lane, sources) in sources {
        let everything = KeyBounds::default();
        if is_small(lane.shard) {
            tasks.push(FlushTask { lane, sources, range: everything, route: StorageRoute::Log });
            continue;
        }
        let samples = sources.samples();
        let mut cut = |all: &KeyBounds, route: StorageRoute| {
            let ranges = samples.cut(all, FILE_BYTES, context.parallelism() as u64);
            tasks.extend(ranges.into_iter().map(|range| FlushTask { lane, sources, range, route }));
        };
        match lane.space_kind {
            SpaceKind::Ordinary => cut(&everything, StorageRoute::File),
            // A file of one space alone is dropped with that space, and all threads have a part of
            // each.
            SpaceKind::ShardPrefixed => context.prefixed_spaces.iter().for_each(|space| {
                cut(&KeyBounds::of_space(*space), StorageRoute::IndexFile(*space))
            }),
        }
    }
    tasks
}

/// Runs `step` on every task, on as many threads as the load may use, this one among them. The
/// first error stops them all.
fn run_all<T: Sync>(
    context: &LoadContext<'_>,
    tasks: &[T],
    step: impl Fn(&T) -> Result<()> + Sync,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let first_error: Mutex<Option<Error>> = Mutex::new(None);
    let work = || {
        while !context.stopped.load(Ordering::Relaxed)
            && let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed))
        {
            if let Err(error) = catch(|| step(task)) {
                // The flag is set under the lock: an error that only follows from it comes later.
                let mut first_error = lock(&first_error);
                context.stopped.store(true, Ordering::Relaxed);
                first_error.get_or_insert(error);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..context.parallelism().min(tasks.len()) {
            // Where no thread can be had, the others do its part.
            let _ = thread::Builder::new().name("load".into()).spawn_scoped(scope, work);
        }
        work();
    });
    into_inner(first_error).map_or(Ok(()), Err)
}
