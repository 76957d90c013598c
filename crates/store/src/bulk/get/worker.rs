//! What each worker of a bulk read does.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crossbeam_channel::{Receiver, select};
use tonnage_engine::{Error, Ranges, Result, Rows, Slices};

use super::reading::{Job, ReadPlan, ReadTask, Shaper};

/// Takes jobs from either queue until there are no more, or the reader is gone.
pub(super) fn work<S: Shaper>(plan: &ReadPlan<S>, queues: [&Receiver<Job<S::Output>>; 2], stop: &Receiver<()>) {
    let [first, second] = queues;
    loop {
        // A queue whose sender is gone may still hold jobs, and so may the other: only both at their end are the end.
        let job = select! {
            recv(first) -> job => job.or_else(|_| second.recv()),
            recv(second) -> job => job.or_else(|_| first.recv()),
            recv(stop) -> _ => return,
        };
        let Ok(Job { task, results }) = job else { return };
        let mut emit = |batch| results.send(Ok(batch)).is_ok();
        let done = catch_unwind(AssertUnwindSafe(|| read_task(plan, &task, &mut emit)));
        let done = done.unwrap_or_else(|_| Err(Error::internal("a reading thread panicked: report it with the store's log")));
        if let Err(error) = done {
            // A reader that is gone does not want to hear of it.
            let _ = results.send(Err(error));
        }
    }
}

/// Reads what a task asks for, until it is done or `emit` answers that nobody wants more.
pub(super) fn read_task<S: Shaper>(plan: &ReadPlan<S>, task: &ReadTask, emit: &mut dyn FnMut(S::Output) -> bool) -> Result<()> {
    let memory = plan.shaper.begin(task);
    match task {
        ReadTask::Keys(keys) | ReadTask::Entries { keys, .. } => read_keys(plan, keys, memory, emit),
        ReadTask::Ranges(ranges) => read_ranges(plan, ranges.clone(), memory, emit),
    }
}

/// Rows asked for at once before their size is known.
const FIRST_READ_KEYS: usize = 32;

/// Looks keys up and emits what the shaper makes of the rows: some at a time, so that what is in memory stays within the
/// bytes of a batch, however large the rows are.
fn read_keys<S: Shaper>(
    plan: &ReadPlan<S>,
    keys: &Slices,
    mut memory: S::Memory,
    emit: &mut dyn FnMut(S::Output) -> bool,
) -> Result<()> {
    let (mut rows, mut piece) = (Rows::new(), Slices::new());
    let mut count = FIRST_READ_KEYS.min(plan.scan.batch_rows_max);
    let (mut first, mut wanted) = (0, true);
    while wanted && first < keys.len() {
        let end = keys.len().min(first + count);
        piece.clear();
        (first..end).for_each(|index| piece.push(keys.get(index)));
        plan.engine.read(plan.space, &piece, plan.projection, &mut rows)?;
        count = (end - first) * plan.scan.batch_bytes_max / rows.bytes().max(1);
        count = count.clamp(1, plan.scan.batch_rows_max);
        rows.origins.iter_mut().for_each(|origin| *origin += first as u32);
        first = end;
        if !rows.is_empty() {
            plan.shaper.shape(&*plan.engine, &mut rows, &mut memory, &mut |batch| {
                wanted = emit(batch);
                wanted
            })?;
        }
    }
    Ok(())
}

fn read_ranges<S: Shaper>(
    plan: &ReadPlan<S>,
    ranges: Ranges,
    mut memory: S::Memory,
    emit: &mut dyn FnMut(S::Output) -> bool,
) -> Result<()> {
    let mut scanner = plan.engine.scan(plan.space, ranges, plan.scan.clone())?;
    let mut rows = Rows::new();
    let mut wanted = true;
    while wanted && scanner.next_batch(&mut rows)? {
        plan.shaper.shape(&*plan.engine, &mut rows, &mut memory, &mut |batch| {
            wanted = emit(batch);
            wanted
        })?;
    }
    Ok(())
}
