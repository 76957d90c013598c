//! Commands on keys whatever their values are.

use super::rights::{CHANGE, DELETE, MOVE, NONE, READ, UPDATE};
use crate::command::Command;

/// Sorted by their names.
#[rustfmt::skip]
pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "copy", arity: -3, keys: (1, 2, 1), group: "generic", since: "6.2.0", rights: CHANGE,
        flags: "write denyoom",
        summary: "Copies a value to another key",
    },
    Command {
        name: "del", arity: -2, keys: (1, -1, 1), group: "generic", since: "1.0.0", rights: DELETE,
        flags: "write",
        summary: "Deletes keys",
    },
    Command {
        name: "exists", arity: -2, keys: (1, -1, 1), group: "generic", since: "1.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Counts which keys exist",
    },
    Command {
        name: "expire", arity: -3, keys: (1, 1, 1), group: "generic", since: "1.0.0", rights: UPDATE,
        flags: "write fast",
        summary: "Lets a key live so many seconds",
    },
    Command {
        name: "expireat", arity: -3, keys: (1, 1, 1), group: "generic", since: "1.2.0", rights: UPDATE,
        flags: "write fast",
        summary: "Lets a key live until a second",
    },
    Command {
        name: "expiretime", arity: 2, keys: (1, 1, 1), group: "generic", since: "7.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells until which second a key lives",
    },
    Command {
        name: "keys", arity: 2, keys: (0, 0, 0), group: "generic", since: "1.0.0", rights: NONE,
        flags: "readonly",
        summary: "Lists the keys that match a pattern",
    },
    Command {
        name: "object", arity: -2, keys: (0, 0, 0), group: "generic", since: "2.2.3", rights: NONE,
        flags: "readonly",
        summary: "Tells how a value is stored",
    },
    Command {
        name: "persist", arity: 2, keys: (1, 1, 1), group: "generic", since: "2.2.0", rights: UPDATE,
        flags: "write fast",
        summary: "Lets a key live for ever",
    },
    Command {
        name: "pexpire", arity: -3, keys: (1, 1, 1), group: "generic", since: "2.6.0", rights: UPDATE,
        flags: "write fast",
        summary: "Lets a key live so many milliseconds",
    },
    Command {
        name: "pexpireat", arity: -3, keys: (1, 1, 1), group: "generic", since: "2.6.0", rights: UPDATE,
        flags: "write fast",
        summary: "Lets a key live until a millisecond",
    },
    Command {
        name: "pexpiretime", arity: 2, keys: (1, 1, 1), group: "generic", since: "7.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells until which millisecond a key lives",
    },
    Command {
        name: "pttl", arity: 2, keys: (1, 1, 1), group: "generic", since: "2.6.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells how many milliseconds a key lives",
    },
    Command {
        name: "randomkey", arity: 1, keys: (0, 0, 0), group: "generic", since: "1.0.0", rights: NONE,
        flags: "readonly",
        summary: "Gets a key",
    },
    Command {
        name: "rename", arity: 3, keys: (1, 2, 1), group: "generic", since: "1.0.0", rights: MOVE,
        flags: "write",
        summary: "Renames a key",
    },
    Command {
        name: "renamenx", arity: 3, keys: (1, 2, 1), group: "generic", since: "1.0.0", rights: MOVE,
        flags: "write fast",
        summary: "Renames a key if the new one is free",
    },
    Command {
        name: "scan", arity: -2, keys: (0, 0, 0), group: "generic", since: "2.8.0", rights: NONE,
        flags: "readonly",
        summary: "Lists keys, a part at a time",
    },
    Command {
        name: "sort", arity: -2, keys: (1, 1, 1), group: "generic", since: "1.0.0", rights: READ,
        flags: "write denyoom movablekeys",
        summary: "Sorts a list, a set or a sorted set, and may store it",
    },
    Command {
        name: "sort_ro", arity: -2, keys: (1, 1, 1), group: "generic", since: "7.0.0", rights: READ,
        flags: "readonly movablekeys",
        summary: "Sorts a list, a set or a sorted set",
    },
    Command {
        name: "touch", arity: -2, keys: (1, -1, 1), group: "generic", since: "3.2.1", rights: READ,
        flags: "readonly fast",
        summary: "Counts which keys exist",
    },
    Command {
        name: "ttl", arity: 2, keys: (1, 1, 1), group: "generic", since: "1.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells how many seconds a key lives",
    },
    Command {
        name: "type", arity: 2, keys: (1, 1, 1), group: "generic", since: "1.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells the type of a value",
    },
    Command {
        name: "unlink", arity: -2, keys: (1, -1, 1), group: "generic", since: "4.0.0", rights: DELETE,
        flags: "write fast",
        summary: "Deletes keys",
    },
    Command {
        name: "wait", arity: 3, keys: (0, 0, 0), group: "generic", since: "3.0.0", rights: NONE,
        flags: "noscript",
        summary: "Answers 0: there are no replicas",
    },
];
