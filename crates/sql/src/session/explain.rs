//! EXPLAIN, parsed.

use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::tokenizer::TokenWithSpan;
use tonnage::Result;

use super::cached_query::CachedQuery;
use super::table_access::TableAccesses;
use crate::errors::invalid_at;
use crate::text::{IsWord, Piece, StatementKind};
use crate::write::WriteStatement;

#[allow(clippy::large_enum_variant, reason = "there is one a statement")]
pub(crate) enum ExplainStatement {
    Query {
        parsed: Box<ast::Statement>,
        /// The query alone, where nothing but its plan is wanted.
        query: Option<Box<CachedQuery>>,
    },
    /// EXPLAIN with its options, and a statement that changes rows.
    Write(Vec<TokenWithSpan>, WriteStatement),
}

impl ExplainStatement {
    /// Reads a statement.
    ///
    /// # Errors
    /// `Invalid` for something else, with its position.
    pub(crate) fn read(piece: &Piece) -> Result<Self> {
        // Rights and the run of a change are those of its own kind, whatever precedes it.
        let is_option = |token: &&TokenWithSpan| token.is_one_of(&["ANALYZE", "VERBOSE"]);
        let options = piece.tokens[1..].iter().take_while(is_option).count();
        let (explain, rest) = piece.tokens.split_at(1 + options);
        let kind = StatementKind::of(rest);
        let explained = Piece { tokens: rest.to_vec().into(), kind, end: piece.end }.with_insert();
        if let Some(write) = WriteStatement::read(&explained)? {
            if explain.iter().any(|token| token.is_word("ANALYZE")) {
                return Err(invalid_at(
                    explain[1].span.start,
                    "EXPLAIN ANALYZE would carry the statement out: write EXPLAIN for what it would do",
                ));
            }
            return Ok(Self::Write(explain.to_vec(), write));
        }
        let parsed = Box::new(piece.parse()?);
        // The planner would explain other statements, too, and read for SHOW what they ask for.
        let explains_query = match parsed.as_ref() {
            ast::Statement::Explain { statement, .. } => {
                matches!(statement.as_ref(), ast::Statement::Query(_))
            }
            other => matches!(other, ast::Statement::ExplainTable { .. }),
        };
        if !explains_query {
            return Err(invalid_at(
                piece.start(),
                "EXPLAIN takes a query, or a statement that changes rows",
            ));
        }
        let is_plain = options == 0 && rest.first().is_word("SELECT");
        Ok(Self::Query { parsed, query: is_plain.then(|| Box::new(CachedQuery::new(explained))) })
    }

    /// The tables that it touches.
    pub(crate) fn accesses(&self) -> Result<TableAccesses> {
        match self {
            Self::Query { parsed, .. } => Ok(TableAccesses::of_query(parsed.as_ref())),
            Self::Write(_, write) => write.accesses(),
        }
    }
}
