//! The way of pieces from a worker to the reader.

use std::time::Duration;

use crossbeam_channel::{SendTimeoutError, Sender, bounded};

use crate::read::ahead::Held;
use crate::read::job::{Answer, HeldResult, QUEUED_BATCHES_MAX};

/// Where a worker puts the pieces of a task: those that must come one behind the other go through a
/// queue of their own.
pub(crate) struct PieceLine<T> {
    results: Sender<Answer<T>>,
    rest: Option<Sender<HeldResult<T>>>,
    has_sent: bool,
}

/// What became of a piece.
pub(crate) enum Sent<T> {
    /// It is in the queue.
    Yes,
    /// Nobody wants more.
    Unwanted,
    /// The queue is full.
    NotYet(Held<T>),
}

impl<T> PieceLine<T> {
    pub(crate) fn to(results: Sender<Answer<T>>) -> Self {
        Self { results, rest: None, has_sent: false }
    }

    /// Hands a piece over; false when nobody wants more.
    pub(crate) fn send(&mut self, result: HeldResult<T>, is_cut: bool) -> bool {
        match self.rest.take() {
            Some(rest) => {
                let is_wanted = rest.send(result).is_ok();
                self.rest = is_cut.then_some(rest);
                is_wanted
            }
            None => {
                let (answer, rest) = answer(result, is_cut);
                self.rest = rest;
                self.results.send(answer).is_ok()
            }
        }
    }

    /// The same, if there is room before so long.
    pub(crate) fn send_within(
        &mut self,
        piece: Held<T>,
        is_cut: bool,
        patience: Duration,
    ) -> Sent<T> {
        let refused = match &self.rest {
            Some(rest) => match rest.send_timeout(Ok(piece), patience) {
                Ok(()) => {
                    self.has_sent = true;
                    self.rest = self.rest.take().filter(|_| is_cut);
                    return Sent::Yes;
                }
                Err(SendTimeoutError::Disconnected(_)) => return Sent::Unwanted,
                Err(SendTimeoutError::Timeout(result)) => result,
            },
            None => {
                let (answer, rest) = answer(Ok(piece), is_cut);
                match self.results.send_timeout(answer, patience) {
                    // Kept only now: a piece that comes back has taken the queue for its rest down
                    // with it.
                    Ok(()) => {
                        self.has_sent = true;
                        self.rest = rest;
                        return Sent::Yes;
                    }
                    Err(SendTimeoutError::Disconnected(_)) => return Sent::Unwanted,
                    Err(SendTimeoutError::Timeout(answer)) => answer.result,
                }
            }
        };
        refused.map_or(Sent::Unwanted, Sent::NotYet)
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

/// A piece on its way, and where its rest goes.
fn answer<T>(result: HeldResult<T>, is_cut: bool) -> (Answer<T>, Option<Sender<HeldResult<T>>>) {
    if !is_cut {
        return (Answer { result, rest: None }, None);
    }
    let (sender, rest) = bounded(QUEUED_BATCHES_MAX);
    (Answer { result, rest: Some(rest) }, Some(sender))
}
