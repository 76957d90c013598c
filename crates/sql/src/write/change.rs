//! Parses and runs UPDATE, DELETE and TRUNCATE.

use arrow::array::RecordBatch;
use datafusion::sql::sqlparser::tokenizer::TokenWithSpan;
use tonnage::{Condition, Error, Result, Row, Table, WriteOptions, WriteResult};

use super::assignments::{assignments, expression};
use super::given::refuse_rounded;
use super::returning_rows::WrittenRows;
use super::row_change::{Assignment, NotedRow, RowChange};
use crate::errors::invalid_at;
use crate::planner::Planner;
use crate::session::{Changes, Guard, Parameters, Rows};
use crate::statistics::delete_statistics;
use crate::text::{Cursor, Piece, StatementKind};

/// A statement that changes rows, read.
struct ChangeStatement {
    table: Table,
    alias: Option<String>,
    with: Vec<TokenWithSpan>,
    items: Vec<Assignment>,
    others: Vec<TokenWithSpan>,
    condition: Vec<TokenWithSpan>,
}

impl ChangeStatement {
    fn change<'a>(
        &'a self,
        planner: &'a Planner,
        piece: &Piece,
        parameters: &'a Parameters,
        guard: &'a Guard,
    ) -> RowChange<'a> {
        RowChange {
            with: self.with.clone(),
            items: self.items.clone(),
            others: self.others.clone(),
            condition: self.condition.clone(),
            ..RowChange::new(planner, &self.table, self.alias.clone(), parameters, guard, piece.end)
        }
    }
}

/// Reads one of these:
/// - `[WITH ...] UPDATE table [[AS] alias] SET column = expression, ... [FROM others] [WHERE condition]`
/// - `[WITH ...] DELETE FROM table [[AS] alias] [USING others] [WHERE condition]`
/// - `TRUNCATE [TABLE] table`
fn read(planner: &Planner, piece: &Piece) -> Result<ChangeStatement> {
    // WITH is set aside: it goes before the SELECT that `RowChange` makes.
    let (with, piece) = &piece.without_with();
    let mut cursor = Cursor::new(piece);
    let with = with.clone();
    cursor.next();
    match piece.kind {
        StatementKind::Update => {
            let table = table(planner, &mut cursor)?;
            let alias = alias(&mut cursor, "SET")?;
            if !cursor.word("SET") {
                return Err(cursor.expected("SET"));
            }
            let items = assignments(&mut cursor, table.schema())?;
            let others = others(&mut cursor, "FROM");
            let condition = condition(&mut cursor)?;
            Ok(ChangeStatement { table, alias, with, items, others, condition })
        }
        StatementKind::Truncate => {
            cursor.word("TABLE");
            let table = table(planner, &mut cursor)?;
            cursor.end()?;
            // Without a condition it is a DELETE of all rows, which is how `run` carries it out.
            let (items, others, condition) = (Vec::new(), Vec::new(), Vec::new());
            Ok(ChangeStatement { table, alias: None, with, items, others, condition })
        }
        _ => {
            if !cursor.word("FROM") {
                return Err(cursor.expected("FROM"));
            }
            let table = table(planner, &mut cursor)?;
            let alias = alias(&mut cursor, "USING")?;
            let others = others(&mut cursor, "USING");
            let condition = condition(&mut cursor)?;
            Ok(ChangeStatement { table, alias, with, items: Vec::new(), others, condition })
        }
    }
}

/// The table that a statement changes, and its other name.
pub(super) fn target(planner: &Planner, piece: &Piece) -> Result<(Table, Option<String>)> {
    read(planner, piece).map(|reading| (reading.table, reading.alias))
}

/// Carries out UPDATE, DELETE or TRUNCATE.
pub(super) fn run(
    planner: &Planner,
    piece: &Piece,
    parameters: &Parameters,
    guard: &Guard,
    written: &mut WrittenRows,
) -> Result<Changes> {
    let reading = read(planner, piece)?;
    if piece.kind == StatementKind::Truncate {
        // Before its rows: should that fail, nothing has happened yet.
        delete_statistics(&planner.context.store, &reading.table, &guard.write_options())?;
        planner.context.statistics.note_change();
    }
    refuse_rounded(&reading.items, reading.table.schema(), parameters)?;
    let change = reading.change(planner, piece, parameters, guard);
    match piece.kind {
        StatementKind::Update => update(&change, written),
        _ => delete(&change, written),
    }
}

/// How a statement finds the rows that it changes.
pub(super) fn explain(
    planner: &Planner,
    piece: &Piece,
    explain: &[TokenWithSpan],
    parameters: &Parameters,
    guard: &Guard,
) -> Result<(String, Rows)> {
    let reading = read(planner, piece)?;
    let schema = reading.table.schema();
    let path = reading.table.path();
    let told = match piece.kind {
        StatementKind::Update => {
            let columns =
                reading.items.iter().map(|(column, _)| schema.columns[*column].name.as_str());
            format!("UPDATE {path}: sets {} of", columns.collect::<Vec<_>>().join(", "))
        }
        _ => format!("DELETE FROM {path}: deletes"),
    };
    let told = format!("{told} each row found, if it is still as it was read");
    let rows = reading.change(planner, piece, parameters, guard).explain(explain)?;
    Ok((told, rows))
}

