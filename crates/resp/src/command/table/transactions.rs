//! Commands on transactions.

use super::rights::{NONE, READ};
use crate::command::Command;

/// Sorted by their names.
#[rustfmt::skip]
pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "discard", arity: 1, keys: (0, 0, 0), group: "transactions", since: "2.0.0", rights: NONE,
        flags: "noscript loading stale fast allow_busy",
        summary: "Forgets a transaction",
    },
    Command {
        name: "exec", arity: 1, keys: (0, 0, 0), group: "transactions", since: "1.2.0", rights: NONE,
        flags: "noscript loading stale skip_slowlog",
        summary: "Carries a transaction out",
    },
    Command {
        name: "multi", arity: 1, keys: (0, 0, 0), group: "transactions", since: "1.2.0", rights: NONE,
        flags: "noscript loading stale fast allow_busy",
        summary: "Begins a transaction",
    },
    Command {
        name: "unwatch", arity: 1, keys: (0, 0, 0), group: "transactions", since: "2.2.0", rights: NONE,
        flags: "noscript loading stale fast allow_busy",
        summary: "Forgets which keys are watched",
    },
    Command {
        name: "watch", arity: -2, keys: (1, -1, 1), group: "transactions", since: "2.2.0", rights: READ,
        flags: "noscript loading stale fast allow_busy",
        summary: "Makes a transaction depend on keys",
    },
];
