//! Kinds of statements, told by their first words.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use super::with::parted;

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
    Merge,
    /// SET, RESET, USE, PREPARE, DEALLOCATE, VACUUM, CHECKPOINT: nothing but the session changes.
    Session,
    /// ANALYZE, by itself or behind VACUUM.
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

impl Kind {
    pub(crate) fn of(tokens: &[TokenWithSpan]) -> Self {
        // A statement without an entry is refused by `unknown`. A new kind also needs an arm in
        // `accesses`, which says which tables it touches.
        const KINDS: [(&str, Kind); 37] = [
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
            ("MERGE", Kind::Merge),
            ("SET", Kind::Session),
            ("RESET", Kind::Session),
            ("USE", Kind::Session),
            ("PREPARE", Kind::Session),
            ("DEALLOCATE", Kind::Session),
            ("VACUUM", Kind::Session),
            ("ANALYZE", Kind::Analyze),
            ("ANALYSE", Kind::Analyze),
            ("CHECKPOINT", Kind::Session),
            ("BEGIN", Kind::Transaction),
            ("START", Kind::Transaction),
            ("COMMIT", Kind::Transaction),
            ("END", Kind::Transaction),
            ("ROLLBACK", Kind::Transaction),
            ("ABORT", Kind::Transaction),
            ("COPY", Kind::Copy),
            ("EXECUTE", Kind::Execute),
            ("SUMMARIZE", Kind::Summarize),
        ];
        // A WITH or a parenthesis before it does not change what a statement is.
        let (_, statement) = parted(tokens);
        let mut words = statement.iter().map(|token| &token.token);
        let first = words.find(|token| **token != Token::LParen);
        let Some(Token::Word(word)) = first else { return Kind::Unknown };
        if word.value.eq_ignore_ascii_case("VACUUM") && words.any(is_analyze) {
            return Kind::Analyze;
        }
        let kind = KINDS.iter().find(|(name, _)| word.value.eq_ignore_ascii_case(name));
        kind.map_or(Kind::Unknown, |(_, kind)| *kind)
    }
}

/// Whether a token is the word ANALYZE.
fn is_analyze(token: &Token) -> bool {
    let Token::Word(word) = token else { return false };
    let is = |name: &str| word.value.eq_ignore_ascii_case(name);
    word.quote_style.is_none() && (is("ANALYZE") || is("ANALYSE"))
}
