//! A text of statements while it is being typed: which part is what, and what is still open.

use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

use datafusion::sql::sqlparser::tokenizer::{
    Location, Token, TokenWithSpan, Tokenizer, Whitespace,
};

use super::script::DIALECT;

/// A text that need not be whole yet, as an editor of statements sees it.
///
/// ```
/// use tonnage_sql::{Draft, Open};
///
/// assert!(Draft::read("SELECT ';' FROM phones; -- done").is_complete());
/// assert_eq!(Draft::read("SELECT 'it''s ").open(), Some(Open::Text));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    marks: Vec<Mark>,
    open: Option<Open>,
}

/// One piece of a draft; blanks have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its bytes.
    pub range: Range<usize>,
    /// What it is.
    pub kind: MarkKind,
}

/// What a piece of a draft is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
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
    /// The semicolon behind a statement.
    End,
    /// Any other sign.
    Sign,
    /// What is begun and not ended, or cannot be read: all from there on.
    Rest,
}

/// What a draft has begun and not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// A text in single quotes.
    Text,
    /// A name in double quotes.
    Name,
    /// A comment between `/*` and `*/`.
    Comment,
    /// A text between dollar signs.
    Dollar,
}

impl Draft {
    /// Reads as far as the text can be read.
    pub fn read(text: &str) -> Self {
        let mut tokens = Vec::new();
        let read = Tokenizer::new(&DIALECT, text).tokenize_with_location_into_buf(&mut tokens);
        let mut places = Places::new(text);
        let mut end = 0;
        let mut marks = Vec::new();
        for TokenWithSpan { token, span } in &tokens {
            let range = end..places.byte(span.end);
            end = range.end;
            if let Some(kind) = kind(token) {
                marks.push(Mark { range, kind });
            }
        }
        let open = read.err().and_then(|error| open(&error.message));
        let begins = end + text[end..].len() - text[end..].trim_start().len();
        if begins < text.len() {
            marks.push(Mark { range: begins..text.len(), kind: MarkKind::Rest });
        }
        Self { marks, open }
    }

    /// The pieces, in the order of the text.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// What is begun and not ended.
    pub fn open(&self) -> Option<Open> {
        self.open
    }

    /// Whether nothing but blanks and comments stands behind the last semicolon. What no further
    /// text could mend is complete as well: it is time to tell what is wrong with it.
    pub fn is_complete(&self) -> bool {
        let last = self.marks.iter().rev().find(|mark| mark.kind != MarkKind::Comment);
        let ends = last.is_none_or(|mark| matches!(mark.kind, MarkKind::End | MarkKind::Rest));
        self.open.is_none() && ends
    }
}

fn kind(token: &Token) -> Option<MarkKind> {
    Some(match token {
        Token::Whitespace(
            Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_),
        ) => MarkKind::Comment,
        Token::Whitespace(_) => return None,
        Token::Word(word) if word.quote_style.is_some() => MarkKind::QuotedName,
        Token::Word(_) => MarkKind::Word,
        Token::Number(..) => MarkKind::Number,
        Token::Placeholder(_) => MarkKind::Parameter,
        Token::SemiColon => MarkKind::End,
        Token::SingleQuotedString(_)
        | Token::DollarQuotedString(_)
        | Token::NationalStringLiteral(_)
        | Token::EscapedStringLiteral(_)
        | Token::UnicodeStringLiteral(_)
        | Token::SingleQuotedByteStringLiteral(_)
        | Token::HexStringLiteral(_) => MarkKind::Text,
        _ => MarkKind::Sign,
    })
}

/// What the tokenizer says is missing at the end.
fn open(message: &str) -> Option<Open> {
    const MISSING: [(&str, Open); 4] = [
        ("dollar-quoted", Open::Dollar),
        ("Unterminated", Open::Text),
        ("Expected close delimiter", Open::Name),
        ("EOF while in a multi-line comment", Open::Comment),
    ];
    MISSING.iter().find(|(part, _)| message.contains(part)).map(|(_, open)| *open)
}

/// Places of the tokenizer, asked for in their order, as bytes.
struct Places<'a> {
    chars: Peekable<CharIndices<'a>>,
    at: Location,
    length: usize,
}

impl<'a> Places<'a> {
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
            let draft = Draft::read(text);
            assert!(!draft.is_complete() && draft.open().is_none(), "{text}: {draft:?}");
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
            assert!(Draft::read(text).is_complete(), "{text}");
        }
    }

    #[test]
    fn what_is_open_is_told() {
        for (text, open) in [
            ("SELECT 'a;", Open::Text),
            ("SELECT E'a\\';", Open::Text),
            ("SELECT \"a;", Open::Name),
            ("SELECT 1 /* a;", Open::Comment),
            ("SELECT /* a /* b */ ;", Open::Comment),
            ("SELECT $$a;", Open::Dollar),
            ("SELECT $x$a;$$;", Open::Dollar),
        ] {
            let draft = Draft::read(text);
            assert_eq!((draft.open(), draft.is_complete()), (Some(open), false), "{text}");
        }
    }

    #[test]
    fn every_piece_has_its_bytes() {
        let text = "SELECT é, 'ü;'\n FROM \"Ta ble\" -- ß\n WHERE a >= $1 + 2.5; 'x";
        let marks: Vec<_> = Draft::read(text)
            .marks()
            .iter()
            .map(|mark| (&text[mark.range.clone()], mark.kind))
            .collect();
        let expected = [
            ("SELECT", MarkKind::Word),
            ("é", MarkKind::Word),
            (",", MarkKind::Sign),
            ("'ü;'", MarkKind::Text),
            ("FROM", MarkKind::Word),
            ("\"Ta ble\"", MarkKind::QuotedName),
            ("-- ß\n", MarkKind::Comment),
            ("WHERE", MarkKind::Word),
            ("a", MarkKind::Word),
            (">=", MarkKind::Sign),
            ("$1", MarkKind::Parameter),
            ("+", MarkKind::Sign),
            ("2.5", MarkKind::Number),
            (";", MarkKind::End),
            ("'x", MarkKind::Rest),
        ];
        assert_eq!(marks, expected);
    }
}
