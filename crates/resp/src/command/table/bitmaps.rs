//! Commands on rows of bits.

use super::rights::{CHANGE, READ};
use crate::command::Command;

/// Sorted by their names.
#[rustfmt::skip]
pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "bitcount", arity: -2, keys: (1, 1, 1), group: "bitmap", since: "2.6.0", rights: READ,
        flags: "readonly",
        summary: "Counts the bits that are on",
    },
    Command {
        name: "bitfield", arity: -2, keys: (1, 1, 1), group: "bitmap", since: "3.2.0", rights: CHANGE,
        flags: "write denyoom",
        summary: "Reads and changes numbers of any width",
    },
    Command {
        name: "bitfield_ro", arity: -2, keys: (1, 1, 1), group: "bitmap", since: "6.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Reads numbers of any width",
    },
    Command {
        name: "bitop", arity: -4, keys: (2, -1, 1), group: "bitmap", since: "2.6.0", rights: CHANGE,
        flags: "write denyoom",
        summary: "Combines the bits of keys",
    },
    Command {
        name: "bitpos", arity: -3, keys: (1, 1, 1), group: "bitmap", since: "2.8.7", rights: READ,
        flags: "readonly",
        summary: "Finds the first bit that is on or off",
    },
    Command {
        name: "getbit", arity: 3, keys: (1, 1, 1), group: "bitmap", since: "2.2.0", rights: READ,
        flags: "readonly fast",
        summary: "Gets a bit",
    },
    Command {
        name: "setbit", arity: 4, keys: (1, 1, 1), group: "bitmap", since: "2.2.0", rights: CHANGE,
        flags: "write denyoom",
        summary: "Sets a bit",
    },
];
