//! A rate limit for the threads that read streams.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use tonnage_engine::sync::lock;

/// How long a thread that is over the rate waits at most before it looks around again.
const MAX_WAIT: Duration = Duration::from_millis(100);

/// Gives out units (rows, bytes) at no more than a fixed rate, whatever the number of threads that
/// ask.
///
/// It keeps one instant: when the units given out so far are paid for. A caller moves it ahead by
/// the price of its units, and waits if it is in the future. Idle time is not saved up for more
/// than a tenth of a second.
pub(crate) struct RateLimit {
    seconds_per_unit: f64,
    paid_until: Mutex<Instant>,
}

impl RateLimit {
    pub(crate) fn per_second(units: u64) -> Self {
        Self { seconds_per_unit: 1.0 / units.max(1) as f64, paid_until: Mutex::new(Instant::now()) }
    }

    /// Pays for `units`, then waits until they are due; `give_up` is asked now and then and ends
    /// the wait early.
    pub(crate) fn take(&self, units: u64, give_up: impl Fn() -> bool) {
        let due = {
            let mut paid_until = lock(&self.paid_until);
            let start = (*paid_until).max(Instant::now() - MAX_WAIT);
            *paid_until = start + Duration::from_secs_f64(units as f64 * self.seconds_per_unit);
            *paid_until
        };
        while !give_up() {
            let wait = due.saturating_duration_since(Instant::now());
            if wait.is_zero() {
                break;
            }
            std::thread::sleep(wait.min(MAX_WAIT));
        }
    }
}
