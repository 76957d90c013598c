//! A statement that changes rows: INSERT, UPSERT, UPDATE, DELETE, TRUNCATE or MERGE, with what it
//! returns of them.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::SchemaRef;
use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::tokenizer::{Location, TokenWithSpan};
use tonnage::{Error, Result, Table};

use super::assignments::SetItem;
use super::change::ChangeStatement;
use super::insert;
use super::insert_statement::{BoundInsert, InsertStatement};
use super::merge;
use super::merge_statement::MergeStatement;
use super::partial_changes::with_partial_changes;
use super::returning_clause::ReturningClause;
use super::returning_rows::{ReturningQuery, WrittenRows};
use super::target::ChangeTarget;
use crate::planner::Planner;
use crate::session::{Access, Answer, Changes, Guard, Parameters, Rows, TableAccesses};
use crate::text::{Piece, StatementKind};

/// A statement that changes rows, parsed.
pub(crate) struct WriteStatement {
    body: WriteBody,
    returning: ReturningClause,
    /// Where RETURNING begins, or the statement ends.
    end: Location,
}

/// The names of parameters, with the columns that are set to them.
pub(crate) type AssignedParameters<'a> = Vec<(&'a str, &'a str)>;

enum WriteBody {
    Insert(InsertStatement),
    Change(ChangeStatement),
    Merge(MergeStatement),
}

impl WriteStatement {
    /// Reads a statement, if it is one that changes rows.
    ///
    /// # Errors
    /// `Invalid` for one that is wrong, with the position.
    pub(crate) fn read(piece: &Piece) -> Result<Option<Self>> {
        let body: fn(&Piece) -> Result<WriteBody> = match piece.kind {
            StatementKind::Insert | StatementKind::Upsert => {
                |piece| InsertStatement::read(piece).map(WriteBody::Insert)
            }
            StatementKind::Update => |piece| ChangeStatement::update(piece).map(WriteBody::Change),
            StatementKind::Delete => |piece| ChangeStatement::delete(piece).map(WriteBody::Change),
            StatementKind::Truncate => {
                |piece| ChangeStatement::truncate(piece).map(WriteBody::Change)
            }
            StatementKind::Merge => |piece| MergeStatement::read(piece).map(WriteBody::Merge),
            _ => return Ok(None),
        };
        let (plain, returning) = ReturningClause::split(piece)?;
        Ok(Some(Self { body: body(&plain)?, returning, end: plain.end }))
    }

