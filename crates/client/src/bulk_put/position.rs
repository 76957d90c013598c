//! Positions of rows: maps the server's count of rows sent to positions in the caller's source.

use std::collections::VecDeque;

/// Runs that are kept. Of older rows the place in the source is then not known.
const RUNS_MAX: usize = 1 << 20;

/// Which place of the source each row that was sent came from.
#[derive(Debug, Default)]
pub(super) struct SourcePositions {
    /// First row sent, and its place in the source: places follow each other until the next run.
    runs: VecDeque<(u64, u64)>,
    sent: u64,
    next: u64,
}

impl SourcePositions {
    /// The place after the last that is known.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Rows sent so far.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// A row at this place was sent.
    pub(super) fn send(&mut self, place: u64) {
        if self.runs.is_empty() || place != self.next {
            if self.runs.len() == RUNS_MAX {
                self.runs.pop_front();
            }
            self.runs.push_back((self.sent, place));
        }
        self.sent += 1;
        self.next = place + 1;
    }

    /// A place from which nothing was sent.
    pub(super) fn skip_to(&mut self, place: u64) {
        if place > self.next {
            self.next = place;
            self.runs.push_back((self.sent, place));
        }
    }

    /// The place in the source of a row that was sent.
    pub(super) fn of(&self, row: u64) -> Option<u64> {
        let run = self.runs.partition_point(|(first, _)| *first <= row).checked_sub(1)?;
        let (first, place) = self.runs[run];
        Some(place + (row - first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_were_left_out_are_counted_in_the_source() {
        let mut positions = SourcePositions::default();
        [0, 1, 2, 5, 6, 9].into_iter().for_each(|place| positions.send(place));
        let places: Vec<_> = (0..6).map(|row| positions.of(row).unwrap()).collect();
        assert_eq!(places, [0, 1, 2, 5, 6, 9]);
        assert_eq!((positions.sent(), positions.next()), (6, 10));
    }

    #[test]
    fn places_behind_those_left_out_at_the_end_of_a_batch_go_on_after_them() {
        let mut positions = SourcePositions::default();
        positions.send(0);
        positions.skip_to(3);
        positions.send(3);
        assert_eq!((positions.of(0), positions.of(1)), (Some(0), Some(3)));
    }
}
