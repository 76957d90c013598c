//! Sends the pieces of a task from its worker to the reader.

use std::time::Duration;

use crossbeam_channel::{SendTimeoutError, Sender, bounded};

use crate::read::ahead::CountedPiece;
use crate::read::job::{PieceMessage, PieceResult, QUEUED_BATCHES_MAX};

/// Where a worker puts the pieces of a task: those that must be consecutive pass through a queue of
/// their own.
pub(crate) struct PieceSender<T> {
    results: Sender<PieceMessage<T>>,
    rest: Option<Sender<PieceResult<T>>>,
    has_sent: bool,
}

/// What became of a piece.
pub(crate) enum SendOutcome<T> {
    /// It is in the queue.
    Sent,
    /// No reader wants more.
    Unwanted,
    /// The queue is full.
    Full(CountedPiece<T>),
}

impl<T> PieceSender<T> {
    pub(crate) fn to(results: Sender<PieceMessage<T>>) -> Self {
        Self { results, rest: None, has_sent: false }
    }

    /// Hands a piece over; false when no reader wants more.
    pub(crate) fn send(&mut self, result: PieceResult<T>, is_cut: bool) -> bool {
        match self.rest.take() {
            Some(rest) => {
                let is_wanted = rest.send(result).is_ok();
                self.rest = is_cut.then_some(rest);
                is_wanted
            }
            None => {
                let (message, rest) = new_message(result, is_cut);
                self.rest = rest;
                self.results.send(message).is_ok()
            }
        }
    }

    /// The same, if there is room before so long.
    pub(crate) fn send_within(
        &mut self,
        piece: CountedPiece<T>,
        is_cut: bool,
        patience: Duration,
    ) -> SendOutcome<T> {
        let refused = match &self.rest {
            Some(rest) => match rest.send_timeout(Ok(piece), patience) {
                Ok(()) => {
                    self.has_sent = true;
                    // Dropped after the last piece: the reader then finds its end, and takes from
                    // the queue of all tasks again.
                    self.rest = self.rest.take().filter(|_| is_cut);
                    return SendOutcome::Sent;
                }
                Err(SendTimeoutError::Disconnected(_)) => return SendOutcome::Unwanted,
                Err(SendTimeoutError::Timeout(result)) => result,
            },
            None => {
                let (message, rest) = new_message(Ok(piece), is_cut);
                match self.results.send_timeout(message, patience) {
                    // Kept only now: a piece that comes back has taken the queue for its rest down
                    // with it.
                    Ok(()) => {
                        self.has_sent = true;
                        self.rest = rest;
                        return SendOutcome::Sent;
                    }
                    Err(SendTimeoutError::Disconnected(_)) => return SendOutcome::Unwanted,
                    Err(SendTimeoutError::Timeout(message)) => message.result,
                }
            }
        };
        refused.map_or(SendOutcome::Unwanted, SendOutcome::Full)
    }

    /// Whether the next piece would have to wait.
    pub(crate) fn is_full(&self) -> bool {
        self.rest.as_ref().map_or(self.results.is_full(), Sender::is_full)
    }

    /// Whether a piece found room within its time.
    pub(crate) fn has_sent(&self) -> bool {
        self.has_sent
    }
}

/// A piece in flight, and the destination of its rest.
fn new_message<T>(
    result: PieceResult<T>,
    is_cut: bool,
) -> (PieceMessage<T>, Option<Sender<PieceResult<T>>>) {
    if !is_cut {
        return (PieceMessage { result, rest: None }, None);
    }
    let (sender, rest) = bounded(QUEUED_BATCHES_MAX);
    (PieceMessage { result, rest: Some(rest) }, Some(sender))
}
