//! `MERGE INTO table [[AS] alias] USING source ON condition WHEN ...`
//!
//! 1. Everything is read before anything is written: the rows of the source that match none, and
//!    the rows that match, clause by clause. A row belongs to the first clause whose condition
//!    holds.
//! 2. A row of the table that matches two rows of the source is an error, as is a row to be
//!    inserted whose key exists; then nothing was written. The two reads do not see one moment: a
//!    row of the table that comes or goes between them may leave its row of the source to neither.
//!    The counts tell. A source that may give other rows the next time is read once
//!    (`merge_source.rs`).
//! 3. Each row is written on condition that it is as it was read. One that was written meanwhile is
//!    read again, and goes to the clause that it belongs to now.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::datasource::MemTable;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use tonnage::{Error, Result, Row, Table, WriteResult};

use super::assignments::{assignments, expression};
use super::change::{alias, table, write_deleted, write_updated};
use super::given::{refuse_rounded, refuse_rounded_items};
use super::insert::{GatheredInsert, insertion};
use super::key_conflicts::refuse_existing;
use super::keys::key_text;
use super::merge_source::{GatheredSource, gathered, refuse_changing};
use super::partial_changes::with_partial_changes;
use super::returning_rows::WrittenRows;
use super::row_change::{Assignment, ChangeWriter, NotedRow, ROWS_PER_LOOK, RowChange};
use super::tokens::{made, quoted, word};
use crate::errors::invalid_at;
use crate::planner::Planner;
use crate::session::{Changes, Guard, Parameters};
use crate::text::{Cursor, Piece, StatementKind};

type Tokens = Vec<TokenWithSpan>;

/// A MERGE as it is written.
pub(super) struct MergeStatement {
    pub(super) table: Table,
    pub(super) alias: Option<String>,
    with: Tokens,
    source: Tokens,
    /// Rows that take the place of a source which may give others the next time.
    given: Option<(String, Arc<MemTable>)>,
    on: Tokens,
    matched: Vec<WhenClause<MatchedAction>>,
    unmatched: Vec<WhenClause<UnmatchedAction>>,
    end: Location,
}

/// What becomes of rows, with the condition that stands behind AND.
struct WhenClause<T> {
    condition: Tokens,
    action: T,
}

enum MatchedAction {
    Update(Vec<Assignment>),
    Delete,
    Nothing,
}

enum UnmatchedAction {
    /// Columns, all without them, and a value for each.
    Insert(Tokens, Tokens),
    Nothing,
}

/// Rows of one clause that matched.
struct MatchedRows<'a> {
    change: RowChange<'a>,
    action: &'a MatchedAction,
    rows: Vec<(RecordBatch, Vec<NotedRow>)>,
}

impl MergeStatement {
    /// Reads a statement.
    ///
    /// # Errors
    /// `Invalid` for something else, with the place.
    pub(super) fn read(planner: &Planner, piece: &Piece) -> Result<Self> {
        let (with, statement) = piece.without_with();
        let mut cursor = Cursor::new(&statement);
        cursor.next();
        if !cursor.word("INTO") {
            return Err(cursor.expected("INTO"));
        }
        let table = table(planner, &mut cursor)?;
        let alias = alias(&mut cursor, "USING")?;
        if !cursor.word("USING") {
            return Err(cursor.expected("USING"));
        }
        // An ON in parentheses does not end the source: joins stand in a query there.
        let source = tokens_until(&mut cursor, &["ON"], "a table, or a query in parentheses")?;
        if !cursor.word("ON") {
            return Err(cursor.expected("ON"));
        }
        let on = tokens_until(&mut cursor, &["WHEN"], "a condition")?;
        let (matched, unmatched) = (Vec::new(), Vec::new());
        let end = piece.end;
        // Made first: its clauses check their columns against its table.
        let given = None;
        let mut merge = Self { table, alias, with, source, given, on, matched, unmatched, end };
        while !cursor.is_at_end() {
            merge.clause(&mut cursor)?;
        }
        match merge.matched.is_empty() && merge.unmatched.is_empty() {
            true => Err(cursor.expected("WHEN MATCHED or WHEN NOT MATCHED")),
            false => Ok(merge),
        }
    }

    /// Reads a source once that may give other rows the next time.
    fn settle_source(
        &mut self,
        planner: &Planner,
        parameters: &Parameters,
        guard: &Guard,
    ) -> Result<()> {
        let matched = self.matched.iter().map(|clause| &clause.condition);
        let unmatched = self.unmatched.iter().map(|clause| &clause.condition);
        for condition in std::iter::once(&self.on).chain(matched).chain(unmatched) {
            refuse_changing(&planner.context.store, &self.with, condition, self.end)?;
        }
        let settled = gathered(planner, &self.with, &self.source, self.end, parameters, guard)?;
        if let Some(GatheredSource { tokens, rows }) = settled {
            (self.source, self.given) = (tokens, Some(rows));
        }
        Ok(())
    }

