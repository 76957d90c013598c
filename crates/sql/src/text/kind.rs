//! Kinds of statements, told by their first words.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

/// Who carries a statement out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Gives rows.
    Query,
    Explain,
    /// CREATE, DROP, ALTER: the store's own language.
    Definition,
    /// SHOW TABLES, SHOW COLUMNS, SHOW INDEXES, SHOW CREATE TABLE.
    Show,
    Describe,
    Insert,
    Upsert,
    Update,
    Delete,
    Truncate,
    /// Nothing that is known.
    Unknown,
}

impl Kind {
    pub(crate) fn of(tokens: &[TokenWithSpan]) -> Self {
        const KINDS: [(&str, Kind); 18] = [
            ("SELECT", Kind::Query),
            ("WITH", Kind::Query),
            ("VALUES", Kind::Query),
            ("TABLE", Kind::Query),
            ("FROM", Kind::Query),
            ("EXPLAIN", Kind::Explain),
            ("CREATE", Kind::Definition),
            ("DROP", Kind::Definition),
            ("ALTER", Kind::Definition),
            ("SHOW", Kind::Show),
            ("DESCRIBE", Kind::Describe),
            ("DESC", Kind::Describe),
            ("INSERT", Kind::Insert),
            ("UPSERT", Kind::Upsert),
            ("REPLACE", Kind::Upsert),
            ("UPDATE", Kind::Update),
            ("DELETE", Kind::Delete),
            ("TRUNCATE", Kind::Truncate),
        ];
        let first = tokens.iter().map(|token| &token.token).find(|token| **token != Token::LParen);
        let Some(Token::Word(word)) = first else { return Kind::Unknown };
        let kind = KINDS.iter().find(|(name, _)| word.value.eq_ignore_ascii_case(name));
        kind.map_or(Kind::Unknown, |(_, kind)| *kind)
    }
}
