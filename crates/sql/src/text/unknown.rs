//! Statements of no known kind.

use tonnage::Error;

use super::{Cursor, Piece};

/// What is said of a statement of no known kind: why there is none, for those that people try.
pub(crate) fn unknown(piece: &Piece) -> Error {
    const NO_TRANSACTIONS: &str = "there are no transactions over several statements: each statement is carried out by itself, and each row of it \
         written as a whole";
    const NO_SETTINGS: &str =
        "a session has no settings of its own: they are options of the program, or of SqlOptions";
    const REASONS: [(&str, &str); 16] = [
        ("BEGIN", NO_TRANSACTIONS),
        ("START", NO_TRANSACTIONS),
        ("COMMIT", NO_TRANSACTIONS),
        ("END", NO_TRANSACTIONS),
        ("ROLLBACK", NO_TRANSACTIONS),
        ("ABORT", NO_TRANSACTIONS),
        ("SAVEPOINT", NO_TRANSACTIONS),
        ("SET", NO_SETTINGS),
        ("RESET", NO_SETTINGS),
        ("PRAGMA", NO_SETTINGS),
        ("USE", "there is one store in a session, and a table is named by its path"),
        (
            "COPY",
            "files are read and written by other verbs: 'tonnage load' and 'tonnage unload', or -o for the rows of a query",
        ),
        ("MERGE", "write UPSERT to store over rows that exist, or UPDATE and INSERT"),
        ("VACUUM", "the store cleans up by itself, while it is open"),
        (
            "ANALYZE",
            "nothing has to be analysed: plans ask the store for its sizes as they are made",
        ),
        ("GRANT", "there are no users and rights: whoever may open the files may do everything"),
    ];
    let cursor = Cursor::new(piece);
    let reason = REASONS.iter().find(|(name, _)| cursor.is_word(name));
    match reason {
        Some((name, reason)) => {
            let place = piece.start();
            Error::unsupported(format!("line {}, column {}: {name}: {reason}", place.line, place.column))
        }
        None => {
            cursor.expected("SELECT, INSERT, UPSERT, UPDATE, DELETE, TRUNCATE, CREATE, DROP, ALTER, SHOW, DESCRIBE or EXPLAIN")
        }
    }
}
