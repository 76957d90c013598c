//! The table of commands, by their names: slices that are joined when this is compiled.

mod messages;
mod outside;
mod waiting;

use super::description::Command;
use crate::access::KeyRight;

const NONE: &[KeyRight] = &[];
const READ: &[KeyRight] = &[KeyRight::Read];
const INSERT: &[KeyRight] = &[KeyRight::Insert];
const UPDATE: &[KeyRight] = &[KeyRight::Update];
const DELETE: &[KeyRight] = &[KeyRight::Delete];
/// What stores a value whatever was there.
const UPSERT: &[KeyRight] = &[KeyRight::Insert, KeyRight::Update];
/// What also says what was there.
const CHANGE: &[KeyRight] = &[KeyRight::Read, KeyRight::Insert, KeyRight::Update];
/// What takes away a part, and the whole with the last part.
const REDUCE: &[KeyRight] = &[KeyRight::Update, KeyRight::Delete];
/// What also tells the part.
const DRAIN: &[KeyRight] = &[KeyRight::Read, KeyRight::Update, KeyRight::Delete];
const TAKE: &[KeyRight] = &[KeyRight::Read, KeyRight::Delete];
const TOUCH: &[KeyRight] = &[KeyRight::Read, KeyRight::Update];
const MOVE: &[KeyRight] = &[KeyRight::Read, KeyRight::Insert, KeyRight::Update, KeyRight::Delete];

const FAMILIES: &[&[Command]] = &[COMMON, messages::COMMANDS, outside::COMMANDS, waiting::COMMANDS];

/// How many commands there are.
const COUNT: usize = {
    let (mut count, mut family) = (0, 0);
    while family < FAMILIES.len() {
        count += FAMILIES[family].len();
        family += 1;
    }
    count
};

/// All commands that are offered, sorted.
pub(crate) static COMMANDS: &[Command] = &joined();

/// Sorts the commands of all families into one table.
const fn joined() -> [Command; COUNT] {
    let (mut all, mut taken, mut family) = ([FAMILIES[0][0]; COUNT], 0, 0);
    while family < FAMILIES.len() {
        let mut next = 0;
        while next < FAMILIES[family].len() {
            let mut place = taken;
            while place > 0 && is_before(FAMILIES[family][next].name, all[place - 1].name) {
                all[place] = all[place - 1];
                place -= 1;
            }
            all[place] = FAMILIES[family][next];
            (taken, next) = (taken + 1, next + 1);
        }
        family += 1;
    }
    all
}

/// Whether a name is sorted before another one.
const fn is_before(one: &str, other: &str) -> bool {
    let (one, other, mut at) = (one.as_bytes(), other.as_bytes(), 0);
    while at < one.len() && at < other.len() {
        if one[at] != other[at] {
            return one[at] < other[at];
        }
        at += 1;
    }
    one.len() < other.len()
}

