//! Queries that leave words out: `TABLE t`, `FROM t`, `FROM t SELECT a WHERE ...`.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use super::IsWord;

/// What ends a list of tables or columns.
const FOLLOWING: [&str; 13] = [
    "SELECT",
    "WHERE",
    "GROUP",
    "HAVING",
    "WINDOW",
    "QUALIFY",
    "ORDER",
    "LIMIT",
    "OFFSET",
    "FETCH",
    "UNION",
    "INTERSECT",
    "EXCEPT",
];

/// The statement with SELECT before FROM, as the parser reads it.
pub(super) fn spelled_out(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    if tokens.first().is_word("TABLE") {
        tokens[0].token = Token::make_keyword("FROM");
    } else if !tokens.first().is_word("FROM") {
        return tokens;
    }
    let mut rest = tokens.split_off(end_of_list(&tokens));
    let mut columns = Vec::new();
    if rest.first().is_word("SELECT") {
        rest.remove(0);
        let behind = rest.split_off(end_of_list(&rest));
        columns = std::mem::replace(&mut rest, behind);
    }
    let span = tokens[0].span;
    let made = |token| TokenWithSpan { token, span };
    if columns.is_empty() {
        columns.push(made(Token::Mul));
    }
    columns.insert(0, made(Token::make_keyword("SELECT")));
    columns.extend(tokens);
    columns.extend(rest);
    columns
}

/// The end of the list at the beginning.
fn end_of_list(tokens: &[TokenWithSpan]) -> usize {
    let mut depth = 0_i32;
    let ends = |token: &TokenWithSpan| {
        match token.token {
            Token::LParen | Token::LBracket => depth += 1,
            Token::RParen | Token::RBracket => depth -= 1,
            _ => {}
        }
        depth == 0 && token.is_one_of(&FOLLOWING)
    };
    tokens.iter().position(ends).unwrap_or(tokens.len())
}

#[cfg(test)]
mod tests {
    use crate::text::single;

    fn spelled_out(text: &str) -> String {
        let piece = single(text).unwrap();
        let tokens = piece.tokens.iter().map(|token| token.token.to_string());
        tokens.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_is_left_out_is_put_in() {
        assert_eq!(spelled_out("TABLE t"), "SELECT * FROM t");
        assert_eq!(spelled_out("FROM t"), "SELECT * FROM t");
        assert_eq!(spelled_out("FROM t WHERE a > 1"), "SELECT * FROM t WHERE a > 1");
        assert_eq!(
            spelled_out("FROM t JOIN u USING (a) SELECT a, max(b) WHERE a > 1 GROUP BY a"),
            "SELECT a , max ( b ) FROM t JOIN u USING ( a ) WHERE a > 1 GROUP BY a"
        );
        assert_eq!(
            spelled_out("FROM (SELECT 1 AS a WHERE true) q SELECT DISTINCT a ORDER BY a"),
            "SELECT DISTINCT a FROM ( SELECT 1 AS a WHERE true ) q ORDER BY a"
        );
    }
}
