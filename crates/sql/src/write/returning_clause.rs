//! What a statement that changes rows says of its answer.

use std::sync::Arc;

use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::tokenizer::{Location, TokenWithSpan};
use tonnage::Result;

use super::tokens::word;
use crate::errors::invalid_at;
use crate::text::{IsWord, Piece, parse};

/// What a statement says of its answer.
pub(super) enum ReturningClause {
    /// How many rows were written.
    Changes,
    /// `RETURNING COUNT(*)`
    Count,
    /// `RETURNING` and the tokens after it.
    Rows(Vec<TokenWithSpan>),
}

impl ReturningClause {
    /// Splits a statement into the part before RETURNING, and the clause.
    pub(super) fn split(piece: &Piece) -> Result<(Piece, Self)> {
        let Some(at) = piece.tokens.iter().rposition(|token| token.is_word("RETURNING")) else {
            return Ok((piece.clone(), Self::Changes));
        };
        let items = &piece.tokens[at + 1..];
        if items.is_empty() {
            return Err(invalid_at(piece.end, "RETURNING without columns: write RETURNING *"));
        }
        let text: Vec<String> =
            items.iter().map(|token| token.token.to_string().to_ascii_lowercase()).collect();
        let wanted = match text == ["count", "(", "*", ")"] {
            true => Self::Count,
            false => Self::Rows(items.to_vec()),
        };
        let end = piece.tokens[at].span.start;
        let tokens = Arc::new(piece.tokens[..at].to_vec());
        Ok((Piece { tokens, kind: piece.kind, end }, wanted))
    }

    /// Whether the statement gives rows.
    pub(super) fn gives_rows(&self) -> bool {
        !matches!(self, Self::Changes)
    }

    /// The columns that it wants, as a query without FROM.
    pub(super) fn query(&self, end: Location) -> Result<Option<ast::Statement>> {
        let Self::Rows(items) = self else { return Ok(None) };
        let tokens = std::iter::once(word("SELECT")).chain(items.iter().cloned()).collect();
        parse(tokens, end).map(Some)
    }
}
