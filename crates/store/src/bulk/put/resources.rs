//! The threads and the memory that a load may use.

use super::BulkPutOptions;
use crate::budget::Loan;
use crate::inner::Inner;

/// This part of the memory is for what the workers encode.
const ENCODERS_SHARE: usize = 8;
/// This part of the memory is for batches that wait.
const QUEUE_SHARE: usize = 8;

/// What a load works with.
pub(super) struct LoadResources {
    /// The threads that encode.
    workers: Loan,
    memory: Loan,
    /// The part of the memory where batches wait.
    queue_bytes: usize,
}

impl LoadResources {
    /// What the store has left for a load with these options, whose work so many threads can share.
    pub(super) fn of(store: &Inner, options: &BulkPutOptions, workers: usize) -> Self {
        Self {
            workers: store.lend_threads(workers),
            memory: store.lend_load_memory(options.memory_bytes()),
            queue_bytes: 0,
        }
    }

    /// The same with a part of the memory where batches wait.
    pub(super) fn with_queue(mut self) -> Self {
        self.queue_bytes = self.memory.amount() / QUEUE_SHARE;
        self
    }

    pub(super) fn queue_bytes(&self) -> usize {
        self.queue_bytes
    }

    pub(super) fn workers(&self) -> usize {
        self.workers.amount()
    }

    /// What the workers encode at once, together.
    pub(super) fn encoder_bytes(&self) -> usize {
        self.memory.amount() / ENCODERS_SHARE
    }

    /// What the session of the engine takes.
    pub(super) fn session_bytes(&self) -> usize {
        self.memory.amount() - self.queue_bytes - self.encoder_bytes()
    }
}
