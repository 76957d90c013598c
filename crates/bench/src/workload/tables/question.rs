//! Statements with what their answers must be, and what answers add up to.

use tonnage::arrow::array::{Array, Float64Array, Int64Array, RecordBatch, UInt64Array};
use tonnage::arrow::compute::sum;
use tonnage::{Error, Result};

use crate::system::System;

/// A statement with what its answer must be.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) statement: String,
    pub(super) expected: Sums,
}

pub(super) fn ask_one_by_one(system: &dyn System, questions: &[Question]) -> Result<()> {
    for question in questions {
        let mut sums = Sums::default();
        system.query(&question.statement, &mut |batch| {
            sums.add(batch);
            Ok(())
        })?;
        sums.check(&question.expected, &question.statement)?;
    }
    Ok(())
}

pub(super) fn ask_at_once(system: &dyn System, questions: &[Question]) -> Result<()> {
    let statements: Vec<&str> =
        questions.iter().map(|question| question.statement.as_str()).collect();
    let mut sums = vec![Sums::default(); questions.len()];
    system.multi_query(&statements, &mut |number, batch| {
        let sums: &mut Sums =
            sums.get_mut(number).ok_or_else(|| Error::internal("an answer to no question"))?;
        sums.add(batch);
        Ok(())
    })?;
    questions
        .iter()
        .zip(&sums)
        .try_for_each(|(question, sums)| sums.check(&question.expected, &question.statement))
}

/// The rows of an answer and the sum of all numbers in them: cheap beside any query, and wrong when
/// a row is missing, comes twice, or is another one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sums {
    pub(super) rows: u64,
    pub(super) numbers: f64,
}

impl Sums {
    /// Those of some rows whose numbers are known.
    pub(super) fn of(numbers: impl Iterator<Item = f64>) -> Self {
        numbers.fold(Sums::default(), |sums, numbers| Sums {
            rows: sums.rows + 1,
            numbers: sums.numbers + numbers,
        })
    }

    pub(super) fn add(&mut self, batch: &RecordBatch) {
        self.rows += batch.num_rows() as u64;
        self.numbers +=
            batch.columns().iter().map(|column| numbers_in(column.as_ref())).sum::<f64>();
    }

    pub(super) fn check(&self, expected: &Sums, question: &str) -> Result<()> {
        // An average is a fraction, and sums of fractions depend on their order in the last digits.
        let is_near =
            (self.numbers - expected.numbers).abs() <= 1e-9 * expected.numbers.abs().max(1.0);
        if self.rows == expected.rows && is_near {
            return Ok(());
        }
        let question: String = question.chars().take(200).collect();
        Err(Error::internal(format!(
            "a wrong answer: {self:?} instead of {expected:?} to {question}"
        )))
    }
}

fn numbers_in(column: &dyn Array) -> f64 {
    let column = column.as_any();
    if let Some(numbers) = column.downcast_ref::<Int64Array>() {
        return sum(numbers).unwrap_or(0) as f64;
    }
    if let Some(numbers) = column.downcast_ref::<UInt64Array>() {
        return sum(numbers).unwrap_or(0) as f64;
    }
    column.downcast_ref::<Float64Array>().and_then(sum).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn batch(numbers: Vec<i64>) -> RecordBatch {
        RecordBatch::try_from_iter([("n", Arc::new(Int64Array::from(numbers)) as _)]).unwrap()
    }

    #[test]
    fn an_answer_is_told_from_one_with_other_rows() {
        let expected = Sums::of([1.0, 2.0, 3.0].into_iter());
        for (rows, is_right) in [
            (vec![3, 1, 2], true),
            (vec![1, 2], false),
            (vec![1, 2, 4], false),
            (vec![1, 5], false),
        ] {
            let mut sums = Sums::default();
            rows.into_iter().for_each(|row| sums.add(&batch(vec![row])));
            assert_eq!(sums.check(&expected, "SELECT n").is_ok(), is_right);
        }
    }
}
