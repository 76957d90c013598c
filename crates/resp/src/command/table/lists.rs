//! Commands on lists.

use super::rights::{CHANGE, DRAIN, MOVE, NONE, READ, REDUCE, UPDATE, UPSERT};
use crate::command::Command;

/// Sorted by their names.
#[rustfmt::skip]
pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "lindex", arity: 3, keys: (1, 1, 1), group: "list", since: "1.0.0", rights: READ,
        flags: "readonly",
        summary: "Gets an element of a list",
    },
    Command {
        name: "linsert", arity: 5, keys: (1, 1, 1), group: "list", since: "2.2.0", rights: CHANGE,
        flags: "write denyoom",
        summary: "Puts an element before another one, or after it",
    },
    Command {
        name: "llen", arity: 2, keys: (1, 1, 1), group: "list", since: "1.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Counts the elements of a list",
    },
    Command {
        name: "lmove", arity: 5, keys: (1, 2, 1), group: "list", since: "6.2.0", rights: MOVE,
        flags: "write denyoom",
        summary: "Moves an element from one list to another",
    },
    Command {
        name: "lmpop", arity: -4, keys: (0, 0, 0), group: "list", since: "7.0.0", rights: NONE,
        flags: "write movablekeys",
        summary: "Takes elements of the first list that has any",
    },
    Command {
        name: "lpop", arity: -2, keys: (1, 1, 1), group: "list", since: "1.0.0", rights: DRAIN,
        flags: "write fast",
        summary: "Takes the first elements of a list",
    },
    Command {
        name: "lpos", arity: -3, keys: (1, 1, 1), group: "list", since: "6.0.6", rights: READ,
        flags: "readonly",
        summary: "Gives the position of an element in a list",
    },
    Command {
        name: "lpush", arity: -3, keys: (1, 1, 1), group: "list", since: "1.0.0", rights: UPSERT,
        flags: "write denyoom fast",
        summary: "Puts elements in front of a list",
    },
    Command {
        name: "lpushx", arity: -3, keys: (1, 1, 1), group: "list", since: "2.2.0", rights: UPDATE,
        flags: "write denyoom fast",
        summary: "Puts elements in front of a list that is there",
    },
    Command {
        name: "lrange", arity: 4, keys: (1, 1, 1), group: "list", since: "1.0.0", rights: READ,
        flags: "readonly",
        summary: "Gets elements of a list",
    },
    Command {
        name: "lrem", arity: 4, keys: (1, 1, 1), group: "list", since: "1.0.0", rights: REDUCE,
        flags: "write",
        summary: "Removes elements of a list that are equal",
    },
    Command {
        name: "lset", arity: 4, keys: (1, 1, 1), group: "list", since: "1.0.0", rights: UPDATE,
        flags: "write denyoom",
        summary: "Sets an element of a list",
    },
    Command {
        name: "ltrim", arity: 4, keys: (1, 1, 1), group: "list", since: "1.0.0", rights: REDUCE,
        flags: "write",
        summary: "Keeps some elements of a list",
    },
    Command {
        name: "rpop", arity: -2, keys: (1, 1, 1), group: "list", since: "1.0.0", rights: DRAIN,
        flags: "write fast",
        summary: "Takes the last elements of a list",
    },
    Command {
        name: "rpoplpush", arity: 3, keys: (1, 2, 1), group: "list", since: "1.2.0", rights: MOVE,
        flags: "write denyoom",
        summary: "Moves the last element of a list to another one",
    },
    Command {
        name: "rpush", arity: -3, keys: (1, 1, 1), group: "list", since: "1.0.0", rights: UPSERT,
        flags: "write denyoom fast",
        summary: "Appends elements to a list",
    },
    Command {
        name: "rpushx", arity: -3, keys: (1, 1, 1), group: "list", since: "2.2.0", rights: UPDATE,
        flags: "write denyoom fast",
        summary: "Appends elements to a list that exists",
    },
];
