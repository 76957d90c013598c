//! UPDATE, DELETE and TRUNCATE.
//!
//! 1. The rows wanted are selected like those of any query, with their versions; for UPDATE with
//!    the new values in the places of the old. A row that is changed keeps the expiry that it has.
//! 2. Each row is written on condition that it still has that version.
//! 3. A row that was written meanwhile is selected again, by its key and the statement's own
//!    condition, until it holds or matches no more.

use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::UInt64Type;
use datafusion::sql::sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Word};
use tonnage::{Durability, Error, Result, Row, Table, TableSchema, WriteOptions, WriteResult};

use crate::access::{EXPIRY, VERSION};
use crate::answer::{Changes, Rows};
use crate::catalog::{Names, Target};
use crate::error::invalid_at;
use crate::guard::Guard;
use crate::planner::Planner;
use crate::request::Parameters;
use crate::text::{Cursor, Piece, parse};

/// How often a row is selected again that others write all the time.
const TRIES_MAX: usize = 100;
/// How many rows are written before it is looked whether the statement must stop.
const ROWS_PER_LOOK: usize = 64;

/// `UPDATE table [[AS] alias] SET column = expression, ... [FROM others] [WHERE condition]`
pub(super) fn update(
    planner: &Planner,
    piece: &Piece,
    parameters: &Parameters,
    guard: &Guard,
) -> Result<Changes> {
    let mut cursor = Cursor::new(piece);
    cursor.word("UPDATE");
    let table = table(planner, &mut cursor)?;
    let alias = alias(&mut cursor, "SET")?;
    if !cursor.word("SET") {
        return Err(cursor.expected("SET"));
    }
    let assignments = assignments(&mut cursor, table.schema())?;
    let others = others(&mut cursor, "FROM");
    let condition = condition(&mut cursor)?;
    let change = RowChange {
        items: assignments,
        planner,
        table: &table,
        alias,
        others,
        condition,
        parameters,
        guard,
        end: piece.end,
    };
    let updated = |updated| Changes { updated, ..Changes::default() };
    change.run(updated, &|batch, row, noted, table, durability| {
        let options = WriteOptions {
            durability,
            expires_at_ms: Some(noted.expires_at_ms),
            ..WriteOptions::default()
        };
        let aligned = table.entry().codec.align(&batch.slice(row, 1))?;
        match aligned.rejected.first() {
            Some(rejected) => {
                Err(Error::invalid(format!("column '{}': {}", rejected.column, rejected.reason)))
            }
            None => {
                table.put_if_version(&Row::from_batch(&aligned.batch, 0)?, noted.version, &options)
            }
        }
    })
}

/// `DELETE FROM table [[AS] alias] [USING others] [WHERE condition]`
pub(super) fn delete(
    planner: &Planner,
    piece: &Piece,
    parameters: &Parameters,
    guard: &Guard,
) -> Result<Changes> {
    let mut cursor = Cursor::new(piece);
    cursor.word("DELETE");
    if !cursor.word("FROM") {
        return Err(cursor.expected("FROM"));
    }
    let table = table(planner, &mut cursor)?;
    let alias = alias(&mut cursor, "USING")?;
    let others = others(&mut cursor, "USING");
    let condition = condition(&mut cursor)?;
    delete_rows(RowChange {
        planner,
        table: &table,
        alias,
        items: Vec::new(),
        others,
        condition,
        parameters,
        guard,
        end: piece.end,
    })
}

/// `TRUNCATE [TABLE] table`
pub(super) fn truncate(
    planner: &Planner,
    piece: &Piece,
    parameters: &Parameters,
    guard: &Guard,
) -> Result<Changes> {
    let mut cursor = Cursor::new(piece);
    cursor.word("TRUNCATE");
    cursor.word("TABLE");
    let table = table(planner, &mut cursor)?;
    cursor.end()?;
    let (items, others, condition) = (Vec::new(), Vec::new(), Vec::new());
    delete_rows(RowChange {
        planner,
        table: &table,
        alias: None,
        items,
        others,
        condition,
        parameters,
        guard,
        end: piece.end,
    })
}

