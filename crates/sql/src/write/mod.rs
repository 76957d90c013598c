//! Statements that change rows.
//!
//! Each row is written atomically, with a condition on what was seen of it; a statement as a whole
//! is not one transaction: when it fails midway, rows written before stay written. INSERT looks for
//! existing keys before it writes anything, so that the common failure changes nothing. Between
//! BEGIN and COMMIT nothing is written: `session/transaction.rs` takes the rows.

mod assignments;
mod change;
mod conflict;
mod copy;
mod create;
mod defaults;
mod given;
mod given_rows;
mod insert;
mod key_conflicts;
mod keys;
mod literals;
mod merge;
mod merge_source;
mod partial_changes;
mod repeated_insert;
mod returning_rows;
mod row_change;
mod row_inserter;
mod tokens;
mod untyped;
mod values;
mod view;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::SchemaRef;
use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use std::sync::Arc;
use tonnage::{Error, Result};

use crate::errors::invalid_at;
use crate::planner::Planner;
use crate::session::{Answer, Changes, Guard, Parameters, Rows};
use crate::text::{Piece, StatementKind, parse, without_catalog};
use partial_changes::with_partial_changes;
use returning_rows::{ReturningClause, ReturningQuery, WrittenRows};
pub(crate) use tokens::{made, quoted, word};

pub(crate) use copy::{CopyResult, CopyStatement, CopySubject, copy};
pub(crate) use create::{CreateTableAs, create_as};
pub(crate) use insert::{insert_of, insertion, replaces};
pub(crate) use repeated_insert::repeat_insert;
pub(crate) use view::{ViewStatement, define_view};

/// Carries out INSERT, UPSERT, UPDATE or DELETE.
pub(crate) fn run(
    planner: &Planner,
    piece: &Piece,
    parameters: &Parameters,
    guard: &Guard,
) -> Result<Answer> {
    let (piece, wanted) = strip_returning(piece)?;
    let ReturningClause::Rows(items) = &wanted else {
        let changes =
            run_change(planner, &piece, parameters, guard, &mut WrittenRows::discarding())?;
        return match wanted {
            ReturningClause::Count => {
                count_batch(changes).map(|batch| Answer::Rows(Rows::ready(batch)))
            }
            _ => Ok(Answer::Changed(changes)),
        };
    };
    let returning = returning(planner, &piece, items)?;
    returning.schema(planner, parameters)?;
    let mut written = WrittenRows::for_returning(planner, &returning.table);
    let changes = run_change(planner, &piece, parameters, guard, &mut written)?;
    let rows = returning.rows(planner, written, parameters, guard);
    rows.map(Answer::Rows).map_err(|error| with_partial_changes(planner, error, changes))
}

fn run_change(
    planner: &Planner,
    piece: &Piece,
    parameters: &Parameters,
    guard: &Guard,
    written: &mut WrittenRows,
) -> Result<Changes> {
    match piece.kind {
        StatementKind::Insert | StatementKind::Upsert => {
            insert::run(planner, piece, parameters, guard, written)
        }
        StatementKind::Merge => merge::run(planner, piece, parameters, guard, written),
        _ => change::run(planner, piece, parameters, guard, written),
    }
}

fn returning<'a>(
    planner: &Planner,
    piece: &Piece,
    items: &'a [TokenWithSpan],
) -> Result<ReturningQuery<'a>> {
    let (table, alias) = match piece.kind {
        StatementKind::Insert | StatementKind::Upsert => {
            let insertion = insertion(planner, piece)?;
            (insertion.table, insertion.alias)
        }
        StatementKind::Merge => {
            let merge = merge::MergeStatement::read(planner, piece)?;
            (merge.table, merge.alias)
        }
        _ => change::target(planner, piece)?,
    };
    Ok(ReturningQuery { items, table, alias, end: piece.end })
}

