//! Files as tables: `FROM 'ships.csv'`, `JOIN 'ports.parquet' p ON ...`,
//! `FROM read_csv('ships.txt')`. Each becomes a name that no table can have.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use super::IsWord;

/// What such a name begins with, before the format and the path.
const PREFIX: &str = "file:";
/// Functions that read files of a format.
const FUNCTIONS: [(&str, &str); 10] = [
    ("read_csv", "csv"),
    ("read_csv_auto", "csv"),
    ("read_json", "jsonl"),
    ("read_json_auto", "jsonl"),
    ("read_ndjson", "jsonl"),
    ("read_ndjson_auto", "jsonl"),
    ("read_parquet", "parquet"),
    ("parquet_scan", "parquet"),
    ("read_arrow", "arrow"),
    ("arrow_scan", "arrow"),
];

/// The names of these functions.
pub(super) fn functions() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.into_iter().map(|(name, _)| name)
}

/// A file as a statement names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileName<'a> {
    /// The format, where the statement says it.
    pub(crate) format: Option<&'a str>,
    pub(crate) path: &'a str,
}

impl<'a> FileName<'a> {
    /// The file that a name of a table means, if it is one.
    pub(crate) fn parse(name: &'a str) -> Option<Self> {
        let (format, path) = name.strip_prefix(PREFIX)?.split_once(':')?;
        Some(Self { format: Some(format).filter(|format| !format.is_empty()), path })
    }
}

fn name(format: &str, path: &str) -> Token {
    Token::make_word(&format!("{PREFIX}{format}:{path}"), Some('"'))
}

/// Replaces files by names of tables.
pub(super) fn name_files(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut named = Vec::with_capacity(tokens.len());
    // Whether there is a query at each depth of parentheses: FROM belongs to functions, too.
    let mut queries = vec![tokens.first().is_one_of(&["FROM", "TABLE"])];
    let mut at = 0;
    while at < tokens.len() {
        let token = &tokens[at];
        match &token.token {
            Token::LParen => queries.push(false),
            Token::RParen if queries.len() > 1 => drop(queries.pop()),
            word if word.is_one_of(&["SELECT", "UPDATE", "DELETE", "MERGE"]) => {
                if let Some(query) = queries.last_mut() {
                    *query = true;
                }
            }
            _ => {}
        }
        if let Some((file, taken)) = file_at(&tokens, at, queries.last() == Some(&true)) {
            named.push(TokenWithSpan { token: file, span: token.span });
            at += taken;
        } else {
            named.push(token.clone());
            at += 1;
        }
    }
    named
}

/// The name of the file at this token, and how many tokens it takes.
fn file_at(tokens: &[TokenWithSpan], at: usize, in_query: bool) -> Option<(Token, usize)> {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    match &tokens[at].token {
        Token::SingleQuotedString(path) => {
            let is_distinct = at.checked_sub(2).is_some_and(|at| tokens[at].is_word("DISTINCT"));
            let is_table = before.is_word("JOIN")
                || before.is_one_of(&["FROM", "USING"]) && in_query && !is_distinct;
            is_table.then(|| (name("", path), 1))
        }
        Token::Word(word) if word.quote_style.is_none() => {
            let (_, format) =
                FUNCTIONS.iter().find(|(known, _)| word.value.eq_ignore_ascii_case(known))?;
            match &tokens.get(at + 1..at + 4)?.iter().map(|token| &token.token).collect::<Vec<_>>()
                [..]
            {
                [Token::LParen, Token::SingleQuotedString(path), Token::RParen] => {
                    Some((name(format, path), 4))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::single;

    fn named(text: &str) -> String {
        let piece = single(text).unwrap();
        let tokens = piece.tokens.iter().map(|token| token.token.to_string());
        tokens.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_text_as_a_table_is_a_file() {
        assert_eq!(named("SELECT * FROM 'a.csv'"), "SELECT * FROM \"file::a.csv\"");
        assert_eq!(named("FROM 'a.csv'"), "SELECT * FROM \"file::a.csv\"");
        assert_eq!(
            named("SELECT * FROM t JOIN 'a.csv' f ON true"),
            "SELECT * FROM t JOIN \"file::a.csv\" f ON true"
        );
        assert_eq!(
            named("SELECT * FROM read_parquet('x') WHERE a IN (SELECT a FROM 'b')"),
            "SELECT * FROM \"file:parquet:x\" WHERE a IN ( SELECT a FROM \"file::b\" )"
        );
        let file = FileName { format: Some("csv"), path: "a:b.txt" };
        assert_eq!(FileName::parse("file:csv:a:b.txt"), Some(file));
        assert_eq!(FileName::parse("files"), None);
    }

    #[test]
    fn other_texts_stay_texts() {
        for text in [
            "SELECT trim ( BOTH FROM 'x' )",
            "SELECT a IS DISTINCT FROM 'x' FROM t",
            "SELECT substring ( 'abc' FROM 2 ) FROM t",
        ] {
            assert_eq!(named(text), text);
        }
    }
}
