//! Tokens of SQL that is still being typed, and what in it is not closed yet.

use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

use datafusion::sql::sqlparser::tokenizer::{
    Location, Token, TokenWithSpan, Tokenizer, Whitespace,
};

use super::dialect::OwnDialect;

/// A text that need not be whole yet, as an editor of statements sees it.
///
/// ```
/// use tonnage_sql::{SqlTokens, Unclosed};
///
/// assert!(SqlTokens::read("SELECT ';' FROM phones; -- done").is_complete());
/// assert_eq!(SqlTokens::read("SELECT 'it''s ").open(), Some(Unclosed::Text));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlTokens {
    tokens: Vec<SqlToken>,
    open: Option<Unclosed>,
}

/// One token of a text; blanks have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlToken {
    /// Its bytes.
    pub range: Range<usize>,
    /// What it is.
    pub kind: SqlTokenKind,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlTokenKind {
    /// A word outside quotes: a keyword or a name.
    Word,
    /// A name in double quotes.
    QuotedName,
    /// A text in quotes of any kind.
    Text,
    /// A number.
    Number,
    /// A parameter, such as `$1` or `:name`.
    Parameter,
    /// A comment.
    Comment,
    /// The semicolon after a statement.
    End,
    /// Any other sign.
    Sign,
    /// What is begun and not ended, or cannot be read: all from there on.
    Rest,
}

/// What a text has begun and not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unclosed {
    /// A text in single quotes.
    Text,
    /// A name in double quotes.
    Name,
    /// A comment between `/*` and `*/`.
    Comment,
    /// A text between dollar signs.
    Dollar,
}

impl SqlTokens {
    /// Reads as far as the text can be read.
    pub fn read(text: &str) -> Self {
        let mut lexed = Vec::new();
        let read = Tokenizer::new(&OwnDialect::default(), text)
            .tokenize_with_location_into_buf(&mut lexed);
        let mut places = ByteOffsets::new(text);
        let mut end = 0;
        let mut tokens = Vec::new();
        for TokenWithSpan { token, span } in &lexed {
            let range = end..places.byte(span.end);
            end = range.end;
            if let Some(kind) = kind(token) {
                tokens.push(SqlToken { range, kind });
            }
        }
        let open = read.err().and_then(|error| open(&error.message));
        let begins = end + text[end..].len() - text[end..].trim_start().len();
        if begins < text.len() {
            tokens.push(SqlToken { range: begins..text.len(), kind: SqlTokenKind::Rest });
        }
        Self { tokens, open }
    }

    /// The pieces, in the order of the text.
    pub fn tokens(&self) -> &[SqlToken] {
        &self.tokens
    }

    /// What is begun and not ended.
    pub fn open(&self) -> Option<Unclosed> {
        self.open
    }

    /// Whether nothing but blanks and comments follows the last semicolon. What no further
    /// text could fix is complete as well: its error can be reported.
    pub fn is_complete(&self) -> bool {
        let last = self.tokens.iter().rev().find(|token| token.kind != SqlTokenKind::Comment);
        let ends =
            last.is_none_or(|token| matches!(token.kind, SqlTokenKind::End | SqlTokenKind::Rest));
        self.open.is_none() && ends
    }
}

fn kind(token: &Token) -> Option<SqlTokenKind> {
    Some(match token {
        Token::Whitespace(
            Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_),
        ) => SqlTokenKind::Comment,
        Token::Whitespace(_) => return None,
        Token::Word(word) if word.quote_style.is_some() => SqlTokenKind::QuotedName,
        Token::Word(_) => SqlTokenKind::Word,
        Token::Number(..) => SqlTokenKind::Number,
        Token::Placeholder(_) => SqlTokenKind::Parameter,
        Token::SemiColon => SqlTokenKind::End,
        Token::SingleQuotedString(_)
        | Token::DollarQuotedString(_)
        | Token::NationalStringLiteral(_)
        | Token::EscapedStringLiteral(_)
        | Token::UnicodeStringLiteral(_)
        | Token::SingleQuotedByteStringLiteral(_)
        | Token::HexStringLiteral(_) => SqlTokenKind::Text,
        _ => SqlTokenKind::Sign,
    })
}