fn delete_rows(change: RowChange<'_>) -> Result<Changes> {
    let deleted = |deleted| Changes { deleted, ..Changes::default() };
    change.run(deleted, &|batch, row, noted, table, durability| {
        let options = WriteOptions { durability, ..WriteOptions::default() };
        table.delete_if_version(&Row::from_batch(batch, row)?, noted.version, &options)
    })
}

fn table(planner: &Planner, cursor: &mut Cursor) -> Result<Table> {
    let place = cursor.location();
    let Some(path) = cursor.path() else { return Err(cursor.expected("the name of a table")) };
    planner
        .context
        .store
        .table(&path)
        .map_err(|error| error.at(format_args!("line {}, column {}", place.line, place.column)))
}

/// Another name for the table, up to a keyword.
fn alias(cursor: &mut Cursor, before: &str) -> Result<Option<String>> {
    let is_said = cursor.word("AS");
    if !is_said && (cursor.is_at_end() || [before, "WHERE"].iter().any(|word| cursor.is_word(word)))
    {
        return Ok(None);
    }
    match cursor.name() {
        Some(name) => Ok(Some(name.to_ascii_lowercase())),
        None => Err(cursor.expected(if is_said { "another name for the table" } else { before })),
    }
}

/// The tokens of other tables whose rows take part, up to WHERE.
fn others(cursor: &mut Cursor, keyword: &str) -> Vec<TokenWithSpan> {
    if cursor.word(keyword) { expression(cursor, &["WHERE"], false) } else { Vec::new() }
}

/// The tokens behind WHERE, which go to the end of the statement.
fn condition(cursor: &mut Cursor) -> Result<Vec<TokenWithSpan>> {
    if cursor.is_at_end() {
        return Ok(Vec::new());
    }
    if !cursor.word("WHERE") {
        return Err(cursor.expected("WHERE or the end of the statement"));
    }
    let condition = cursor.rest();
    if condition.is_empty() { Err(cursor.expected("a condition")) } else { Ok(condition.to_vec()) }
}

/// A column with the tokens of its new value.
type Assignment = (usize, Vec<TokenWithSpan>);

fn assignments(cursor: &mut Cursor, schema: &TableSchema) -> Result<Vec<Assignment>> {
    let mut assignments = Vec::<Assignment>::new();
    loop {
        let place = cursor.location();
        let Some(name) = cursor.name() else { return Err(cursor.expected("the name of a column")) };
        let at = |message: String| invalid_at(place, message);
        let column = schema.require_column(name).map_err(|error| at(error.message().to_owned()))?;
        if schema.is_key(column) {
            return Err(at(format!(
                "column '{name}' is part of the primary key, which never changes: delete the row and insert another"
            )));
        }
        if assignments.iter().any(|(before, _)| *before == column) {
            return Err(at(format!("column '{name}' is set twice")));
        }
        if !cursor.token(&Token::Eq) {
            return Err(cursor.expected("'='"));
        }
        let value = expression(cursor, &["WHERE", "FROM"], true);
        if value.is_empty() {
            return Err(cursor.expected("a value"));
        }
        assignments.push((column, value));
        if !cursor.token(&Token::Comma) {
            return Ok(assignments);
        }
    }
}

/// The tokens up to one of these keywords, or a comma where that ends them, outside parentheses.
fn expression(cursor: &mut Cursor, ends: &[&str], ends_at_comma: bool) -> Vec<TokenWithSpan> {
    let (all, mut depth) = (cursor.rest(), 0_i32);
    // `a IS DISTINCT FROM b` goes on behind FROM.
    let mut is_distinct = false;
    while let Some(token) = cursor.peek() {
        match token {
            Token::LParen | Token::LBracket => depth += 1,
            Token::RParen | Token::RBracket => depth -= 1,
            Token::Comma if depth == 0 && ends_at_comma => break,
            Token::Word(_)
                if depth == 0 && !is_distinct && ends.iter().any(|end| cursor.is_word(end)) =>
            {
                break;
            }
            _ => {}
        }
        is_distinct = cursor.is_word("DISTINCT");
        cursor.next();
    }
    all[..all.len() - cursor.rest().len()].to_vec()
}

