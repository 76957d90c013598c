//! Repeats the VALUES of an INSERT for many rows of parameters.

use std::sync::Arc;

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::text::{IsWord, Piece, StatementKind};

/// `INSERT ... VALUES ($1, $2)` with so many rows of values, whose parameters are numbered on; none
/// when the statement is not of that form. `count` is the number of parameters of one row.
pub(crate) fn repeat_insert(piece: &Piece, count: usize, rows: usize) -> Option<Piece> {
    if !matches!(piece.kind, StatementKind::Insert | StatementKind::Upsert) || count == 0 {
        return None;
    }
    let tokens = piece.tokens.as_slice();
    let values = tokens.iter().position(|token| token.is_word("VALUES"))?;
    let (open, close) = (values + 1, end_of_row(tokens, values + 1)?);
    // A parameter outside the row, as in DO UPDATE, may have another value for each row.
    let outside = tokens[..open].iter().chain(&tokens[close + 1..]);
    let is_free = |token: &TokenWithSpan| !matches!(token.token, Token::Placeholder(_));
    // What is computed of a row's values may differ from row to row in its type.
    let row = &tokens[open..=close];
    let is_plain = row[1..row.len() - 1]
        .iter()
        .all(|token| matches!(token.token, Token::Placeholder(_) | Token::Comma));
    let has_second_row = tokens.get(close + 1).is_some_and(|token| token.token == Token::Comma);
    if !is_plain || has_second_row || !outside.clone().all(is_free) {
        return None;
    }
    let mut out = tokens[..open].to_vec();
    for number in 0..rows {
        if number > 0 {
            out.push(TokenWithSpan { token: Token::Comma, span: row[0].span });
        }
        for token in row {
            let token = match shifted(&token.token, number * count) {
                Some(shifted) => TokenWithSpan { token: shifted, span: token.span },
                None => token.clone(),
            };
            out.push(token);
        }
    }
    out.extend_from_slice(&tokens[close + 1..]);
    Some(Piece { tokens: Arc::new(out), kind: piece.kind, end: piece.end })
}

/// Where the parenthesis closes that opens here.
fn end_of_row(tokens: &[TokenWithSpan], open: usize) -> Option<usize> {
    (tokens.get(open)?.token == Token::LParen).then_some(())?;
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen if depth == 1 => return Some(at),
            Token::RParen => depth -= 1,
            _ => {}
        }
    }
    None
}

fn shifted(token: &Token, by: usize) -> Option<Token> {
    let Token::Placeholder(name) = token else { return None };
    let number: usize = name.strip_prefix('$')?.parse().ok()?;
    Some(Token::Placeholder(format!("${}", number + by)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::single;

    fn text(statement: &str, count: usize) -> Option<String> {
        let piece = repeat_insert(&single(statement).unwrap(), count, 2)?;
        let tokens = piece.tokens.iter().map(|token| token.token.to_string());
        Some(tokens.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_row_of_parameters_becomes_many() {
        assert_eq!(
            text("INSERT INTO t (a, b) VALUES (?, ?) ON CONFLICT DO NOTHING", 2).unwrap(),
            "INSERT INTO t ( a , b ) VALUES ( $1 , $2 ) , ( $3 , $4 ) ON CONFLICT DO NOTHING"
        );
    }

    #[test]
    fn other_forms_are_left_alone() {
        for statement in [
            "INSERT INTO t VALUES (?, ? + 1)",
            "INSERT INTO t VALUES (?, ?), (1, 2)",
            "INSERT INTO t SELECT ?, ?",
            "UPDATE t SET a = ? WHERE b = ?",
        ] {
            assert_eq!(text(statement, 2), None, "{statement}");
        }
    }
}
