//! What drives a system: the naive loop, and parts of ranges.

use std::ops::Range;
use std::time::Instant;

use tonnage::Result;

use crate::measure::Meter;
use crate::system::{Client, System};
use crate::threads::each;

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
    .map(drop)
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
    use super::*;

    #[test]
    fn the_parts_of_a_range_lie_end_to_end() {
        assert_eq!(split(10..20, 3).collect::<Vec<_>>(), [10..13, 13..16, 16..20]);
        assert_eq!(split(0..1, 2).collect::<Vec<_>>(), [0..0, 0..1]);
    }
}
