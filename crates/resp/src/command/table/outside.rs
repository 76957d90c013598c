//! Commands that the server carries out: SQL, and rows of tables.

use super::rights::NONE;
use crate::command::Command;

/// Sorted by their names. Rights on tables are checked where the commands are carried out.
#[rustfmt::skip]
pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "tn.mget", arity: -3, keys: (0, 0, 0), group: "tonnage", since: "7.2.0", rights: NONE,
        flags: "noscript",
        summary: "Reads rows of a table by their keys",
    },
    Command {
        name: "tn.mput", arity: -3, keys: (0, 0, 0), group: "tonnage", since: "7.2.0", rights: NONE,
        flags: "denyoom noscript",
        summary: "Puts rows into a table",
    },
    Command {
        name: "tn.sql", arity: -2, keys: (0, 0, 0), group: "tonnage", since: "7.2.0", rights: NONE,
        flags: "noscript",
        summary: "Carries out an SQL statement",
    },
];
