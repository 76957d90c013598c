//! Takes tasks from their source and hands them to the workers.

use tonnage_engine::{Error, Result, catch_panic};

use crate::read::task::{ReadTask, TaskSource};
use crate::read::task_sink::TaskSink;

/// Hands tasks to the workers until there are none, or no reader wants more.
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
    catch_panic(|| source.next().transpose(), source_panicked)
}

/// The error of a source that panicked, with its message.
#[cold]
pub(crate) fn source_panicked(message: &str) -> Error {
    Error::internal(format!("the source of keys panicked: {message}"))
}
