//! Parses and runs UPDATE, DELETE and TRUNCATE.

use arrow::array::RecordBatch;
use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::tokenizer::{Location, TokenWithSpan};
use tonnage::{Condition, Error, Result, Row, Table, WriteOptions, WriteResult};

use super::assignments::{SetItem, assignments, expression, set_items};
use super::given::refuse_rounded;
use super::reading_query::{FOLLOWING, ReadingQuery};
use super::returning_rows::WrittenRows;
use super::row_change::{NotedRow, RowChange};
use super::target::ChangeTarget;
use crate::errors::invalid_at;
use crate::planner::Planner;
use crate::session::{Access, Changes, Guard, Parameters, Rows};
use crate::statistics::delete_statistics;
use crate::text::{Cursor, Piece};

/// UPDATE, DELETE or TRUNCATE, parsed.
pub(super) struct ChangeStatement {
    pub(super) target: ChangeTarget,
    verb: ChangeVerb,
    with: Vec<TokenWithSpan>,
    others: Vec<TokenWithSpan>,
    condition: Vec<TokenWithSpan>,
    end: Location,
}

/// What a statement does to the rows that it finds.
enum ChangeVerb {
    Update(Vec<SetItem>),
    Delete,
    /// All rows are deleted, with their statistics.
    Truncate,
}

impl ChangeStatement {
    /// Reads `[WITH ...] UPDATE table [[AS] alias] SET column = expression, ... [FROM others]
    /// [WHERE condition]`.
    ///
    /// # Errors
    /// `Invalid` for something else, with the position.
    pub(super) fn update(piece: &Piece) -> Result<Self> {
        // WITH is set aside: it precedes the SELECT that `RowChange` makes.
        let (with, piece) = piece.without_with();
        let mut cursor = Cursor::new(&piece);
        cursor.expect_word("UPDATE")?;
        let target = ChangeTarget::with_alias(&mut cursor, "SET")?;
        cursor.expect_word("SET")?;
        let verb = ChangeVerb::Update(set_items(&mut cursor)?);
        let others = others(&mut cursor, "FROM");
        let condition = condition(&mut cursor)?;
        Ok(Self { target, verb, with, others, condition, end: piece.end })
    }

    /// Reads `[WITH ...] DELETE FROM table [[AS] alias] [USING others] [WHERE condition]`.
    ///
    /// # Errors
    /// As [`Self::update`].
    pub(super) fn delete(piece: &Piece) -> Result<Self> {
        let (with, piece) = piece.without_with();
        let mut cursor = Cursor::new(&piece);
        if !(cursor.word("DELETE") && cursor.word("FROM")) {
            return Err(cursor.expected("DELETE FROM"));
        }
        let target = ChangeTarget::with_alias(&mut cursor, "USING")?;
        let others = others(&mut cursor, "USING");
        let condition = condition(&mut cursor)?;
        Ok(Self { target, verb: ChangeVerb::Delete, with, others, condition, end: piece.end })
    }

    /// Reads `TRUNCATE [TABLE] table`.
    ///
    /// # Errors
    /// As [`Self::update`].
    pub(super) fn truncate(piece: &Piece) -> Result<Self> {
        let mut cursor = Cursor::new(piece);
        cursor.expect_word("TRUNCATE")?;
        cursor.word("TABLE");
        let target = ChangeTarget::read(&mut cursor)?;
        cursor.end()?;
        let (with, others, condition) = (Vec::new(), Vec::new(), Vec::new());
        let verb = ChangeVerb::Truncate;
        Ok(Self { target, verb, with, others, condition, end: piece.end })
    }

