//! Positions of rows: maps the server's count of rows sent to positions in the caller's source.

use std::collections::VecDeque;

/// Runs that are kept. Of older rows the position in the source is then not known.
const RUNS_MAX: usize = 1 << 20;

/// Which position of the source each row that was sent came from.
#[derive(Debug, Default)]
pub(super) struct SourcePositions {
    /// First row sent, and its position in the source: they continue together until the next run.
    runs: VecDeque<(u64, u64)>,
    sent: u64,
    next: u64,
}

impl SourcePositions {
    /// The position after the last that is known.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Rows sent so far.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// A row at this position was sent.
    pub(super) fn send(&mut self, position: u64) {
        if self.runs.is_empty() || position != self.next {
            self.begin_run(position);
        }
        self.sent += 1;
        self.next = position + 1;
    }

    /// A position from which nothing was sent.
    pub(super) fn skip_to(&mut self, position: u64) {
        if position > self.next {
            self.next = position;
            self.begin_run(position);
        }
    }

    fn begin_run(&mut self, position: u64) {
        match self.runs.back_mut() {
            // Nothing was sent since that run began.
            Some((first, known)) if *first == self.sent => *known = position,
            _ => {
                if self.runs.len() == RUNS_MAX {
                    self.runs.pop_front();
                }
                self.runs.push_back((self.sent, position));
            }
        }
    }

    /// The position in the source of a row that was sent.
    pub(super) fn of(&self, row: u64) -> Option<u64> {
        let run = self.runs.partition_point(|(first, _)| *first <= row).checked_sub(1)?;
        let (first, position) = self.runs[run];
        Some(position + (row - first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_were_left_out_are_counted_in_the_source() {
        let mut positions = SourcePositions::default();
        [0, 1, 2, 5, 6, 9].into_iter().for_each(|position| positions.send(position));
        let found: Vec<_> = (0..6).map(|row| positions.of(row).unwrap()).collect();
        assert_eq!(found, [0, 1, 2, 5, 6, 9]);
        assert_eq!((positions.sent(), positions.next()), (6, 10));
    }

    #[test]
    fn positions_behind_those_left_out_at_the_end_of_a_batch_go_on_after_them() {
        let mut positions = SourcePositions::default();
        positions.send(0);
        positions.skip_to(3);
        positions.send(3);
        assert_eq!((positions.of(0), positions.of(1)), (Some(0), Some(3)));
    }

    /// The story of a bug: a source whose rows were all refused took memory for each batch.
    #[test]
    fn batches_of_which_nothing_is_sent_take_no_memory() {
        let mut positions = SourcePositions::default();
        (1..100).for_each(|batch| positions.skip_to(batch * 1_000));
        positions.send(99_000);
        assert_eq!((positions.runs.len(), positions.of(0)), (1, Some(99_000)));
    }
}
