//! Which function carries a command out.

use std::sync::LazyLock;

use super::immediate::ImmediateCall;
use super::plan::{CommandArguments, PartSink, ReplyShape};
use super::words::Refusal;
use super::{
    bitmaps, common_subsequence, connection, encoding, generic, hash_expiry, hashes, introspection,
    keys, list_moves, lists, memory, messages, multi_pop, outside, server, set_algebra, set_many,
    sets, sort, sorted_algebra, sorted_sets, strings, transactions, waiting,
};
use crate::command::COMMANDS;

/// What carries a command out.
#[derive(Clone, Copy)]
pub(super) enum Handler {
    /// Makes parts of it, one for each key. They are carried out together with those of other
    /// commands.
    Parts(fn(&CommandArguments<'_>, &mut PartSink<'_>) -> Result<ReplyShape, Refusal>),
    /// Runs it by itself, after all commands before it.
    Immediate(fn(&mut ImmediateCall<'_>) -> Result<(), Refusal>),
}

/// The handlers of all commands, in the order of the table.
static HANDLERS: LazyLock<Vec<Handler>> = LazyLock::new(|| {
    let handler = |name| handler_named(name).unwrap_or(Handler::Immediate(no_handler));
    COMMANDS.iter().map(|command| handler(command.name)).collect()
});

/// The handler of the command with this number.
pub(super) fn handler_of(number: u16) -> Handler {
    HANDLERS[usize::from(number)]
}

/// A test keeps it from being called.
fn no_handler(_: &mut ImmediateCall<'_>) -> Result<(), Refusal> {
    Err("ERR internal error: the command has no handler".into())
}

#[rustfmt::skip]
fn handler_named(name: &str) -> Option<Handler> {
    use Handler::{Immediate, Parts};
    // One line each, as in the table.
    Some(match name {
        "append" => Parts(strings::append),
        "auth" => Immediate(connection::auth),
        "bgrewriteaof" => Immediate(server::background_save),
        "bgsave" => Immediate(server::background_save),
        "blmove" => Immediate(waiting::blmove),
        "blmpop" => Immediate(waiting::blmpop),
        "blpop" => Immediate(waiting::blpop),
        "brpop" => Immediate(waiting::brpop),
        "brpoplpush" => Immediate(waiting::brpoplpush),
        "bzmpop" => Immediate(waiting::bzmpop),
        "bzpopmax" => Immediate(waiting::bzpopmax),
        "bzpopmin" => Immediate(waiting::bzpopmin),
        "psubscribe" => Immediate(messages::subscribe),
        "publish" => Immediate(messages::publish),
        "pubsub" => Immediate(messages::pubsub),
        "punsubscribe" => Immediate(messages::unsubscribe),
        "spublish" => Immediate(messages::publish),
        "ssubscribe" => Immediate(messages::subscribe),
        "subscribe" => Immediate(messages::subscribe),
        "sunsubscribe" => Immediate(messages::unsubscribe),
        "unsubscribe" => Immediate(messages::unsubscribe),
        "bitcount" => Parts(bitmaps::count),
        "bitfield" => Parts(bitmaps::fields),
        "bitfield_ro" => Parts(bitmaps::read_fields),
        "bitop" => Immediate(bitmaps::combine),
        "bitpos" => Parts(bitmaps::find),
        "client" => Immediate(connection::client),
        "command" => Immediate(introspection::command),
        "config" => Immediate(server::config),
        "copy" => Immediate(keys::copy),
        "dbsize" => Immediate(server::dbsize),
        "decr" => Parts(strings::decr),
        "decrby" => Parts(strings::decrby),
        "del" => Parts(generic::del),
        "delex" => Parts(generic::delex),
        "discard" => Immediate(transactions::discard),
        "echo" => Immediate(connection::echo),
        "exec" => Immediate(transactions::exec),
        "exists" => Parts(generic::exists),
        "expire" => Parts(generic::expire),
        "expireat" => Parts(generic::expireat),
        "expiretime" => Parts(generic::expiretime),
        "flushall" => Immediate(server::flush),
        "flushdb" => Immediate(server::flush),
        "get" => Parts(strings::get),
        "getbit" => Parts(bitmaps::getbit),
        "getdel" => Parts(strings::getdel),
        "getex" => Parts(strings::getex),
        "getrange" => Parts(strings::getrange),
        "getset" => Parts(strings::getset),
        "hdel" => Parts(hashes::hdel),
        "hello" => Immediate(connection::hello),
        "hexists" => Parts(hashes::hexists),
        "hexpire" => Parts(hash_expiry::hexpire),
        "hexpireat" => Parts(hash_expiry::hexpireat),
        "hexpiretime" => Parts(hash_expiry::hexpiretime),
        "hget" => Parts(hashes::hget),
        "hgetall" => Parts(hashes::hgetall),
        "hgetdel" => Parts(hash_expiry::hgetdel),
        "hgetex" => Parts(hash_expiry::hgetex),
        "hincrby" => Parts(hashes::hincrby),
        "hincrbyfloat" => Parts(hashes::hincrbyfloat),
        "hkeys" => Parts(hashes::hkeys),
        "hlen" => Parts(hashes::hlen),
        "hmget" => Parts(hashes::hmget),
        "hmset" => Parts(hashes::hmset),
        "hpersist" => Parts(hash_expiry::hpersist),
        "hpexpire" => Parts(hash_expiry::hpexpire),
        "hpexpireat" => Parts(hash_expiry::hpexpireat),
        "hpexpiretime" => Parts(hash_expiry::hpexpiretime),
        "hpttl" => Parts(hash_expiry::hpttl),
        "hrandfield" => Parts(hashes::hrandfield),
        "hscan" => Parts(hashes::hscan),
        "hset" => Parts(hashes::hset),
        "hsetex" => Parts(hash_expiry::hsetex),
        "hsetnx" => Parts(hashes::hsetnx),
        "hstrlen" => Parts(hashes::hstrlen),
        "httl" => Parts(hash_expiry::httl),
        "hvals" => Parts(hashes::hvals),
        "incr" => Parts(strings::incr),
        "incrby" => Parts(strings::incrby),
        "incrbyfloat" => Parts(strings::incrbyfloat),
        "info" => Immediate(server::info),
        "keys" => Immediate(keys::keys),
        "lastsave" => Immediate(server::lastsave),
        "lcs" => Immediate(common_subsequence::lcs),
        "lindex" => Parts(lists::lindex),
        "linsert" => Parts(lists::linsert),
        "llen" => Parts(lists::llen),
        "lmove" => Immediate(list_moves::lmove),
        "lmpop" => Immediate(multi_pop::lmpop),
        "lpop" => Parts(lists::lpop),
        "lpos" => Parts(lists::lpos),
        "lpush" => Parts(lists::lpush),
        "lpushx" => Parts(lists::lpushx),
        "lrange" => Parts(lists::lrange),
        "lrem" => Parts(lists::lrem),
        "lset" => Parts(lists::lset),
        "ltrim" => Parts(lists::ltrim),
        "memory" => Immediate(memory::memory),
        "mget" => Parts(strings::mget),
        "mset" => Parts(strings::mset),
        "msetex" => Immediate(set_many::msetex),
        "msetnx" => Immediate(keys::msetnx),
        "multi" => Immediate(transactions::multi),
        "object" => Immediate(encoding::object),
        "persist" => Parts(generic::persist),
        "pexpire" => Parts(generic::pexpire),
        "pexpireat" => Parts(generic::pexpireat),
        "pexpiretime" => Parts(generic::pexpiretime),
        "ping" => Immediate(connection::ping),
        "psetex" => Parts(strings::psetex),
        "pttl" => Parts(generic::pttl),
        "quit" => Immediate(connection::quit),
        "randomkey" => Immediate(keys::randomkey),
        "rename" => Immediate(keys::rename),
        "renamenx" => Immediate(keys::renamenx),
        "reset" => Immediate(connection::reset),
        "role" => Immediate(server::role),
        "rpop" => Parts(lists::rpop),
        "rpoplpush" => Immediate(list_moves::rpoplpush),
        "rpush" => Parts(lists::rpush),
        "rpushx" => Parts(lists::rpushx),
        "sadd" => Parts(sets::sadd),
        "save" => Immediate(server::save),
        "scan" => Immediate(keys::scan),
        "scard" => Parts(sets::scard),
        "sdiff" => Immediate(set_algebra::combine),
        "sdiffstore" => Immediate(set_algebra::combine_and_store),
        "select" => Immediate(connection::select),
        "set" => Parts(strings::set),
        "setbit" => Parts(bitmaps::setbit),
        "setex" => Parts(strings::setex),
        "setnx" => Parts(strings::setnx),
        "setrange" => Parts(strings::setrange),
        "sinter" => Immediate(set_algebra::combine),
        "sintercard" => Immediate(set_algebra::sintercard),
        "sinterstore" => Immediate(set_algebra::combine_and_store),
        "sismember" => Parts(sets::sismember),
        "smembers" => Parts(sets::smembers),
        "smismember" => Parts(sets::smismember),
        "smove" => Immediate(set_algebra::smove),
        "sort" => Immediate(sort::sort),
        "sort_ro" => Immediate(sort::sort_read_only),
        "spop" => Parts(sets::spop),
        "srandmember" => Parts(sets::srandmember),
        "srem" => Parts(sets::srem),
        "sscan" => Parts(sets::sscan),
        "strlen" => Parts(strings::strlen),
        "substr" => Parts(strings::getrange),
        "sunion" => Immediate(set_algebra::combine),
        "sunionstore" => Immediate(set_algebra::combine_and_store),
        "time" => Immediate(server::time),
        "touch" => Parts(generic::exists),
        "ttl" => Parts(generic::ttl),
        "tn.mget" => Immediate(outside::hand_over),
        "tn.mput" => Immediate(outside::hand_over),
        "tn.sql" => Immediate(outside::hand_over),
        "type" => Parts(generic::type_of),
        "unlink" => Parts(generic::del),
        "unwatch" => Immediate(transactions::unwatch),
        "wait" => Immediate(server::wait),
        "watch" => Immediate(transactions::watch),
        "zadd" => Parts(sorted_sets::zadd),
        "zcard" => Parts(sorted_sets::zcard),
        "zcount" => Parts(sorted_sets::zcount),
        "zdiff" => Immediate(sorted_algebra::combine),
        "zdiffstore" => Immediate(sorted_algebra::combine_and_store),
        "zincrby" => Parts(sorted_sets::zincrby),
        "zinter" => Immediate(sorted_algebra::combine),
        "zintercard" => Immediate(sorted_algebra::count),
        "zinterstore" => Immediate(sorted_algebra::combine_and_store),
        "zlexcount" => Parts(sorted_sets::zlexcount),
        "zmpop" => Immediate(multi_pop::zmpop),
        "zmscore" => Parts(sorted_sets::zmscore),
        "zpopmax" => Parts(sorted_sets::zpopmax),
        "zpopmin" => Parts(sorted_sets::zpopmin),
        "zrandmember" => Parts(sorted_sets::zrandmember),
        "zrange" => Parts(sorted_sets::zrange),
        "zrangebylex" => Parts(sorted_sets::zrangebylex),
        "zrangebyscore" => Parts(sorted_sets::zrangebyscore),
        "zrangestore" => Immediate(sorted_algebra::store_range),
        "zrank" => Parts(sorted_sets::zrank),
        "zrem" => Parts(sorted_sets::zrem),
        "zremrangebylex" => Parts(sorted_sets::zremrangebylex),
        "zremrangebyrank" => Parts(sorted_sets::zremrangebyrank),
        "zremrangebyscore" => Parts(sorted_sets::zremrangebyscore),
        "zrevrange" => Parts(sorted_sets::zrevrange),
        "zrevrangebylex" => Parts(sorted_sets::zrevrangebylex),
        "zrevrangebyscore" => Parts(sorted_sets::zrevrangebyscore),
        "zrevrank" => Parts(sorted_sets::zrevrank),
        "zscan" => Parts(sorted_sets::zscan),
        "zscore" => Parts(sorted_sets::zscore),
        "zunion" => Immediate(sorted_algebra::combine),
        "zunionstore" => Immediate(sorted_algebra::combine_and_store),
        // Not a command of the table.
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_a_handler() {
        for command in COMMANDS {
            assert!(handler_named(command.name).is_some(), "{}", command.name);
        }
    }
}
