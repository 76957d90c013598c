//! The naive loop: one call after another.

use std::thread;
use std::time::Instant;

use tonnage::{Error, Result};

use crate::measure::Meter;
use crate::system::{Client, System};

/// Does the operations numbered from 0 to `count` from some threads in turn, each recorded as
/// operation 0 of the plan. Ends early when the meter says so.
pub(super) fn one_by_one(
    meter: &Meter<'_>,
    system: &dyn System,
    threads: usize,
    count: u64,
    operation: impl Fn(&mut dyn Client, u64) -> Result<()> + Sync,
) -> Result<()> {
    let work = &|thread: usize| -> Result<()> {
        let (mut client, mut recorder) = (system.client()?, meter.recorder());
        for number in (thread as u64..count).step_by(threads) {
            if meter.is_over() {
                break;
            }
            let started = Instant::now();
            let outcome = operation(&mut *client, number);
            recorder.record(0, started, None, outcome);
        }
        Ok(())
    };
    if threads == 1 {
        return work(0);
    }
    thread::scope(|scope| {
        let workers: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|_| Err(Error::internal("a thread of the loop panicked")))
        })
    })
}
