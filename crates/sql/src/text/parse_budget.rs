//! How much a parser may try.
//!
//! sqlparser tries one reading after another. Where each of several openings can be read in two
//! ways, and what is inside them in none, it tries all combinations, of which each opening doubles
//! the number. It cannot be stopped from outside; but it asks its dialect at each step. So the
//! dialect counts, and unwinds the parser when it has asked too often.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use datafusion::sql::sqlparser::ast::Statement;
use datafusion::sql::sqlparser::parser::Parser;
use tonnage::Result;

use crate::errors::{from_parser, invalid_at};

/// What every statement may ask, and what it may ask besides for each of its tokens.
const QUESTIONS: u64 = 200_000;
pub(super) const QUESTIONS_PER_TOKEN: u64 = 500;

/// What is left of the questions of a parser.
#[derive(Debug)]
pub(super) struct ParseBudget {
    left: Cell<u64>,
}

/// What the parser is unwound with.
struct BudgetExceeded;

impl Default for ParseBudget {
    fn default() -> Self {
        Self { left: Cell::new(u64::MAX) }
    }
}

impl ParseBudget {
    pub(super) fn of_tokens(count: usize) -> Self {
        Self { left: Cell::new(QUESTIONS + QUESTIONS_PER_TOKEN * count as u64) }
    }

    #[cfg(test)]
    pub(super) fn left(&self) -> u64 {
        self.left.get()
    }

    /// Counts a question of the parser.
    pub(super) fn count(&self) {
        match self.left.get().checked_sub(1) {
            Some(left) => self.left.set(left),
            // Unlike a panic it calls no hook: nothing is printed.
            None => resume_unwind(Box::new(BudgetExceeded)),
        }
    }
}

/// Reads a statement.
///
/// # Errors
/// `Invalid` for one that is none, or that the parser would try to read for too long.
pub(super) fn statement(parser: &mut Parser) -> Result<Statement> {
    // Only the position of an unwound parser is read.
    match catch_unwind(AssertUnwindSafe(|| parser.parse_statement())) {
        Ok(read) => read.map_err(|error| from_parser(&error)),
        Err(payload) if payload.is::<BudgetExceeded>() => Err(invalid_at(
            parser.peek_token_ref().span.start,
            "this can be read in too many ways: close all parentheses, and nest fewer of them",
        )),
        Err(payload) => resume_unwind(payload),
    }
}
