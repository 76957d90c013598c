//! `INSERT ... ON CONFLICT [(key)] DO UPDATE SET column = expression, ... [WHERE condition]`
//!
//! The rows that met others are the table `excluded` of an UPDATE. Its columns have names of their
//! own there, so that a bare name is a column of the row that exists, as in PostgreSQL.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema};
use datafusion::datasource::MemTable;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use tonnage::{Error, Result, TableSchema};

use super::assignments::{SetItem, assignments, set_items};
use super::change::condition;
use super::given::refuse_rounded;
use super::row_change::{Assignment, RowChange};
use super::tokens::{made, quoted, word};
use crate::errors::{from_datafusion, invalid_at};
use crate::text::{Cursor, IsWord, Piece};

/// What SQL calls the rows that were not inserted.
const EXCLUDED: &str = "excluded";
/// The name under which they are looked up. No table can have it.
const ROWS: &str = "rows excluded";

/// The clause, parsed.
pub(super) struct ConflictClause {
    /// The columns in parentheses, sorted, with their position.
    target: Option<(Vec<String>, Location)>,
    /// What DO UPDATE sets, and on what condition; none for DO NOTHING.
    update: Option<(Vec<SetItem>, Vec<TokenWithSpan>)>,
}

/// DO UPDATE over the columns of a table.
pub(super) struct ConflictUpdate {
    items: Vec<Assignment>,
    condition: Vec<TokenWithSpan>,
}

impl ConflictClause {
    /// Reads the clause of an INSERT that the parser has understood, and that has one.
    ///
    /// # Errors
    /// `Invalid` for what the parser takes and UPDATE does not, with its position.
    pub(super) fn read(piece: &Piece) -> Result<Self> {
        let missing = || invalid_at(piece.end, "expected ON CONFLICT");
        let at = position(&piece.tokens).ok_or_else(missing)?;
        let tokens = replace_excluded(&piece.tokens[at + 2..]);
        let clause = Piece { tokens: Arc::new(tokens), kind: piece.kind, end: piece.end };
        let mut cursor = Cursor::new(&clause);
        let target = target(&mut cursor)?;
        cursor.expect_word("DO")?;
        let update = match cursor.word("NOTHING") {
            true => None,
            false => {
                ["UPDATE", "SET"].iter().try_for_each(|word| cursor.expect_word(word))?;
                Some((set_items(&mut cursor)?, condition(&mut cursor)?))
            }
        };
        Ok(Self { target, update })
    }

    /// Whether rows that exist are changed.
    pub(super) fn updates(&self) -> bool {
        self.update.is_some()
    }

    /// The clause over a table; nothing for DO NOTHING.
    ///
    /// # Errors
    /// `Invalid` with the position: for other columns in parentheses than the primary key, since
    /// nothing else is unique, and for columns that cannot be set.
    pub(super) fn bind(&self, schema: &TableSchema) -> Result<Option<ConflictUpdate>> {
        let mut key: Vec<String> =
            schema.key_columns().map(|column| column.name.to_ascii_lowercase()).collect();
        let in_order = key.join(", ");
        key.sort();
        if let Some((columns, place)) = &self.target
            && *columns != key
        {
            return Err(invalid_at(
                *place,
                format!(
                    "ON CONFLICT names other columns than the primary key, ({in_order}): nothing else is unique"
                ),
            ));
        }
        let Some((items, condition)) = &self.update else { return Ok(None) };
        let items = assignments(items, schema)?;
        Ok(Some(ConflictUpdate { items, condition: condition.clone() }))
    }
}

/// Where ON CONFLICT is. In parentheses, a join may be ON a column of this name.
fn position(tokens: &[TokenWithSpan]) -> Option<usize> {
    let mut depth = 0_i32;
    (0..tokens.len()).rev().find(|at| {
        match tokens[*at].token {
            Token::RParen => depth += 1,
            Token::LParen => depth -= 1,
            _ => {}
        }
        depth == 0 && tokens[*at].is_word("ON") && tokens.get(at + 1).is_word("CONFLICT")
    })
}

impl ConflictUpdate {
    /// A change as the UPDATE for rows that met others.
    pub(super) fn of_rows<'a>(
        &self,
        mut change: RowChange<'a>,
        rows: &RecordBatch,
    ) -> Result<RowChange<'a>> {
        refuse_rounded(&self.items, change.table.schema(), change.parameters)?;
        change.items = self.items.clone();
        change.others = vec![quoted(ROWS), word("AS"), quoted(EXCLUDED)];
        change.given = Some((ROWS.to_owned(), Arc::new(rename_excluded(rows)?)));
        let mut tokens = Vec::new();
        for column in change.table.schema().key_columns() {
            tokens.extend(change.column(&column.name));
            tokens.extend([made(Token::Eq), quoted(EXCLUDED), made(Token::Period)]);
            tokens.extend([quoted(&own_name(&column.name)), word("AND")]);
        }
        tokens.push(made(Token::LParen));
        match self.condition.is_empty() {
            true => tokens.push(word("TRUE")),
            false => tokens.extend(self.condition.iter().cloned()),
        }
        tokens.push(made(Token::RParen));
        change.condition = tokens;
        Ok(change)
    }
}

/// `(a, b)`, in any order. It may be left out: a row can meet another by its key alone.
fn target(cursor: &mut Cursor) -> Result<Option<(Vec<String>, Location)>> {
    let place = cursor.location();
    if cursor.is_word("ON") {
        return Err(cursor.expected("the columns of the primary key, or DO"));
    }
    let mut columns = cursor.column_names()?;
    columns.iter_mut().for_each(|column| column.make_ascii_lowercase());
    columns.sort();
    Ok((!columns.is_empty()).then_some((columns, place)))
}

/// The name of a column among the rows excluded.
fn own_name(column: &str) -> String {
    format!("{EXCLUDED} {}", column.to_ascii_lowercase())
}

/// `EXCLUDED.column` under the names that these columns have.
fn replace_excluded(tokens: &[TokenWithSpan]) -> Vec<TokenWithSpan> {
    let mut out = Vec::with_capacity(tokens.len());
    let mut rest = tokens;
    while let Some((token, behind)) = rest.split_first() {
        rest = behind;
        out.push(token.clone());
        let is_excluded =
            matches!(&token.token, Token::Word(word) if word.value.eq_ignore_ascii_case(EXCLUDED));
        if is_excluded
            && let [period, column, ..] = behind
            && period.token == Token::Period
            && let Token::Word(name) = &column.token
        {
            out.pop();
            out.extend([quoted(EXCLUDED), period.clone()]);
            out.push(TokenWithSpan { span: column.span, ..quoted(&own_name(&name.value)) });
            rest = &behind[2..];
        }
    }
    out
}

fn rename_excluded(rows: &RecordBatch) -> Result<MemTable> {
    let fields = rows
        .schema()
        .fields()
        .iter()
        .map(|field| Field::clone(field).with_name(own_name(field.name())))
        .collect::<Vec<_>>();
    let schema = Arc::new(Schema::new(fields));
    let rows = RecordBatch::try_new(schema.clone(), rows.columns().to_vec())
        .map_err(|error| Error::internal(error.to_string()))?;
    MemTable::try_new(schema, vec![vec![rows]]).map_err(from_datafusion)
}
