//! SORT and SORT_RO.

use crate::common::Clients;

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

fn filled() -> Clients {
    let mut clients = Clients::new(1);
    clients.expect(&[
        ("RPUSH l 3 1 10 2", ":4"),
        ("SADD s b c a", ":3"),
        ("ZADD z 3 a 1 c 2 b", ":3"),
        ("MSET w_1 30 w_2 20 w_3 10 w_10 0 t_1 one t_3 three", "+OK"),
        ("HSET h_1 f 5 g x", ":2"),
        ("HSET h_2 f 7", ":1"),
    ]);
    clients
}

#[test]
fn elements_are_sorted_as_numbers_or_as_texts() {
    filled().expect(&[
        ("SORT l", "*4 $1 1 $1 2 $1 3 $2 10"),
        ("SORT l DESC", "*4 $2 10 $1 3 $1 2 $1 1"),
        ("SORT l ALPHA", "*4 $1 1 $2 10 $1 2 $1 3"),
        ("SORT l LIMIT 1 2", "*2 $1 2 $1 3"),
        ("SORT l LIMIT -5 1", "*1 $1 1"),
        ("SORT l LIMIT 9 1", "*0"),
        ("SORT l LIMIT 2 -1", "*2 $1 3 $2 10"),
        ("SORT s ALPHA DESC", "*3 $1 c $1 b $1 a"),
        ("SORT z ALPHA", "*3 $1 a $1 b $1 c"),
        ("SORT nosuch", "*0"),
        ("SORT_RO l", "*4 $1 1 $1 2 $1 3 $2 10"),
    ]);
}

#[test]
fn other_keys_say_the_order_and_what_is_shown() {
    filled().expect(&[
        ("SORT l BY w_*", "*4 $2 10 $1 3 $1 2 $1 1"),
        ("SORT l BY w_* DESC LIMIT 0 1 GET # GET t_*", "*2 $1 1 $3 one"),
        ("SORT l GET t_* GET w_*", "*8 $3 one $2 30 $-1 $2 20 $5 three $2 10 $-1 $1 0"),
        ("SORT l BY h_*->f GET h_*->g", "*4 $-1 $-1 $1 x $-1"),
        // What is not there counts 0; those of one weight are sorted by themselves.
        ("SORT l BY h_*->f", "*4 $2 10 $1 3 $1 1 $1 2"),
        ("SORT l BY nosuch_* ALPHA LIMIT 0 1", "*1 $1 3"),
        // A key of another kind has no weight.
        ("SORT l BY h_* GET w_*->f", "*4 $-1 $-1 $-1 $-1"),
        // A pattern of no key keeps the order.
        ("SORT l BY nosort", "*4 $1 3 $1 1 $2 10 $1 2"),
        ("SORT z BY nosort DESC", "*3 $1 a $1 b $1 c"),
        ("SORT z BY nosort LIMIT 0 1", "*1 $1 c"),
        ("SORT l GET t_ LIMIT 0 1", "*1 $-1"),
    ]);
}

#[test]
fn the_order_is_stored_as_a_list() {
    filled().expect(&[
        ("SORT l STORE t", ":4"),
        ("LRANGE t 0 -1", "*4 $1 1 $1 2 $1 3 $2 10"),
        ("SORT l GET t_* STORE l", ":4"),
        ("LRANGE l 0 -1", "*4 $3 one $0  $5 three $0"),
        ("SORT s BY nosort STORE t", ":3"),
        ("LRANGE t 0 -1", "*3 $1 a $1 b $1 c"),
        ("SORT nosuch STORE t", ":0"),
        ("EXISTS t", ":0"),
    ]);
}

#[test]
fn arguments_are_checked_as_in_redis() {
    filled().expect(&[
        ("SORT s", "-ERR One or more scores can't be converted into double"),
        ("RPUSH spaced \" 2\" 1", ":2"),
        ("SORT spaced", "*2 $1 1 $2  2"),
        ("RPUSH spaced \"\\x000\"", ":3"),
        ("SORT spaced LIMIT 0 1 STORE first", ":1"),
        ("LINDEX first 0", "$2 \x000"),
        ("RPUSH spaced 1e999", ":4"),
        ("SORT spaced", "-ERR One or more scores can't be converted into double"),
        ("SORT w_1", WRONG_TYPE),
        ("SORT l WHAT", "-ERR syntax error"),
        ("SORT l LIMIT 1", "-ERR syntax error"),
        ("SORT l LIMIT x 1", "-ERR value is not an integer or out of range"),
        ("SORT l BY", "-ERR syntax error"),
        ("SORT_RO l STORE t", "-ERR syntax error"),
        ("COMMAND GETKEYS SORT l", "*1 $1 l"),
        ("COMMAND GETKEYS SORT l STORE s GET store STORE t", "*2 $1 l $1 t"),
    ]);
}
