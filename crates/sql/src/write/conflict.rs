//! `INSERT ... ON CONFLICT [(key)] DO UPDATE SET column = expression, ... [WHERE condition]`
//!
//! The rows that met others are the table `excluded` of an UPDATE. Its columns have names of their
//! own there, so that a bare name is a column of the row that exists, as in PostgreSQL.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema};
use datafusion::datasource::MemTable;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use tonnage::{Error, Result, TableSchema};

use super::assignments::{assignments, set_items};
use super::change::condition;
use super::given::refuse_rounded;
use super::row_change::{Assignment, RowChange};
use super::tokens::{made, quoted, word};
use crate::errors::{from_datafusion, invalid_at};
use crate::text::{Cursor, Piece};

/// What SQL calls the rows that were not inserted.
const EXCLUDED: &str = "excluded";
/// The name under which they are looked up. No table can have it.
const ROWS: &str = "rows excluded";

/// What is to become of rows that exist.
pub(super) struct ConflictClause {
    items: Vec<Assignment>,
    condition: Vec<TokenWithSpan>,
}

impl ConflictClause {
    /// The clause of an INSERT that the parser has understood; nothing if it has none that updates.
    pub(super) fn read(piece: &Piece, schema: &TableSchema) -> Result<Option<Self>> {
        let is = |at: usize, name: &str| {
            matches!(piece.tokens.get(at).map(|token| &token.token),
                Some(Token::Word(word)) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(name))
        };
        let begins = |at: &usize| is(*at, "ON") && is(*at + 1, "CONFLICT");
        let Some(at) = (0..piece.tokens.len()).rev().find(begins) else { return Ok(None) };
        let tokens = replace_excluded(&piece.tokens[at + 2..]);
        let clause = Piece { tokens: Arc::new(tokens), kind: piece.kind, end: piece.end };
        let mut cursor = Cursor::new(&clause);
        target(&mut cursor, schema)?;
        if !(cursor.word("DO") && cursor.word("UPDATE")) {
            return Ok(None);
        }
        if !cursor.word("SET") {
            return Err(cursor.expected("SET"));
        }
        let items = assignments(&set_items(&mut cursor)?, schema)?;
        let condition = condition(&mut cursor)?;
        Ok(Some(Self { items, condition }))
    }

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

/// `(a, b)`: the primary key, in any order. Nothing else is unique.
fn target(cursor: &mut Cursor, schema: &TableSchema) -> Result<()> {
    let place = cursor.location();
    if cursor.is_word("ON") {
        return Err(cursor.expected("the columns of the primary key, or DO"));
    }
    // Columns may be left out: a row can meet another by its key alone.
    if !cursor.token(&Token::LParen) {
        return Ok(());
    }
    let mut columns = Vec::new();
    while let Some(name) = cursor.name() {
        columns.push(name.to_ascii_lowercase());
        cursor.token(&Token::Comma);
    }
    if !cursor.token(&Token::RParen) {
        return Err(cursor.expected("')'"));
    }
    let mut key: Vec<String> =
        schema.key_columns().map(|column| column.name.to_ascii_lowercase()).collect();
    let told = key.join(", ");
    // Columns may come in any order. The message keeps the order of the key.
    key.sort();
    columns.sort();
    if key == columns {
        return Ok(());
    }
    Err(invalid_at(
        place,
        format!(
            "ON CONFLICT names other columns than the primary key, ({told}): nothing else is unique"
        ),
    ))
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