    /// `WHEN MATCHED | NOT MATCHED [BY TARGET] [AND condition] THEN action`
    fn clause(&mut self, cursor: &mut Cursor) -> Result<()> {
        if !cursor.word("WHEN") {
            return Err(cursor.expected("WHEN"));
        }
        let is_matched = !cursor.word("NOT");
        if !cursor.word("MATCHED") {
            return Err(cursor.expected("MATCHED"));
        }
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
        if !cursor.word("THEN") {
            return Err(cursor.expected("THEN"));
        }
        let is_nothing = cursor.word("DO");
        if is_nothing && !cursor.word("NOTHING") {
            return Err(cursor.expected("NOTHING"));
        }
        // In the order written: a row belongs to the first clause whose condition holds.
        if is_matched {
            let action = if is_nothing { MatchedAction::Nothing } else { self.change(cursor)? };
            self.matched.push(WhenClause { condition, action });
        } else {
            let action = if is_nothing { UnmatchedAction::Nothing } else { insert(cursor)? };
            self.unmatched.push(WhenClause { condition, action });
        }
        Ok(())
    }

    /// `UPDATE SET ...` or `DELETE`
    fn change(&self, cursor: &mut Cursor) -> Result<MatchedAction> {
        if cursor.word("DELETE") {
            return Ok(MatchedAction::Delete);
        }
        if !(cursor.word("UPDATE") && cursor.word("SET")) {
            return Err(cursor.expected("UPDATE SET, DELETE or DO NOTHING"));
        }
        assignments(cursor, self.table.schema()).map(MatchedAction::Update)
    }

