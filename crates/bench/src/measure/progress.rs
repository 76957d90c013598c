//! Rate against share of the work.

use std::time::Instant;

use crate::report::ProgressPoint;

/// Points of a whole run.
const POINTS: u64 = 50;

/// Rate against share of the work, noted as it goes on. Nothing is noted where the whole is not
/// known.
pub(super) struct ProgressCurve {
    total: Option<u64>,
    /// Where the point before was.
    done: u64,
    at: Instant,
    pub(super) points: Vec<ProgressPoint>,
}

impl ProgressCurve {
    pub(super) fn new(total: Option<u64>, started: Instant) -> Self {
        ProgressCurve {
            total: total.filter(|&total| total > 0),
            done: 0,
            at: started,
            points: Vec::new(),
        }
    }

    /// Notes a point if the next share of the work is done.
    pub(super) fn at(&mut self, done: u64, now: Instant) {
        if self.total.is_some_and(|total| (done - self.done) as f64 >= total as f64 / POINTS as f64)
        {
            self.note(done, now);
        }
    }

    /// Notes the last point.
    pub(super) fn finish(&mut self, done: u64, now: Instant) {
        if done > self.done {
            self.note(done, now);
        }
    }

    fn note(&mut self, done: u64, now: Instant) {
        let seconds = now.saturating_duration_since(self.at).as_secs_f64();
        if let Some(total) = self.total
            && seconds > 0.0
        {
            let percent = 100.0 * done as f64 / total as f64;
            self.points
                .push(ProgressPoint { percent, throughput: (done - self.done) as f64 / seconds });
            (self.done, self.at) = (done, now);
        }
    }
}
