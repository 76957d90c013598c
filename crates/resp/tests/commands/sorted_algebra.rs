//! Several sorted sets together, and LMPOP and ZMPOP.

use crate::common::Clients;

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

fn filled() -> Clients {
    let mut clients = Clients::new(1);
    clients.expect(&[
        ("ZADD a 1 one 2 two 3 three", ":3"),
        ("ZADD b 10 two 20 three 30 four", ":3"),
        ("SADD s two five", ":2"),
        ("SET string x", "+OK"),
    ]);
    clients
}

#[test]
fn members_of_several_sets_are_combined_by_their_scores() {
    filled().expect(&[
        ("ZUNION 2 a b", "*4 $3 one $3 two $5 three $4 four"),
        ("ZUNION 2 a b WITHSCORES", "*8 $3 one $1 1 $3 two $2 12 $5 three $2 23 $4 four $2 30"),
        ("ZINTER 2 a b WITHSCORES", "*4 $3 two $2 12 $5 three $2 23"),
        ("ZINTER 2 a b WEIGHTS 2 0.5 WITHSCORES", "*4 $3 two $1 9 $5 three $2 16"),
        ("ZINTER 2 a b AGGREGATE MAX WITHSCORES", "*4 $3 two $2 10 $5 three $2 20"),
        ("zinter 2 a b aggregate min withscores", "*4 $3 two $1 2 $5 three $1 3"),
        ("ZDIFF 2 a b WITHSCORES", "*2 $3 one $1 1"),
        ("ZDIFF 2 a nosuch", "*3 $3 one $3 two $5 three"),
        ("ZUNION 2 a a WITHSCORES", "*6 $3 one $1 2 $3 two $1 4 $5 three $1 6"),
        // Members of a set have the score 1.
        ("ZINTER 2 b s WITHSCORES", "*2 $3 two $2 11"),
        ("ZUNION 1 s WITHSCORES WEIGHTS 3", "*4 $4 five $1 3 $3 two $1 3"),
        ("ZINTER 2 a nosuch", "*0"),
        ("ZINTERCARD 2 a b", ":2"),
        ("ZINTERCARD 2 a b LIMIT 1", ":1"),
        ("ZINTERCARD 2 a b LIMIT 0", ":2"),
    ]);
}

#[test]
fn infinities_of_both_signs_together_are_zero() {
    Clients::new(1).expect(&[
        ("ZADD a inf x 0 y", ":2"),
        ("ZADD b -inf x 0 y", ":2"),
        ("ZUNION 2 a b WITHSCORES", "*4 $1 x $1 0 $1 y $1 0"),
        ("ZINTER 2 a b WEIGHTS inf 0 WITHSCORES", "*4 $1 y $1 0 $1 x $3 inf"),
    ]);
}

#[test]
fn combined_members_are_stored_in_the_place_of_what_was_there() {
    let mut clients = filled();
    clients.expect(&[
        ("SET t old EX 100", "+OK"),
        ("ZUNIONSTORE t 2 a b", ":4"),
        ("TTL t", ":-1"),
        ("ZRANGE t 0 -1 WITHSCORES", "*8 $3 one $1 1 $3 two $2 12 $5 three $2 23 $4 four $2 30"),
        ("ZINTERSTORE a 2 a b", ":2"),
        ("ZSCORE a two", "$2 12"),
        ("ZDIFFSTORE t 2 a b", ":0"),
        ("EXISTS t", ":0"),
        ("ZADD p 0.1 x 1e300 y -7.25 z", ":3"),
        ("ZUNIONSTORE q 1 p", ":3"),
        ("ZDIFF 2 q p", "*0"),
        ("ZMSCORE q x y z", "*3 $19 0.10000000000000001 $23 1.0000000000000001e+300 $5 -7.25"),
    ]);
    // A transaction and its members see it as one command.
    clients.expect(&[
        ("MULTI", "+OK"),
        ("ZUNIONSTORE t 1 b", "+QUEUED"),
        ("ZCARD t", "+QUEUED"),
        ("EXEC", "*2 :3 :3"),
    ]);
}

