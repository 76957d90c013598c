//! What each worker of a bulk read does.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crossbeam_channel::{Receiver, select};
use tonnage_engine::{Error, Ranges, Result, Rows, Slices};

use super::reading::{Job, ReadPlan, ReadTask, Shaper};

/// Takes jobs until there are no more, or the reader is gone.
pub(super) fn work<S: Shaper>(plan: &ReadPlan<S>, jobs: &Receiver<Job<S::Output>>, stop: &Receiver<()>) {
    loop {
        let job = select! {
            recv(jobs) -> job => job,
            recv(stop) -> _ => return,
        };
        let Ok(Job { task, results }) = job else { return };
        let mut emit = |batch| results.send(Ok(batch)).is_ok();
        let done = catch_unwind(AssertUnwindSafe(|| match &task {
            ReadTask::Keys(keys) => read_keys(plan, keys, &mut emit),
            ReadTask::Ranges(ranges) => read_ranges(plan, ranges.clone(), &mut emit),
        }));
        let done = done.unwrap_or_else(|_| Err(Error::internal("a reading thread panicked: report it with the store's log")));
        if let Err(error) = done {
            // A reader that is gone does not want to hear of it.
            let _ = results.send(Err(error));
        }
    }
}

/// Looks keys up and emits what the shaper makes of the rows.
pub(super) fn read_keys<S: Shaper>(plan: &ReadPlan<S>, keys: &Slices, emit: &mut dyn FnMut(S::Output) -> bool) -> Result<()> {
    let mut rows = Rows::new();
    plan.engine.read(plan.space, keys, plan.projection, &mut rows)?;
    if rows.is_empty() {
        return Ok(());
    }
    plan.shaper.shape(&*plan.engine, &mut rows, &mut S::Memory::default(), emit)
}

fn read_ranges<S: Shaper>(plan: &ReadPlan<S>, ranges: Ranges, emit: &mut dyn FnMut(S::Output) -> bool) -> Result<()> {
    let mut scanner = plan.engine.scan(plan.space, ranges, plan.scan.clone())?;
    let mut rows = Rows::new();
    let (mut memory, mut wanted) = (S::Memory::default(), true);
    while wanted && scanner.next_batch(&mut rows)? {
        plan.shaper.shape(&*plan.engine, &mut rows, &mut memory, &mut |batch| {
            wanted = emit(batch);
            wanted
        })?;
    }
    Ok(())
}
