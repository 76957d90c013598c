//! Commands on the server.

use super::rights::NONE;
use crate::command::Command;

/// Sorted by their names.
#[rustfmt::skip]
pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "bgrewriteaof", arity: 1, keys: (0, 0, 0), group: "server", since: "1.0.0", rights: NONE,
        flags: "admin noscript",
        summary: "Syncs the store",
    },
    Command {
        name: "bgsave", arity: -1, keys: (0, 0, 0), group: "server", since: "1.0.0", rights: NONE,
        flags: "admin noscript",
        summary: "Syncs the store",
    },
    Command {
        name: "command", arity: -1, keys: (0, 0, 0), group: "server", since: "2.8.13", rights: NONE,
        flags: "loading stale",
        summary: "Tells of commands",
    },
    Command {
        name: "config", arity: -2, keys: (0, 0, 0), group: "server", since: "2.0.0", rights: NONE,
        flags: "admin noscript loading stale",
        summary: "Tells and changes settings",
    },
    Command {
        name: "dbsize", arity: 1, keys: (0, 0, 0), group: "server", since: "1.0.0", rights: NONE,
        flags: "readonly fast",
        summary: "Counts the keys",
    },
    Command {
        name: "flushall", arity: -1, keys: (0, 0, 0), group: "server", since: "1.0.0", rights: NONE,
        flags: "write",
        summary: "Deletes all keys",
    },
    Command {
        name: "flushdb", arity: -1, keys: (0, 0, 0), group: "server", since: "1.0.0", rights: NONE,
        flags: "write",
        summary: "Deletes all keys",
    },
    Command {
        name: "info", arity: -1, keys: (0, 0, 0), group: "server", since: "1.0.0", rights: NONE,
        flags: "loading stale",
        summary: "Tells of the server",
    },
    Command {
        name: "lastsave", arity: 1, keys: (0, 0, 0), group: "server", since: "1.0.0", rights: NONE,
        flags: "loading stale fast",
        summary: "Tells when the store was synced last",
    },
    Command {
        name: "memory", arity: -2, keys: (0, 0, 0), group: "server", since: "4.0.0", rights: NONE,
        flags: "",
        summary: "Counts the bytes that a key takes",
    },
    Command {
        name: "role", arity: 1, keys: (0, 0, 0), group: "server", since: "2.8.12", rights: NONE,
        flags: "noscript loading stale fast",
        summary: "Tells that the server is a master",
    },
    Command {
        name: "save", arity: 1, keys: (0, 0, 0), group: "server", since: "1.0.0", rights: NONE,
        flags: "admin noscript",
        summary: "Syncs the store",
    },
    Command {
        name: "time", arity: 1, keys: (0, 0, 0), group: "server", since: "2.6.0", rights: NONE,
        flags: "loading stale fast",
        summary: "Tells the time",
    },
];
