//! Replaces words and signs that the parser does not know.

use std::collections::BTreeMap;

use datafusion::sql::sqlparser::tokenizer::{Span, Token, TokenWithSpan, Word};
use tonnage::{Error, Result};

use super::IsWord;

/// The sign of a division of whole numbers.
pub(super) const INTEGER_DIVISION: &str = "//";

/// Functions that take a function, `x -> x + 1`. Elsewhere `->` reads from a document.
const WITH_LAMBDAS: [&str; 9] = [
    "array_transform",
    "list_transform",
    "list_apply",
    "array_apply",
    "array_filter",
    "list_filter",
    "array_any_match",
    "any_match",
    "array_first",
];

/// Spells a statement anew.
pub(super) fn respell_tokens(tokens: Vec<TokenWithSpan>) -> Result<Vec<TokenWithSpan>> {
    let mut edits = TokenEdits::default();
    for at in 0..tokens.len() {
        match &tokens[at].token {
            Token::Mul if is_doubled(&tokens, at) => edits.pair(at, Token::Caret),
            Token::Div if is_doubled(&tokens, at) => {
                edits.pair(at, Token::CustomBinaryOperator(INTEGER_DIVISION.to_owned()));
            }
            Token::Word(Word { value, quote_style: None, .. }) => {
                respell_word(&value.to_ascii_uppercase(), &tokens, at, &mut edits)?;
            }
            _ => {}
        }
    }
    Ok(edits.apply(tokens))
}

fn respell_word(
    name: &str,
    tokens: &[TokenWithSpan],
    at: usize,
    edits: &mut TokenEdits,
) -> Result<()> {
    // Each of these words may also be a name. The word after it decides.
    let next = |names: &[&str]| tokens.get(at + 1).is_one_of(names);
    match name {
        "ASOF" if next(&["JOIN", "LEFT", "INNER"]) => asof(tokens, at, edits),
        // `asof` and `sets` mark their joins by GLOBAL, so no statement may write it.
        "GLOBAL" if next(&["JOIN", "LEFT", "RIGHT", "FULL", "INNER", "ASOF", "SEMI", "ANTI"]) => {
            return Err(Error::unsupported("GLOBAL JOIN: leave out GLOBAL"));
        }
        "POSITIONAL" if next(&["JOIN"]) => {
            return Err(Error::unsupported(
                "POSITIONAL JOIN: number the rows of both by row_number() OVER (ORDER BY ...), and join by that",
            ));
        }
        "USING" if next(&["SAMPLE"]) => {
            return Err(Error::unsupported(
                "USING SAMPLE: write WHERE random() < 0.01 for about one row of a hundred, or ORDER BY random() LIMIT n for n rows",
            ));
        }
        "EXCLUDE" if ends_frame(tokens, at) => {
            if next(&["NO"]) {
                edits.replace(at, []);
                edits.replace(at + 1, []);
            } else {
                return Err(Error::unsupported(
                    "EXCLUDE in the frame of a window: take the row itself away from the result, such as sum(x) OVER w - x, or end the frame at 1 PRECEDING",
                ));
            }
        }
        _ if WITH_LAMBDAS.iter().any(|known| name.eq_ignore_ascii_case(known)) => {
            lambdas(tokens, at + 1, edits);
        }
        _ => {}
    }
    Ok(())
}

/// Whether two signs are side by side.
fn is_doubled(tokens: &[TokenWithSpan], at: usize) -> bool {
    tokens.get(at + 1).is_some_and(|next| {
        next.token == tokens[at].token && next.span.start == tokens[at].span.end
    })
}

/// Whether the frame of a window ends before a word, and one of the frame's words follows.
fn ends_frame(tokens: &[TokenWithSpan], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    before.is_one_of(&["ROW", "PRECEDING", "FOLLOWING"])
        && tokens.get(at + 1).is_one_of(&["CURRENT", "GROUP", "TIES", "NO"])
}

/// `ASOF LEFT JOIN` as `GLOBAL LEFT JOIN`, which no statement writes. Where MATCH_CONDITION follows
/// the parser reads ASOF by itself, and GLOBAL says that rows without a match stay.
fn asof(tokens: &[TokenWithSpan], at: usize, edits: &mut TokenEdits) {
    let is_left = tokens.get(at + 1).is_word("LEFT");
    let mut join = at + 1;
    while tokens.get(join).is_one_of(&["LEFT", "INNER", "OUTER"]) {
        join += 1;
    }
    let global = Token::make_keyword("GLOBAL");
    if !has_match_condition(tokens, join + 1) {
        return edits.replace(at, [global]);
    }
    let asof = tokens[at].token.clone();
    edits.replace(at, if is_left { vec![global, asof] } else { vec![asof] });
    (at + 1..join).for_each(|place| edits.replace(place, []));
}

