//! Finds the kind of a statement by its first words.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use super::IsWord;
use super::with::split_with;

/// Who carries a statement out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatementKind {
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
    Merge,
    /// SET, RESET, USE, PREPARE, DEALLOCATE, VACUUM, CHECKPOINT: nothing but the session changes.
    Session,
    /// ANALYZE, by itself or after VACUUM.
    Analyze,
    /// BEGIN, COMMIT, ROLLBACK and their other names.
    Transaction,
    /// COPY between a table and a file.
    Copy,
    /// EXECUTE of a statement that was prepared by name.
    Execute,
    /// SUMMARIZE: figures of each column.
    Summarize,
    /// Nothing that is known.
    Unknown,
}

impl StatementKind {
    /// The first words of statements. `unknown` refuses a statement that begins otherwise.
    pub(crate) const KINDS: [(&str, Self); 37] = [
        ("SELECT", Self::Query),
        ("WITH", Self::Query),
        ("VALUES", Self::Query),
        ("TABLE", Self::Query),
        ("FROM", Self::Query),
        ("EXPLAIN", Self::Explain),
        ("CREATE", Self::Definition),
        ("DROP", Self::Definition),
        ("ALTER", Self::Definition),
        ("SHOW", Self::Show),
        ("DESCRIBE", Self::Describe),
        ("DESC", Self::Describe),
        ("INSERT", Self::Insert),
        ("UPSERT", Self::Upsert),
        ("REPLACE", Self::Upsert),
        ("UPDATE", Self::Update),
        ("DELETE", Self::Delete),
        ("TRUNCATE", Self::Truncate),
        ("MERGE", Self::Merge),
        ("SET", Self::Session),
        ("RESET", Self::Session),
        ("USE", Self::Session),
        ("PREPARE", Self::Session),
        ("DEALLOCATE", Self::Session),
        ("VACUUM", Self::Session),
        ("ANALYZE", Self::Analyze),
        ("ANALYSE", Self::Analyze),
        ("CHECKPOINT", Self::Session),
        ("BEGIN", Self::Transaction),
        ("START", Self::Transaction),
        ("COMMIT", Self::Transaction),
        ("END", Self::Transaction),
        ("ROLLBACK", Self::Transaction),
        ("ABORT", Self::Transaction),
        ("COPY", Self::Copy),
        ("EXECUTE", Self::Execute),
        ("SUMMARIZE", Self::Summarize),
    ];

    pub(crate) fn of(tokens: &[TokenWithSpan]) -> Self {
        // A WITH or a parenthesis before it does not change what a statement is.
        let (_, statement) = split_with(tokens);
        let mut words = statement.iter().map(|token| &token.token);
        let first = words.find(|token| **token != Token::LParen);
        let Some(Token::Word(word)) = first else { return Self::Unknown };
        // In quotes it is a name.
        if word.quote_style.is_some() {
            return Self::Unknown;
        }
        // Only queries may be in parentheses.
        let is_enclosed = statement.first().is_some_and(|token| token.token == Token::LParen);
        if word.value.eq_ignore_ascii_case("VACUUM")
            && words.any(|word| word.is_one_of(&["ANALYZE", "ANALYSE"]))
        {
            return Self::Analyze;
        }
        let kind = Self::KINDS.iter().find(|(name, _)| word.value.eq_ignore_ascii_case(name));
        let kind = kind.map_or(Self::Unknown, |(_, kind)| *kind);
        if is_enclosed && kind != Self::Query { Self::Unknown } else { kind }
    }

    /// Whether a statement changes nothing, so that it may be carried out once more.
    pub(crate) fn reads_only(self) -> bool {
        match self {
            Self::Query | Self::Explain | Self::Show | Self::Describe | Self::Summarize => true,
            Self::Definition
            | Self::Insert
            | Self::Upsert
            | Self::Update
            | Self::Delete
            | Self::Truncate
            | Self::Merge
            | Self::Session
            | Self::Analyze
            | Self::Transaction
            | Self::Copy
            | Self::Execute
            | Self::Unknown => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::single;

    #[test]
    fn the_first_word_tells_the_kind() {
        let kind = |text: &str| single(text).unwrap().kind;
        for (word, expected) in StatementKind::KINDS {
            assert_eq!(kind(&word.to_lowercase()), expected);
            // `"COMMIT"` once rolled back.
            assert_eq!(kind(&format!("\"{word}\"")), StatementKind::Unknown);
        }
        assert_eq!(kind("WITH a AS (SELECT 1) DELETE FROM t"), StatementKind::Delete);
        assert_eq!(kind("((SELECT 1))"), StatementKind::Query);
        // `(EXECUTE` once ran the statement prepared as `execute`, `(UPSERT t` filled a table
        // `upsert`.
        assert_eq!(kind("(EXECUTE"), StatementKind::Unknown);
        assert_eq!(kind("(UPSERT t VALUES (1)"), StatementKind::Unknown);
        assert_eq!(kind("VACUUM (ANALYZE) t"), StatementKind::Analyze);
        assert_eq!(kind("VACUUM \"analyze\""), StatementKind::Session);
    }
}
