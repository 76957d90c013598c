//! Syntax highlighting of the line being typed.

use tonnage_sql::{SqlTokenKind, SqlTokens, Unclosed};

use super::words::is_keyword;

/// What is longer stays as it is: it would be read anew at every key.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// The line in colours; `before` are the lines above it.
pub(super) fn highlighted(before: &str, line: &str) -> Option<String> {
    if before.len() + line.len() > TEXT_BYTES_MAX
        || before.is_empty() && line.trim_start().starts_with('\\')
    {
        return None;
    }
    let text = format!("{before}{line}");
    let tokens = SqlTokens::read(&text);
    let mut out = String::with_capacity(2 * line.len());
    let mut at = before.len();
    for token in tokens.tokens().iter().filter(|token| token.range.end > before.len()) {
        let start = token.range.start.max(at);
        out.push_str(&text[at..start]);
        let part = &text[start..token.range.end];
        match colour(token.kind, &text[token.range.clone()], tokens.open()) {
            Some(colour) => out.push_str(&format!("\x1b[{colour}m{part}\x1b[0m")),
            None => out.push_str(part),
        }
        at = token.range.end;
    }
    out.push_str(&text[at..]);
    Some(out)
}

fn colour(kind: SqlTokenKind, text: &str, open: Option<Unclosed>) -> Option<&'static str> {
    const KEYWORD: &str = "1;34";
    const TEXT: &str = "32";
    const NUMBER: &str = "36";
    const COMMENT: &str = "90";
    match kind {
        SqlTokenKind::Word if is_keyword(text) => Some(KEYWORD),
        SqlTokenKind::Text => Some(TEXT),
        SqlTokenKind::Number | SqlTokenKind::Parameter => Some(NUMBER),
        SqlTokenKind::Comment => Some(COMMENT),
        SqlTokenKind::Rest if open == Some(Unclosed::Comment) => Some(COMMENT),
        SqlTokenKind::Rest if matches!(open, Some(Unclosed::Text | Unclosed::Dollar)) => Some(TEXT),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare(highlighted: &str) -> String {
        let mut parts = highlighted.split("\x1b[");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
    }

    #[test]
    fn colours_change_no_letter() {
        for line in
            ["select 'é' , x from \"T\" -- done", "SELECT 1; 'open", "", "  ", "é 日本 'x' $$"]
        {
            assert_eq!(bare(&highlighted("", line).unwrap()), line);
            assert_eq!(bare(&highlighted("SELECT 'a\n", line).unwrap()), line);
        }
    }

    #[test]
    fn keywords_texts_and_comments_are_told_apart() {
        assert_eq!(
            highlighted("", "from a 'b'").unwrap(),
            "\x1b[1;34mfrom\x1b[0m a \x1b[32m'b'\x1b[0m"
        );
        assert_eq!(highlighted("SELECT /*\n", "from */ a").unwrap(), "\x1b[90mfrom */\x1b[0m a");
        assert_eq!(highlighted("", "\\d from"), None);
    }
}
