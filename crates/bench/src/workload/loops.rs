//! What drives a system: threads, the naive loop, and the end of sources.

use std::ops::Range;
use std::time::Instant;

use tonnage::{Error, Result};

use crate::measure::Meter;
use crate::system::{Client, System};

/// Runs `work` on each item in a thread of its own, and waits for all. A single item needs none.
pub(super) fn each<T: Send>(items: Vec<T>, work: impl Fn(T) -> Result<()> + Sync) -> Result<()> {
    if items.len() == 1 {
        return items.into_iter().try_for_each(work);
    }
    std::thread::scope(|scope| {
        let work = &work;
        let spawn = |item| {
            let thread = std::thread::Builder::new().name("bench".to_owned());
            thread.spawn_scoped(scope, move || work(item)).map_err(|error| {
                let message = format!("a thread cannot be started: {error}: ask for fewer threads");
                Error::unavailable(message).with_source(error)
            })
        };
        let threads: Vec<_> = items.into_iter().map(spawn).collect();
        let panicked =
            || Error::internal("a thread of the workload has panicked; its message stands above");
        let ends = threads.into_iter().map(|thread| thread?.join().map_err(|_| panicked())?);
        // All have ended before the first failure is told.
        ends.collect::<Vec<_>>().into_iter().collect()
    })
}

/// Does the operations numbered from 0 to `count` from some threads in turn, each recorded as
/// operation 0 of the plan. Ends early when the meter says so.
pub(super) fn one_by_one(
    meter: &Meter<'_>,
    system: &dyn System,
    threads: usize,
    count: u64,
    operation: impl Fn(&mut dyn Client, u64) -> Result<()> + Sync,
) -> Result<()> {
    each((0..threads as u64).collect(), |thread| {
        let (mut client, mut recorder) = (system.client()?, meter.recorder());
        for number in (thread..count).step_by(threads).take_while(|_| !meter.is_over()) {
            let started = Instant::now();
            let outcome = operation(&mut *client, number);
            recorder.record(0, started, None, outcome.map(|()| 1));
        }
        Ok(())
    })
}

/// Cuts a range into parts that differ by one at most.
pub(super) fn split(range: Range<u64>, parts: usize) -> impl Iterator<Item = Range<u64>> {
    let (start, count, parts) = (range.start, range.end - range.start, parts as u64);
    let cut =
        move |part: u64| start + (u128::from(count) * u128::from(part) / u128::from(parts)) as u64;
    (0..parts).map(move |part| cut(part)..cut(part + 1))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;

    #[test]
    fn every_item_is_worked_on() {
        let sum = AtomicUsize::new(0);
        let add = |item| {
            sum.fetch_add(item, Relaxed);
            Ok(())
        };
        each(vec![1, 2, 3], add).unwrap();
        assert_eq!(sum.load(Relaxed), 6);
    }

    #[test]
    fn a_panic_is_an_error() {
        let check = |item| {
            assert_eq!(item, 1);
            Ok(())
        };
        assert!(each(vec![1, 2], check).is_err());
    }

    #[test]
    fn the_parts_of_a_range_lie_end_to_end() {
        assert_eq!(split(10..20, 3).collect::<Vec<_>>(), [10..13, 13..16, 16..20]);
        assert_eq!(split(0..1, 2).collect::<Vec<_>>(), [0..0, 0..1]);
    }
}
