//! `?` as parameters.
//!
//! JDBC and its like write `?` for a value, JSON's operator is written so, too. A `?` between two
//! operands is the operator. Every other one is a parameter, and becomes the next `$n`.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use tonnage::Result;

use crate::errors::invalid_at;

/// Words before a value that are not operators.
const BEFORE_VALUES: [&str; 34] = [
    "ALL",
    "AND",
    "ANY",
    "BETWEEN",
    "BY",
    "CASE",
    "DISTINCT",
    "ELSE",
    "ESCAPE",
    "EXCEPT",
    "FETCH",
    "FIRST",
    "FOR",
    "FROM",
    "HAVING",
    "ILIKE",
    "IN",
    "INTERVAL",
    "IS",
    "LIKE",
    "LIMIT",
    "NEXT",
    "NOT",
    "OFFSET",
    "ON",
    "OR",
    "PRECISION",
    "RETURNING",
    "SELECT",
    "SET",
    "THEN",
    "VALUES",
    "WHEN",
    "WHERE",
];

/// Numbers each `?` that is a parameter.
///
/// # Errors
/// `Invalid` where `?` and `$n` are mixed.
pub(super) fn number(tokens: &mut [TokenWithSpan]) -> Result<()> {
    let mut numbered = 0;
    for at in 0..tokens.len() {
        if tokens[at].token != Token::Question || is_operator(tokens, at) {
            continue;
        }
        numbered += 1;
        tokens[at].token = Token::Placeholder(format!("${numbered}"));
        if numbered == 1
            && let Some(other) = tokens.iter().enumerate().find(|(place, token)| {
                *place != at && matches!(&token.token, Token::Placeholder(_))
            })
        {
            return Err(invalid_at(
                other.1.span.start,
                "the statement has both ? and $n for its parameters: write one of them",
            ));
        }
    }
    Ok(())
}

fn is_operator(tokens: &[TokenWithSpan], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|place| tokens.get(place));
    before.is_some_and(|token| ends_operand(&token.token))
        && tokens.get(at + 1).is_some_and(|token| begins_operand(&token.token))
}

fn ends_operand(token: &Token) -> bool {
    match token {
        Token::Word(word) => {
            word.quote_style.is_some()
                || !BEFORE_VALUES.iter().any(|before| word.value.eq_ignore_ascii_case(before))
        }
        Token::RParen | Token::RBracket | Token::Placeholder(_) => true,
        token => is_literal(token),
    }
}

fn begins_operand(token: &Token) -> bool {
    match token {
        Token::LParen | Token::Question | Token::Placeholder(_) | Token::Colon => true,
        token => is_literal(token),
    }
}

fn is_literal(token: &Token) -> bool {
    matches!(
        token,
        Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::EscapedStringLiteral(_)
            | Token::DollarQuotedString(_)
    )
}

#[cfg(test)]
mod tests {
    use crate::text::pieces;

    fn text(statement: &str) -> String {
        let pieces = pieces(statement).unwrap();
        let tokens = pieces.iter().flat_map(|piece| piece.tokens.iter());
        tokens.map(|token| token.token.to_string()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_question_mark_as_a_value_is_the_next_parameter() {
        let cases = [
            ("SELECT a FROM t WHERE a = ? AND b > ?", "SELECT a FROM t WHERE a = $1 AND b > $2"),
            ("INSERT INTO t VALUES (?, ?)", "INSERT INTO t VALUES ( $1 , $2 )"),
            ("SELECT ? FROM t LIMIT ? OFFSET ?", "SELECT $1 FROM t LIMIT $2 OFFSET $3"),
            ("SELECT 1 WHERE a BETWEEN ? AND ?", "SELECT 1 WHERE a BETWEEN $1 AND $2"),
            ("SELECT f(?, 1) + ?", "SELECT f ( $1 , 1 ) + $2"),
            ("UPDATE t SET a = ? WHERE k IN (?)", "UPDATE t SET a = $1 WHERE k IN ( $2 )"),
            ("SELECT CASE WHEN ? THEN ? ELSE ? END", "SELECT CASE WHEN $1 THEN $2 ELSE $3 END"),
            ("SELECT '?' FROM \"a?\" WHERE NOT ?", "SELECT '?' FROM \"a?\" WHERE NOT $1"),
        ];
        for (statement, wanted) in cases {
            assert_eq!(text(statement), wanted);
        }
    }

    #[test]
    fn a_question_mark_between_operands_is_the_operator() {
        assert_eq!(text("SELECT j ? 'key' FROM t"), "SELECT j ? 'key' FROM t");
        assert_eq!(text("SELECT j ? ? FROM t"), "SELECT j ? $1 FROM t");
        assert_eq!(text("SELECT (j -> 'a') ? 'b'"), "SELECT ( j -> 'a' ) ? 'b'");
    }

    #[test]
    fn both_ways_to_write_parameters_do_not_mix() {
        let error = pieces("SELECT $1,\n ?").unwrap_err();
        assert!(error.message().contains("line 1, column 8"), "{error}");
    }
}
