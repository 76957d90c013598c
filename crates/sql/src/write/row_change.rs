//! The rows that a statement changes: selected, written, selected again.
//!
//! 1. The rows wanted are selected like those of any query, with their versions; for UPDATE with
//!    the new values instead of the old. A row that is changed keeps the expiry that it has.
//! 2. Each row is written on condition that it still has that version. So RETURNING gives
//!    what was written, or what was there last.
//! 3. A row that was written meanwhile is selected again, by its key and the statement's own
//!    condition, until it holds or matches no more.

use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::UInt64Type;
use datafusion::datasource::MemTable;
use datafusion::sql::sqlparser::ast::Statement;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use tonnage::{Error, Result, Row, Table, TableSchema, WriteOptions, WriteResult};

use super::returning_rows::WrittenRows;
use super::tokens::{made, quoted, separated, table_name, word};
use super::untyped::typed_rows;
use crate::access::note_names;
use crate::catalog::{StoreCatalog, WriteTarget};
use crate::errors::invalid_at;
use crate::planner::Planner;
use crate::session::{Changes, Guard, Parameters, Rows, Transaction};
use crate::text::{folded, parse};

/// How often a row is selected again that others write all the time.
pub(super) const TRIES_MAX: usize = 100;
/// How many rows are written before it is looked whether the statement must stop.
pub(super) const ROWS_PER_LOOK: usize = 64;

/// A column with the tokens of its new value.
pub(super) type Assignment = (usize, Vec<TokenWithSpan>);

/// Writes a row; also returns the row for RETURNING.
pub(super) type ChangeWriter =
    dyn Fn(&RecordBatch, usize, NotedRow, &RowChange<'_>) -> Result<(WriteResult, Row)>;

/// What the store notes of a row beside its columns.
#[derive(Clone, Copy)]
pub(super) struct NotedRow {
    pub(super) version: u64,
    pub(super) expires_at_ms: u64,
}

/// Rows to select, and what it takes to select them again.
pub(super) struct RowChange<'a> {
    pub(super) planner: &'a Planner,
    pub(super) table: &'a Table,
    pub(super) alias: Option<String>,
    /// WITH and its tables.
    pub(super) with: Vec<TokenWithSpan>,
    /// The columns set.
    pub(super) items: Vec<Assignment>,
    /// Other tables.
    pub(super) others: Vec<TokenWithSpan>,
    /// Rows of the statement's own, under a name.
    pub(super) given: Option<(String, Arc<MemTable>)>,
    pub(super) condition: Vec<TokenWithSpan>,
    /// Whether a row that matches several others is selected once; else as often as it does.
    pub(super) is_distinct: bool,
    pub(super) parameters: &'a Parameters,
    pub(super) guard: &'a Guard,
    pub(super) end: Location,
}

impl<'a> RowChange<'a> {
    /// A change of all rows of a table, to nothing yet.
    pub(super) fn new(
        planner: &'a Planner,
        table: &'a Table,
        alias: Option<String>,
        parameters: &'a Parameters,
        guard: &'a Guard,
        end: Location,
    ) -> Self {
        let (with, items, others) = (Vec::new(), Vec::new(), Vec::new());
        let (given, condition) = (None, Vec::new());
        Self {
            planner,
            table,
            alias,
            with,
            items,
            others,
            given,
            condition,
            is_distinct: true,
            parameters,
            guard,
            end,
        }
    }

    /// Writes every row that matches; returns how many.
    pub(super) fn run(
        &self,
        told: impl Fn(u64) -> Changes,
        write: &ChangeWriter,
        written: &mut WrittenRows,
    ) -> Result<Changes> {
        let mut changed = 0;
        match self.write_all(&mut changed, write, written) {
            Ok(()) => Ok(told(changed)),
            Err(error) => Err(super::partial_changes::with_partial_changes(
                self.planner,
                error,
                told(changed),
            )),
        }
    }

    pub(super) fn write_all(
        &self,
        changed: &mut u64,
        write: &ChangeWriter,
        written: &mut WrittenRows,
    ) -> Result<()> {
        // UPDATE selects all columns anyway, DELETE only where RETURNING needs them.
        let tells_all = written.gathers_rows() && self.items.is_empty();
        for batch in self.select(None, self.parameters, tells_all)? {
            let (batch, noted) = split_notes(&batch?, self.table.schema())?;
            for (row, noted) in noted.into_iter().enumerate() {
                if row % ROWS_PER_LOOK == 0 {
                    self.guard.check()?;
                }
                let (result, told) = write(&batch, row, noted, self)?;
                let told = match result {
                    WriteResult::Stored { .. } => Some(told),
                    WriteResult::ConditionFailed { .. } => {
                        self.retry(&batch, row, write, tells_all)?
                    }
                };
                // A row that is gone, or matches no more, is neither counted nor returned.
                if let Some(told) = told {
                    *changed += 1;
                    written.note(told)?;
                }
            }
        }
        Ok(())
    }

