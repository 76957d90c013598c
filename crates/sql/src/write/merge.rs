//! `MERGE INTO table [[AS] alias] USING source ON condition WHEN ...`
//!
//! 1. Everything is read before anything is written: the rows of the source that match none, and
//!    the rows that match, clause by clause. A row belongs to the first clause whose condition
//!    holds.
//! 2. A row of the table that matches two rows of the source is an error, as is a row to be
//!    inserted whose key exists; then nothing was written. The two reads do not see the same state:
//!    a row of the table that appears or disappears between them may leave its row of the source to
//!    neither. The counts show it. A source that may give other rows the next time is read once
//!    (`merge_source.rs`).
//! 3. Each row is written on condition that it is as it was read. One that was written meanwhile is
//!    read again, and is changed by the clause that applies now.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::datasource::MemTable;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use tonnage::{Error, Result, Row, Table, WriteResult};

use super::assignments::{SetItem, assignments};
use super::change::{write_deleted, write_updated};
use super::given::{refuse_rounded, refuse_rounded_items};
use super::insert::GatheredInsert;
use super::insert_statement::{BoundInsert, InsertStatement};
use super::key_conflicts::refuse_existing;
use super::keys::key_text;
use super::merge_source::{GatheredSource, gathered, refuse_changing};
use super::merge_statement::{
    MatchedAction, MergeStatement, UnmatchedAction, WhenClause, comma_separated,
};
use super::partial_changes::with_partial_changes;
use super::returning_rows::WrittenRows;
use super::row_change::{Assignment, ChangeWriter, NotedRow, ROWS_PER_LOOK, RowChange};
use super::tokens::{in_parentheses, made, quoted, word};
use crate::planner::Planner;
use crate::session::{Changes, Guard, Parameters};
use crate::text::{Piece, StatementKind};

type Tokens = Vec<TokenWithSpan>;

/// A MERGE over its table as it is now.
struct MergeRun<'a> {
    statement: &'a MergeStatement,
    table: Table,
    source: Tokens,
    /// Rows that replace a source which may give others the next time.
    given: Option<(String, Arc<MemTable>)>,
    matched: Vec<WhenClause<MatchedAction<Assignment>>>,
}

/// Rows of one clause that matched.
struct MatchedRows<'a> {
    change: RowChange<'a>,
    action: &'a MatchedAction<Assignment>,
    rows: Vec<(RecordBatch, Vec<NotedRow>)>,
}

impl<'a> MergeRun<'a> {
    /// Finds the table, and the columns that are set.
    fn new(statement: &'a MergeStatement, planner: &Planner) -> Result<Self> {
        let table = statement.target.table(&planner.context.store)?;
        let bound = |clause: &WhenClause<MatchedAction<SetItem>>| -> Result<_> {
            let action = match &clause.action {
                MatchedAction::Update(items) => {
                    MatchedAction::Update(assignments(items, table.schema())?)
                }
                MatchedAction::Delete => MatchedAction::Delete,
                MatchedAction::Nothing => MatchedAction::Nothing,
            };
            Ok(WhenClause { condition: clause.condition.clone(), action })
        };
        let matched = statement.matched.iter().map(bound).collect::<Result<_>>()?;
        Ok(Self { statement, table, source: statement.source.clone(), given: None, matched })
    }

    /// Reads a source once that may give other rows the next time.
    fn settle_source(
        &mut self,
        planner: &Planner,
        parameters: &Parameters,
        guard: &Guard,
    ) -> Result<()> {
        let MergeStatement { with, on, unmatched, end, .. } = self.statement;
        let matched = self.matched.iter().map(|clause| &clause.condition);
        let unmatched = unmatched.iter().map(|clause| &clause.condition);
        for condition in std::iter::once(on).chain(matched).chain(unmatched) {
            refuse_changing(&planner.context.store, with, condition, *end)?;
        }
        let settled = gathered(planner, with, &self.source, *end, parameters, guard)?;
        if let Some(GatheredSource { tokens, rows }) = settled {
            (self.source, self.given) = (tokens, Some(rows));
        }
        Ok(())
    }

