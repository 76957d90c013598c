//! Splits a statement from the WITH before it.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use super::IsWord;

/// What may follow the tables of a WITH.
const STATEMENTS: [&str; 10] = [
    "SELECT", "VALUES", "TABLE", "FROM", "INSERT", "UPSERT", "REPLACE", "UPDATE", "DELETE", "MERGE",
];

/// The tokens of WITH and its tables, none without it, and those of the statement after them. A
/// table may bear the name of a statement: then a parenthesis or AS follows.
pub(super) fn split_with(tokens: &[TokenWithSpan]) -> (&[TokenWithSpan], &[TokenWithSpan]) {
    if !tokens.first().is_word("WITH") {
        return tokens.split_at(0);
    }
    let mut depth = 0_i32;
    for (at, token) in tokens.iter().enumerate().skip(1) {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ if depth == 0 && token.is_one_of(&STATEMENTS) => {
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
