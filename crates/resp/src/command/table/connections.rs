//! Commands on the connection.

use super::rights::NONE;
use crate::command::Command;

/// Sorted by their names.
#[rustfmt::skip]
pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "auth", arity: -2, keys: (0, 0, 0), group: "connection", since: "1.0.0", rights: NONE,
        flags: "noscript loading stale fast no_auth allow_busy",
        summary: "Logs in",
    },
    Command {
        name: "client", arity: -2, keys: (0, 0, 0), group: "connection", since: "2.4.0", rights: NONE,
        flags: "noscript loading stale",
        summary: "Tells of clients and sets up this one",
    },
    Command {
        name: "echo", arity: 2, keys: (0, 0, 0), group: "connection", since: "1.0.0", rights: NONE,
        flags: "loading stale fast",
        summary: "Answers with its argument",
    },
    Command {
        name: "hello", arity: -1, keys: (0, 0, 0), group: "connection", since: "6.0.0", rights: NONE,
        flags: "noscript loading stale fast no_auth allow_busy",
        summary: "Chooses the protocol, and logs in",
    },
    Command {
        name: "ping", arity: -1, keys: (0, 0, 0), group: "connection", since: "1.0.0", rights: NONE,
        flags: "fast",
        summary: "Answers",
    },
    Command {
        name: "quit", arity: -1, keys: (0, 0, 0), group: "connection", since: "1.0.0", rights: NONE,
        flags: "noscript loading stale fast no_auth allow_busy",
        summary: "Closes the connection",
    },
    Command {
        name: "reset", arity: 1, keys: (0, 0, 0), group: "connection", since: "6.2.0", rights: NONE,
        flags: "noscript loading stale fast no_auth allow_busy",
        summary: "Sets the connection back",
    },
    Command {
        name: "select", arity: 2, keys: (0, 0, 0), group: "connection", since: "1.0.0", rights: NONE,
        flags: "loading stale fast",
        summary: "Chooses the database: there is one, 0",
    },
];
