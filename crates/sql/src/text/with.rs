//! The tables that WITH puts before a statement.

use std::sync::Arc;

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use super::Piece;

/// What may follow the tables of a WITH.
const STATEMENTS: [&str; 9] =
    ["SELECT", "VALUES", "TABLE", "FROM", "INSERT", "UPSERT", "UPDATE", "DELETE", "MERGE"];

/// The tokens of WITH and its tables, none without it, and those of the statement behind them. A
/// table may bear the name of a statement: then a parenthesis or AS follows.
pub(super) fn parted(tokens: &[TokenWithSpan]) -> (&[TokenWithSpan], &[TokenWithSpan]) {
    if !is_word(tokens.first(), &["WITH"]) {
        return tokens.split_at(0);
    }
    let mut depth = 0_i32;
    for (at, token) in tokens.iter().enumerate().skip(1) {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ if depth == 0 && is_word(Some(token), &STATEMENTS) => {
                let is_behind_table = tokens[at - 1].token == Token::RParen;
                if is_behind_table {
                    return tokens.split_at(at);
                }
            }
            _ => {}
        }
    }
    tokens.split_at(0)
}

fn is_word(token: Option<&TokenWithSpan>, wanted: &[&str]) -> bool {
    matches!(token.map(|token| &token.token), Some(Token::Word(word))
        if word.quote_style.is_none()
            && wanted.iter().any(|name| word.value.eq_ignore_ascii_case(name)))
}

impl Piece {
    /// The tokens of WITH and its tables, and the statement behind them.
    pub(crate) fn without_with(&self) -> (Vec<TokenWithSpan>, Piece) {
        let (tables, statement) = parted(&self.tokens);
        let tokens =
            if tables.is_empty() { self.tokens.clone() } else { Arc::new(statement.to_vec()) };
        (tables.to_vec(), Piece { tokens, kind: self.kind, end: self.end })
    }
}