    /// Finds what only the parser finds wrong.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.body {
            WriteBody::Insert(_) => Ok(()),
            WriteBody::Change(_) | WriteBody::Merge(_) => self.reading().map(drop),
        }
    }

    /// The tables that it touches.
    pub(crate) fn accesses(&self) -> Result<TableAccesses> {
        let returned = self.returning.query(self.end)?;
        let returned = returned.as_ref();
        let mut found = TableAccesses::default();
        match &self.body {
            WriteBody::Insert(insert) => return Ok(insert.accesses(returned)),
            WriteBody::Change(change) => {
                note(&change.target, change.accesses(), returned, &mut found);
            }
            WriteBody::Merge(merge) => {
                note(&merge.target, merge.accesses(), returned, &mut found);
            }
        }
        self.reading()?.iter().for_each(|(reading, _)| found.read(reading));
        Ok(found)
    }

    /// Carries it out.
    pub(crate) fn run(
        &self,
        planner: &Planner,
        parameters: &Parameters,
        guard: &Guard,
    ) -> Result<Answer> {
        let items = match &self.returning {
            ReturningClause::Rows(items) => items,
            ReturningClause::Changes => {
                let mut written = WrittenRows::discarding();
                return self.change(planner, parameters, guard, &mut written).map(Answer::Changed);
            }
            ReturningClause::Count => {
                let mut written = WrittenRows::discarding();
                let changes = self.change(planner, parameters, guard, &mut written)?;
                return count_batch(changes).map(|batch| Answer::Rows(Rows::ready(batch)));
            }
        };
        let returning = self.returning_query(planner, items)?;
        returning.schema(planner, parameters)?;
        let mut written = WrittenRows::for_returning(planner, &returning.table);
        let changes = self.change(planner, parameters, guard, &mut written)?;
        let rows = returning.rows(planner, written, parameters, guard);
        rows.map(Answer::Rows).map_err(|error| with_partial_changes(planner, error, changes))
    }

    fn change(
        &self,
        planner: &Planner,
        parameters: &Parameters,
        guard: &Guard,
        written: &mut WrittenRows,
    ) -> Result<Changes> {
        match &self.body {
            WriteBody::Insert(statement) => {
                insert::run(statement, planner, parameters, guard, written)
            }
            WriteBody::Change(change) => change.run(planner, parameters, guard, written),
            WriteBody::Merge(merge) => merge::run(merge, planner, parameters, guard, written),
        }
    }

    /// What it would do: how it writes, then how it finds the rows.
    pub(crate) fn explain(
        &self,
        planner: &Planner,
        explain: &[TokenWithSpan],
        parameters: &Parameters,
        guard: &Guard,
    ) -> Result<(String, Rows)> {
        match &self.body {
            WriteBody::Insert(statement) => {
                insert::explain(statement, planner, explain, parameters, guard)
            }
            WriteBody::Change(change) => change.explain(planner, explain, parameters, guard),
            WriteBody::Merge(_) => Err(Error::unsupported(
                "EXPLAIN of a MERGE: write EXPLAIN for a SELECT that joins its source",
            )),
        }
    }

    /// Whether it gives rows.
    pub(crate) fn gives_rows(&self) -> bool {
        self.returning.gives_rows()
    }

    /// The columns that it gives back: those of its RETURNING.
    pub(crate) fn returned_schema(
        &self,
        planner: &Planner,
        parameters: &Parameters,
    ) -> Result<Option<SchemaRef>> {
        match &self.returning {
            ReturningClause::Count => {
                count_batch(Changes::default()).map(|batch| Some(batch.schema()))
            }
            ReturningClause::Changes => Ok(None),
            ReturningClause::Rows(items) => {
                self.returning_query(planner, items)?.schema(planner, parameters).map(Some)
            }
        }
    }

    fn returning_query<'a>(
        &self,
        planner: &Planner,
        items: &'a [TokenWithSpan],
    ) -> Result<ReturningQuery<'a>> {
        let (table, alias) = match &self.body {
            WriteBody::Insert(statement) => {
                let insert = statement.bind(&planner.context.store)?;
                (insert.table, insert.alias)
            }
            WriteBody::Change(ChangeStatement { target, .. })
            | WriteBody::Merge(MergeStatement { target, .. }) => {
                (target.table(&planner.context.store)?, target.alias.clone())
            }
        };
        Ok(ReturningQuery { items, table, alias, end: self.end })
    }

    /// The rows that an INSERT or UPSERT puts in, over its table as it is now.
    pub(crate) fn insertion(&self, planner: &Planner) -> Result<Option<BoundInsert<'_>>> {
        match &self.body {
            WriteBody::Insert(statement) => statement.bind(&planner.context.store).map(Some),
            WriteBody::Change(_) | WriteBody::Merge(_) => Ok(None),
        }
    }

    /// The query that an UPDATE, DELETE or MERGE reads by, and the columns that are set to a
    /// parameter alone.
    pub(crate) fn reading(&self) -> Result<Option<(ast::Statement, AssignedParameters<'_>)>> {
        let (reading, set) = match &self.body {
            WriteBody::Insert(_) => return Ok(None),
            WriteBody::Change(change) => match change.reading()? {
                Some(reading) => (reading, change.set_items()),
                None => return Ok(None),
            },
            WriteBody::Merge(merge) => (merge.reading()?, merge.set_items()),
        };
        let assigned = set.into_iter().filter_map(SetItem::parameter_and_column);
        Ok(Some((reading, assigned.collect())))
    }

    /// The table whose rows are changed, if it is there; none of an INSERT.
    pub(crate) fn changed_table(&self, planner: &Planner) -> Option<Table> {
        match &self.body {
            WriteBody::Insert(_) => None,
            WriteBody::Change(ChangeStatement { target, .. })
            | WriteBody::Merge(MergeStatement { target, .. }) => {
                target.table(&planner.context.store).ok()
            }
        }
    }
}

/// Notes what is done to a table, and what is returned of it.
fn note(
    target: &ChangeTarget,
    accesses: &[Access],
    returned: Option<&ast::Statement>,
    found: &mut TableAccesses,
) {
    accesses.iter().for_each(|access| found.note(&target.path, *access));
    if let Some(returned) = returned {
        if !accesses.contains(&Access::Read) {
            found.note(&target.path, Access::Read);
        }
        found.read(returned);
    }
}

fn count_batch(changes: Changes) -> Result<RecordBatch> {
    let count: ArrayRef = Arc::new(Int64Array::from(vec![changes.total() as i64]));
    RecordBatch::try_from_iter([("count", count)])
        .map_err(|error| Error::internal(error.to_string()))
}
