//! The tokens of a statement, one after the other.

use super::fault::{unclosed, unexpected};
use super::place::Place;
use crate::wire::Outcome;

/// A token: a word, a text, a number or a sign.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token<'s> {
    pub(super) kind: TokenKind<'s>,
    /// Its position.
    pub(super) place: Place,
    /// As it is written.
    pub(super) text: &'s str,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind<'s> {
    /// A name or a keyword.
    Word,
    /// `$name`; `$` alone has no name.
    Variable(&'s str),
    /// The quoted text.
    Text(String),
    /// Digits alone.
    Whole,
    /// Digits with a point or an exponent.
    Fraction,
    /// Digits followed by an `n`.
    Decimal,
    /// A sign.
    Sign,
    /// What a hint has between `/*+` and `*/`.
    Hint,
    /// Nothing is left.
    End,
}

/// Signs of several characters, the longer ones first. No letter follows the word of such a one.
const SIGNS: [&str; 11] =
    ["!=any", "<=any", ">=any", "=any", "<any", ">any", "!=", "<=", ">=", "||", "<>"];

/// Reads tokens from the front of a statement.
#[derive(Clone)]
pub(super) struct Lexer<'s> {
    rest: &'s str,
    place: Place,
}

impl<'s> Lexer<'s> {
    pub(super) fn new(statement: &'s str) -> Self {
        Self { rest: statement, place: Place { line: 1, column: 0 } }
    }

    pub(super) fn next_token(&mut self) -> Outcome<Token<'s>> {
        self.pass_over_blanks()?;
        let place = self.place;
        let (kind, len) = self.token_at_front()?;
        let text = self.take(len);
        Ok(Token { kind, place, text })
    }

    fn token_at_front(&self) -> Outcome<(TokenKind<'s>, usize)> {
        let rest = self.rest;
        let Some(first) = rest.chars().next() else { return Ok((TokenKind::End, 0)) };
        Ok(match first {
            '"' | '\'' => text_at(rest, first).ok_or_else(|| unclosed(self.place, "text"))?,
            '$' => {
                let len = 1 + word_len(&rest[1..]);
                (TokenKind::Variable(&rest[1..len]), len)
            }
            '/' if rest.starts_with("/*+") => {
                let end = rest.find("*/").ok_or_else(|| unclosed(self.place, "hint"))?;
                (TokenKind::Hint, end + 2)
            }
            _ if first.is_ascii_digit() || first == '.' && has_digit(&rest[1..]) => number_at(rest),
            _ if first.is_ascii_alphabetic() => (TokenKind::Word, word_len(rest)),
            _ => match sign_len(rest) {
                Some(len) => (TokenKind::Sign, len),
                None => {
                    return Err(unexpected(self.place, &first.to_string(), "a word or a sign"));
                }
            },
        })
    }

    /// Skips spaces and comments.
    fn pass_over_blanks(&mut self) -> Outcome<()> {
        loop {
            let rest = self.rest;
            let len = if rest.starts_with("/*") && !rest.starts_with("/*+") {
                rest.find("*/").ok_or_else(|| unclosed(self.place, "comment"))? + 2
            } else if rest.starts_with("//") || rest.starts_with('#') {
                rest.find('\n').unwrap_or(rest.len())
            } else {
                rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len())
            };
            if len == 0 {
                return Ok(());
            }
            self.take(len);
        }
    }

    fn take(&mut self, len: usize) -> &'s str {
        let (taken, rest) = self.rest.split_at(len);
        self.rest = rest;
        for char in taken.chars() {
            match char {
                '\n' => self.place = Place { line: self.place.line + 1, column: 0 },
                _ => self.place.column += 1,
            }
        }
        taken
    }
}

fn has_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

fn word_len(text: &str) -> usize {
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len())
}

fn sign_len(rest: &str) -> Option<usize> {
    let long = SIGNS.iter().find(|sign| {
        // Slices of bytes: characters of several bytes may lie there.
        let is_there = rest.as_bytes().get(..sign.len());
        is_there.is_some_and(|there| there.eq_ignore_ascii_case(sign.as_bytes()))
            && !(sign.ends_with("any") && word_len(&rest[sign.len()..]) > 0)
    });
    let short = || "()[]{}.,:;*+-/=<>?@".contains(&rest[..1]).then_some(1);
    match long {
        Some(sign) => Some(sign.len()),
        None if rest.is_char_boundary(1) => short(),
        None => None,
    }
}

/// A number at the front of a text.
fn number_at<'s>(rest: &str) -> (TokenKind<'s>, usize) {
    let digits = |from: usize| {
        rest[from..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |len| from + len)
    };
    let (mut end, mut kind) = (digits(0), TokenKind::Whole);
    if rest[end..].starts_with('.') {
        (end, kind) = (digits(end + 1), TokenKind::Fraction);
    }
    if rest[end..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
        if has_digit(&rest[end + 1 + sign..]) {
            (end, kind) = (digits(end + 1 + sign), TokenKind::Fraction);
        }
    }
    let is_decimal = rest[end..].starts_with(['n', 'N']) && word_len(&rest[end + 1..]) == 0;
    if is_decimal { (TokenKind::Decimal, end + 1) } else { (kind, end) }
}

/// A text in quotes, in which a backslash leads a sign of another meaning.
fn text_at<'s>(rest: &str, quote: char) -> Option<(TokenKind<'s>, usize)> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => match chars.next()?.1 {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'r' => text.push('\r'),
                'b' => text.push('\u{8}'),
                'f' => text.push('\u{c}'),
                'u' => {
                    let digits: String = chars.by_ref().take(4).map(|(_, digit)| digit).collect();
                    let code = u32::from_str_radix(&digits, 16).ok()?;
                    text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                other => text.push(other),
            },
            _ if char == quote => return Some((TokenKind::Text(text), at + char.len_utf8())),
            _ => text.push(char),
        }
    }
    None
}
