//! What lies in the queues of a bulk read.

use crossbeam_channel::{Receiver, Sender};
use tonnage_engine::Result;

use crate::read::ahead::Held;
use crate::read::task::ReadTask;

/// Batches that may wait for the reader, for each queue.
pub(crate) const QUEUED_BATCHES_MAX: usize = 4;

/// One task with the queue for its results.
pub(crate) struct Job<T> {
    pub(crate) task: ReadTask,
    pub(crate) results: Sender<Answer<T>>,
}

/// A piece, or what came instead of it.
pub(crate) type HeldResult<T> = Result<Held<T>>;

/// A piece of a result on its way to the reader.
pub(crate) struct Answer<T> {
    pub(crate) result: HeldResult<T>,
    /// Where what must come right behind it is.
    pub(crate) rest: Option<Receiver<HeldResult<T>>>,
}
