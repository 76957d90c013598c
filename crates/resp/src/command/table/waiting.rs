//! Commands that wait for an element.

use super::rights::{DRAIN, MOVE, NONE};
use crate::command::Command;

/// Sorted by their names. Where a number says where the keys end, their rights are checked later.
#[rustfmt::skip]
pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "blmove", arity: 6, keys: (1, 2, 1), group: "list", since: "6.2.0", rights: MOVE,
        flags: "write denyoom noscript blocking",
        summary: "Moves an element from one list to another, once there is one",
    },
    Command {
        name: "blmpop", arity: -5, keys: (0, 0, 0), group: "list", since: "7.0.0", rights: NONE,
        flags: "write blocking movablekeys",
        summary: "Takes some elements of the first list that has one, once there is one",
    },
    Command {
        name: "blpop", arity: -3, keys: (1, -2, 1), group: "list", since: "2.0.0", rights: DRAIN,
        flags: "write noscript blocking",
        summary: "Takes the first element of the first list that has one, once there is one",
    },
    Command {
        name: "brpop", arity: -3, keys: (1, -2, 1), group: "list", since: "2.0.0", rights: DRAIN,
        flags: "write noscript blocking",
        summary: "Takes the last element of the first list that has one, once there is one",
    },
    Command {
        name: "brpoplpush", arity: 4, keys: (1, 2, 1), group: "list", since: "2.2.0", rights: MOVE,
        flags: "write denyoom noscript blocking",
        summary: "Moves the last element of a list to the front of another, once there is one",
    },
    Command {
        name: "bzmpop", arity: -5, keys: (0, 0, 0), group: "sorted-set", since: "7.0.0", rights: NONE,
        flags: "write blocking movablekeys",
        summary: "Takes some members with the lowest or highest scores, once there are any",
    },
    Command {
        name: "bzpopmax", arity: -3, keys: (1, -2, 1), group: "sorted-set", since: "5.0.0", rights: DRAIN,
        flags: "write noscript blocking fast",
        summary: "Takes the member with the highest score, once there is one",
    },
    Command {
        name: "bzpopmin", arity: -3, keys: (1, -2, 1), group: "sorted-set", since: "5.0.0", rights: DRAIN,
        flags: "write noscript blocking fast",
        summary: "Takes the member with the lowest score, once there is one",
    },
];