fn separated(items: impl Iterator<Item = Vec<TokenWithSpan>>) -> Vec<TokenWithSpan> {
    let mut tokens = Vec::new();
    for item in items {
        tokens.extend(item);
        tokens.push(made(Token::Comma));
    }
    tokens
}

/// A token that stands nowhere in the text.
fn made(token: Token) -> TokenWithSpan {
    TokenWithSpan { token, span: Span::empty() }
}

fn word(keyword: &str) -> TokenWithSpan {
    made(Token::make_keyword(keyword))
}

fn quoted(name: &str) -> TokenWithSpan {
    let token = Token::make_word(name, Some('"'));
    debug_assert!(matches!(&token, Token::Word(Word { quote_style: Some('"'), .. })));
    made(token)
}

type Write = dyn Fn(&RecordBatch, usize, NotedRow, &Table, Durability) -> Result<WriteResult>;

/// What the store notes of a row beside its columns.
#[derive(Clone, Copy)]
struct NotedRow {
    version: u64,
    expires_at_ms: u64,
}

/// Rows to select, and what it takes to select them again.
struct RowChange<'a> {
    planner: &'a Planner,
    table: &'a Table,
    alias: Option<String>,
    /// The columns set.
    items: Vec<Assignment>,
    /// Other tables.
    others: Vec<TokenWithSpan>,
    condition: Vec<TokenWithSpan>,
    parameters: &'a Parameters,
    guard: &'a Guard,
    end: Location,
}

