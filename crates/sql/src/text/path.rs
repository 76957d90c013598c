//! Paths of tables that are deeper than the parser's names.
//!
//! A name of four parts and more is not a table to the planner, and a table is the name after FROM,
//! JOIN, INTO or UPDATE. So a deep path found there becomes one name in quotes, which the catalog
//! looks up as it is; and so does the same path before a column.

use datafusion::sql::sqlparser::tokenizer::{Span, Token, TokenWithSpan};

use super::IsWord;

/// The catalog and the schema that a plain name is looked up in.
pub(crate) const CATALOG: &str = "tonnage";
pub(crate) const SCHEMA: &str = "public";

/// The names that the planner can take apart by itself: catalog, schema and table.
const PARTS_MAX: usize = 3;

/// The tokens with each deep path as one.
pub(super) fn join_deep_paths(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let deep = deep_paths(&tokens);
    if deep.is_empty() {
        return tokens;
    }
    let mut out = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let names = names(&tokens[at..]);
        // A path counts from its first name: the rest of a longer one may look like another.
        let begins_here = at == 0 || tokens[at - 1].token != Token::Period;
        match deep.iter().find(|path| begins_here && names.starts_with(path)) {
            Some(path) => {
                let last = at + 2 * path.len() - 2;
                // An error of the one name then points at where the path begins.
                let span = Span::new(tokens[at].span.start, tokens[last].span.end);
                out.push(TokenWithSpan {
                    token: Token::make_word(&path.join("."), Some('"')),
                    span,
                });
                at = last + 1;
            }
            None => {
                out.push(tokens[at].clone());
                at += 1;
            }
        }
    }
    out
}

/// The deep paths at positions of tables, the deepest first.
fn deep_paths(tokens: &[TokenWithSpan]) -> Vec<Vec<String>> {
    let tables = (1..tokens.len())
        .filter(|at| tokens[at - 1].is_one_of(&["FROM", "JOIN", "INTO", "UPDATE"]))
        .map(|at| names(&tokens[at..]));
    let mut deep: Vec<_> = tables.filter(|path| path.len() > PARTS_MAX).collect();
    deep.sort_by_key(|path| std::cmp::Reverse(path.len()));
    deep
}

/// The names, parted by points, that the tokens begin with; in lower case.
fn names(tokens: &[TokenWithSpan]) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = tokens.iter().map(|token| &token.token);
    while let Some(Token::Word(word)) = rest.next() {
        names.push(word.value.to_ascii_lowercase());
        if rest.next() != Some(&Token::Period) {
            break;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::single;

    fn text(statement: &str) -> String {
        let tokens = join_deep_paths(single(statement).unwrap().tokens.to_vec());
        tokens.iter().map(|token| token.token.to_string()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_deep_path_is_one_name_everywhere() {
        assert_eq!(
            text("SELECT A.b.c.d.x FROM a.b.C.d"),
            "SELECT \"a.b.c.d\" . x FROM \"a.b.c.d\""
        );
        assert_eq!(
            text("INSERT INTO a.b.c.d.e VALUES (1)"),
            "INSERT INTO \"a.b.c.d.e\" VALUES ( 1 )"
        );
        assert_eq!(
            text("SELECT 1 FROM t JOIN a.b.c.d ON a.b.c.d.x = t.y"),
            "SELECT 1 FROM t JOIN \"a.b.c.d\" ON \"a.b.c.d\" . x = t . y"
        );
    }

    #[test]
    fn other_names_stay() {
        for statement in
            ["SELECT a . b . c . x FROM a . b . c", "SELECT a . b . c . d FROM t", "SELECT 1"]
        {
            assert_eq!(text(statement), statement);
        }
    }
}