    /// What is done to the table.
    pub(super) fn accesses(&self) -> &'static [Access] {
        match self.verb {
            ChangeVerb::Update(_) => &[Access::Update, Access::Read],
            ChangeVerb::Delete => &[Access::Delete, Access::Read],
            ChangeVerb::Truncate => &[Access::Delete],
        }
    }

    /// The columns that are set.
    pub(super) fn set_items(&self) -> Vec<&SetItem> {
        match &self.verb {
            ChangeVerb::Update(items) => items.iter().collect(),
            ChangeVerb::Delete | ChangeVerb::Truncate => Vec::new(),
        }
    }

    /// What is read to carry it out, as a query.
    pub(super) fn reading(&self) -> Result<Option<ast::Statement>> {
        if matches!(self.verb, ChangeVerb::Truncate) {
            return Ok(None);
        }
        let mut reading = ReadingQuery::new(&self.with, &self.target);
        self.set_items().into_iter().for_each(|item| reading.set_item(item));
        reading.others(&self.others);
        reading.condition(&self.condition);
        reading.parse(self.end).map(Some)
    }

    /// Carries it out.
    pub(super) fn run(
        &self,
        planner: &Planner,
        parameters: &Parameters,
        guard: &Guard,
        written: &mut WrittenRows,
    ) -> Result<Changes> {
        let store = &planner.context.store;
        let table = self.target.table(store)?;
        if matches!(self.verb, ChangeVerb::Truncate) {
            // Before its rows: should that fail, nothing has happened yet.
            delete_statistics(store, &table, &guard.write_options())?;
            planner.context.statistics.note_change();
        }
        let change = self.change(planner, &table, parameters, guard)?;
        refuse_rounded(&change.items, table.schema(), parameters)?;
        match self.verb {
            ChangeVerb::Update(_) => {
                let updated = |updated| Changes { updated, ..Changes::default() };
                change.run(updated, &write_updated, written)
            }
            ChangeVerb::Delete | ChangeVerb::Truncate => {
                let deleted = |deleted| Changes { deleted, ..Changes::default() };
                change.run(deleted, &write_deleted, written)
            }
        }
    }

    /// How it finds the rows that it changes.
    pub(super) fn explain(
        &self,
        planner: &Planner,
        explain: &[TokenWithSpan],
        parameters: &Parameters,
        guard: &Guard,
    ) -> Result<(String, Rows)> {
        let table = self.target.table(&planner.context.store)?;
        let (schema, path) = (table.schema(), table.path());
        let change = self.change(planner, &table, parameters, guard)?;
        let told = match self.verb {
            ChangeVerb::Update(_) => {
                let columns = change.items.iter().map(|(column, _)| &schema.columns[*column].name);
                let columns: Vec<&str> = columns.map(String::as_str).collect();
                format!("UPDATE {path}: sets {} of", columns.join(", "))
            }
            ChangeVerb::Delete | ChangeVerb::Truncate => format!("DELETE FROM {path}: deletes"),
        };
        let told = format!("{told} each row found, if it is still as it was read");
        Ok((told, change.explain(explain)?))
    }

    /// The statement over the table as it is now.
    fn change<'a>(
        &self,
        planner: &'a Planner,
        table: &'a Table,
        parameters: &'a Parameters,
        guard: &'a Guard,
    ) -> Result<RowChange<'a>> {
        let items = match &self.verb {
            ChangeVerb::Update(items) => assignments(items, table.schema())?,
            ChangeVerb::Delete | ChangeVerb::Truncate => Vec::new(),
        };
        let alias = self.target.alias.clone();
        Ok(RowChange {
            with: self.with.clone(),
            items,
            others: self.others.clone(),
            condition: self.condition.clone(),
            ..RowChange::new(planner, table, alias, parameters, guard, self.end)
        })
    }
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

/// The tokens of other tables whose rows take part, up to WHERE.
fn others(cursor: &mut Cursor, keyword: &str) -> Vec<TokenWithSpan> {
    if cursor.word(keyword) { expression(cursor, &FOLLOWING, false) } else { Vec::new() }
}

/// The tokens after WHERE, up to the end of the statement.
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
        // A parenthesis that closes none would close that of `RowChange` around the condition.
        None => cursor.end().map(|()| condition),
    }
}

/// The error for ORDER BY and LIMIT.
fn unlimited(cursor: &Cursor) -> Option<Error> {
    (cursor.is_word("LIMIT") || cursor.is_word("ORDER")).then(|| {
        invalid_at(
            cursor.location(),
            "a change takes all rows that match: choose some with WHERE key IN (SELECT key FROM table ORDER BY ... LIMIT ...)",
        )
    })
}
