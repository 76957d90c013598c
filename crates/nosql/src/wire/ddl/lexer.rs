//! The words of a statement, each with its position.

use std::ops::Range;

use crate::wire::failure::{Failure, FailureCode};

/// A word, a text, or another sign.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DdlToken<'s> {
    pub(super) kind: DdlTokenKind<'s>,
    /// Its position in the statement.
    pub(super) span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum DdlTokenKind<'s> {
    /// A name or a keyword.
    Word(&'s str),
    /// The text in double or single quotes.
    Text(String),
    /// What a reader passes over.
    Comment,
    /// Anything else: a digit, a sign.
    Sign(char),
}

impl DdlToken<'_> {
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.kind, DdlTokenKind::Word(own) if own.eq_ignore_ascii_case(word))
    }

    pub(super) fn is_sign(&self, sign: char) -> bool {
        self.kind == DdlTokenKind::Sign(sign)
    }

    /// A name, or a sign, as it is written.
    pub(super) fn shown(&self) -> Option<String> {
        match &self.kind {
            DdlTokenKind::Word(word) => Some((*word).to_owned()),
            DdlTokenKind::Sign(sign) => Some(sign.to_string()),
            DdlTokenKind::Text(text) => Some(format!("\"{}\"", text.replace('"', "\"\""))),
            DdlTokenKind::Comment => None,
        }
    }

    pub(super) fn word(&self) -> Option<&str> {
        if let DdlTokenKind::Word(word) = self.kind { Some(word) } else { None }
    }
}

/// The tokens of a statement.
pub(super) fn tokens(statement: &str) -> Result<Vec<DdlToken<'_>>, Failure> {
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(first) = statement[at..].chars().next() {
        let rest = &statement[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (kind, len) = match first {
            // Text of the dialect has double quotes; the store's own has single ones.
            '"' | '\'' => text(rest, first).ok_or_else(|| unclosed(statement, at, "text"))?,
            '/' if rest.starts_with("/*") => {
                let end = rest.find("*/").ok_or_else(|| unclosed(statement, at, "comment"))?;
                (DdlTokenKind::Comment, end + 2)
            }
            '#' => (DdlTokenKind::Comment, line_len(rest)),
            '/' if rest.starts_with("//") => (DdlTokenKind::Comment, line_len(rest)),
            // Digits and signs come one by one: no caller needs more of them.
            _ if first.is_alphabetic() => {
                let is_part = |c: char| c.is_alphanumeric() || c == '_';
                let len = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
                (DdlTokenKind::Word(&rest[..len]), len)
            }
            _ => (DdlTokenKind::Sign(first), first.len_utf8()),
        };
        tokens.push(DdlToken { kind, span: at..at + len });
        at += len;
    }
    Ok(tokens)
}

fn line_len(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

/// The text between quotes, and the number of bytes with them. A backslash leads a quote or another
/// backslash that is part of it.
fn text(rest: &str, quote: char) -> Option<(DdlTokenKind<'static>, usize)> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => match chars.next()?.1 {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                other => text.push(other),
            },
            _ if char == quote => return Some((DdlTokenKind::Text(text), at + char.len_utf8())),
            _ => text.push(char),
        }
    }
    None
}

#[cold]
fn unclosed(statement: &str, at: usize, what: &str) -> Failure {
    let line = statement[..at].matches('\n').count() + 1;
    let message = format!("Error: line {line}: the {what} that begins here does not end");
    Failure::new(FailureCode::IllegalArgument, message)
}
