//! Hands tasks from the dispatcher to the workers, with a queue for their results: one for each
//! task where rows are ordered, else one for all.

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::read::job::{PieceMessage, QUEUED_BATCHES_MAX, ReadJob};
use crate::read::task::ReadTask;

/// Where the dispatcher puts tasks.
pub(crate) struct TaskSink<T> {
    pub(crate) ordered: bool,
    pub(crate) jobs: Sender<ReadJob<T>>,
    /// Point reads whose results need no order.
    pub(crate) lookups: Sender<ReadJob<T>>,
    pub(crate) queues: Sender<Receiver<PieceMessage<T>>>,
    pub(crate) shared: Option<Sender<PieceMessage<T>>>,
}

impl<T> TaskSink<T> {
    /// Hands a task to the workers; false when no reader wants more.
    pub(crate) fn put(&mut self, task: ReadTask) -> bool {
        let results = match &self.shared {
            Some(shared) => shared.clone(),
            None => {
                let (results, queue) = bounded(QUEUED_BATCHES_MAX);
                if self.queues.send(queue).is_err() {
                    return false;
                }
                if !self.ordered {
                    self.shared = Some(results.clone());
                }
                results
            }
        };
        // Ordered tasks go through one queue: a worker that took a later one first could wait for
        // its reader, who waits for the earlier one, for which there is no worker left.
        let jobs = if !self.ordered && task.is_lookup() { &self.lookups } else { &self.jobs };
        jobs.send(ReadJob { task, results }).is_ok()
    }
}
