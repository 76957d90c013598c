//! The rows for bulk calls, generated on request, so that nothing is kept for each of a billion. In
//! the overlap phase puts and gets go side by side to their end: without that the faster side would
//! soon be done, and the rest would be no overlap.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::measure::{Meter, StopFlag};

/// Rows that a source gives at a time.
pub(super) const BATCH: usize = 4_096;

/// Feeds one call, or one side in step with the other. When it is dropped, no thread waits for that
/// side any more.
pub(super) struct Feed<'m> {
    pub(super) meter: &'m Meter<'m>,
    side: PaceSide,
    pace: Option<Arc<Lockstep>>,
    /// Rows given so far: what the call must account for.
    given: Arc<AtomicU64>,
}

impl<'m> Feed<'m> {
    pub(super) fn new(meter: &'m Meter<'m>, side: PaceSide) -> Self {
        Feed::paced(meter, side, None)
    }

    fn paced(meter: &'m Meter<'m>, side: PaceSide, pace: Option<Arc<Lockstep>>) -> Self {
        Feed { meter, side, pace, given: Arc::default() }
    }

    /// Of so many puts and gets, those that go side by side.
    pub(super) fn in_step(meter: &'m Meter<'m>, puts: u64, gets: u64) -> [Self; 2] {
        let pace = Arc::new(Lockstep::new(puts, gets, meter.stop_flag()));
        [PaceSide::Puts, PaceSide::Gets].map(|side| Feed::paced(meter, side, Some(pace.clone())))
    }

    pub(super) fn given(&self) -> u64 {
        self.given.load(Relaxed)
    }

    /// The rows at some positions, as long as the time lasts. Places without one are passed over.
    pub(super) fn rows(
        &self,
        mut places: Range<u64>,
        row_at: impl Fn(u64) -> Option<u64> + Send + 'static,
    ) -> impl Iterator<Item = u64> + Send + 'static {
        let (stop, side) = (self.meter.stop_flag(), self.side);
        let (pace, given) = (self.pace.clone(), self.given.clone());
        let next_batch = move || {
            let batch = places.start..places.end.min(places.start + BATCH as u64);
            if batch.is_empty() || stop.is_cancelled() {
                return None;
            }
            if let Some(pace) = &pace {
                pace.take(side, batch.end - batch.start);
            }
            places.start = batch.end;
            let rows: Vec<u64> = batch.filter_map(&row_at).collect();
            given.fetch_add(rows.len() as u64, Relaxed);
            Some(rows)
        };
        std::iter::from_fn(next_batch).flatten()
    }
}

impl Drop for Feed<'_> {
    fn drop(&mut self) {
        if let Some(pace) = &self.pace {
            pace.leave(self.side);
        }
    }
}

/// How far one side may be ahead, as a share of its work.
const LEAD: f64 = 0.02;

/// Holds up the side that is ahead.
struct Lockstep {
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
    fn new(puts: u64, gets: u64, stop: StopFlag) -> Self {
        let sides = [puts, gets].map(|total| SideProgress { done: 0, total });
        Lockstep { sides: Mutex::new(sides), changed: Condvar::new(), stop }
    }

    /// Waits until a side may do more, and notes that it does.
    fn take(&self, side: PaceSide, count: u64) {
        let mut sides = self.sides.lock();
        while sides[side as usize].share() > sides[1 - side as usize].share() + LEAD
            && !self.stop.is_cancelled()
        {
            self.changed.wait_for(&mut sides, Duration::from_millis(50));
        }
        sides[side as usize].done += count;
        self.changed.notify_all();
    }

    /// A side has ended, well or not: no thread waits for it any more.
    fn leave(&self, side: PaceSide) {
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