/// Whether MATCH_CONDITION belongs to the join whose right side begins at a token.
fn has_match_condition(tokens: &[TokenWithSpan], start: usize) -> bool {
    const ENDS: [&str; 8] = ["ON", "USING", "JOIN", "WHERE", "GROUP", "ORDER", "LIMIT", "ASOF"];
    let mut depth = 0_usize;
    for token in &tokens[start.min(tokens.len())..] {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen if depth == 0 => return false,
            Token::RParen => depth -= 1,
            Token::Comma if depth == 0 => return false,
            _ if depth > 0 => {}
            _ if token.is_word("MATCH_CONDITION") => return true,
            _ if token.is_one_of(&ENDS) => return false,
            _ => {}
        }
    }
    false
}

/// The arguments `x -> ...` and `(x, y) -> ...` of a call as `LAMBDA x : ...`.
fn lambdas(tokens: &[TokenWithSpan], open: usize, edits: &mut TokenEdits) {
    if tokens.get(open).is_none_or(|token| token.token != Token::LParen) {
        return;
    }
    let mut depth = 0_usize;
    for at in open..tokens.len() {
        match &tokens[at].token {
            Token::LParen | Token::LBracket => depth += 1,
            Token::RParen | Token::RBracket if depth == 1 => return,
            Token::RParen | Token::RBracket => depth -= 1,
            _ => {}
        }
        let is_argument = depth == 1 && (at == open || tokens[at].token == Token::Comma);
        if is_argument {
            lambda(tokens, at + 1, edits);
        }
    }
}

fn lambda(tokens: &[TokenWithSpan], start: usize, edits: &mut TokenEdits) {
    let token = |at: usize| tokens.get(at).map(|token| &token.token);
    let marked = || Token::make_word("LAMBDA", None);
    match (token(start), token(start + 1)) {
        (Some(name @ Token::Word(_)), Some(Token::Arrow)) => {
            edits.replace(start, [marked(), name.clone()]);
            edits.replace(start + 1, [Token::Colon]);
        }
        (Some(Token::LParen), Some(Token::Word(_))) => {
            let mut at = start + 2;
            while token(at) == Some(&Token::Comma) && matches!(token(at + 1), Some(Token::Word(_)))
            {
                at += 2;
            }
            if token(at) == Some(&Token::RParen) && token(at + 1) == Some(&Token::Arrow) {
                edits.replace(start, [marked()]);
                edits.replace(at, []);
                edits.replace(at + 1, [Token::Colon]);
            }
        }
        _ => {}
    }
}

/// The tokens that replace others.
#[derive(Default)]
struct TokenEdits(BTreeMap<usize, Vec<Token>>);

impl TokenEdits {
    fn replace(&mut self, at: usize, tokens: impl Into<Vec<Token>>) {
        self.0.entry(at).or_insert_with(|| tokens.into());
    }

    /// One sign for two.
    fn pair(&mut self, at: usize, token: Token) {
        if !self.0.contains_key(&at) {
            self.replace(at, [token]);
            self.replace(at + 1, []);
        }
    }

    fn apply(mut self, tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
        if self.0.is_empty() {
            return tokens;
        }
        let mut made = Vec::with_capacity(tokens.len() + self.0.len());
        for (at, old) in tokens.into_iter().enumerate() {
            let span: Span = old.span;
            match self.0.remove(&at) {
                None => made.push(old),
                Some(new) => {
                    made.extend(new.into_iter().map(|token| TokenWithSpan { token, span }))
                }
            }
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use crate::text::single;

    fn parsed(statement: &str) -> String {
        single(statement).unwrap().parse().unwrap().to_string()
    }

    #[test]
    fn signs_side_by_side_are_one() {
        assert_eq!(parsed("SELECT a ** b * c"), "SELECT a ^ b * c");
        assert_eq!(parsed("SELECT a * count(*)"), "SELECT a * count(*)");
    }

    #[test]
    fn an_arrow_is_a_lambda_only_where_one_is_taken() {
        let has_lambda = |statement: &str| {
            format!("{:?}", single(statement).unwrap().parse().unwrap()).contains("Lambda(")
        };
        assert!(has_lambda("SELECT list_transform(a, x -> x + 1)"));
        assert!(!has_lambda("SELECT upper(doc->'x')"));
    }

    #[test]
    fn what_is_refused_says_what_to_write() {
        for statement in [
            "SELECT a FROM t USING SAMPLE 1",
            "SELECT a FROM t GLOBAL JOIN u ON a = b",
            "SELECT sum(c) OVER (ORDER BY a ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) FROM t",
        ] {
            assert!(single(statement).unwrap().parse().is_err(), "{statement}");
        }
    }
}
