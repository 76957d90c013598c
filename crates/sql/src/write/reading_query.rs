//! The query that reads what a statement needs which changes rows.
//!
//! Rights to read are asked for this query. So it has all parts that `RowChange` selects by, each
//! in parentheses of its own, as they are there.

use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use tonnage::Result;

use super::assignments::SetItem;
use super::target::ChangeTarget;
use super::tokens::{in_parentheses, made, word};
use crate::text::parse;

/// Words that would continue the query after its tables. None is among them.
pub(super) const FOLLOWING: [&str; 10] = [
    "WHERE",
    "GROUP",
    "HAVING",
    "WINDOW",
    "QUALIFY",
    "UNION",
    "INTERSECT",
    "EXCEPT",
    "ORDER",
    "LIMIT",
];

/// `WITH ... SELECT NULL, (value), ... FROM target, others WHERE TRUE AND (condition) ...`
pub(super) struct ReadingQuery {
    values: Vec<TokenWithSpan>,
    from: Vec<TokenWithSpan>,
    conditions: Vec<TokenWithSpan>,
}

impl ReadingQuery {
    /// A query of the table that is changed, after the tokens of WITH.
    pub(super) fn new(with: &[TokenWithSpan], target: &ChangeTarget) -> Self {
        let values = with.iter().cloned().chain([word("SELECT"), word("NULL")]).collect();
        let from = std::iter::once(word("FROM")).chain(target.tokens()).collect();
        Self { values, from, conditions: vec![word("WHERE"), word("TRUE")] }
    }

    /// Adds the value of a column that is set; the word DEFAULT reads nothing.
    pub(super) fn set_item(&mut self, item: &SetItem) {
        if !item.is_default() {
            self.value(&item.value);
        }
    }

    pub(super) fn value(&mut self, value: &[TokenWithSpan]) {
        self.values.push(made(Token::Comma));
        self.values.extend(in_parentheses(value));
    }

    /// Adds other tables; none without tokens.
    pub(super) fn others(&mut self, others: &[TokenWithSpan]) {
        if !others.is_empty() {
            self.from.push(made(Token::Comma));
            self.from.extend_from_slice(others);
        }
    }

    /// Adds a condition; none without tokens.
    pub(super) fn condition(&mut self, condition: &[TokenWithSpan]) {
        if !condition.is_empty() {
            self.conditions.push(word("AND"));
            self.conditions.extend(in_parentheses(condition));
        }
    }

    /// The query, parsed.
    ///
    /// # Errors
    /// `Invalid` for a part that is none, with the position.
    pub(super) fn parse(self, end: Location) -> Result<ast::Statement> {
        parse([self.values, self.from, self.conditions].concat(), end)
    }
}
