//! Commands on channels.

use super::rights::NONE;
use crate::command::Command;

/// Sorted by their names. Rights on channels are checked where the commands are carried out.
#[rustfmt::skip]
pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "psubscribe", arity: -2, keys: (0, 0, 0), group: "pubsub", since: "2.0.0", rights: NONE,
        flags: "pubsub noscript loading stale",
        summary: "Gets the messages of all channels that match patterns",
    },
    Command {
        name: "publish", arity: 3, keys: (0, 0, 0), group: "pubsub", since: "2.0.0", rights: NONE,
        flags: "pubsub loading stale fast",
        summary: "Sends a message to all who subscribe to a channel",
    },
    Command {
        name: "pubsub", arity: -2, keys: (0, 0, 0), group: "pubsub", since: "2.8.0", rights: NONE,
        flags: "pubsub loading stale",
        summary: "Says which channels have subscribers",
    },
    Command {
        name: "punsubscribe", arity: -1, keys: (0, 0, 0), group: "pubsub", since: "2.0.0", rights: NONE,
        flags: "pubsub noscript loading stale",
        summary: "Ends subscriptions of patterns",
    },
    Command {
        name: "spublish", arity: 3, keys: (0, 0, 0), group: "pubsub", since: "7.0.0", rights: NONE,
        flags: "pubsub loading stale fast",
        summary: "Sends a message to all who subscribe to a sharded channel",
    },
    Command {
        name: "ssubscribe", arity: -2, keys: (0, 0, 0), group: "pubsub", since: "7.0.0", rights: NONE,
        flags: "pubsub noscript loading stale",
        summary: "Gets the messages of sharded channels",
    },
    Command {
        name: "subscribe", arity: -2, keys: (0, 0, 0), group: "pubsub", since: "2.0.0", rights: NONE,
        flags: "pubsub noscript loading stale",
        summary: "Gets the messages of channels",
    },
    Command {
        name: "sunsubscribe", arity: -1, keys: (0, 0, 0), group: "pubsub", since: "7.0.0", rights: NONE,
        flags: "pubsub noscript loading stale",
        summary: "Ends subscriptions of sharded channels",
    },
    Command {
        name: "unsubscribe", arity: -1, keys: (0, 0, 0), group: "pubsub", since: "2.0.0", rights: NONE,
        flags: "pubsub noscript loading stale",
        summary: "Ends subscriptions of channels",
    },
];
