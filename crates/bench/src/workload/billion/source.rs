//! Which rows bulk calls are fed with, made as they are asked for, so that nothing is kept for each
//! of a billion. In the overlap phase puts and gets go side by side to their end: without that the
//! faster side would soon be done, and the rest would be no overlap.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::measure::{Meter, StopFlag};

/// Rows that a source gives at a time.
pub(super) const BATCH: usize = 4_096;

/// What the sources of one call share.
#[derive(Clone)]
pub(super) struct SharedCounts {
    pub(super) stop: StopFlag,
    /// Rows given so far: what the call must account for.
    pub(super) given: Arc<AtomicU64>,
    pub(super) pace: Option<Arc<Lockstep>>,
}

impl SharedCounts {
    pub(super) fn new(meter: &Meter<'_>) -> Self {
        SharedCounts { stop: meter.stop_flag(), given: Arc::default(), pace: None }
    }

    /// The rows at a range of places, as long as the time lasts. Places without one are passed over.
    pub(super) fn rows(
        &self,
        mut places: Range<u64>,
        side: PaceSide,
        row_at: impl Fn(u64) -> Option<u64> + Send + 'static,
    ) -> impl Iterator<Item = u64> + Send + 'static {
        let shared = self.clone();
        let next_batch = move || {
            let batch: Vec<u64> = shared.next(&mut places, side)?.filter_map(&row_at).collect();
            shared.given.fetch_add(batch.len() as u64, Relaxed);
            Some(batch)
        };
        std::iter::from_fn(next_batch).flatten()
    }

    /// Takes the next batch off a range. Nothing when it is empty, or when the time is over.
    fn next(&self, places: &mut Range<u64>, side: PaceSide) -> Option<Range<u64>> {
        let batch = places.start..places.end.min(places.start + BATCH as u64);
        if batch.is_empty() || self.stop.is_cancelled() {
            return None;
        }
        if let Some(pace) = &self.pace {
            pace.take(side, batch.end - batch.start);
        }
        places.start = batch.end;
        Some(batch)
    }
}

/// How far one side may be ahead, as a share of its work.
const LEAD: f64 = 0.02;

/// Holds up the side that is ahead.
pub(super) struct Lockstep {
    sides: Mutex<[SideProgress; 2]>,
    changed: Condvar,
    stop: StopFlag,
}

#[derive(Clone, Copy)]
struct SideProgress {
    done: u64,
    total: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PaceSide {
    Puts,
    Gets,
}

impl Lockstep {
    pub(super) fn new(puts: u64, gets: u64, stop: StopFlag) -> Self {
        let sides = [puts, gets].map(|total| SideProgress { done: 0, total });
        Lockstep { sides: Mutex::new(sides), changed: Condvar::new(), stop }
    }

    /// Waits until a side may do more, and notes that it does.
    pub(super) fn take(&self, side: PaceSide, count: u64) {
        let mut sides = self.sides.lock();
        while sides[side as usize].share() > sides[1 - side as usize].share() + LEAD
            && !self.stop.is_cancelled()
        {
            self.changed.wait_for(&mut sides, Duration::from_millis(50));
        }
        sides[side as usize].done += count;
        self.changed.notify_all();
    }

    /// A side has ended, well or not: nobody waits for it any more.
    pub(super) fn leave(&self, side: PaceSide) {
        let side = &mut self.sides.lock()[side as usize];
        side.done = side.total;
        self.changed.notify_all();
    }
}

impl SideProgress {
    fn share(self) -> f64 {
        if self.total == 0 { 1.0 } else { self.done as f64 / self.total as f64 }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

    use super::*;

    #[test]
    fn the_faster_side_waits_for_the_slower_one() {
        let pace = Lockstep::new(100, 1_000, StopFlag::default());
        let puts = AtomicU64::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..100 {
                    pace.take(PaceSide::Puts, 1);
                    puts.fetch_add(1, SeqCst);
                }
                pace.leave(PaceSide::Puts);
            });
            for got in 0..1_000 {
                std::thread::sleep(Duration::from_micros(50));
                let ahead = puts.load(SeqCst) as f64 / 100.0 - got as f64 / 1_000.0;
                assert!(ahead < LEAD + 0.03, "{ahead}");
                pace.take(PaceSide::Gets, 1);
            }
        });
        assert_eq!(puts.load(SeqCst), 100);
    }

    #[test]
    fn nobody_waits_for_a_side_that_left_or_after_a_stop() {
        let pace = Lockstep::new(10, 10, StopFlag::default());
        pace.leave(PaceSide::Puts);
        (0..10).for_each(|_| pace.take(PaceSide::Gets, 1));

        let stop = StopFlag::default();
        stop.cancel();
        let pace = Lockstep::new(10, 10, stop);
        (0..10).for_each(|_| pace.take(PaceSide::Gets, 1));
    }
}
