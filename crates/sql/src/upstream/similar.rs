//! Patterns of SIMILAR TO and of LIKE with an escape of its own, in words that the planner takes as
//! they are meant.
//!
//! Upstream: apache/datafusion#22263. Gone in: 56

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Value, ValueWithSpan};
use tonnage::{Error, Result};

/// `x SIMILAR TO 'pattern'` as the match of a regular expression: the pattern speaks of the whole
/// text, `%` and `_` match any characters, and a point is a point. The planner would take the
/// pattern for a regular expression as it is.
pub(crate) fn similar(
    negated: bool,
    expr: Expr,
    pattern: &Expr,
    escape: Option<&ValueWithSpan>,
) -> Result<Expr> {
    let pattern = match text_of(pattern) {
        Some(pattern) => {
            Value::SingleQuotedString(regular(pattern, escape_of(escape)?.unwrap_or(Some('\\'))))
        }
        None if is_null(pattern) => Value::Null,
        None => {
            return Err(Error::unsupported(
                "SIMILAR TO takes its pattern as text in quotes; for one of a column write ~",
            ));
        }
    };
    let op = if negated { BinaryOperator::PGRegexNotMatch } else { BinaryOperator::PGRegexMatch };
    Ok(Expr::BinaryOp { left: Box::new(expr), op, right: Box::new(Expr::value(pattern)) })
}

/// The pattern of LIKE with the backslash as its escape, which is the one that the planner knows.
pub(crate) fn with_backslash(pattern: &Expr, escape: &ValueWithSpan) -> Result<Expr> {
    let escape = escape_of(Some(escape))?.flatten();
    let Some(pattern) = text_of(pattern) else {
        return Err(Error::unsupported("LIKE with ESCAPE takes its pattern as text in quotes"));
    };
    let (mut written, mut rest) = (String::new(), pattern.chars());
    while let Some(letter) = rest.next() {
        match letter {
            letter if Some(letter) == escape => match rest.next() {
                Some(next) => written.extend(['\\', next]),
                None => {
                    return Err(Error::invalid(
                        "the pattern of LIKE ends with its escape: a character must follow",
                    ));
                }
            },
            '\\' => written.push_str("\\\\"),
            letter => written.push(letter),
        }
    }
    Ok(Expr::value(Value::SingleQuotedString(written)))
}

/// `ESCAPE 'c'`, where empty text means that there is none.
fn escape_of(escape: Option<&ValueWithSpan>) -> Result<Option<Option<char>>> {
    let Some(escape) = escape else { return Ok(None) };
    if let Value::SingleQuotedString(text) = &escape.value {
        let mut letters = text.chars();
        if let (letter, None) = (letters.next(), letters.next()) {
            return Ok(Some(letter));
        }
    }
    Err(Error::invalid(format!("ESCAPE takes one character in quotes, not {escape}")))
}

fn text_of(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) => Some(text),
        Expr::Nested(inner) => text_of(inner),
        _ => None,
    }
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(ValueWithSpan { value: Value::Null, .. }))
}

/// The regular expression that says what a pattern of SIMILAR TO says.
fn regular(pattern: &str, escape: Option<char>) -> String {
    let mut written = "^(?s:".to_owned();
    let mut rest = pattern.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            letter if Some(letter) == escape => {
                push_plain(rest.next().unwrap_or(letter), &mut written)
            }
            '%' => written.push_str(".*"),
            '_' => written.push('.'),
            '[' => push_class(&mut rest, &mut written),
            '|' | '*' | '+' | '?' | '(' | ')' | '{' | '}' => written.push(letter),
            letter => push_plain(letter, &mut written),
        }
    }
    written.push_str(")$");
    written
}

fn push_plain(letter: char, written: &mut String) {
    if r"\.+*?()|[]{}^$#&-~".contains(letter) {
        written.push('\\');
    }
    written.push(letter);
}

/// What is in brackets goes over as it is, but for what only a regular expression gives a
/// meaning to.
fn push_class(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, written: &mut String) {
    written.push('[');
    if rest.next_if_eq(&'^').is_some() {
        written.push('^');
    }
    let mut is_named = false;
    while let Some(letter) = rest.next() {
        match letter {
            ']' if is_named => is_named = false,
            ']' => {
                written.push(']');
                return;
            }
            '[' if rest.peek() == Some(&':') => is_named = true,
            '[' | '&' | '~' | '\\' => written.push('\\'),
            _ => {}
        }
        written.push(letter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_speaks_of_the_whole_text() {
        assert_eq!(regular("A.%", Some('\\')), r"^(?s:A\..*)$");
        assert_eq!(regular("(a|b)_{2,3}", Some('\\')), "^(?s:(a|b).{2,3})$");
        assert_eq!(regular("50!%", Some('!')), "^(?s:50%)$");
        assert_eq!(regular("[^a-c&][[:alpha:]]$", None), r"^(?s:[^a-c\&][[:alpha:]]\$)$");
    }
}