#[test]
fn ranges_are_stored() {
    filled().expect(&[
        ("ZRANGESTORE t a 1 -1", ":2"),
        ("ZRANGE t 0 -1 WITHSCORES", "*4 $3 two $1 2 $5 three $1 3"),
        ("ZRANGESTORE t a (1 inf BYSCORE LIMIT 1 1", ":1"),
        ("ZRANGE t 0 -1 WITHSCORES", "*2 $5 three $1 3"),
        ("ZADD names 5 a 5 b 5 c", ":3"),
        ("ZRANGESTORE t names (c - BYLEX REV LIMIT 0 1", ":1"),
        ("ZRANGE t 0 -1 WITHSCORES", "*2 $1 b $1 5"),
        ("ZRANGESTORE t nosuch 0 -1", ":0"),
        ("EXISTS t", ":0"),
        ("ZRANGESTORE t a 0 -1 WITHSCORES", "-ERR syntax error"),
        ("ZRANGESTORE t a 0 1 BYSCORE LIMIT 2", "-ERR syntax error"),
        ("ZRANGESTORE t a 0 1 BYSCORE LIMIT", "-ERR syntax error"),
        ("ZRANGESTORE t a 0 x", "-ERR value is not an integer or out of range"),
        ("ZRANGESTORE t string 0 -1", WRONG_TYPE),
    ]);
}

#[test]
fn arguments_are_checked_as_in_redis() {
    filled().expect(&[
        ("ZUNION 0 a", "-ERR at least 1 input key is needed for 'zunion' command"),
        ("ZUNIONSTORE t 0 a", "-ERR at least 1 input key is needed for 'zunionstore' command"),
        ("ZINTERCARD 0 a", "-ERR at least 1 input key is needed for 'zintercard' command"),
        ("ZUNION x a", "-ERR value is not an integer or out of range"),
        ("ZUNION 3 a b", "-ERR syntax error"),
        ("ZUNION 9223372036854775807 a", "-ERR syntax error"),
        ("ZUNION 2 a string", WRONG_TYPE),
        ("ZUNIONSTORE t 1 a WITHSCORES", "-ERR syntax error"),
        ("ZUNION 2 a b WEIGHTS 1", "-ERR syntax error"),
        ("ZUNION 2 a b WEIGHTS 1 x", "-ERR weight value is not a float"),
        ("ZUNION 2 a b AGGREGATE", "-ERR syntax error"),
        ("ZUNION 2 a b AGGREGATE AVG", "-ERR syntax error"),
        ("ZDIFF 2 a b WEIGHTS 1 2", "-ERR syntax error"),
        ("ZINTERCARD 2 a b LIMIT -1", "-ERR LIMIT can't be negative"),
        ("ZINTERCARD 2 a b LIMIT", "-ERR syntax error"),
        ("ZINTERCARD 2 a b WITHSCORES", "-ERR syntax error"),
        ("COMMAND GETKEYS ZUNIONSTORE t 2 a b WEIGHTS 1 2", "*3 $1 t $1 a $1 b"),
        ("COMMAND GETKEYS ZUNION 1 a WITHSCORES", "*1 $1 a"),
        ("COMMAND GETKEYS ZUNION 2 a", "-ERR Invalid arguments specified for command"),
    ]);
}

#[test]
fn elements_and_members_are_taken_from_the_first_key_that_has_any() {
    let mut clients = filled();
    clients.expect(&[
        ("RPUSH l 1 2 3", ":3"),
        ("LMPOP 2 nosuch l LEFT", "*2 $1 l *1 $1 1"),
        ("LMPOP 1 l RIGHT COUNT 5", "*2 $1 l *2 $1 3 $1 2"),
        ("EXISTS l", ":0"),
        ("LMPOP 1 l LEFT", "*-1"),
        ("ZMPOP 2 nosuch a MIN", "*2 $1 a *1 *2 $3 one $1 1"),
        ("ZMPOP 1 a MAX COUNT 10", "*2 $1 a *2 *2 $5 three $1 3 *2 $3 two $1 2"),
        ("ZMPOP 1 a MIN", "*-1"),
        ("LMPOP 2 b l LEFT", WRONG_TYPE),
        ("LMPOP 0 l LEFT", "-ERR numkeys should be greater than 0"),
        ("LMPOP x l LEFT", "-ERR numkeys should be greater than 0"),
        ("LMPOP 1 l UP", "-ERR syntax error"),
        ("LMPOP 2 l LEFT", "-ERR syntax error"),
        ("LMPOP 1 l LEFT COUNT", "-ERR syntax error"),
        ("LMPOP 1 l LEFT COUNT 0", "-ERR count should be greater than 0"),
        ("ZMPOP 1 b MIN COUNT x", "-ERR count should be greater than 0"),
        ("ZMPOP 1 b MIN COUNT 1 COUNT 1", "-ERR syntax error"),
    ]);
    clients.ask("HELLO 3");
    clients.expect(&[
        ("ZMPOP 1 b MIN", "*2 $1 b *1 *2 $3 two ,10"),
        ("LMPOP 1 l LEFT", "_"),
        ("ZUNION 1 b WITHSCORES", "*2 *2 $5 three ,20 *2 $4 four ,30"),
    ]);
}
