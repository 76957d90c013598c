//! The tasks of a bulk read.

use std::sync::Arc;

use tonnage_engine::{KeyFilter, Part, Ranges, Result, Slices};

use crate::read::origin::KeyOrigin;

/// A piece of work for one worker.
pub(crate) enum ReadTask {
    /// Look these keys up.
    Keys(Slices),
    /// Read these ranges.
    Ranges(Ranges),
    /// Read this part of the space.
    Part(Part),
    /// Read of these ranges what a filter of their own lets through.
    Filtered {
        /// The ranges.
        ranges: Ranges,
        /// The filter.
        filter: Arc<dyn KeyFilter>,
    },
    /// Look up the keys that entries of an index led to.
    Entries {
        /// The keys.
        keys: Slices,
        /// The entry of each key.
        entries: Arc<Slices>,
        /// Whether the entries say all that is wanted, and no row need be looked up.
        is_exact: bool,
    },
    /// Read this, and tell of each row which key it answers.
    Traced {
        /// What to read.
        task: Box<ReadTask>,
        /// Where each key or range of the task comes from.
        origins: Arc<Vec<KeyOrigin>>,
    },
}

impl ReadTask {
    /// The same task, whose rows tell which key they answer if there are origins.
    pub(crate) fn traced(self, origins: Vec<KeyOrigin>) -> Self {
        if origins.is_empty() {
            return self;
        }
        ReadTask::Traced { task: Box::new(self), origins: Arc::new(origins) }
    }

    /// Whether it looks keys up, rather than reading ranges.
    pub(crate) fn is_lookup(&self) -> bool {
        match self {
            ReadTask::Keys(_) | ReadTask::Entries { .. } => true,
            ReadTask::Ranges(_) | ReadTask::Part(_) | ReadTask::Filtered { .. } => false,
            ReadTask::Traced { task, .. } => task.is_lookup(),
        }
    }

    /// What is to be read, whether or not rows tell which key they answer.
    pub(crate) fn plain(&self) -> &ReadTask {
        match self {
            ReadTask::Traced { task, .. } => task.plain(),
            task => task,
        }
    }
}

/// Where tasks come from.
pub(crate) trait TaskSource: Send + 'static {
    /// The next task, `None` at the end.
    fn next_task(&mut self) -> Result<Option<ReadTask>>;

    /// Whether it is known already that no further task will come.
    fn is_exhausted(&self) -> bool;

    /// Whether the first task can be built at once, without waiting for a caller's keys.
    fn is_at_hand(&self) -> bool {
        true
    }

    /// How many tasks are at hand, at least: these need no thread that waits until they are taken.
    fn count_at_hand(&self) -> usize {
        0
    }

    /// Keys that may have to be waited for are drawn by a thread of their own from now on.
    fn detach(&mut self) {}
}
