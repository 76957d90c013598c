//! `min` and `max` of intervals: the shortest and the longest.

use std::collections::VecDeque;

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;

use crate::interval::lengths;

/// The first of the longest intervals, or of the shortest.
///
/// Where rows leave it again, as in the frames of a window, it keeps all that may become the
/// answer: each is longer than those after it.
#[derive(Debug)]
pub(super) struct ExtremeInterval {
    is_max: bool,
    data_type: DataType,
    is_sliding: bool,
    kept: VecDeque<IntervalCandidate>,
    /// How many rows came, and how many of them have left.
    came: usize,
    left: usize,
}

#[derive(Debug)]
struct IntervalCandidate {
    place: usize,
    length: i128,
    interval: ScalarValue,
}

impl ExtremeInterval {
    pub(super) fn new(is_max: bool, data_type: DataType, is_sliding: bool) -> Self {
        Self { is_max, data_type, is_sliding, kept: VecDeque::new(), came: 0, left: 0 }
    }

    fn is_beyond(&self, length: i128, other: i128) -> bool {
        if self.is_max { length > other } else { length < other }
    }
}

impl Accumulator for ExtremeInterval {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let intervals = &values[0];
        let lengths = lengths(intervals)?;
        for row in 0..intervals.len() {
            let place = self.came;
            self.came += 1;
            if lengths.is_null(row) {
                continue;
            }
            let length = lengths.value(row);
            while self.kept.back().is_some_and(|last| self.is_beyond(length, last.length)) {
                self.kept.pop_back();
            }
            if self.is_sliding || self.kept.is_empty() {
                let interval = ScalarValue::try_from_array(intervals, row)?;
                self.kept.push_back(IntervalCandidate { place, length, interval });
            }
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.left += values[0].len();
        while self.kept.front().is_some_and(|first| first.place < self.left) {
            self.kept.pop_front();
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        self.is_sliding
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        match self.kept.front() {
            Some(first) => Ok(first.interval.clone()),
            None => ScalarValue::try_from(&self.data_type),
        }
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.kept.capacity() * size_of::<IntervalCandidate>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }
}