    /// The rows of each clause that changes some, as they are now.
    fn read_matched<'b>(
        &'b self,
        planner: &'b Planner,
        parameters: &'b Parameters,
        guard: &'b Guard,
        tells: bool,
    ) -> Result<Vec<MatchedRows<'b>>> {
        let MergeStatement { target, with, on, end, .. } = self.statement;
        let mut found = Vec::new();
        for (place, clause) in self.matched.iter().enumerate() {
            let items = match &clause.action {
                MatchedAction::Update(items) => {
                    refuse_rounded(items, self.table.schema(), parameters)?;
                    items.clone()
                }
                MatchedAction::Delete => Vec::new(),
                // Later clauses do not take these rows either: see `clause_condition`.
                MatchedAction::Nothing => continue,
            };
            let alias = target.alias.clone();
            let mut condition = in_parentheses(on);
            condition.extend(clause_condition(&self.matched, place));
            // A row is selected as often as it matches, so that `refuse_twice` sees it.
            let change = RowChange {
                with: with.clone(),
                items,
                others: self.source.clone(),
                given: self.given.clone(),
                condition,
                is_distinct: false,
                ..RowChange::new(planner, &self.table, alias, parameters, guard, *end)
            };
            let rows = change.gather(tells)?;
            found.push(MatchedRows { change, action: &clause.action, rows });
        }
        // Over all clauses: a row may match one row of the source here and another there.
        self.refuse_twice(&found)?;
        Ok(found)
    }

    /// Refuses rows that match several rows of the source.
    fn refuse_twice(&self, found: &[MatchedRows<'_>]) -> Result<()> {
        let (schema, mut keys) = (self.table.schema(), HashSet::new());
        for (batch, noted) in found.iter().flat_map(|found| &found.rows) {
            for row in 0..noted.len() {
                let key = Row::from_batch(batch, row)?;
                if !keys.insert(key_text(&key, schema)) {
                    let key: Vec<_> = schema
                        .key_columns()
                        .filter_map(|column| Some((column, key.get(&column.name)?)))
                        .map(|(column, value)| format!("{} {value}", column.name))
                        .collect();
                    return Err(Error::conflict(format!(
                        "the row of {} with the key ({}) matches several rows of the source: let each match one",
                        self.table.path(),
                        key.join(", ")
                    )));
                }
            }
        }
        Ok(())
    }

    /// Fails when a row of the table is gone, or matches no more, and the row of the
    /// source would have to be inserted instead.
    fn refuse_lost(&self, change: &RowChange<'_>, batch: &RecordBatch, row: usize) -> Result<()> {
        let MergeStatement { target, with, on, unmatched, end, .. } = self.statement;
        let inserts = |clause: &WhenClause<UnmatchedAction>| {
            matches!(clause.action, UnmatchedAction::Insert { .. })
        };
        let alias = target.alias.clone();
        let RowChange { planner, parameters, guard, .. } = *change;
        let matched = RowChange {
            with: with.clone(),
            others: self.source.clone(),
            given: self.given.clone(),
            condition: on.clone(),
            ..RowChange::new(planner, &self.table, alias, parameters, guard, *end)
        };
        if !unmatched.iter().any(inserts) || matched.matches(batch, row)? {
            return Ok(());
        }
        Err(Error::conflict(format!(
            "another writer changed a row of {} meanwhile, and it no longer matches: run the MERGE again",
            self.table.path()
        )))
    }

    /// The rows to be inserted, of each clause that inserts some.
    fn inserts(
        &self,
        planner: &Planner,
        parameters: &Parameters,
        guard: &Guard,
    ) -> Result<Vec<GatheredInsert>> {
        let MergeStatement { unmatched, end, .. } = self.statement;
        let mut inserts = Vec::new();
        for (index, clause) in unmatched.iter().enumerate() {
            let UnmatchedAction::Insert { columns, values } = &clause.action else { continue };
            let tokens = self.insertion(columns, values, &clause_condition(unmatched, index));
            let piece = Piece { tokens: tokens.into(), kind: StatementKind::Insert, end: *end };
            let statement = InsertStatement::read(&piece)?;
            let insert = statement.bind(&planner.context.store)?;
            let insert = BoundInsert { given: self.given.clone(), ..insert };
            let schema = self.table.schema();
            refuse_rounded_items(&insert.source, &insert.columns, schema, parameters)?;
            inserts.push(GatheredInsert::new(planner, insert, parameters, guard)?);
        }
        Ok(inserts)
    }

    /// `INSERT INTO table (columns) SELECT values FROM source WHERE NOT EXISTS (...) AND ...`
    fn insertion(
        &self,
        columns: &[TokenWithSpan],
        values: &[Tokens],
        and: &[TokenWithSpan],
    ) -> Tokens {
        let MergeStatement { target, with, on, .. } = self.statement;
        let mut tokens = with.clone();
        // WITH precedes INSERT, where the parser takes it; `insert_of` moves it to the query.
        tokens.extend([word("INSERT"), word("INTO"), quoted(self.table.path())]);
        tokens.extend_from_slice(columns);
        tokens.push(word("SELECT"));
        tokens.extend(comma_separated(values.to_vec()));
        tokens.push(word("FROM"));
        tokens.extend_from_slice(&self.source);
        // The table is within NOT EXISTS alone: no row of it matches, so values may not name
        // its columns.
        tokens.extend([word("WHERE"), word("NOT"), word("EXISTS"), made(Token::LParen)]);
        tokens.extend([word("SELECT"), word("NULL"), word("FROM")]);
        tokens.extend(target.tokens());
        tokens.push(word("WHERE"));
        tokens.extend(in_parentheses(on));
        tokens.push(made(Token::RParen));
        tokens.extend_from_slice(and);
        tokens
    }
}

