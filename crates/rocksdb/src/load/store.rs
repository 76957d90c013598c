//! Stores what a flush gathered: sorts what is not sorted yet, then lets the threads of the load take one range after
//! another: first those of placed spaces, then, when all of these are stored, the others.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use tonnage_engine::{Error, Result};

use super::context::{Context, catch};
use super::output::Output;
use super::pool::Gathered;
use super::range::KeyRange;
use super::run::{RunBuffer, SortedRun};
use super::small;
use super::sources::Sources;
use super::zone::{Zone, zones};
use crate::error::translate;
use crate::respite::Merging;
use crate::shard::Shard;

/// Up to this size the entries of a shard go through the write-ahead log.
const SMALL_BYTES_MAX: u64 = 8 << 20;
/// About how large an output file is before compression.
const FILE_BYTES: u64 = 128 << 20;

/// What a thread does next.
enum Task {
    Small { shard: usize, zone: Zone, range: KeyRange },
    File { shard: usize, zone: Zone, range: KeyRange },
}

impl Task {
    fn zone(&self) -> Zone {
        match self {
            Task::Small { zone, .. } | Task::File { zone, .. } => *zone,
        }
    }
}

/// Stores everything. When it returns, all of it is durable and reported.
pub(super) fn store(context: &Context<'_>, gathered: Gathered) -> Result<()> {
    let Gathered { unsorted, sorted, spilled } = gathered;
    let mut sources: Vec<Sources> = context.engine.shards().iter().map(|_| Sources::default()).collect();
    for run in sort_all(context, unsorted)?.into_iter().chain(sorted) {
        sources[run.shard].runs.push(run);
    }
    for file in spilled {
        sources[file.shard].files.push(file);
    }
    let _merging = lock_shards(context, &sources);
    let tasks = plan(context, &sources);
    let _resting = rest_compaction(context, &tasks);
    let (placed, ordinary): (Vec<_>, Vec<_>) = tasks.into_iter().partition(|task| task.zone() == Zone::Placed);
    run_all(context, &placed, |task| carry_out(context, &sources, task))?;
    sync_placed(context, &ordinary)?;
    run_all(context, &ordinary, |task| carry_out(context, &sources, task))
}

fn carry_out(context: &Context<'_>, sources: &[Sources], task: &Task) -> Result<()> {
    let shards = context.engine.shards();
    match task {
        Task::Small { shard, zone, range } => small::store(context, &shards[*shard], &sources[*shard], *zone, range),
        Task::File { shard, zone, range } => {
            Output { context, shard: &shards[*shard], sources: &sources[*shard], zone: *zone, range }.store()
        }
    }
}

/// Entries of placed spaces may have gone into the log, by this flush or one before. A file survives a power failure at once, what
/// stands in the log only once it is synced: so that comes first.
fn sync_placed(context: &Context<'_>, ordinary: &[Task]) -> Result<()> {
    if context.placed.is_empty() {
        return Ok(());
    }
    for (index, shard) in context.engine.shards().iter().enumerate() {
        if ordinary.iter().any(|task| matches!(task, Task::File { shard, .. } if *shard == index)) {
            shard.db().flush_wal(true).map_err(|error| translate(shard.place(), error))?;
        }
    }
    Ok(())
}

fn sort_all(context: &Context<'_>, unsorted: Vec<RunBuffer>) -> Result<Vec<SortedRun>> {
    let unsorted: Vec<Mutex<Option<RunBuffer>>> = unsorted.into_iter().map(|run| Mutex::new(Some(run))).collect();
    let sorted = Mutex::new(Vec::with_capacity(unsorted.len()));
    run_all(context, &unsorted, |slot| {
        let run = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(run) = run.map(|run| run.sort(context.precedence())) {
            sorted.lock().unwrap_or_else(PoisonError::into_inner).push(run);
        }
        Ok(())
    })?;
    Ok(sorted.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Keeps other loads from merging into the same shards. Everybody takes the locks in the order of the shards.
fn lock_shards<'a>(context: &Context<'a>, sources: &[Sources]) -> Vec<MutexGuard<'a, ()>> {
    let used = context.engine.shards().iter().zip(sources).filter(|(_, sources)| !sources.is_empty());
    used.map(|(shard, _)| lock_shard(context, shard)).collect()
}

fn lock_shard<'a>(context: &Context<'a>, shard: &'a Shard) -> MutexGuard<'a, ()> {
    let merging = shard.merging.lock().unwrap_or_else(PoisonError::into_inner);
    let before = shard.landings.fetch_add(1, Ordering::SeqCst);
    if let Some(watch) = context.watches.get(shard.id.0 as usize) {
        watch.lands(before);
    }
    merging
}

/// Keeps compaction from working in the shards that get files.
fn rest_compaction<'a>(context: &Context<'a>, tasks: &[Task]) -> Vec<Merging<'a>> {
    let gets_files = |shard: usize| tasks.iter().any(|task| matches!(task, Task::File { shard: of, .. } if *of == shard));
    let shards = context.engine.shards().iter().enumerate().filter(|(index, _)| gets_files(*index));
    shards.map(|(_, shard)| shard.respite.load()).collect()
}

fn plan(context: &Context<'_>, sources: &[Sources]) -> Vec<Task> {
    let zones = zones(&context.placed);
    let mut tasks = Vec::new();
    for (shard, sources) in sources.iter().enumerate().filter(|(_, sources)| !sources.is_empty()) {
        if sources.files.is_empty() && sources.bytes() < SMALL_BYTES_MAX {
            tasks.extend(zones.iter().map(|(zone, range)| Task::Small { shard, zone: *zone, range: range.clone() }));
        } else {
            let ranges = sources.cut(FILE_BYTES, context.parallelism() as u64);
            let pieces =
                ranges.iter().flat_map(|range| zones.iter().filter_map(|(zone, other)| Some((*zone, range.overlap(other)?))));
            tasks.extend(pieces.map(|(zone, range)| Task::File { shard, zone, range }));
        }
    }
    tasks
}

/// Runs `step` on every task, on as many threads as the load may use, this one among them. The first error stops them all.
fn run_all<T: Sync>(context: &Context<'_>, tasks: &[T], step: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    let next = AtomicUsize::new(0);
    let first_error: Mutex<Option<Error>> = Mutex::new(None);
    let work = || {
        while !context.stopped.load(Ordering::Relaxed)
            && let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed))
        {
            if let Err(error) = catch(|| step(task)) {
                // The flag is set under the lock: an error that only follows from it comes later.
                let mut first_error = first_error.lock().unwrap_or_else(PoisonError::into_inner);
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
    first_error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}
