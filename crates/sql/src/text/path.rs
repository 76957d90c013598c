//! Paths of tables that are deeper than the parser's names.
//!
//! A name of four parts and more is no table to the planner, and a table is what stands behind
//! FROM, JOIN, INTO or UPDATE. So a deep path found there becomes one name in quotes, which the
//! catalog looks up as it is; and so does the same path in front of a column.

use datafusion::sql::sqlparser::tokenizer::{Span, Token, TokenWithSpan};

use super::IsWord;
use super::with::split_with;

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

/// The tokens without catalog and schema in front of the table that an INSERT fills:
/// `tonnage.public.t` is `t`. The planner knows these names, the store does not.
pub(crate) fn without_catalog(all: &[TokenWithSpan]) -> Vec<TokenWithSpan> {
    /// Between INSERT and INTO stand two words at most, as in INSERT OR REPLACE INTO.
    const INTO_MAX: usize = 3;
    let (with, tokens) = split_with(all);
    let is_word = |at: usize, wanted: &str| {
        matches!(tokens.get(at).map(|token| &token.token),
            Some(Token::Word(word)) if word.value.eq_ignore_ascii_case(wanted))
    };
    let is_name =
        |at: usize| matches!(tokens.get(at).map(|token| &token.token), Some(Token::Word(_)));
    let followed = |at: usize| {
        tokens.get(at + 1).is_some_and(|token| token.token == Token::Period) && is_name(at + 2)
    };
    let into = (0..=INTO_MAX).find(|at| tokens.get(*at).is_word("INTO"));
    let first = into.map_or(1, |at| at + 1);
    let first = if tokens.get(first).is_word("TABLE") { first + 1 } else { first };
    // A table may itself be called `public`: the word is a schema only before another name.
    let mut name = first;
    if is_word(name, CATALOG) && is_word(name + 2, SCHEMA) && followed(name) && followed(name + 2) {
        name += 4;
    } else if is_word(name, SCHEMA) && followed(name) {
        name += 2;
    }
    [with, &tokens[..first.min(tokens.len())], tokens.get(name..).unwrap_or_default()].concat()
}

/// The deep paths that stand where tables do, the deepest first.
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
    fn a_deep_path_is_one_name_wherever_it_stands() {
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
    fn the_table_that_is_filled_needs_no_catalog() {
        let text = |statement: &str| {
            let tokens = without_catalog(&single(statement).unwrap().tokens);
            tokens.iter().map(|token| token.token.to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(text("INSERT INTO tonnage.public.t VALUES (1)"), "INSERT INTO t VALUES ( 1 )");
        assert_eq!(
            text("INSERT INTO public.\"a.b\" VALUES (1)"),
            "INSERT INTO \"a.b\" VALUES ( 1 )"
        );
        assert_eq!(text("INSERT INTO public VALUES (1)"), "INSERT INTO public VALUES ( 1 )");
        assert_eq!(text("INSERT INTO a.b VALUES (1)"), "INSERT INTO a . b VALUES ( 1 )");
        assert_eq!(
            text("INSERT OR REPLACE INTO public.t VALUES (1)"),
            "INSERT OR REPLACE INTO t VALUES ( 1 )"
        );
        assert_eq!(
            text("WITH w AS (SELECT 1) INSERT INTO public.t SELECT * FROM w"),
            "WITH w AS ( SELECT 1 ) INSERT INTO t SELECT * FROM w"
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