    /// All rows that match, with what is noted of each.
    ///
    /// # Errors
    /// `Exhausted` when they take more than a quarter of the memory of statements.
    pub(super) fn gather(&self, tells_all: bool) -> Result<Vec<(RecordBatch, Vec<NotedRow>)>> {
        let bytes_max = self.planner.context.options.memory_bytes_max / 4;
        let (mut gathered, mut bytes) = (Vec::new(), 0);
        for batch in self.select(None, self.parameters, tells_all)? {
            let batch = batch?;
            bytes += batch.get_array_memory_size();
            if bytes > bytes_max {
                return Err(Error::exhausted(format!(
                    "MERGE gathers the rows that it changes, and they take more than {bytes_max} bytes: raise memory_bytes_max, or merge fewer at once"
                )));
            }
            gathered.push(split_notes(&batch, self.table.schema())?);
        }
        Ok(gathered)
    }

    /// Selects and writes a row again that changed after it was selected; nothing when it is gone
    /// or matches no more.
    pub(super) fn retry(
        &self,
        batch: &RecordBatch,
        row: usize,
        write: &ChangeWriter,
        tells_all: bool,
    ) -> Result<Option<Row>> {
        let (columns, parameters) = self.key_of(batch, row)?;
        for _ in 0..TRIES_MAX {
            self.guard.check()?;
            let mut selected = self.select(Some(&columns), &parameters, tells_all)?;
            // The statement's own condition is asked again: the other write may have falsified it.
            let Some(batch) = selected.next().transpose()? else {
                return Ok(None);
            };
            let (batch, noted) = split_notes(&batch, self.table.schema())?;
            // The whole key is given: where a MERGE selects several rows, all are this one.
            if let Some(noted) = noted.first() {
                let (result, told) = write(&batch, 0, *noted, self)?;
                if result.is_stored() {
                    return Ok(Some(told));
                }
            }
        }
        Err(Error::unavailable(format!(
            "too many write conflicts on a row of {}: try again",
            self.table.path()
        )))
    }

    /// Whether a row matches now.
    pub(super) fn matches(&self, batch: &RecordBatch, row: usize) -> Result<bool> {
        let (columns, parameters) = self.key_of(batch, row)?;
        Ok(self.select(Some(&columns), &parameters, false)?.next().transpose()?.is_some())
    }

    /// The key columns, and the parameters of the statement with the key of a row among them.
    fn key_of(&self, batch: &RecordBatch, row: usize) -> Result<(Vec<String>, Parameters)> {
        let mut parameters = self.parameters.clone();
        let key = Row::from_batch(batch, row)?;
        let mut columns = Vec::new();
        for (index, column) in self.table.schema().key_columns().enumerate() {
            let value = key.get(&column.name).cloned().unwrap_or(tonnage::Value::Null);
            parameters.set(key_parameter(index), value);
            columns.push(column.name.to_ascii_lowercase());
        }
        Ok((columns, parameters))
    }

    /// The transaction that takes the changes.
    pub(super) fn transaction(&self) -> Option<&Transaction> {
        self.planner.context.transaction.as_deref()
    }

    pub(super) fn write_options(&self) -> WriteOptions {
        self.guard.write_options()
    }

    /// The name that qualifies its columns.
    fn qualifier(&self) -> Vec<TokenWithSpan> {
        self.alias
            .as_ref()
            .map_or_else(|| table_name(self.table.path()), |alias| vec![quoted(alias)])
    }

    pub(super) fn column(&self, name: &str) -> Vec<TokenWithSpan> {
        let mut tokens = self.qualifier();
        tokens.extend([made(Token::Period), quoted(&name.to_ascii_lowercase())]);
        tokens
    }

