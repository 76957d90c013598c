//! The error for a statement of no known kind.

use tonnage::Error;

use super::{Cursor, Piece};
use crate::errors::located;

/// Statements of DuckDB that look at the values before they know their columns.
const PIVOTS: [(&str, &str); 2] = [
    (
        "PIVOT",
        "write SELECT * FROM t PIVOT (sum(a) FOR b IN ('x', 'y')), with the values that become columns",
    ),
    ("UNPIVOT", "write SELECT * FROM t UNPIVOT (value FOR name IN (a, b))"),
];

/// What is said of a statement of no known kind: why there is none, for those that people try.
pub(crate) fn unknown(piece: &Piece) -> Error {
    // `TransactionStatement::read` says the same of ROLLBACK TO: both change together.
    const NO_SAVEPOINTS: &str =
        "a transaction has no savepoints; a statement that fails leaves it as it was before";
    const REASONS: [(&str, &str); 9] = [
        ("SAVEPOINT", NO_SAVEPOINTS),
        ("RELEASE", NO_SAVEPOINTS),
        ("PRAGMA", "SHOW ALL lists the settings, and SET changes them"),
        (
            "LOCK",
            "no statement locks rows or tables; UPDATE writes a row only if it is as it was read",
        ),
        ("CALL", "there are no stored procedures"),
        ("DO", "there are no stored procedures"),
        ("COMMENT", "tables and columns have no comments"),
        ("GRANT", "the server's file of users defines users and their rights"),
        ("REVOKE", "the server's file of users defines users and their rights"),
    ];
    // A statement that `StatementKind::of` learns leaves this list.
    let cursor = Cursor::new(piece);
    let reason = REASONS.iter().chain(&PIVOTS).find(|(name, _)| cursor.is_word(name));
    match reason {
        Some((name, reason)) => {
            located(Error::unsupported(format!("{name}: {reason}")), piece.start())
        }
        None => {
            cursor.expected("SELECT, INSERT, UPSERT, UPDATE, DELETE, MERGE, TRUNCATE, CREATE, DROP, ALTER, SHOW, DESCRIBE or EXPLAIN")
        }
    }
}
