//! Scans whose reader rests.
//!
//! 1. A worker that finds no room in its queue for [`REST_AFTER`] has its scan let go of files and
//!    memory of the engine, lays it down here and ends its thread.
//! 2. The reader, before it waits for a batch, looks whether a scan lies here whose queue has room
//!    again, and starts a thread for it.
//! 3. Both happen under one lock, and who lies down looks at the queue once more under it. So no
//!    reader waits for a scan that rests.
//!
//! So an open scan that nobody reads costs its queue, and neither threads nor files.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tonnage_engine::{Error, Result, Rows, Scanner};

use crate::read::line::{Line, Sent};
use crate::read::pipeline::{ReadPlan, Shaper};

/// How long a reader must not have read.
const REST_AFTER: Duration = Duration::from_millis(300);

/// A scan with everything that it takes to go on.
pub(crate) struct ScanAtWork<S: Shaper> {
    scanner: Box<dyn Scanner>,
    /// Gone once the scan is over.
    memory: Option<S::Memory>,
    line: Line<S::Output>,
    /// A piece that found no room.
    waiting: Option<S::Output>,
}

impl<S: Shaper> ScanAtWork<S> {
    pub(crate) fn new(scanner: Box<dyn Scanner>, memory: S::Memory, line: Line<S::Output>) -> Self {
        Self { scanner, memory: Some(memory), line, waiting: None }
    }

    /// Reads until the scan is over, or its reader rests: then the answer is true.
    pub(crate) fn read_on(&mut self, plan: &ReadPlan<S>) -> Result<bool> {
        if let Some(piece) = self.waiting.take()
            && !emit(plan, &mut self.line, &mut self.waiting, piece)
        {
            return Ok(false);
        }
        let mut rows = Rows::new();
        while self.waiting.is_none() {
            let Some(memory) = self.memory.as_mut() else { return Ok(false) };
            let (line, waiting, mut is_wanted) = (&mut self.line, &mut self.waiting, true);
            let mut emit = |piece| {
                is_wanted = emit(plan, line, waiting, piece);
                is_wanted
            };
            if self.scanner.next_batch(&mut rows)? {
                plan.control.check()?;
                plan.control.progress.note_batch(rows.len(), rows.bytes());
                plan.shaper.shape(&*plan.engine, &mut rows, memory, &mut emit)?;
            } else if let Some(memory) = self.memory.take() {
                plan.shaper.end(&*plan.engine, memory, &mut emit)?;
            }
            if !is_wanted {
                return Ok(false);
            }
        }
        self.scanner.release()?;
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
    line: &mut Line<S::Output>,
    waiting: &mut Option<S::Output>,
    piece: S::Output,
) -> bool {
    if let Some(first) = waiting.take() {
        let is_cut = plan.cuts(&first);
        if !line.send(Ok(first), is_cut) {
            return false;
        }
    }
    let is_cut = plan.cuts(&piece);
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
}

impl<S: Shaper> Default for Resting<S> {
    fn default() -> Self {
        Self { scans: Mutex::default() }
    }
}

impl<S: Shaper> Resting<S> {
    /// Lays a scan down, unless its reader has made room meanwhile: then it is given back.
    pub(crate) fn lie_down(&self, scan: ScanAtWork<S>) -> Option<ScanAtWork<S>> {
        let mut scans = self.scans();
        if !scan.line.is_full() {
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
        let (awake, asleep) = scans.drain(..).partition(|scan| !scan.line.is_full());
        *scans = asleep;
        awake
    }

    fn scans(&self) -> MutexGuard<'_, Vec<ScanAtWork<S>>> {
        self.scans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
