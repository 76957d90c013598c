//! A refresh of the catalog that concurrent callers share.
//!
//! Many rows may come late at once. One refresh serves all callers that asked before it began. If
//! it fails because the cluster is out of reach, it fails for all that waited for its end, so that
//! they do not try for 30 seconds each.

use std::sync::Mutex;
use std::time::Instant;

use tonnage_engine::sync::lock;
use tonnage_engine::{Error, Result};

#[derive(Default)]
pub(super) struct SharedRefresh {
    last: Mutex<Option<LastRefresh>>,
}

struct LastRefresh {
    begun: Instant,
    ended: Instant,
    outcome: Result<()>,
}

impl SharedRefresh {
    /// Reads, unless another thread began to after this call, or failed after it.
    pub(super) fn run(&self, read: impl FnOnce() -> Result<()>) -> Result<()> {
        let asked = Instant::now();
        let mut last = lock(&self.last);
        match last.as_ref() {
            Some(LastRefresh { begun, outcome: Ok(()), .. }) if *begun >= asked => return Ok(()),
            Some(LastRefresh { ended, outcome: Err(error), .. }) if *ended >= asked => {
                return Err(error.restated());
            }
            _ => {}
        }
        let begun = Instant::now();
        let outcome = read();
        let kept = outcome.as_ref().copied().map_err(Error::restated);
        *last = Some(LastRefresh { begun, ended: Instant::now(), outcome: kept });
        outcome
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    const READERS: usize = 20;

    /// How often is read when 20 threads ask at the same time.
    fn readings(outcome: fn() -> Result<()>) -> usize {
        let (shared, count) = (SharedRefresh::default(), AtomicUsize::new(0));
        let all_here = Barrier::new(READERS);
        std::thread::scope(|scope| {
            for _ in 0..READERS {
                scope.spawn(|| {
                    all_here.wait();
                    let got = shared.run(|| {
                        count.fetch_add(1, Ordering::Relaxed);
                        std::thread::sleep(Duration::from_millis(200));
                        outcome()
                    });
                    assert_eq!(got.is_ok(), outcome().is_ok());
                });
            }
        });
        count.into_inner()
    }

    /// Each row of a load that came late in an outage tried for 30 seconds, one after another.
    #[test]
    fn who_waited_for_a_reading_that_failed_fails_with_it() {
        let read = readings(|| Err(Error::unavailable("no node answers")));
        assert!(read < READERS / 2, "read {read} times for {READERS}");
    }

    #[test]
    fn who_asked_before_a_reading_began_shares_it() {
        let read = readings(|| Ok(()));
        assert!(read < READERS / 2, "read {read} times for {READERS}");
    }

    #[test]
    fn who_asks_later_reads_again() {
        let shared = SharedRefresh::default();
        let count = AtomicUsize::new(0);
        for _ in 0..3 {
            shared
                .run(|| {
                    count.fetch_add(1, Ordering::Relaxed);
                    Ok(())
                })
                .unwrap();
        }
        assert_eq!(count.into_inner(), 3);
    }
}
