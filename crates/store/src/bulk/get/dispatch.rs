//! From a source of keys to tasks for the workers.

use tonnage_engine::Result;

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
