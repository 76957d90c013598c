//! Scans whose reader rests.
//!
//! 1. A worker that finds no room in its queue for [`REST_AFTER`] has its scan let go of files and
//!    memory of the engine, lays it down here and ends its thread.
//! 2. The same happens where the reader has taken nothing but the first piece, and does not ask for
//!    another within [`FIRST_REST_AFTER`]: until then nothing is read ahead.
//! 3. The reader, before it waits for a batch, looks whether a scan lies here that has room again,
//!    and starts a thread for it.
//! 4. Both happen under one lock, and who lies down looks at the queue once more under it. So no
//!    reader waits for a scan that rests.
//!
//! So an open scan that nobody reads costs its queue, and neither threads nor files.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, TryRecvError};
use tonnage_engine::{Error, Result, Rows};

use crate::read::ahead::Held;
use crate::read::line::{PieceLine, Sent};
use crate::read::open_scan::OpenScan;
use crate::read::plan::{BatchSize, ReadPlan, Shaper};

/// How long a reader must not have read.
const REST_AFTER: Duration = Duration::from_millis(300);
/// The same for a reader that has taken one piece and no more. Who reads a whole table asks for the
/// next sooner, and does not pay for another thread and look-up.
const FIRST_REST_AFTER: Duration = Duration::from_millis(10);

/// A scan with everything that it takes to go on.
pub(crate) struct ScanAtWork<S: Shaper> {
    scan: OpenScan<S>,
    line: PieceLine<S::Output>,
    /// A piece that found no room.
    waiting: Option<Held<S::Output>>,
}

impl<S: Shaper> ScanAtWork<S> {
    pub(crate) fn new(scan: OpenScan<S>, line: PieceLine<S::Output>) -> Self {
        Self { scan, line, waiting: None }
    }

    /// Reads until the scan is over, or its reader rests: then the answer is true.
    pub(crate) fn read_on(&mut self, plan: &ReadPlan<S>, resting: &Resting<S>) -> Result<bool> {
        if let Some(piece) = self.waiting.take()
            && !emit(plan, &mut self.line, &mut self.waiting, piece)
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
            if self.line.has_sent() && !resting.goes_ahead() {
                break;
            }
            if plan.control.is_left() {
                return Ok(false);
            }
            let (line, waiting, mut is_wanted) = (&mut self.line, &mut self.waiting, true);
            self.scan.read(plan, BatchSize::Growing, &mut rows, &mut |piece| {
                is_wanted = emit(plan, line, waiting, plan.ahead.hold(piece));
                is_wanted
            })?;
            if !is_wanted {
                return Ok(false);
            }
        }
        // Before the scan is laid down: one that rests holds no files.
        self.scan.release()?;
        Ok(true)
    }

    /// Tells the reader of an error, behind what was read before.
    pub(crate) fn fail(mut self, error: Error) {
        if let Some(piece) = self.waiting.take() {
            let is_cut = false;
            if !self.line.send(Ok(piece), is_cut) {
                return;
            }
        }
        // A reader that is gone does not want to hear of it.
        let _ = self.line.send(Err(error), false);
    }
}

/// Hands a piece over, or keeps it where there is no room. A second one waits for room: pieces may
/// be large. False when nobody wants more.
fn emit<S: Shaper>(
    plan: &ReadPlan<S>,
    line: &mut PieceLine<S::Output>,
    waiting: &mut Option<Held<S::Output>>,
    piece: Held<S::Output>,
) -> bool {
    if let Some(first) = waiting.take() {
        let is_cut = plan.cuts(first.piece());
        if !line.send(Ok(first), is_cut) {
            return false;
        }
    }
    let is_cut = plan.cuts(piece.piece());
    match line.send_within(piece, is_cut, REST_AFTER) {
        Sent::Yes => true,
        Sent::Unwanted => false,
        Sent::NotYet(piece) => {
            *waiting = Some(piece);
            true
        }
    }
}

/// The scans of one read that rest.
pub(crate) struct Resting<S: Shaper> {
    scans: Mutex<Vec<ScanAtWork<S>>>,
    /// Closed once the reader has asked for a second piece.
    go_ahead: Receiver<()>,
}

impl<S: Shaper> Resting<S> {
    pub(crate) fn new(go_ahead: Receiver<()>) -> Self {
        Self { scans: Mutex::default(), go_ahead }
    }

    /// Whether nothing may be read ahead yet.
    pub(crate) fn is_held_back(&self) -> bool {
        self.go_ahead.try_recv() == Err(TryRecvError::Empty)
    }

    /// Whether something may be read ahead, now or in a moment.
    fn goes_ahead(&self) -> bool {
        self.go_ahead.recv_timeout(FIRST_REST_AFTER) == Err(RecvTimeoutError::Disconnected)
    }

    /// Whether a scan has nothing to do until its reader asks for more.
    fn rests(&self, scan: &ScanAtWork<S>) -> bool {
        scan.line.is_full() || (scan.line.has_sent() && self.is_held_back())
    }

    /// Lays a scan down, unless its reader has made room meanwhile: then it is given back.
    pub(crate) fn lie_down(&self, scan: ScanAtWork<S>) -> Option<ScanAtWork<S>> {
        let mut scans = self.scans();
        if !self.rests(&scan) {
            return Some(scan);
        }
        scans.push(scan);
        None
    }

    /// Takes the scans whose reader has made room.
    pub(crate) fn take_awake(&self) -> Vec<ScanAtWork<S>> {
        let mut scans = self.scans();
        if scans.is_empty() {
            return Vec::new();
        }
        let (asleep, awake) = scans.drain(..).partition(|scan| self.rests(scan));
        *scans = asleep;
        awake
    }

    fn scans(&self) -> MutexGuard<'_, Vec<ScanAtWork<S>>> {
        self.scans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
