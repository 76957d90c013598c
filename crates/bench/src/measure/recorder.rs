//! What one thread tells what it did.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use hdrhistogram::Histogram;
use tonnage::Result;

use super::Meter;
use super::histogram::{new_histogram, record};
use super::totals::Totals;

/// How many operations of a thread worked, for the sampler to read. Alone in its cache lines,
/// because its thread writes it after each operation.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Tally(AtomicU64);

impl Tally {
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// One thread alone writes: a load and a store are enough, and cheaper than an atomic addition.
    fn add(&self, rows: u64) {
        self.0.store(self.get() + rows, Ordering::Relaxed);
    }
}

/// What one thread tells what it did. Hands its numbers over when it is dropped, and about every
/// second before.
pub struct Recorder<'a> {
    meter: &'a Meter<'a>,
    tally: Arc<Tally>,
    totals: Totals,
    /// The reading that `times` belongs to.
    reading: usize,
    /// Service times of the operations that ended in it, warm-up or not.
    times: Histogram<u32>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(meter: &'a Meter<'a>, tally: Arc<Tally>, totals: Totals) -> Self {
        Recorder {
            meter,
            tally,
            totals,
            reading: meter.reading.load(Ordering::Relaxed),
            times: new_histogram(),
        }
    }

    /// An operation ended just now. `due` is when it should have started at a fixed rate; `outcome`
    /// is whether it worked: failures are counted apart and are in no histogram. Gives whether it
    /// worked.
    pub fn record(
        &mut self,
        operation: usize,
        started: Instant,
        due: Option<Instant>,
        outcome: Result<()>,
    ) -> bool {
        self.record_rows(operation, started, due, outcome.map(|()| 1))
    }

    /// Like [`record`](Self::record), for an operation that counts as many rows. None for one whose
    /// rows were told by [`Meter::add`] as they went by, and for one that is part of another: only
    /// its time is kept then, under its own name.
    pub fn record_rows(
        &mut self,
        operation: usize,
        started: Instant,
        due: Option<Instant>,
        outcome: Result<u64>,
    ) -> bool {
        let ended = Instant::now();
        match outcome {
            Ok(rows) => self.worked(operation, rows, started, due, ended),
            Err(error) => {
                self.totals.failed(Some(operation), 1, || error.to_string());
                false
            }
        }
    }

    fn worked(
        &mut self,
        operation: usize,
        rows: u64,
        started: Instant,
        due: Option<Instant>,
        ended: Instant,
    ) -> bool {
        if !self.totals.knows(operation) {
            return true;
        }
        self.keep_up_with_readings();
        let service = ended.saturating_duration_since(started);
        if rows > 0 {
            self.tally.add(rows);
            record(&mut self.times, service);
        }
        if started >= self.meter.measured_from {
            let intended = due.map(|due| ended.saturating_duration_since(due));
            self.totals.worked(operation, rows, service, intended);
        }
        true
    }

    fn keep_up_with_readings(&mut self) {
        let reading = self.meter.reading.load(Ordering::Relaxed);
        if reading != self.reading {
            self.hand_over();
            self.reading = reading;
        }
    }

    fn hand_over(&mut self) {
        if !self.times.is_empty() {
            self.meter.readings().add(self.reading, &self.times);
            self.times.reset();
        }
    }
}

impl Drop for Recorder<'_> {
    fn drop(&mut self) {
        self.hand_over();
        let totals = std::mem::replace(&mut self.totals, Totals::new(0));
        self.meter.retire(&self.tally, totals);
    }
}