impl RowChange<'_> {
    /// Writes every row that matches; tells how many.
    fn run(&self, told: impl Fn(u64) -> Changes, write: &Write) -> Result<Changes> {
        let mut changed = 0;
        match self.write_all(&mut changed, write) {
            Ok(()) => Ok(told(changed)),
            Err(error) => Err(super::stopped::stopped(error, told(changed))),
        }
    }

    fn write_all(&self, changed: &mut u64, write: &Write) -> Result<()> {
        for batch in self.select(None, self.parameters)? {
            let (batch, noted) = parted(&batch?)?;
            for (row, noted) in noted.into_iter().enumerate() {
                if row % ROWS_PER_LOOK == 0 {
                    self.guard.check()?;
                }
                let written = write(&batch, row, noted, self.table, self.durability())?;
                *changed += match written {
                    WriteResult::Stored { .. } => 1,
                    WriteResult::ConditionFailed { .. } => self.again(&batch, row, write)?,
                };
            }
        }
        Ok(())
    }

    /// Selects and writes a row again that changed after it was selected.
    fn again(&self, batch: &RecordBatch, row: usize, write: &Write) -> Result<u64> {
        let mut parameters = self.parameters.clone();
        let key = Row::from_batch(batch, row)?;
        for (place, column) in self.table.schema().key_columns().enumerate() {
            let value = key.get(&column.name).cloned().unwrap_or(tonnage::Value::Null);
            parameters.set(key_parameter(place), value);
        }
        let columns: Vec<String> = self
            .table
            .schema()
            .key_columns()
            .map(|column| column.name.to_ascii_lowercase())
            .collect();
        for _ in 0..TRIES_MAX {
            self.guard.check()?;
            let Some(batch) = self.select(Some(&columns), &parameters)?.next().transpose()? else {
                return Ok(0);
            };
            let (batch, noted) = parted(&batch)?;
            if let Some(noted) = noted.first()
                && write(&batch, 0, *noted, self.table, self.durability())?.is_stored()
            {
                return Ok(1);
            }
        }
        Err(Error::unavailable(format!(
            "a row of {} is written by others all the time; try again",
            self.table.path()
        )))
    }

    fn durability(&self) -> Durability {
        self.planner.context.options.durability
    }

    /// The table's name; a deep one in one piece.
    fn name(&self) -> Vec<TokenWithSpan> {
        let path = self.table.path().to_ascii_lowercase();
        if path.split('.').count() > PARTS_MAX {
            return vec![quoted(&path)];
        }
        let mut tokens: Vec<_> =
            path.split('.').flat_map(|part| [quoted(part), made(Token::Period)]).collect();
        tokens.pop();
        tokens
    }

    /// The name that stands before its columns.
    fn qualifier(&self) -> Vec<TokenWithSpan> {
        self.alias.as_ref().map_or_else(|| self.name(), |alias| vec![quoted(alias)])
    }

    fn column(&self, name: &str) -> Vec<TokenWithSpan> {
        let mut tokens = self.qualifier();
        tokens.extend([made(Token::Period), quoted(&name.to_ascii_lowercase())]);
        tokens
    }

    /// The key for DELETE; for UPDATE all columns, those that are set as `(expression) AS column`.
    /// Then the notes of the row.
    fn items(&self) -> Vec<TokenWithSpan> {
        let schema = self.table.schema();
        let order: Vec<usize> = if self.items.is_empty() {
            schema.key.clone()
        } else {
            (0..schema.columns.len()).collect()
        };
        let item = |column: usize| {
            let name = schema.columns[column].name.to_ascii_lowercase();
            match self.items.iter().find(|(set, _)| *set == column) {
                None => self.column(&name),
                Some((_, value)) => {
                    let mut tokens = vec![made(Token::LParen)];
                    tokens.extend(value.iter().cloned());
                    tokens.extend([made(Token::RParen), word("AS"), quoted(&name)]);
                    tokens
                }
            }
        };
        let notes = [VERSION, EXPIRY].map(|name| self.column(name));
        let mut tokens = separated(order.into_iter().map(item).chain(notes));
        tokens.pop();
        tokens
    }

    /// `SELECT items, _version, _expires_at_ms FROM table [, others] WHERE (condition) [AND key = ...]`.
    /// With other tables a row may match several times, and is taken once.
    fn select(&self, key: Option<&[String]>, parameters: &Parameters) -> Result<Rows> {
        let mut tokens = vec![word("SELECT")];
        if !self.others.is_empty() {
            tokens.extend([word("DISTINCT"), word("ON"), made(Token::LParen)]);
            tokens.extend(separated(
                self.table.schema().key_columns().map(|column| self.column(&column.name)),
            ));
            tokens.pop();
            tokens.push(made(Token::RParen));
        }
        tokens.extend(self.items());
        tokens.push(word("FROM"));
        tokens.extend(self.name());
        tokens.extend(self.alias.iter().flat_map(|alias| [word("AS"), quoted(alias)]));
        if !self.others.is_empty() {
            tokens.push(made(Token::Comma));
            tokens.extend(self.others.iter().cloned());
        }
        tokens.push(word("WHERE"));
        tokens.push(made(Token::LParen));
        if self.condition.is_empty() {
            tokens.push(word("TRUE"));
        }
        tokens.extend(self.condition.iter().cloned());
        tokens.push(made(Token::RParen));
        for (place, column) in key.into_iter().flatten().enumerate() {
            tokens.push(word("AND"));
            tokens.extend(self.column(column));
            tokens.push(made(Token::Eq));
            tokens.push(made(Token::Placeholder(format!("${}", key_parameter(place)))));
        }
        let mut state = self.planner.state(self.guard);
        let written = self.items.iter().map(|(column, _)| *column).collect();
        let target = Target::Changed { path: self.table.path().to_owned(), written };
        let names = Names::changing(self.planner.context.clone(), target);
        state.register_catalog_list(Arc::new(names));
        self.planner.rows_of(state, parse(tokens, self.end)?, parameters, self.guard.clone())
    }
}

/// The deepest path that SQL takes as a name of several parts.
const PARTS_MAX: usize = 3;

fn key_parameter(place: usize) -> String {
    format!("_key_{place}")
}

/// The columns of the table, and what is noted of each row.
fn parted(batch: &RecordBatch) -> Result<(RecordBatch, Vec<NotedRow>)> {
    let own = batch.num_columns() - 2;
    let numbers =
        |column: usize| batch.column(column).as_primitive::<UInt64Type>().values().iter().copied();
    let noted = numbers(own)
        .zip(numbers(own + 1))
        .map(|(version, expires_at_ms)| NotedRow { version, expires_at_ms })
        .collect();
    let columns: Vec<usize> = (0..own).collect();
    let batch = batch.project(&columns).map_err(|error| Error::internal(error.to_string()))?;
    Ok((batch, noted))
}