    /// The rows of each clause that changes some, as they are now.
    fn read_matched<'a>(
        &'a self,
        planner: &'a Planner,
        parameters: &'a Parameters,
        guard: &'a Guard,
        tells: bool,
    ) -> Result<Vec<MatchedRows<'a>>> {
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
            let alias = self.alias.clone();
            let mut condition = in_parentheses(&self.on);
            condition.extend(clause_condition(&self.matched, place));
            // A row is selected as often as it matches, so that `refuse_twice` sees it.
            let change = RowChange {
                with: self.with.clone(),
                items,
                others: self.source.clone(),
                given: self.given.clone(),
                condition,
                is_distinct: false,
                ..RowChange::new(planner, &self.table, alias, parameters, guard, self.end)
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

    /// Refuses to go on when a row of the table is gone, or matches no more, and the row of the
    /// source would have to be inserted instead.
    fn refuse_lost(&self, change: &RowChange<'_>, batch: &RecordBatch, row: usize) -> Result<()> {
        let inserts = |clause: &WhenClause<UnmatchedAction>| {
            matches!(clause.action, UnmatchedAction::Insert(..))
        };
        let matched = RowChange {
            with: self.with.clone(),
            others: self.source.clone(),
            given: self.given.clone(),
            condition: self.on.clone(),
            ..RowChange::new(
                change.planner,
                &self.table,
                self.alias.clone(),
                change.parameters,
                change.guard,
                self.end,
            )
        };
        if !self.unmatched.iter().any(inserts) || matched.matches(batch, row)? {
            return Ok(());
        }
        Err(Error::conflict(format!(
            "a row of {} was changed by somebody else meanwhile and matches no more: carry the MERGE out again",
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
        let mut inserts = Vec::new();
        for (index, clause) in self.unmatched.iter().enumerate() {
            let UnmatchedAction::Insert(columns, values) = &clause.action else { continue };
            let tokens = self.insertion(columns, values, &clause_condition(&self.unmatched, index));
            let piece = Piece { tokens: tokens.into(), kind: StatementKind::Insert, end: self.end };
            let insertion = insertion(planner, &piece)?.with_rows(self.given.clone());
            refuse_rounded_items(
                &insertion.source,
                &insertion.columns,
                self.table.schema(),
                parameters,
            )?;
            inserts.push(GatheredInsert::new(planner, insertion, parameters, guard)?);
        }
        Ok(inserts)
    }

    /// `INSERT INTO table (columns) SELECT values FROM source WHERE NOT EXISTS (...) AND ...`
    fn insertion(
        &self,
        columns: &[TokenWithSpan],
        values: &[TokenWithSpan],
        and: &Tokens,
    ) -> Tokens {
        let path = self.table.path().to_ascii_lowercase();
        let name = || {
            let parts = path.split('.').flat_map(|part| [made(Token::Period), quoted(part)]);
            parts.skip(1).collect::<Tokens>()
        };
        let mut tokens = self.with.clone();
        // WITH stands before INSERT, where the parser takes it; `insert_of` moves it to the query.
        tokens.extend([word("INSERT"), word("INTO")]);
        tokens.extend(name());
        tokens.extend_from_slice(columns);
        tokens.push(word("SELECT"));
        tokens.extend_from_slice(values);
        tokens.push(word("FROM"));
        tokens.extend_from_slice(&self.source);
        // The table stands within NOT EXISTS alone: no row of it matches, so values may not name
        // its columns.
        tokens.extend([word("WHERE"), word("NOT"), word("EXISTS"), made(Token::LParen)]);
        tokens.extend([word("SELECT"), word("NULL"), word("FROM")]);
        tokens.extend(name());
        tokens.extend(self.alias.iter().flat_map(|alias| [word("AS"), quoted(alias)]));
        tokens.push(word("WHERE"));
        tokens.extend(in_parentheses(&self.on));
        tokens.push(made(Token::RParen));
        tokens.extend_from_slice(and);
        tokens
    }
}

/// Carries a MERGE out.
pub(super) fn run(
    planner: &Planner,
    piece: &Piece,
    parameters: &Parameters,
    guard: &Guard,
    written: &mut WrittenRows,
) -> Result<Changes> {
    let mut merge = MergeStatement::read(planner, piece)?;
    merge.settle_source(planner, parameters, guard)?;
    let inserts = merge.inserts(planner, parameters, guard)?;
    let found = merge.read_matched(planner, parameters, guard, written.gathers_rows())?;
    let rows: Vec<_> = inserts.iter().flat_map(|insert| insert.batches.iter().cloned()).collect();
    // A transaction takes back what a statement has changed that fails.
    if planner.context.transaction.is_none() {
        refuse_existing(&merge.table, &rows)?;
    }
    let mut changes = Changes::default();
    // A closure, so that an error of either kind of write tells what was changed before it.
    let mut write = || -> Result<()> {
        write_found(&merge, &found, guard, &mut changes, written)?;
        for insert in &inserts {
            let inserted = insert.write(planner, None, piece, parameters, guard, written)?;
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
    merge: &MergeStatement,
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

/// `INSERT [(columns)] VALUES (values)`; a column whose value is DEFAULT is left out.
fn insert(cursor: &mut Cursor) -> Result<UnmatchedAction> {
    if !cursor.word("INSERT") {
        return Err(cursor.expected("INSERT or DO NOTHING"));
    }
    let columns = match cursor.peek() {
        Some(Token::LParen) => Some(list(cursor)?),
        _ => None,
    };
    if !cursor.word("VALUES") {
        return Err(cursor.expected("VALUES"));
    }
    let place = cursor.location();
    let mut values = list(cursor)?;
    // Without names the values go to all columns in order: none can be left out for DEFAULT.
    let Some(mut columns) = columns else {
        return Ok(UnmatchedAction::Insert(Vec::new(), comma_separated(values)));
    };
    if columns.len() != values.len() {
        let (columns, values) = (columns.len(), values.len());
        return Err(invalid_at(place, format!("{columns} columns are given {values} values")));
    }
    // DEFAULT is no value of a SELECT, and a column that is not named gets its default.
    let is_given = |value: &Tokens| {
        !matches!(value.as_slice(), [token] if matches!(&token.token, Token::Word(word)
            if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("DEFAULT")))
    };
    let mut given = values.iter().map(is_given).collect::<Vec<_>>().into_iter();
    columns.retain(|_| given.next().unwrap_or(true));
    values.retain(is_given);
    Ok(UnmatchedAction::Insert(in_parentheses(&comma_separated(columns)), comma_separated(values)))
}

/// What stands in parentheses, between commas.
fn list(cursor: &mut Cursor) -> Result<Vec<Tokens>> {
    if !cursor.token(&Token::LParen) {
        return Err(cursor.expected("'('"));
    }
    let mut items = Vec::new();
    loop {
        items.push(tokens_until(cursor, &[], "a value")?);
        if cursor.token(&Token::RParen) {
            return Ok(items);
        }
        if !cursor.token(&Token::Comma) {
            return Err(cursor.expected("',' or ')'"));
        }
    }
}

/// Tokens up to one of these words, or to a comma where there are none; at least one.
fn tokens_until(cursor: &mut Cursor, ends: &[&str], what: &str) -> Result<Tokens> {
    let tokens = expression(cursor, ends, ends.is_empty());
    if tokens.is_empty() { Err(cursor.expected(what)) } else { Ok(tokens) }
}

fn comma_separated(items: Vec<Tokens>) -> Tokens {
    let mut tokens = super::tokens::separated(items.into_iter());
    tokens.pop();
    tokens
}

fn in_parentheses(tokens: &[TokenWithSpan]) -> Tokens {
    let mut all = vec![made(Token::LParen)];
    all.extend_from_slice(tokens);
    all.push(made(Token::RParen));
    all
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
