//! Statements that change rows.
//!
//! Each row is written atomically, with a condition on what was seen of it; a statement as a whole
//! is not one transaction: when it fails midway, rows written before stay written. INSERT looks for
//! existing keys before it writes anything, so that the common failure changes nothing.

mod change;
mod insert;
mod many;
mod stopped;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::SchemaRef;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use std::sync::Arc;
use tonnage::{Error, Result};

use crate::answer::{Answer, Changes, Rows};
use crate::error::invalid_at;
use crate::guard::Guard;
use crate::planner::Planner;
use crate::request::Parameters;
use crate::text::{Kind, Piece, without_catalog};

pub(crate) use insert::insertion;
pub(crate) use many::repeated;

/// Carries out INSERT, UPSERT, UPDATE or DELETE.
pub(crate) fn run(
    planner: &Planner,
    piece: &Piece,
    parameters: &Parameters,
    guard: &Guard,
) -> Result<Answer> {
    let (piece, returns) = stripped(piece)?;
    let changes = match piece.kind {
        Kind::Insert | Kind::Upsert => insert::run(planner, &piece, parameters, guard)?,
        Kind::Update => change::update(planner, &piece, parameters, guard)?,
        Kind::Truncate => change::truncate(planner, &piece, parameters, guard)?,
        _ => change::delete(planner, &piece, parameters, guard)?,
    };
    if returns {
        counted(changes).map(|batch| Answer::Rows(Rows::ready(batch)))
    } else {
        Ok(Answer::Changed(changes))
    }
}

/// The statement without what stands for its answer, and with the bare path of its table.
pub(crate) fn plain(piece: &Piece) -> Result<Piece> {
    stripped(piece).map(|(piece, _)| piece)
}

/// The columns that a statement gives back: those of its RETURNING.
pub(crate) fn returned(piece: &Piece) -> Result<Option<SchemaRef>> {
    match without_returning(piece)? {
        (_, true) => counted(Changes::default()).map(|batch| Some(batch.schema())),
        (_, false) => Ok(None),
    }
}

fn stripped(piece: &Piece) -> Result<(Piece, bool)> {
    let (mut piece, returns) = without_returning(piece)?;
    piece.tokens = Arc::new(without_catalog(&piece.tokens));
    Ok((piece, returns))
}

/// Whether a statement is one that the parser understands.
pub(crate) fn parsed(piece: &Piece) -> Result<()> {
    match piece.kind {
        Kind::Show | Kind::Describe | Kind::Truncate => Ok(()),
        Kind::Insert | Kind::Upsert | Kind::Update | Kind::Delete => {
            without_returning(piece)?.0.parse().map(drop)
        }
        _ => piece.parse().map(drop),
    }
}

/// The statement without `RETURNING COUNT(*)`, and whether that stood at its end.
fn without_returning(piece: &Piece) -> Result<(Piece, bool)> {
    let is_returning = |token: &TokenWithSpan| matches!(&token.token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("RETURNING"));
    let Some(at) = piece.tokens.iter().rposition(is_returning) else {
        return Ok((piece.clone(), false));
    };
    let wanted: Vec<String> = piece.tokens[at + 1..]
        .iter()
        .map(|token| token.token.to_string().to_ascii_lowercase())
        .collect();
    if wanted != ["count", "(", "*", ")"] {
        let error = invalid_at(
            piece.tokens[at].span.start,
            "RETURNING gives counts only: write RETURNING COUNT(*)",
        );
        return Err(Error::unsupported(error.message()));
    }
    let end = piece.tokens[at].span.start;
    Ok((Piece { tokens: Arc::new(piece.tokens[..at].to_vec()), kind: piece.kind, end }, true))
}

fn counted(changes: Changes) -> Result<RecordBatch> {
    let count: ArrayRef = Arc::new(Int64Array::from(vec![changes.total() as i64]));
    RecordBatch::try_from_iter([("count", count)])
        .map_err(|error| Error::internal(error.to_string()))
}
