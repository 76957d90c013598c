//! Finds the kind of a statement by its first words.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

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

impl StatementKind {
    pub(crate) fn of(tokens: &[TokenWithSpan]) -> Self {
        // A statement without an entry is refused by `unknown`. A new kind also needs an arm in
        // `accesses`, which says which tables it touches.
        const KINDS: [(&str, StatementKind); 37] = [
            ("SELECT", StatementKind::Query),
            ("WITH", StatementKind::Query),
            ("VALUES", StatementKind::Query),
            ("TABLE", StatementKind::Query),
            ("FROM", StatementKind::Query),
            ("EXPLAIN", StatementKind::Explain),
            ("CREATE", StatementKind::Definition),
            ("DROP", StatementKind::Definition),
            ("ALTER", StatementKind::Definition),
            ("SHOW", StatementKind::Show),
            ("DESCRIBE", StatementKind::Describe),
            ("DESC", StatementKind::Describe),
            ("INSERT", StatementKind::Insert),
            ("UPSERT", StatementKind::Upsert),
            ("REPLACE", StatementKind::Upsert),
            ("UPDATE", StatementKind::Update),
            ("DELETE", StatementKind::Delete),
            ("TRUNCATE", StatementKind::Truncate),
            ("MERGE", StatementKind::Merge),
            ("SET", StatementKind::Session),
            ("RESET", StatementKind::Session),
            ("USE", StatementKind::Session),
            ("PREPARE", StatementKind::Session),
            ("DEALLOCATE", StatementKind::Session),
            ("VACUUM", StatementKind::Session),
            ("ANALYZE", StatementKind::Analyze),
            ("ANALYSE", StatementKind::Analyze),
            ("CHECKPOINT", StatementKind::Session),
            ("BEGIN", StatementKind::Transaction),
            ("START", StatementKind::Transaction),
            ("COMMIT", StatementKind::Transaction),
            ("END", StatementKind::Transaction),
            ("ROLLBACK", StatementKind::Transaction),
            ("ABORT", StatementKind::Transaction),
            ("COPY", StatementKind::Copy),
            ("EXECUTE", StatementKind::Execute),
            ("SUMMARIZE", StatementKind::Summarize),
        ];
        // A WITH or a parenthesis before it does not change what a statement is.
        let (_, statement) = split_with(tokens);
        let mut words = statement.iter().map(|token| &token.token);
        let first = words.find(|token| **token != Token::LParen);
        let Some(Token::Word(word)) = first else { return StatementKind::Unknown };
        if word.value.eq_ignore_ascii_case("VACUUM") && words.any(is_analyze) {
            return StatementKind::Analyze;
        }
        let kind = KINDS.iter().find(|(name, _)| word.value.eq_ignore_ascii_case(name));
        kind.map_or(StatementKind::Unknown, |(_, kind)| *kind)
    }
}

/// Whether a token is the word ANALYZE.
fn is_analyze(token: &Token) -> bool {
    let Token::Word(word) = token else { return false };
    let is = |name: &str| word.value.eq_ignore_ascii_case(name);
    word.quote_style.is_none() && (is("ANALYZE") || is("ANALYSE"))
}
