//! Splits a statement from the WITH before it.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

/// What may follow the tables of a WITH.
const STATEMENTS: [&str; 9] =
    ["SELECT", "VALUES", "TABLE", "FROM", "INSERT", "UPSERT", "UPDATE", "DELETE", "MERGE"];

/// The tokens of WITH and its tables, none without it, and those of the statement behind them. A
/// table may bear the name of a statement: then a parenthesis or AS follows.
pub(super) fn split_with(tokens: &[TokenWithSpan]) -> (&[TokenWithSpan], &[TokenWithSpan]) {
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