/// What a statement that changes rows would do: how it writes, then how it finds them.
pub(crate) fn explain(
    planner: &Planner,
    piece: &Piece,
    explain: &[TokenWithSpan],
    parameters: &Parameters,
    guard: &Guard,
) -> Result<(String, Rows)> {
    let (piece, _) = strip_returning(piece)?;
    match piece.kind {
        StatementKind::Insert | StatementKind::Upsert => {
            insert::explain(planner, &piece, explain, parameters, guard)
        }
        _ => change::explain(planner, &piece, explain, parameters, guard),
    }
}

/// The statement without what stands for its answer, and with the bare path of its table.
pub(crate) fn plain_statement(piece: &Piece) -> Result<Piece> {
    strip_returning(piece).map(|(piece, _)| piece)
}

/// Whether a statement that changes rows gives some.
pub(crate) fn returns_rows(piece: &Piece) -> Result<bool> {
    Ok(!matches!(without_returning(piece)?, (_, ReturningClause::Changes)))
}

/// What a statement tells of the rows that it wrote, as a query without FROM.
pub(crate) fn returned_items(piece: &Piece) -> Result<Option<ast::Statement>> {
    let (plain, ReturningClause::Rows(items)) = without_returning(piece)? else { return Ok(None) };
    let tokens = std::iter::once(tokens::word("SELECT")).chain(items).collect();
    parse(tokens, plain.end).map(Some)
}

/// The columns that a statement gives back: those of its RETURNING.
pub(crate) fn returned_schema(
    planner: &Planner,
    piece: &Piece,
    parameters: &Parameters,
) -> Result<Option<SchemaRef>> {
    match strip_returning(piece)? {
        (_, ReturningClause::Count) => {
            count_batch(Changes::default()).map(|batch| Some(batch.schema()))
        }
        (_, ReturningClause::Changes) => Ok(None),
        (plain, ReturningClause::Rows(items)) => {
            returning(planner, &plain, &items)?.schema(planner, parameters).map(Some)
        }
    }
}

fn strip_returning(piece: &Piece) -> Result<(Piece, ReturningClause)> {
    let (mut piece, wanted) = without_returning(piece)?;
    piece.tokens = Arc::new(without_catalog(&piece.tokens));
    Ok((piece, wanted))
}

/// Whether a statement is one that the parser understands.
pub(crate) fn check_syntax(piece: &Piece) -> Result<()> {
    match piece.kind {
        StatementKind::Show | StatementKind::Describe | StatementKind::Truncate => Ok(()),
        StatementKind::Insert
        | StatementKind::Upsert
        | StatementKind::Update
        | StatementKind::Delete
        | StatementKind::Merge => without_returning(piece)?.0.parse().map(drop),
        _ => piece.parse().map(drop),
    }
}

/// The statement without its RETURNING, and what that wants.
fn without_returning(piece: &Piece) -> Result<(Piece, ReturningClause)> {
    let is_returning = |token: &TokenWithSpan| matches!(&token.token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("RETURNING"));
    let Some(at) = piece.tokens.iter().rposition(is_returning) else {
        return Ok((piece.clone(), ReturningClause::Changes));
    };
    let items = &piece.tokens[at + 1..];
    if items.is_empty() {
        return Err(invalid_at(piece.end, "RETURNING without columns: write RETURNING *"));
    }
    let text: Vec<String> =
        items.iter().map(|token| token.token.to_string().to_ascii_lowercase()).collect();
    let wanted = match text == ["count", "(", "*", ")"] {
        true => ReturningClause::Count,
        false => ReturningClause::Rows(items.to_vec()),
    };
    let end = piece.tokens[at].span.start;
    Ok((Piece { tokens: Arc::new(piece.tokens[..at].to_vec()), kind: piece.kind, end }, wanted))
}

fn count_batch(changes: Changes) -> Result<RecordBatch> {
    let count: ArrayRef = Arc::new(Int64Array::from(vec![changes.total() as i64]));
    RecordBatch::try_from_iter([("count", count)])
        .map_err(|error| Error::internal(error.to_string()))
}
