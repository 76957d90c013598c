//! Commands on sorted sets.

use super::rights::{CHANGE, DRAIN, MOVE, NONE, READ, REDUCE, UPSERT};
use crate::command::Command;

/// Sorted by their names.
#[rustfmt::skip]
pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "zadd", arity: -4, keys: (1, 1, 1), group: "sorted-set", since: "1.2.0", rights: UPSERT,
        flags: "write denyoom fast",
        summary: "Adds members to a sorted set, or changes their scores",
    },
    Command {
        name: "zcard", arity: 2, keys: (1, 1, 1), group: "sorted-set", since: "1.2.0", rights: READ,
        flags: "readonly fast",
        summary: "Counts the members of a sorted set",
    },
    Command {
        name: "zcount", arity: 4, keys: (1, 1, 1), group: "sorted-set", since: "2.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Counts the members between two scores",
    },
    Command {
        name: "zdiff", arity: -3, keys: (0, 0, 0), group: "sorted-set", since: "6.2.0", rights: NONE,
        flags: "readonly movablekeys",
        summary: "Gets the members of sorted sets that no other has",
    },
    Command {
        name: "zdiffstore", arity: -4, keys: (1, 1, 1), group: "sorted-set", since: "6.2.0", rights: MOVE,
        flags: "write denyoom movablekeys",
        summary: "Stores the members of sorted sets that no other has",
    },
    Command {
        name: "zincrby", arity: 4, keys: (1, 1, 1), group: "sorted-set", since: "1.2.0", rights: CHANGE,
        flags: "write denyoom fast",
        summary: "Adds to the score of a member",
    },
    Command {
        name: "zinter", arity: -3, keys: (0, 0, 0), group: "sorted-set", since: "6.2.0", rights: NONE,
        flags: "readonly movablekeys",
        summary: "Gets the members of sorted sets that all have",
    },
    Command {
        name: "zintercard", arity: -3, keys: (0, 0, 0), group: "sorted-set", since: "7.0.0", rights: NONE,
        flags: "readonly movablekeys",
        summary: "Counts the members that all sorted sets have",
    },
    Command {
        name: "zinterstore", arity: -4, keys: (1, 1, 1), group: "sorted-set", since: "2.0.0", rights: MOVE,
        flags: "write denyoom movablekeys",
        summary: "Stores the members of sorted sets that all have",
    },
    Command {
        name: "zlexcount", arity: 4, keys: (1, 1, 1), group: "sorted-set", since: "2.8.9", rights: READ,
        flags: "readonly fast",
        summary: "Counts the members between two names",
    },
    Command {
        name: "zmpop", arity: -4, keys: (0, 0, 0), group: "sorted-set", since: "7.0.0", rights: NONE,
        flags: "write movablekeys",
        summary: "Takes members of the first sorted set that has any",
    },
    Command {
        name: "zmscore", arity: -3, keys: (1, 1, 1), group: "sorted-set", since: "6.2.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells the scores of members",
    },
    Command {
        name: "zpopmax", arity: -2, keys: (1, 1, 1), group: "sorted-set", since: "5.0.0", rights: DRAIN,
        flags: "write fast",
        summary: "Takes the members with the highest scores",
    },
    Command {
        name: "zpopmin", arity: -2, keys: (1, 1, 1), group: "sorted-set", since: "5.0.0", rights: DRAIN,
        flags: "write fast",
        summary: "Takes the members with the lowest scores",
    },
    Command {
        name: "zrandmember", arity: -2, keys: (1, 1, 1), group: "sorted-set", since: "6.2.0", rights: READ,
        flags: "readonly",
        summary: "Gets members of a sorted set by chance",
    },
    Command {
        name: "zrange", arity: -4, keys: (1, 1, 1), group: "sorted-set", since: "1.2.0", rights: READ,
        flags: "readonly",
        summary: "Gets members of a sorted set by places, scores or names",
    },
    Command {
        name: "zrangebylex", arity: -4, keys: (1, 1, 1), group: "sorted-set", since: "2.8.9", rights: READ,
        flags: "readonly",
        summary: "Gets members of a sorted set by their names",
    },
    Command {
        name: "zrangebyscore", arity: -4, keys: (1, 1, 1), group: "sorted-set", since: "1.0.5", rights: READ,
        flags: "readonly",
        summary: "Gets members of a sorted set by their scores",
    },
    Command {
        name: "zrangestore", arity: -5, keys: (1, 2, 1), group: "sorted-set", since: "6.2.0", rights: MOVE,
        flags: "write denyoom",
        summary: "Stores a range of a sorted set",
    },
    Command {
        name: "zrank", arity: -3, keys: (1, 1, 1), group: "sorted-set", since: "2.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells the place of a member",
    },
    Command {
        name: "zrem", arity: -3, keys: (1, 1, 1), group: "sorted-set", since: "1.2.0", rights: REDUCE,
        flags: "write fast",
        summary: "Removes members of a sorted set",
    },
    Command {
        name: "zremrangebylex", arity: 4, keys: (1, 1, 1), group: "sorted-set", since: "2.8.9", rights: REDUCE,
        flags: "write",
        summary: "Removes the members between two names",
    },
    Command {
        name: "zremrangebyrank", arity: 4, keys: (1, 1, 1), group: "sorted-set", since: "2.0.0", rights: REDUCE,
        flags: "write",
        summary: "Removes the members between two places",
    },
    Command {
        name: "zremrangebyscore", arity: 4, keys: (1, 1, 1), group: "sorted-set", since: "1.2.0", rights: REDUCE,
        flags: "write",
        summary: "Removes the members between two scores",
    },
    Command {
        name: "zrevrange", arity: -4, keys: (1, 1, 1), group: "sorted-set", since: "1.2.0", rights: READ,
        flags: "readonly",
        summary: "Gets members of a sorted set, the highest first",
    },
    Command {
        name: "zrevrangebylex", arity: -4, keys: (1, 1, 1), group: "sorted-set", since: "2.8.9", rights: READ,
        flags: "readonly",
        summary: "Gets members by their names, the highest first",
    },
    Command {
        name: "zrevrangebyscore", arity: -4, keys: (1, 1, 1), group: "sorted-set", since: "2.2.0", rights: READ,
        flags: "readonly",
        summary: "Gets members by their scores, the highest first",
    },
    Command {
        name: "zrevrank", arity: -3, keys: (1, 1, 1), group: "sorted-set", since: "2.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells the place of a member, from the highest",
    },
    Command {
        name: "zscan", arity: -3, keys: (1, 1, 1), group: "sorted-set", since: "2.8.0", rights: READ,
        flags: "readonly",
        summary: "Lists the members of a sorted set and their scores",
    },
    Command {
        name: "zscore", arity: 3, keys: (1, 1, 1), group: "sorted-set", since: "1.2.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells the score of a member",
    },
    Command {
        name: "zunion", arity: -3, keys: (0, 0, 0), group: "sorted-set", since: "6.2.0", rights: NONE,
        flags: "readonly movablekeys",
        summary: "Gets the members of sorted sets that any has",
    },
    Command {
        name: "zunionstore", arity: -4, keys: (1, 1, 1), group: "sorted-set", since: "2.0.0", rights: MOVE,
        flags: "write denyoom movablekeys",
        summary: "Stores the members of sorted sets that any has",
    },
];