    /// The key for DELETE; for UPDATE all columns, those that are set as `(expression) AS column`.
    /// Then the notes of the row.
    fn items(&self, tells_all: bool) -> Vec<TokenWithSpan> {
        let schema = self.table.schema();
        let order: Vec<usize> = if self.items.is_empty() && !tells_all {
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
        let notes = note_names(schema).map(|name| self.column(&name));
        let mut tokens = separated(order.into_iter().map(item).chain(notes));
        tokens.pop();
        tokens
    }

    /// `SELECT items, _version, _expires_at_ms FROM table [, others] WHERE (condition)`, and
    /// `AND key = ...` for one row. With other tables a row may match several times, and is taken
    /// once.
    fn select(
        &self,
        key: Option<&[String]>,
        parameters: &Parameters,
        tells_all: bool,
    ) -> Result<Rows> {
        let tokens = self.selection(key, tells_all);
        self.rows(tokens, parameters)
    }

    /// Plans the statement, for what is wrong with it.
    pub(super) fn check(&self) -> Result<()> {
        let parsed = self.parsed(self.selection(None, false))?;
        self.planner.describe_with(self.names(), parsed, self.parameters).map(drop)
    }

    /// How the rows are found, for EXPLAIN.
    pub(super) fn explain(&self, explain: &[TokenWithSpan]) -> Result<Rows> {
        let tokens = explain.iter().cloned().chain(self.selection(None, false)).collect();
        self.rows(tokens, self.parameters)
    }

    fn selection(&self, key: Option<&[String]>, tells_all: bool) -> Vec<TokenWithSpan> {
        let mut tokens = self.with.clone();
        tokens.push(word("SELECT"));
        // A row that matches several rows of other tables is changed once.
        if self.is_distinct && !self.others.is_empty() {
            tokens.extend([word("DISTINCT"), word("ON"), made(Token::LParen)]);
            tokens.extend(separated(
                self.table.schema().key_columns().map(|column| self.column(&column.name)),
            ));
            tokens.pop();
            tokens.push(made(Token::RParen));
        }
        tokens.extend(self.items(tells_all));
        tokens.push(word("FROM"));
        tokens.extend(table_name(self.table.path()));
        tokens.extend(self.alias.iter().flat_map(|alias| [word("AS"), quoted(alias)]));
        if !self.others.is_empty() {
            tokens.push(made(Token::Comma));
            tokens.extend(self.others.iter().cloned());
        }
        // In parentheses, so that an OR does not reach the key after it.
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
        tokens
    }

    fn names(&self) -> StoreCatalog {
        let written = self.items.iter().map(|(column, _)| *column).collect();
        let target = WriteTarget::Changed { path: self.table.path().to_owned(), written };
        let names = StoreCatalog::for_write(self.planner.context.clone(), target);
        names.with_rows(self.given.clone())
    }

    fn rows(&self, tokens: Vec<TokenWithSpan>, parameters: &Parameters) -> Result<Rows> {
        let mut state = self.planner.state(self.guard);
        state.register_catalog_list(Arc::new(self.names()));
        self.planner.rows_of(state, self.parsed(tokens)?, parameters, self.guard.clone())
    }

    /// The statement that selects the rows. WITH must not replace those of the table.
    fn parsed(&self, tokens: Vec<TokenWithSpan>) -> Result<Statement> {
        let parsed = parse(tokens, self.end)?;
        let mut statement = &parsed;
        while let Statement::Explain { statement: explained, .. } = statement {
            statement = explained;
        }
        let Statement::Query(query) = statement else { return Ok(parsed) };
        let mut given = query.with.iter().flat_map(|with| &with.cte_tables);
        let name = self.table.path().to_ascii_lowercase();
        match given.find(|table| folded(&table.alias.name) == name) {
            Some(table) => Err(invalid_at(
                table.alias.name.span.start,
                format!(
                    "WITH gives {name}, the table that is changed: give that query another name"
                ),
            )),
            None => Ok(parsed),
        }
    }
}

fn key_parameter(place: usize) -> String {
    format!("_key_{place}")
}

/// The columns of the table, and what is noted of each row.
fn split_notes(batch: &RecordBatch, schema: &TableSchema) -> Result<(RecordBatch, Vec<NotedRow>)> {
    let own = batch.num_columns() - 2;
    let numbers =
        |column: usize| batch.column(column).as_primitive::<UInt64Type>().values().iter().copied();
    let noted = numbers(own)
        .zip(numbers(own + 1))
        .map(|(version, expires_at_ms)| NotedRow { version, expires_at_ms })
        .collect();
    let columns: Vec<usize> = (0..own).collect();
    let batch = batch.project(&columns).map_err(|error| Error::internal(error.to_string()))?;
    Ok((typed_rows(batch, schema)?, noted))
}
