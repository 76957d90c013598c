//! Takes tasks from their source and hands them to the workers.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tonnage_engine::{Error, Result};

use crate::read::task::{ReadTask, TaskSource};
use crate::read::task_sink::TaskSink;

/// Hands tasks to the workers until there are none, or nobody wants more.
pub(crate) fn dispatch<T>(
    first: Option<ReadTask>,
    mut source: Box<dyn TaskSource>,
    sink: &mut TaskSink<T>,
) -> Result<()> {
    source.detach();
    let mut next = match first {
        Some(first) => Some(first),
        None => source.next_task()?,
    };
    while let Some(task) = next {
        if !sink.put(task) {
            return Ok(());
        }
        next = source.next_task()?;
    }
    Ok(())
}

/// The next of the caller's keys; a source that panics is one that fails.
pub(crate) fn next_of<T>(source: &mut impl Iterator<Item = Result<T>>) -> Result<Option<T>> {
    let next = catch_unwind(AssertUnwindSafe(|| source.next()));
    next.unwrap_or_else(|panic| Some(Err(panic_error(&*panic)))).transpose()
}

/// The error of a source that panicked, with what it said.
#[cold]
pub(crate) fn panic_error(panic: &(dyn Any + Send)) -> Error {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Error::internal(format!(
        "the source of keys panicked: {}",
        said.unwrap_or("it did not say why")
    ))
}