/// Carries a MERGE out.
pub(super) fn run(
    statement: &MergeStatement,
    planner: &Planner,
    parameters: &Parameters,
    guard: &Guard,
    written: &mut WrittenRows,
) -> Result<Changes> {
    // Each value and each condition is one by itself. In the queries below others surround them.
    statement.reading()?;
    let mut merge = MergeRun::new(statement, planner)?;
    merge.settle_source(planner, parameters, guard)?;
    let inserts = merge.inserts(planner, parameters, guard)?;
    let found = merge.read_matched(planner, parameters, guard, written.gathers_rows())?;
    let rows: Vec<_> = inserts.iter().flat_map(|insert| insert.batches.iter().cloned()).collect();
    // A transaction takes back what a statement has changed that fails.
    if planner.context.transaction.is_none() {
        refuse_existing(&merge.table, &rows)?;
    }
    let mut changes = Changes::default();
    // A closure, so that an error of either kind of write reports what was changed before it.
    let mut write = || -> Result<()> {
        write_found(&merge, &found, guard, &mut changes, written)?;
        for insert in &inserts {
            let inserted =
                insert.write(planner, None, statement.end, parameters, guard, written)?;
            changes.inserted += inserted.inserted;
        }
        Ok(())
    };
    match write() {
        Ok(()) => Ok(changes),
        Err(error) => Err(with_partial_changes(planner, error, changes)),
    }
}

fn write_found(
    merge: &MergeRun<'_>,
    found: &[MatchedRows<'_>],
    guard: &Guard,
    changes: &mut Changes,
    written: &mut WrittenRows,
) -> Result<()> {
    let tells = written.gathers_rows();
    for clause in found {
        for (batch, noted) in &clause.rows {
            for (row, noted) in noted.iter().enumerate() {
                if row % ROWS_PER_LOOK == 0 {
                    guard.check()?;
                }
                let (result, told) = clause.write()(batch, row, *noted, &clause.change)?;
                let done = match result {
                    WriteResult::Stored { .. } => Some((clause, told)),
                    WriteResult::ConditionFailed { .. } => retry_row(found, batch, row, tells)?,
                };
                // The row is gone or matches no more. The rows to insert were read before, so its
                // source may be lost.
                let Some((clause, told)) = done else {
                    merge.refuse_lost(&clause.change, batch, row)?;
                    continue;
                };
                // `clause` is the one that wrote the row, which need not be the one that found it.
                match clause.action {
                    MatchedAction::Delete => changes.deleted += 1,
                    _ => changes.updated += 1,
                }
                written.note(told)?;
            }
        }
    }
    Ok(())
}

/// Writes a row that was written meanwhile, as the clause says that it belongs to now.
fn retry_row<'a, 'b>(
    found: &'a [MatchedRows<'b>],
    batch: &RecordBatch,
    row: usize,
    tells: bool,
) -> Result<Option<(&'a MatchedRows<'b>, Row)>> {
    for clause in found {
        if let Some(told) = clause.change.retry(batch, row, clause.write(), tells)? {
            return Ok(Some((clause, told)));
        }
    }
    Ok(None)
}

impl MatchedRows<'_> {
    fn write(&self) -> &'static ChangeWriter {
        match self.action {
            MatchedAction::Delete => &write_deleted,
            _ => &write_updated,
        }
    }
}

/// `AND` the condition of this clause, and none of those before it.
fn clause_condition<T>(clauses: &[WhenClause<T>], place: usize) -> Tokens {
    let mut tokens = Vec::new();
    for before in &clauses[..place] {
        tokens.push(word("AND"));
        tokens.push(made(Token::LParen));
        match before.condition.is_empty() {
            true => tokens.push(word("FALSE")),
            false => {
                tokens.extend(in_parentheses(&before.condition));
                tokens.extend([word("IS"), word("NOT"), word("TRUE")]);
            }
        }
        tokens.push(made(Token::RParen));
    }
    let own = &clauses[place].condition;
    if !own.is_empty() {
        tokens.push(word("AND"));
        tokens.extend(in_parentheses(own));
    }
    tokens
}