/// Sorted by their names.
#[rustfmt::skip]
const COMMON: &[Command] = &[
    Command {
        name: "append", arity: 3, keys: (1, 1, 1), group: "string", since: "2.0.0", rights: UPSERT,
        flags: "write denyoom fast",
        summary: "Appends to the value of a key",
    },
    Command {
        name: "auth", arity: -2, keys: (0, 0, 0), group: "connection", since: "1.0.0", rights: NONE,
        flags: "noscript loading stale fast no_auth allow_busy",
        summary: "Logs in",
    },
    Command {
        name: "bgrewriteaof", arity: 1, keys: (0, 0, 0), group: "server", since: "1.0.0", rights: NONE,
        flags: "admin noscript",
        summary: "Syncs the store",
    },
    Command {
        name: "bgsave", arity: -1, keys: (0, 0, 0), group: "server", since: "1.0.0", rights: NONE,
        flags: "admin noscript",
        summary: "Syncs the store",
    },
    Command {
        name: "bitcount", arity: -2, keys: (1, 1, 1), group: "bitmap", since: "2.6.0", rights: READ,
        flags: "readonly",
        summary: "Counts the bits that are on",
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
        name: "client", arity: -2, keys: (0, 0, 0), group: "connection", since: "2.4.0", rights: NONE,
        flags: "noscript loading stale",
        summary: "Tells of clients and sets up this one",
    },
    Command {
        name: "command", arity: -1, keys: (0, 0, 0), group: "server", since: "2.8.13", rights: NONE,
        flags: "loading stale",
        summary: "Tells of commands",
    },
    Command {
        name: "config", arity: -2, keys: (0, 0, 0), group: "server", since: "2.0.0", rights: NONE,
        flags: "admin noscript loading stale",
        summary: "Tells and changes settings",
    },
    Command {
        name: "copy", arity: -3, keys: (1, 2, 1), group: "generic", since: "6.2.0", rights: CHANGE,
        flags: "write denyoom",
        summary: "Copies a value to another key",
    },
    Command {
        name: "dbsize", arity: 1, keys: (0, 0, 0), group: "server", since: "1.0.0", rights: NONE,
        flags: "readonly fast",
        summary: "Counts the keys",
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
        name: "del", arity: -2, keys: (1, -1, 1), group: "generic", since: "1.0.0", rights: DELETE,
        flags: "write",
        summary: "Deletes keys",
    },
    Command {
        name: "discard", arity: 1, keys: (0, 0, 0), group: "transactions", since: "2.0.0", rights: NONE,
        flags: "noscript loading stale fast allow_busy",
        summary: "Forgets a transaction",
    },
    Command {
        name: "echo", arity: 2, keys: (0, 0, 0), group: "connection", since: "1.0.0", rights: NONE,
        flags: "loading stale fast",
        summary: "Answers with its argument",
    },
    Command {
        name: "exec", arity: 1, keys: (0, 0, 0), group: "transactions", since: "1.2.0", rights: NONE,
        flags: "noscript loading stale skip_slowlog",
        summary: "Carries a transaction out",
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
        name: "flushall", arity: -1, keys: (0, 0, 0), group: "server", since: "1.0.0", rights: NONE,
        flags: "write",
        summary: "Deletes all keys",
    },
    Command {
        name: "flushdb", arity: -1, keys: (0, 0, 0), group: "server", since: "1.0.0", rights: NONE,
        flags: "write",
        summary: "Deletes all keys",
    },
    Command {
        name: "get", arity: 2, keys: (1, 1, 1), group: "string", since: "1.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Gets the value of a key",
    },
    Command {
        name: "getbit", arity: 3, keys: (1, 1, 1), group: "bitmap", since: "2.2.0", rights: READ,
        flags: "readonly fast",
        summary: "Gets a bit",
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
        name: "hdel", arity: -3, keys: (1, 1, 1), group: "hash", since: "2.0.0", rights: REDUCE,
        flags: "write fast",
        summary: "Deletes fields of a hash",
    },
    Command {
        name: "hello", arity: -1, keys: (0, 0, 0), group: "connection", since: "6.0.0", rights: NONE,
        flags: "noscript loading stale fast no_auth allow_busy",
        summary: "Chooses the protocol, and logs in",
    },
    Command {
        name: "hexists", arity: 3, keys: (1, 1, 1), group: "hash", since: "2.0.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells whether a hash has a field",
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
        name: "hvals", arity: 2, keys: (1, 1, 1), group: "hash", since: "2.0.0", rights: READ,
        flags: "readonly",
        summary: "Gets the values of all fields of a hash",
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
        name: "info", arity: -1, keys: (0, 0, 0), group: "server", since: "1.0.0", rights: NONE,
        flags: "loading stale",
        summary: "Tells of the server",
    },
    Command {
        name: "keys", arity: 2, keys: (0, 0, 0), group: "generic", since: "1.0.0", rights: NONE,
        flags: "readonly",
        summary: "Lists the keys that match a pattern",
    },
    Command {
        name: "lastsave", arity: 1, keys: (0, 0, 0), group: "server", since: "1.0.0", rights: NONE,
        flags: "loading stale fast",
        summary: "Tells when the store was synced last",
    },
    Command {
        name: "lindex", arity: 3, keys: (1, 1, 1), group: "list", since: "1.0.0", rights: READ,
        flags: "readonly",
        summary: "Gets an element of a list",
    },
    Command {
        name: "linsert", arity: 5, keys: (1, 1, 1), group: "list", since: "2.2.0", rights: CHANGE,
        flags: "write denyoom",
        summary: "Puts an element in front of another one, or behind it",
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
        name: "lpop", arity: -2, keys: (1, 1, 1), group: "list", since: "1.0.0", rights: DRAIN,
        flags: "write fast",
        summary: "Takes the first elements of a list",
    },
    Command {
        name: "lpos", arity: -3, keys: (1, 1, 1), group: "list", since: "6.0.6", rights: READ,
        flags: "readonly",
        summary: "Tells where an element stands in a list",
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
        name: "msetnx", arity: -3, keys: (1, -1, 2), group: "string", since: "1.0.1", rights: INSERT,
        flags: "write denyoom",
        summary: "Sets the values of keys if none exists",
    },
    Command {
        name: "multi", arity: 1, keys: (0, 0, 0), group: "transactions", since: "1.2.0", rights: NONE,
        flags: "noscript loading stale fast allow_busy",
        summary: "Begins a transaction",
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
        name: "ping", arity: -1, keys: (0, 0, 0), group: "connection", since: "1.0.0", rights: NONE,
        flags: "fast",
        summary: "Answers",
    },
    Command {
        name: "psetex", arity: 4, keys: (1, 1, 1), group: "string", since: "2.6.0", rights: UPSERT,
        flags: "write denyoom",
        summary: "Sets a value that lives so many milliseconds",
    },
    Command {
        name: "pttl", arity: 2, keys: (1, 1, 1), group: "generic", since: "2.6.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells how many milliseconds a key lives",
    },
    Command {
        name: "quit", arity: -1, keys: (0, 0, 0), group: "connection", since: "1.0.0", rights: NONE,
        flags: "noscript loading stale fast no_auth allow_busy",
        summary: "Closes the connection",
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
        name: "reset", arity: 1, keys: (0, 0, 0), group: "connection", since: "6.2.0", rights: NONE,
        flags: "noscript loading stale fast no_auth allow_busy",
        summary: "Sets the connection back",
    },
    Command {
        name: "role", arity: 1, keys: (0, 0, 0), group: "server", since: "2.8.12", rights: NONE,
        flags: "noscript loading stale fast",
        summary: "Tells that the server is a master",
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
        summary: "Puts elements behind a list",
    },
    Command {
        name: "rpushx", arity: -3, keys: (1, 1, 1), group: "list", since: "2.2.0", rights: UPDATE,
        flags: "write denyoom fast",
        summary: "Puts elements behind a list that is there",
    },
    Command {
        name: "sadd", arity: -3, keys: (1, 1, 1), group: "set", since: "1.0.0", rights: UPSERT,
        flags: "write denyoom fast",
        summary: "Adds members to a set",
    },
    Command {
        name: "save", arity: 1, keys: (0, 0, 0), group: "server", since: "1.0.0", rights: NONE,
        flags: "admin noscript",
        summary: "Syncs the store",
    },
    Command {
        name: "scan", arity: -2, keys: (0, 0, 0), group: "generic", since: "2.8.0", rights: NONE,
        flags: "readonly",
        summary: "Lists keys, a part at a time",
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
        name: "select", arity: 2, keys: (0, 0, 0), group: "connection", since: "1.0.0", rights: NONE,
        flags: "loading stale fast",
        summary: "Chooses the database: there is one, 0",
    },
    Command {
        name: "set", arity: -3, keys: (1, 1, 1), group: "string", since: "1.0.0", rights: UPSERT,
        flags: "write denyoom",
        summary: "Sets the value of a key",
    },
    Command {
        name: "setbit", arity: 4, keys: (1, 1, 1), group: "bitmap", since: "2.2.0", rights: CHANGE,
        flags: "write denyoom",
        summary: "Sets a bit",
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
        name: "strlen", arity: 2, keys: (1, 1, 1), group: "string", since: "2.2.0", rights: READ,
        flags: "readonly fast",
        summary: "Tells how long a value is",
    },
    Command {
        name: "substr", arity: 4, keys: (1, 1, 1), group: "string", since: "1.0.0", rights: READ,
        flags: "readonly",
        summary: "Gets a part of a value",
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
    Command {
        name: "time", arity: 1, keys: (0, 0, 0), group: "server", since: "2.6.0", rights: NONE,
        flags: "loading stale fast",
        summary: "Tells the time",
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
        name: "unwatch", arity: 1, keys: (0, 0, 0), group: "transactions", since: "2.2.0", rights: NONE,
        flags: "noscript loading stale fast allow_busy",
        summary: "Forgets which keys are watched",
    },
    Command {
        name: "wait", arity: 3, keys: (0, 0, 0), group: "generic", since: "3.0.0", rights: NONE,
        flags: "noscript",
        summary: "Answers 0: there are no replicas",
    },
    Command {
        name: "watch", arity: -2, keys: (1, -1, 1), group: "transactions", since: "2.2.0", rights: READ,
        flags: "noscript loading stale fast allow_busy",
        summary: "Makes a transaction depend on keys",
    },
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
        name: "zincrby", arity: 4, keys: (1, 1, 1), group: "sorted-set", since: "1.2.0", rights: CHANGE,
        flags: "write denyoom fast",
        summary: "Adds to the score of a member",
    },
    Command {
        name: "zlexcount", arity: 4, keys: (1, 1, 1), group: "sorted-set", since: "2.8.9", rights: READ,
        flags: "readonly fast",
        summary: "Counts the members between two names",
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
        name: "zrank", arity: 3, keys: (1, 1, 1), group: "sorted-set", since: "2.0.0", rights: READ,
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
        name: "zrevrank", arity: 3, keys: (1, 1, 1), group: "sorted-set", since: "2.0.0", rights: READ,
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
];
