//! Commands on hashes.

use super::rights::{CHANGE, DRAIN, READ, REDUCE, TOUCH, UPDATE, UPSERT};
use crate::command::Command;

/// Sorted by their names.
#[rustfmt::skip]
pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "hdel", arity: -3, keys: (1, 1, 1), group: "hash", since: "2.0.0", rights: REDUCE,
        flags: "write fast",
        summary: "Deletes fields of a hash",
    },
    Command {
        name: "hexists", arity: 3, keys: (1, 1, 1), group: "hash", since: "2.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells whether a hash has a field",
    },
    Command {
        name: "hexpire", arity: -6, keys: (1, 1, 1), group: "hash", since: "7.4.0", rights: UPDATE,
        flags: "write denyoom fast",
        summary: "Lets fields of a hash live so many seconds",
    },
    Command {
        name: "hexpireat", arity: -6, keys: (1, 1, 1), group: "hash", since: "7.4.0", rights: UPDATE,
        flags: "write denyoom fast",
        summary: "Lets fields of a hash live until a second",
    },
    Command {
        name: "hexpiretime", arity: -5, keys: (1, 1, 1), group: "hash", since: "7.4.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells until which second fields of a hash live",
    },
    Command {
        name: "hget", arity: 3, keys: (1, 1, 1), group: "hash", since: "2.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Gets the value of a field",
    },
    Command {
        name: "hgetall", arity: 2, keys: (1, 1, 1), group: "hash", since: "2.0.0", rights: READ,
        flags: "readonly",
        summary: "Gets all fields of a hash and their values",
    },
    Command {
        name: "hgetdel", arity: -5, keys: (1, 1, 1), group: "hash", since: "8.0.0", rights: DRAIN,
        flags: "write fast",
        summary: "Gets fields of a hash, and deletes them",
    },
    Command {
        name: "hgetex", arity: -5, keys: (1, 1, 1), group: "hash", since: "8.0.0", rights: TOUCH,
        flags: "write fast",
        summary: "Gets fields of a hash, and sets how long they live",
    },
    Command {
        name: "hincrby", arity: 4, keys: (1, 1, 1), group: "hash", since: "2.0.0", rights: CHANGE,
        flags: "write denyoom fast",
        summary: "Adds to the number in a field",
    },
    Command {
        name: "hincrbyfloat", arity: 4, keys: (1, 1, 1), group: "hash", since: "2.6.0", rights: CHANGE,
        flags: "write denyoom fast",
        summary: "Adds to the decimal number in a field",
    },
    Command {
        name: "hkeys", arity: 2, keys: (1, 1, 1), group: "hash", since: "2.0.0", rights: READ,
        flags: "readonly",
        summary: "Gets all fields of a hash",
    },
    Command {
        name: "hlen", arity: 2, keys: (1, 1, 1), group: "hash", since: "2.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Counts the fields of a hash",
    },
    Command {
        name: "hmget", arity: -3, keys: (1, 1, 1), group: "hash", since: "2.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Gets the values of fields",
    },
    Command {
        name: "hmset", arity: -4, keys: (1, 1, 1), group: "hash", since: "2.0.0", rights: UPSERT,
        flags: "write denyoom fast",
        summary: "Sets the values of fields",
    },
    Command {
        name: "hpersist", arity: -5, keys: (1, 1, 1), group: "hash", since: "7.4.0", rights: UPDATE,
        flags: "write fast",
        summary: "Lets fields of a hash live for ever",
    },
    Command {
        name: "hpexpire", arity: -6, keys: (1, 1, 1), group: "hash", since: "7.4.0", rights: UPDATE,
        flags: "write denyoom fast",
        summary: "Lets fields of a hash live so many milliseconds",
    },
    Command {
        name: "hpexpireat", arity: -6, keys: (1, 1, 1), group: "hash", since: "7.4.0", rights: UPDATE,
        flags: "write denyoom fast",
        summary: "Lets fields of a hash live until a millisecond",
    },
    Command {
        name: "hpexpiretime", arity: -5, keys: (1, 1, 1), group: "hash", since: "7.4.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells until which millisecond fields of a hash live",
    },
    Command {
        name: "hpttl", arity: -5, keys: (1, 1, 1), group: "hash", since: "7.4.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells how many milliseconds fields of a hash live",
    },
    Command {
        name: "hrandfield", arity: -2, keys: (1, 1, 1), group: "hash", since: "6.2.0", rights: READ,
        flags: "readonly",
        summary: "Gets fields by chance",
    },
    Command {
        name: "hscan", arity: -3, keys: (1, 1, 1), group: "hash", since: "2.8.0", rights: READ,
        flags: "readonly",
        summary: "Lists the fields of a hash and their values",
    },
    Command {
        name: "hset", arity: -4, keys: (1, 1, 1), group: "hash", since: "2.0.0", rights: UPSERT,
        flags: "write denyoom fast",
        summary: "Sets the values of fields, and counts the new ones",
    },
    Command {
        name: "hsetex", arity: -6, keys: (1, 1, 1), group: "hash", since: "8.0.0", rights: UPSERT,
        flags: "write denyoom fast",
        summary: "Sets fields of a hash that live so long",
    },
    Command {
        name: "hsetnx", arity: 4, keys: (1, 1, 1), group: "hash", since: "2.0.0", rights: UPSERT,
        flags: "write denyoom fast",
        summary: "Sets the value of a field if there is none",
    },
    Command {
        name: "hstrlen", arity: 3, keys: (1, 1, 1), group: "hash", since: "3.2.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells how long the value of a field is",
    },
    Command {
        name: "httl", arity: -5, keys: (1, 1, 1), group: "hash", since: "7.4.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells how many seconds fields of a hash live",
    },
    Command {
        name: "hvals", arity: 2, keys: (1, 1, 1), group: "hash", since: "2.0.0", rights: READ,
        flags: "readonly",
        summary: "Gets the values of all fields of a hash",
    },
];