pub(super) fn update(change: &RowChange<'_>, written: &mut WrittenRows) -> Result<Changes> {
    let mut updated = 0;
    match update_rows(change, &mut updated, written) {
        Ok(()) => Ok(Changes { updated, ..Changes::default() }),
        Err(error) => Err(super::partial_changes::with_partial_changes(
            change.planner,
            error,
            Changes { updated, ..Changes::default() },
        )),
    }
}

pub(super) fn update_rows(
    change: &RowChange<'_>,
    updated: &mut u64,
    written: &mut WrittenRows,
) -> Result<()> {
    change.write_all(updated, &write_updated, written)
}

fn delete(change: &RowChange<'_>, written: &mut WrittenRows) -> Result<Changes> {
    let deleted = |deleted| Changes { deleted, ..Changes::default() };
    change.run(deleted, &write_deleted, written)
}

/// Stores a row with the values that were selected for it, if it is as it was read.
pub(super) fn write_updated(
    batch: &RecordBatch,
    row: usize,
    noted: NotedRow,
    change: &RowChange<'_>,
) -> Result<(WriteResult, Row)> {
    let table = change.table;
    let aligned = table.entry().codec.align(&RecordBatch::slice(batch, row, 1))?;
    if let Some(rejected) = aligned.rejected.first() {
        return Err(Error::invalid(format!("column '{}': {}", rejected.column, rejected.reason)));
    }
    let row = Row::from_batch(&aligned.batch, 0)?;
    if let Some(transaction) = change.transaction() {
        // What it commits lives as long as the table says, and the row may have been stored for
        // ever.
        let lives_on = table.schema().ttl_ms.is_some() && noted.version != IN_TRANSACTION_VERSION;
        if noted.expires_at_ms != 0 || lives_on {
            return Err(Error::unsupported(format!(
                "a transaction does not update rows that expire, as those of {} do: COMMIT first, and UPDATE by itself",
                table.path()
            )));
        }
        transaction.put(table, row.clone(), Condition::IfVersion(noted.version))?;
        return Ok((IN_TRANSACTION, row));
    }
    // Given even as 0, which is for ever: else the time to live of the table would hold.
    let expires_at_ms = Some(noted.expires_at_ms);
    let options = WriteOptions { expires_at_ms, ..change.write_options() };
    Ok((table.put_if_version(&row, noted.version, &options)?, row))
}

/// Deletes a row, if it is as it was read.
pub(super) fn write_deleted(
    batch: &RecordBatch,
    row: usize,
    noted: NotedRow,
    change: &RowChange<'_>,
) -> Result<(WriteResult, Row)> {
    let row = Row::from_batch(batch, row)?;
    if let Some(transaction) = change.transaction() {
        transaction.delete(change.table, &row, Condition::IfVersion(noted.version))?;
        return Ok((IN_TRANSACTION, row));
    }
    let options = change.write_options();
    Ok((change.table.delete_if_version(&row, noted.version, &options)?, row))
}

/// The version of a row that a transaction has taken: it has none yet.
const IN_TRANSACTION_VERSION: u64 = 0;
/// What a write gives then.
const IN_TRANSACTION: WriteResult = WriteResult::Stored { version: IN_TRANSACTION_VERSION };

pub(super) fn table(planner: &Planner, cursor: &mut Cursor) -> Result<Table> {
    let place = cursor.location();
    let Some(path) = cursor.path() else { return Err(cursor.expected("the name of a table")) };
    planner
        .context
        .store
        .table(&path)
        .map_err(|error| error.at(format_args!("line {}, column {}", place.line, place.column)))
}

/// Another name for the table, up to a keyword.
pub(super) fn alias(cursor: &mut Cursor, before: &str) -> Result<Option<String>> {
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
pub(super) fn condition(cursor: &mut Cursor) -> Result<Vec<TokenWithSpan>> {
    if cursor.is_at_end() {
        return Ok(Vec::new());
    }
    if !cursor.word("WHERE") {
        return Err(unlimited(cursor)
            .unwrap_or_else(|| cursor.expected("WHERE or the end of the statement")));
    }
    let condition = expression(cursor, &["LIMIT", "ORDER"], false);
    match unlimited(cursor) {
        Some(error) => Err(error),
        None if condition.is_empty() => Err(cursor.expected("a condition")),
        None => Ok([condition, cursor.rest().to_vec()].concat()),
    }
}

/// What is said of ORDER BY and LIMIT, where they stand here.
fn unlimited(cursor: &Cursor) -> Option<Error> {
    (cursor.is_word("LIMIT") || cursor.is_word("ORDER")).then(|| {
        invalid_at(
            cursor.location(),
            "a change takes all rows that match: choose some with WHERE key IN (SELECT key FROM table ORDER BY ... LIMIT ...)",
        )
    })
}
