//! Commands on strings.

use super::rights::{CHANGE, INSERT, NONE, READ, TAKE, TOUCH, UPSERT};
use crate::command::Command;

/// Sorted by their names.
#[rustfmt::skip]
pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "append", arity: 3, keys: (1, 1, 1), group: "string", since: "2.0.0", rights: UPSERT,
        flags: "write denyoom fast",
        summary: "Appends to the value of a key",
    },
    Command {
        name: "decr", arity: 2, keys: (1, 1, 1), group: "string", since: "1.0.0", rights: CHANGE,
        flags: "write denyoom fast",
        summary: "Takes one from a number",
    },
    Command {
        name: "decrby", arity: 3, keys: (1, 1, 1), group: "string", since: "1.0.0", rights: CHANGE,
        flags: "write denyoom fast",
        summary: "Takes from a number",
    },
    Command {
        name: "delex", arity: -2, keys: (1, 1, 1), group: "string", since: "8.4.0", rights: TAKE,
        flags: "write fast",
        summary: "Deletes a key if its value is the given one, or another",
    },
    Command {
        name: "get", arity: 2, keys: (1, 1, 1), group: "string", since: "1.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Gets the value of a key",
    },
    Command {
        name: "getdel", arity: 2, keys: (1, 1, 1), group: "string", since: "6.2.0", rights: TAKE,
        flags: "write fast",
        summary: "Gets a value and deletes its key",
    },
    Command {
        name: "getex", arity: -2, keys: (1, 1, 1), group: "string", since: "6.2.0", rights: TOUCH,
        flags: "write fast",
        summary: "Gets a value and changes its expiry",
    },
    Command {
        name: "getrange", arity: 4, keys: (1, 1, 1), group: "string", since: "2.4.0", rights: READ,
        flags: "readonly",
        summary: "Gets a part of a value",
    },
    Command {
        name: "getset", arity: 3, keys: (1, 1, 1), group: "string", since: "1.0.0", rights: CHANGE,
        flags: "write denyoom fast",
        summary: "Sets a value and gets the one before",
    },
    Command {
        name: "incr", arity: 2, keys: (1, 1, 1), group: "string", since: "1.0.0", rights: CHANGE,
        flags: "write denyoom fast",
        summary: "Adds one to a number",
    },
    Command {
        name: "incrby", arity: 3, keys: (1, 1, 1), group: "string", since: "1.0.0", rights: CHANGE,
        flags: "write denyoom fast",
        summary: "Adds to a number",
    },
    Command {
        name: "incrbyfloat", arity: 3, keys: (1, 1, 1), group: "string", since: "2.6.0", rights: CHANGE,
        flags: "write denyoom fast",
        summary: "Adds to a decimal number",
    },
    Command {
        name: "lcs", arity: -3, keys: (1, 2, 1), group: "string", since: "7.0.0", rights: READ,
        flags: "readonly",
        summary: "Finds what two strings have in common",
    },
    Command {
        name: "mget", arity: -2, keys: (1, -1, 1), group: "string", since: "1.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Gets the values of keys",
    },
    Command {
        name: "mset", arity: -3, keys: (1, -1, 2), group: "string", since: "1.0.1", rights: UPSERT,
        flags: "write denyoom",
        summary: "Sets the values of keys",
    },
    Command {
        name: "msetex", arity: -4, keys: (0, 0, 0), group: "string", since: "8.4.0", rights: NONE,
        flags: "write denyoom movablekeys",
        summary: "Sets values together that live so long",
    },
    Command {
        name: "msetnx", arity: -3, keys: (1, -1, 2), group: "string", since: "1.0.1", rights: INSERT,
        flags: "write denyoom",
        summary: "Sets the values of keys if none exists",
    },
    Command {
        name: "psetex", arity: 4, keys: (1, 1, 1), group: "string", since: "2.6.0", rights: UPSERT,
        flags: "write denyoom",
        summary: "Sets a value that lives so many milliseconds",
    },
    Command {
        name: "set", arity: -3, keys: (1, 1, 1), group: "string", since: "1.0.0", rights: UPSERT,
        flags: "write denyoom",
        summary: "Sets the value of a key",
    },
    Command {
        name: "setex", arity: 4, keys: (1, 1, 1), group: "string", since: "2.0.0", rights: UPSERT,
        flags: "write denyoom",
        summary: "Sets a value that lives so many seconds",
    },
    Command {
        name: "setnx", arity: 3, keys: (1, 1, 1), group: "string", since: "1.0.0", rights: INSERT,
        flags: "write denyoom fast",
        summary: "Sets the value of a key if there is none",
    },
    Command {
        name: "setrange", arity: 4, keys: (1, 1, 1), group: "string", since: "2.2.0", rights: UPSERT,
        flags: "write denyoom",
        summary: "Sets a part of a value",
    },
    Command {
        name: "strlen", arity: 2, keys: (1, 1, 1), group: "string", since: "2.2.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells how long a value is",
    },
    Command {
        name: "substr", arity: 4, keys: (1, 1, 1), group: "string", since: "1.0.0", rights: READ,
        flags: "readonly",
        summary: "Gets a part of a value",
    },
];
