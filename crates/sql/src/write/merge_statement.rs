//! A MERGE as it is written.

use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use tonnage::Result;

use super::assignments::{SetItem, expression, set_items};
use super::reading_query::{FOLLOWING, ReadingQuery};
use super::target::ChangeTarget;
use super::tokens::{in_parentheses, separated};
use crate::errors::invalid_at;
use crate::session::Access;
use crate::text::{Cursor, IsWord, Piece};

type Tokens = Vec<TokenWithSpan>;

/// `[WITH ...] MERGE INTO table [[AS] alias] USING source ON condition WHEN ...`, parsed.
pub(super) struct MergeStatement {
    pub(super) target: ChangeTarget,
    pub(super) with: Tokens,
    pub(super) source: Tokens,
    pub(super) on: Tokens,
    pub(super) matched: Vec<WhenClause<MatchedAction<SetItem>>>,
    pub(super) unmatched: Vec<WhenClause<UnmatchedAction>>,
    pub(super) end: Location,
}

/// What becomes of rows, with the condition that follows AND.
pub(super) struct WhenClause<T> {
    pub(super) condition: Tokens,
    pub(super) action: T,
}

/// What becomes of rows that match; `T` is a column that is set.
pub(super) enum MatchedAction<T> {
    Update(Vec<T>),
    Delete,
    Nothing,
}

/// What becomes of rows of the source that match none.
pub(super) enum UnmatchedAction {
    /// Columns in parentheses, nothing for all; and a value for each.
    Insert {
        columns: Tokens,
        values: Vec<Tokens>,
    },
    Nothing,
}

impl MergeStatement {
    /// Reads a statement.
    ///
    /// # Errors
    /// `Invalid` for something else, with the position.
    pub(super) fn read(piece: &Piece) -> Result<Self> {
        let (with, statement) = piece.without_with();
        let mut cursor = Cursor::new(&statement);
        if !(cursor.word("MERGE") && cursor.word("INTO")) {
            return Err(cursor.expected("MERGE INTO"));
        }
        let target = ChangeTarget::with_alias(&mut cursor, "USING")?;
        cursor.expect_word("USING")?;
        // An ON in parentheses does not end the source: there, joins belong to a query.
        let ends = ["ON"].into_iter().chain(FOLLOWING).collect::<Vec<_>>();
        let source = tokens_until(&mut cursor, &ends, "a table, or a query in parentheses")?;
        cursor.expect_word("ON")?;
        let on = tokens_until(&mut cursor, &["WHEN"], "a condition")?;
        let (matched, unmatched, end) = (Vec::new(), Vec::new(), piece.end);
        let mut merge = Self { target, with, source, on, matched, unmatched, end };
        while !cursor.is_at_end() {
            merge.clause(&mut cursor)?;
        }
        match merge.matched.is_empty() && merge.unmatched.is_empty() {
            true => Err(cursor.expected("WHEN MATCHED or WHEN NOT MATCHED")),
            false => Ok(merge),
        }
    }

    /// `WHEN MATCHED | NOT MATCHED [BY TARGET] [AND condition] THEN action`
    fn clause(&mut self, cursor: &mut Cursor) -> Result<()> {
        cursor.expect_word("WHEN")?;
        let is_matched = !cursor.word("NOT");
        cursor.expect_word("MATCHED")?;
        // NOT MATCHED BY TARGET, as SQL Server has it, is plain NOT MATCHED. What matches has both
        // sides, so MATCHED takes no BY: it might be meant for rows that another clause is about.
        if !is_matched && cursor.word("BY") && !cursor.word("TARGET") {
            return Err(invalid_at(
                cursor.location(),
                "NOT MATCHED BY SOURCE: write DELETE or UPDATE with WHERE NOT EXISTS (SELECT ...)",
            ));
        }
        let condition = match cursor.word("AND") {
            true => tokens_until(cursor, &["THEN"], "a condition")?,
            false => Vec::new(),
        };
        cursor.expect_word("THEN")?;
        let is_nothing = cursor.word("DO");
        if is_nothing {
            cursor.expect_word("NOTHING")?;
        }
        // In the order written: a row belongs to the first clause whose condition holds.
        if is_matched {
            let action = if is_nothing { MatchedAction::Nothing } else { change(cursor)? };
            self.matched.push(WhenClause { condition, action });
        } else {
            let action = if is_nothing { UnmatchedAction::Nothing } else { insert(cursor)? };
            self.unmatched.push(WhenClause { condition, action });
        }
        Ok(())
    }

