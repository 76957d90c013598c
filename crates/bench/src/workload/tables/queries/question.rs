//! Statements with what their answers must be.

use tonnage::{Error, Result};

use super::sums::Sums;
use crate::system::{Client, System};

/// A statement with what its answer must be.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) statement: String,
    pub(super) expected: Sums,
}

/// Asks one after another.
pub(super) fn ask_one_by_one(client: &mut dyn Client, questions: &[Question]) -> Result<()> {
    for question in questions {
        let mut sums = Sums::default();
        client.query(&question.statement, &mut |batch| {
            sums.add(batch);
            Ok(())
        })?;
        sums.check(&question.expected, &question.statement)?;
    }
    Ok(())
}

/// Asks all in one call.
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
