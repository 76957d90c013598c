//! Holds a run to a rate.

use std::time::{Duration, Instant};

/// When which operation is due, at so many per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct RatePace {
    started: Instant,
    rate: Option<f64>,
}

impl RatePace {
    /// How often a waiting thread looks whether the run is over.
    const LOOK: Duration = Duration::from_millis(50);
    /// A sleep ends late by less than this; the rest of the time is waited awake, so that lateness
    /// is the system's alone.
    const SLEEP_LATE: Duration = Duration::from_micros(200);

    /// From now on `rate` operations are due in each second; without a rate none ever is.
    pub(super) fn new(started: Instant, rate: Option<f64>) -> Self {
        RatePace { started, rate }
    }

    /// When the operation of a number, counted from 0, is due. Times too far away to be represented
    /// are about never.
    pub(super) fn due(&self, number: u64) -> Option<Instant> {
        const NEVER: Duration = Duration::from_secs(u32::MAX as u64);
        self.rate.map(|rate| {
            let after = Duration::try_from_secs_f64(number as f64 / rate).unwrap_or(NEVER);
            self.started + after.min(NEVER)
        })
    }

    /// Waits until an operation is due. False when the run was over before.
    pub(super) fn wait(due: Option<Instant>, is_over: impl Fn() -> bool) -> bool {
        let Some(due) = due else { return true };
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            } else if is_over() {
                return false;
            } else if left > Self::SLEEP_LATE {
                std::thread::sleep((left - Self::SLEEP_LATE).min(Self::LOOK));
            } else {
                std::thread::yield_now();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_due_evenly() {
        let started = Instant::now();
        let pace = RatePace::new(started, Some(200.0));
        assert_eq!(pace.due(0), Some(started));
        assert_eq!(pace.due(100), Some(started + Duration::from_millis(500)));
    }

    #[test]
    fn without_a_rate_nothing_is_waited_for() {
        let pace = RatePace::new(Instant::now(), None);
        assert_eq!(pace.due(1_000_000), None);
        assert!(RatePace::wait(None, || true));
    }

    #[test]
    fn nothing_starts_before_it_is_due() {
        let due = Instant::now() + Duration::from_millis(5);
        assert!(RatePace::wait(Some(due), || false));
        assert!(Instant::now() >= due);
    }

    #[test]
    fn who_waits_leaves_when_the_run_is_over() {
        let due = RatePace::new(Instant::now(), Some(f64::MIN_POSITIVE)).due(1);
        assert!(!RatePace::wait(due, || true));
    }
}
