//! From a source of keys to tasks for the workers.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tonnage_engine::{Error, Result};

use super::reading::{Outlet, ReadTask, TaskSource};

/// Hands tasks to the workers until there are none, or nobody wants more.
pub(super) fn dispatch<T>(first: ReadTask, mut source: Box<dyn TaskSource>, outlet: &mut Outlet<T>) -> Result<()> {
    let mut next = Some(first);
    while let Some(task) = next {
        if !outlet.put(task) {
            return Ok(());
        }
        next = source.next_task()?;
    }
    Ok(())
}

/// The next of the caller's keys; a source that panics is one that fails.
pub(crate) fn next_of<T>(source: &mut impl Iterator<Item = Result<T>>) -> Result<Option<T>> {
    let next = catch_unwind(AssertUnwindSafe(|| source.next()));
    next.unwrap_or_else(|_| Some(Err(Error::internal("the source of keys panicked")))).transpose()
}
