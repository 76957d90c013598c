//! Commands on sets.

use super::rights::{DRAIN, MOVE, NONE, READ, REDUCE, UPSERT};
use crate::command::Command;

/// Sorted by their names.
#[rustfmt::skip]
pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "sadd", arity: -3, keys: (1, 1, 1), group: "set", since: "1.0.0", rights: UPSERT,
        flags: "write denyoom fast",
        summary: "Adds members to a set",
    },
    Command {
        name: "scard", arity: 2, keys: (1, 1, 1), group: "set", since: "1.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Counts the members of a set",
    },
    Command {
        name: "sdiff", arity: -2, keys: (1, -1, 1), group: "set", since: "1.0.0", rights: READ,
        flags: "readonly",
        summary: "Gets the members of a set that no other has",
    },
    Command {
        name: "sdiffstore", arity: -3, keys: (1, -1, 1), group: "set", since: "1.0.0", rights: MOVE,
        flags: "write denyoom",
        summary: "Stores the members of a set that no other has",
    },
    Command {
        name: "sinter", arity: -2, keys: (1, -1, 1), group: "set", since: "1.0.0", rights: READ,
        flags: "readonly",
        summary: "Gets the members that all sets have",
    },
    Command {
        name: "sintercard", arity: -3, keys: (0, 0, 0), group: "set", since: "7.0.0", rights: NONE,
        flags: "readonly movablekeys",
        summary: "Counts the members that all sets have",
    },
    Command {
        name: "sinterstore", arity: -3, keys: (1, -1, 1), group: "set", since: "1.0.0", rights: MOVE,
        flags: "write denyoom",
        summary: "Stores the members that all sets have",
    },
    Command {
        name: "sismember", arity: 3, keys: (1, 1, 1), group: "set", since: "1.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells whether a set has a member",
    },
    Command {
        name: "smembers", arity: 2, keys: (1, 1, 1), group: "set", since: "1.0.0", rights: READ,
        flags: "readonly",
        summary: "Gets all members of a set",
    },
    Command {
        name: "smismember", arity: -3, keys: (1, 1, 1), group: "set", since: "6.2.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells which members a set has",
    },
    Command {
        name: "smove", arity: 4, keys: (1, 2, 1), group: "set", since: "1.0.0", rights: MOVE,
        flags: "write fast",
        summary: "Moves a member from one set to another",
    },
    Command {
        name: "spop", arity: -2, keys: (1, 1, 1), group: "set", since: "1.0.0", rights: DRAIN,
        flags: "write fast",
        summary: "Takes members of a set by chance",
    },
    Command {
        name: "srandmember", arity: -2, keys: (1, 1, 1), group: "set", since: "1.0.0", rights: READ,
        flags: "readonly",
        summary: "Gets members of a set by chance",
    },
    Command {
        name: "srem", arity: -3, keys: (1, 1, 1), group: "set", since: "1.0.0", rights: REDUCE,
        flags: "write fast",
        summary: "Removes members of a set",
    },
    Command {
        name: "sscan", arity: -3, keys: (1, 1, 1), group: "set", since: "2.8.0", rights: READ,
        flags: "readonly",
        summary: "Lists the members of a set",
    },
    Command {
        name: "sunion", arity: -2, keys: (1, -1, 1), group: "set", since: "1.0.0", rights: READ,
        flags: "readonly",
        summary: "Gets the members that any set has",
    },
    Command {
        name: "sunionstore", arity: -3, keys: (1, -1, 1), group: "set", since: "1.0.0", rights: MOVE,
        flags: "write denyoom",
        summary: "Stores the members that any set has",
    },
];
