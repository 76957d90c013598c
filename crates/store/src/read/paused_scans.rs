//! Scans that are paused because their reader does not read.
//!
//! 1. A worker that finds no room in its queue for [`PAUSE_AFTER`] pauses its scan: the scan
//!    releases files and memory of the engine, is kept here, and the worker ends its thread.
//! 2. The worker also pauses the scan when the reader has taken only the first piece and asks for
//!    no other within [`FIRST_PAUSE_AFTER`]. Until the reader asks, nothing is read ahead.
//! 3. Before the reader waits for a batch, it looks for a paused scan whose queue has room again,
//!    and starts a thread for it.
//! 4. Steps 1 and 3 take one lock, and the worker checks the queue once more under it. So no reader
//!    waits for a paused scan.
//!
//! So an open scan without a reader costs its queue, and neither threads nor files.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, TryRecvError};
use tonnage_engine::sync::lock;
use tonnage_engine::{Error, Result, Rows};

use crate::read::ahead::CountedPiece;
use crate::read::open_scan::OpenScan;
use crate::read::piece_sender::{PieceSender, SendOutcome};
use crate::read::plan::{BatchSize, ReadPlan, Shaper};

/// A scan is paused when its reader has not read for so long.
const PAUSE_AFTER: Duration = Duration::from_millis(300);
/// The same for a reader that has taken one piece and no more. Who reads a whole table asks for the
/// next sooner, and does not pay for another thread and look-up.
const FIRST_PAUSE_AFTER: Duration = Duration::from_millis(10);

/// A scan with everything that it takes to continue.
pub(crate) struct PausableScan<S: Shaper> {
    scan: OpenScan<S>,
    sender: PieceSender<S::Output>,
    /// A piece that found no room.
    waiting: Option<CountedPiece<S::Output>>,
}

impl<S: Shaper> PausableScan<S> {
    pub(crate) fn new(scan: OpenScan<S>, sender: PieceSender<S::Output>) -> Self {
        Self { scan, sender, waiting: None }
    }

    /// Reads until the scan is over, or must be paused: then the answer is true.
    pub(crate) fn read_until_paused(
        &mut self,
        plan: &ReadPlan<S>,
        paused: &PausedScans<S>,
    ) -> Result<bool> {
        if let Some(piece) = self.waiting.take()
            && !emit(plan, &mut self.sender, &mut self.waiting, piece)
        {
            return Ok(false);
        }
        let mut rows = Rows::new();
        while self.waiting.is_none() {
            if self.scan.is_over() {
                return Ok(false);
            }
            // Before each batch, not after it: nothing is read ahead of a reader that has not come
            // back.
            if self.sender.has_sent() && !paused.may_read_ahead() {
                break;
            }
            if plan.control.is_closed() {
                return Ok(false);
            }
            let (sender, waiting, mut is_wanted) = (&mut self.sender, &mut self.waiting, true);
            self.scan.read(plan, BatchSize::Growing, &mut rows, &mut |piece| {
                is_wanted = emit(plan, sender, waiting, plan.ahead.count_piece(piece));
                is_wanted
            })?;
            if !is_wanted {
                return Ok(false);
            }
        }
        // Done before the scan is paused, since a paused scan must hold no files.
        self.scan.release()?;
        Ok(true)
    }

    /// Reports an error to the reader, after what was read before.
    pub(crate) fn fail(mut self, error: Error) {
        if let Some(piece) = self.waiting.take() {
            let is_cut = false;
            if !self.sender.send(Ok(piece), is_cut) {
                return;
            }
        }
        // A reader that is gone does not want to hear of it.
        let _ = self.sender.send(Err(error), false);
    }
}

/// Hands a piece over, or keeps it where there is no room. A second one waits for room: pieces may
/// be large. False when no reader wants more.
fn emit<S: Shaper>(
    plan: &ReadPlan<S>,
    sender: &mut PieceSender<S::Output>,
    waiting: &mut Option<CountedPiece<S::Output>>,
    piece: CountedPiece<S::Output>,
) -> bool {
    if let Some(first) = waiting.take() {
        let is_cut = plan.cuts(first.piece());
        if !sender.send(Ok(first), is_cut) {
            return false;
        }
    }
    let is_cut = plan.cuts(piece.piece());
    match sender.send_within(piece, is_cut, PAUSE_AFTER) {
        SendOutcome::Sent => true,
        SendOutcome::Unwanted => false,
        SendOutcome::Full(piece) => {
            *waiting = Some(piece);
            true
        }
    }
}

/// The paused scans of one read.
pub(crate) struct PausedScans<S: Shaper> {
    scans: Mutex<Vec<PausableScan<S>>>,
    /// Closed once the reader has asked for a second piece.
    go_ahead: Receiver<()>,
}

impl<S: Shaper> PausedScans<S> {
    pub(crate) fn new(go_ahead: Receiver<()>) -> Self {
        Self { scans: Mutex::default(), go_ahead }
    }

    /// Whether nothing may be read ahead yet.
    pub(crate) fn is_held_back(&self) -> bool {
        self.go_ahead.try_recv() == Err(TryRecvError::Empty)
    }

    /// Whether something may be read ahead, now or soon.
    fn may_read_ahead(&self) -> bool {
        self.go_ahead.recv_timeout(FIRST_PAUSE_AFTER) == Err(RecvTimeoutError::Disconnected)
    }

    /// Whether a scan has nothing to do until its reader asks for more.
    fn must_wait(&self, scan: &PausableScan<S>) -> bool {
        scan.sender.is_full() || (scan.sender.has_sent() && self.is_held_back())
    }

    /// Keeps a scan, unless its reader has freed room meanwhile: then it is given back.
    pub(crate) fn pause(&self, scan: PausableScan<S>) -> Option<PausableScan<S>> {
        let mut scans = self.scans();
        if !self.must_wait(&scan) {
            return Some(scan);
        }
        scans.push(scan);
        None
    }

    /// Takes the scans whose reader has freed room.
    pub(crate) fn take_ready(&self) -> Vec<PausableScan<S>> {
        let mut scans = self.scans();
        if scans.is_empty() {
            return Vec::new();
        }
        let (waiting, ready) = scans.drain(..).partition(|scan| self.must_wait(scan));
        *scans = waiting;
        ready
    }

    fn scans(&self) -> MutexGuard<'_, Vec<PausableScan<S>>> {
        lock(&self.scans)
    }
}

#[cfg(test)]
mod tests;