/// What the tokenizer says is missing at the end.
fn open(message: &str) -> Option<Unclosed> {
    const MISSING: [(&str, Unclosed); 4] = [
        ("dollar-quoted", Unclosed::Dollar),
        ("Unterminated", Unclosed::Text),
        ("Expected close delimiter", Unclosed::Name),
        ("EOF while in a multi-line comment", Unclosed::Comment),
    ];
    MISSING.iter().find(|(part, _)| message.contains(part)).map(|(_, open)| *open)
}

/// Byte offsets of the tokenizer's positions, in ascending order.
struct ByteOffsets<'a> {
    chars: Peekable<CharIndices<'a>>,
    at: Location,
    length: usize,
}

impl<'a> ByteOffsets<'a> {
    fn new(text: &'a str) -> Self {
        Self { chars: text.char_indices().peekable(), at: Location::new(1, 1), length: text.len() }
    }

    fn byte(&mut self, place: Location) -> usize {
        while self.at < place
            && let Some((_, char)) = self.chars.next()
        {
            match char {
                '\n' => self.at = Location::new(self.at.line + 1, 1),
                _ => self.at.column += 1,
            }
        }
        self.chars.peek().map_or(self.length, |(byte, _)| *byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_goes_on_until_its_semicolon() {
        for text in [
            "SELECT 1",
            "SELECT 1; SELECT",
            "SELECT ';'",
            "SELECT \";\"",
            "SELECT $$;$$",
            "SELECT 1 -- ;",
            "SELECT /* ; */ 1",
        ] {
            let tokens = SqlTokens::read(text);
            assert!(!tokens.is_complete() && tokens.open().is_none(), "{text}: {tokens:?}");
        }
        for text in [
            "",
            " \n",
            "-- nothing",
            "SELECT 1;",
            "SELECT ';';",
            "SELECT $$;$$ ; /* done */ -- yes",
            "SELECT é; ",
        ] {
            assert!(SqlTokens::read(text).is_complete(), "{text}");
        }
    }

    #[test]
    fn unclosed_tokens_are_reported() {
        for (text, open) in [
            ("SELECT 'a;", Unclosed::Text),
            ("SELECT E'a\\';", Unclosed::Text),
            ("SELECT \"a;", Unclosed::Name),
            ("SELECT 1 /* a;", Unclosed::Comment),
            ("SELECT /* a /* b */ ;", Unclosed::Comment),
            ("SELECT $$a;", Unclosed::Dollar),
            ("SELECT $x$a;$$;", Unclosed::Dollar),
        ] {
            let tokens = SqlTokens::read(text);
            assert_eq!((tokens.open(), tokens.is_complete()), (Some(open), false), "{text}");
        }
    }

    #[test]
    fn every_piece_has_its_bytes() {
        let text = "SELECT é, 'ü;'\n FROM \"Ta ble\" -- ß\n WHERE a >= $1 + 2.5; 'x";
        let tokens: Vec<_> = SqlTokens::read(text)
            .tokens()
            .iter()
            .map(|token| (&text[token.range.clone()], token.kind))
            .collect();
        let expected = [
            ("SELECT", SqlTokenKind::Word),
            ("é", SqlTokenKind::Word),
            (",", SqlTokenKind::Sign),
            ("'ü;'", SqlTokenKind::Text),
            ("FROM", SqlTokenKind::Word),
            ("\"Ta ble\"", SqlTokenKind::QuotedName),
            ("-- ß\n", SqlTokenKind::Comment),
            ("WHERE", SqlTokenKind::Word),
            ("a", SqlTokenKind::Word),
            (">=", SqlTokenKind::Sign),
            ("$1", SqlTokenKind::Parameter),
            ("+", SqlTokenKind::Sign),
            ("2.5", SqlTokenKind::Number),
            (";", SqlTokenKind::End),
            ("'x", SqlTokenKind::Rest),
        ];
        assert_eq!(tokens, expected);
    }
}