    /// What may be done to the table, whatever clauses there are.
    pub(super) fn accesses(&self) -> &'static [Access] {
        &[Access::Read, Access::Insert, Access::Update, Access::Delete]
    }

    /// The columns that are set, of all clauses.
    pub(super) fn set_items(&self) -> Vec<&SetItem> {
        let updated = self.matched.iter().filter_map(|clause| match &clause.action {
            MatchedAction::Update(items) => Some(items),
            MatchedAction::Delete | MatchedAction::Nothing => None,
        });
        updated.flatten().collect()
    }

    /// What is read to carry it out, as a query.
    pub(super) fn reading(&self) -> Result<ast::Statement> {
        let mut reading = ReadingQuery::new(&self.with, &self.target);
        reading.others(&self.source);
        reading.condition(&self.on);
        self.matched.iter().for_each(|clause| reading.condition(&clause.condition));
        self.set_items().into_iter().for_each(|item| reading.set_item(item));
        for WhenClause { condition, action } in &self.unmatched {
            reading.condition(condition);
            match action {
                UnmatchedAction::Insert { values, .. } => {
                    values.iter().for_each(|value| reading.value(value));
                }
                UnmatchedAction::Nothing => {}
            }
        }
        reading.parse(self.end)
    }
}

/// `UPDATE SET ...` or `DELETE`
fn change(cursor: &mut Cursor) -> Result<MatchedAction<SetItem>> {
    if cursor.word("DELETE") {
        return Ok(MatchedAction::Delete);
    }
    if !(cursor.word("UPDATE") && cursor.word("SET")) {
        return Err(cursor.expected("UPDATE SET, DELETE or DO NOTHING"));
    }
    set_items(cursor).map(MatchedAction::Update)
}

/// `INSERT [(columns)] VALUES (values)`; a column whose value is DEFAULT is left out.
fn insert(cursor: &mut Cursor) -> Result<UnmatchedAction> {
    if !cursor.word("INSERT") {
        return Err(cursor.expected("INSERT or DO NOTHING"));
    }
    let columns = match cursor.peek() {
        Some(Token::LParen) => Some(list(cursor)?),
        _ => None,
    };
    cursor.expect_word("VALUES")?;
    let place = cursor.location();
    let mut values = list(cursor)?;
    // Without names the values fill all columns in order: none can be left out for DEFAULT.
    let Some(mut columns) = columns else {
        return Ok(UnmatchedAction::Insert { columns: Vec::new(), values });
    };
    if columns.len() != values.len() {
        let (columns, values) = (columns.len(), values.len());
        return Err(invalid_at(place, format!("{columns} columns are given {values} values")));
    }
    // DEFAULT is not a value of a SELECT, and a column that is not named gets its default.
    let is_given =
        |value: &Tokens| !matches!(value.as_slice(), [token] if token.is_word("DEFAULT"));
    let mut given = values.iter().map(is_given).collect::<Vec<_>>().into_iter();
    columns.retain(|_| given.next().unwrap_or(true));
    values.retain(is_given);
    let columns = in_parentheses(&comma_separated(columns));
    Ok(UnmatchedAction::Insert { columns, values })
}

/// What is in parentheses, between commas.
fn list(cursor: &mut Cursor) -> Result<Vec<Tokens>> {
    cursor.list(|cursor| match expression(cursor, &[], true) {
        item if item.is_empty() => Err(cursor.expected("a value")),
        item => Ok(item),
    })
}

/// Tokens up to one of these words; at least one.
fn tokens_until(cursor: &mut Cursor, ends: &[&str], what: &str) -> Result<Tokens> {
    let tokens = expression(cursor, ends, false);
    if tokens.is_empty() { Err(cursor.expected(what)) } else { Ok(tokens) }
}

/// Tokens with commas between them.
pub(super) fn comma_separated(items: Vec<Tokens>) -> Tokens {
    let mut tokens = separated(items.into_iter());
    tokens.pop();
    tokens
}
