//! The items in the queues of a bulk read.

use crossbeam_channel::{Receiver, Sender};
use tonnage_engine::Result;

use crate::read::ahead::CountedPiece;
use crate::read::task::ReadTask;

/// Batches that may wait for the reader, for each queue.
pub(crate) const QUEUED_BATCHES_MAX: usize = 4;

/// One task with the queue for its results.
pub(crate) struct ReadJob<T> {
    pub(crate) task: ReadTask,
    pub(crate) results: Sender<PieceMessage<T>>,
}

/// A piece, or the error that came instead of it.
pub(crate) type PieceResult<T> = Result<CountedPiece<T>>;

/// A piece of a result on its way to the reader.
pub(crate) struct PieceMessage<T> {
    pub(crate) result: PieceResult<T>,
    /// The position of the chunk that must directly follow it.
    pub(crate) rest: Option<Receiver<PieceResult<T>>>,
}
