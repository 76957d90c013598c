//! What each worker of a bulk read does.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crossbeam_channel::{Receiver, select};
use tonnage_engine::{Error, Ranges, ReadOptions, Result, Rows, ScanOptions, Slices};

use crate::read::pipeline::{Job, Line, ReadPlan, ReadTask, Shaper};

/// Takes jobs from either queue until there are no more, or the reader is gone.
pub(crate) fn work<S: Shaper>(
    plan: &ReadPlan<S>,
    queues: [&Receiver<Job<S::Output>>; 2],
    stop: &Receiver<()>,
) {
    let [first, second] = queues;
    loop {
        // A queue whose sender is gone may still hold jobs, and so may the other: only both at
        // their end are the end.
        let job = select! {
            recv(first) -> job => job.or_else(|_| second.recv()),
            recv(second) -> job => job.or_else(|_| first.recv()),
            recv(stop) -> _ => return,
        };
        let Ok(Job { task, results }) = job else { return };
        let mut line = Line::to(&results);
        let mut emit = |piece| {
            // The pieces of an ordered task have a queue of their own in any case.
            let is_cut = !plan.ordered && S::is_cut(&piece);
            line.send(Ok(piece), is_cut)
        };
        let done = catch_unwind(AssertUnwindSafe(|| read_task(plan, &task, &mut emit)));
        let done = done.unwrap_or_else(|_| {
            Err(Error::internal("a reading thread panicked: report it with the store's log"))
        });
        if let Err(error) = done {
            // A reader that is gone does not want to hear of it.
            let _ = line.send(Err(error), false);
        }
    }
}

/// Reads what a task asks for, until it is done or `emit` answers that nobody wants more.
pub(crate) fn read_task<S: Shaper>(
    plan: &ReadPlan<S>,
    task: &ReadTask,
    emit: &mut dyn FnMut(S::Output) -> bool,
) -> Result<()> {
    read_with(plan, task, plan.shaper.begin(task), emit)
}

fn read_with<S: Shaper>(
    plan: &ReadPlan<S>,
    task: &ReadTask,
    memory: S::Memory,
    emit: &mut dyn FnMut(S::Output) -> bool,
) -> Result<()> {
    match task {
        ReadTask::Keys(keys) | ReadTask::Entries { keys, .. } => {
            read_keys(plan, keys, memory, emit)
        }
        ReadTask::Ranges(ranges) => {
            read_ranges(plan, ranges.clone(), plan.scan.clone(), memory, emit)
        }
        ReadTask::Filtered { ranges, filter } => {
            let scan = ScanOptions { filter: Some(filter.clone()), ..plan.scan.clone() };
            read_ranges(plan, ranges.clone(), scan, memory, emit)
        }
        ReadTask::Traced { task, .. } => read_with(plan, task, memory, emit),
    }
}

/// Keys handed to the engine at once before it is known how many of them fill a batch.
const FIRST_READ_KEYS: usize = 256;

/// Looks keys up and emits what the shaper makes of the rows: a batch at a time, so that what is in
/// memory stays within the bytes of a batch, however large the rows are.
fn read_keys<S: Shaper>(
    plan: &ReadPlan<S>,
    keys: &Slices,
    mut memory: S::Memory,
    emit: &mut dyn FnMut(S::Output) -> bool,
) -> Result<()> {
    let mut rows = Rows::new();
    let (mut first, mut wanted) = (0, true);
    let mut count = FIRST_READ_KEYS;
    while wanted && first < keys.len() {
        plan.control.check()?;
        let end = keys.len().min(first + count.min(plan.scan.batch_rows_max));
        let options = ReadOptions {
            projection: plan.projection,
            keys: first..end,
            bytes_max: plan.scan.batch_bytes_max,
        };
        let taken = plan.engine.read_some(plan.space, keys, &options, &mut rows)?;
        // The engine looks at all keys that it is handed, so it gets about as many as it will take.
        count = (taken * 2).max(FIRST_READ_KEYS);
        first += taken;
        if !rows.is_empty() {
            plan.control.progress.note_batch(rows.len(), rows.bytes());
            plan.shaper.shape(&*plan.engine, &mut rows, &mut memory, &mut |batch| {
                wanted = emit(batch);
                wanted
            })?;
        }
    }
    if wanted { plan.shaper.end(&*plan.engine, memory, emit) } else { Ok(()) }
}

fn read_ranges<S: Shaper>(
    plan: &ReadPlan<S>,
    ranges: Ranges,
    scan: ScanOptions,
    mut memory: S::Memory,
    emit: &mut dyn FnMut(S::Output) -> bool,
) -> Result<()> {
    let mut scanner = plan.engine.scan(plan.space, ranges, scan)?;
    let mut rows = Rows::new();
    let mut wanted = true;
    while wanted && scanner.next_batch(&mut rows)? {
        plan.control.check()?;
        plan.control.progress.note_batch(rows.len(), rows.bytes());
        plan.shaper.shape(&*plan.engine, &mut rows, &mut memory, &mut |batch| {
            wanted = emit(batch);
            wanted
        })?;
    }
    if wanted { plan.shaper.end(&*plan.engine, memory, emit) } else { Ok(()) }
}
