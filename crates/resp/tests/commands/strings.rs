//! Strings.

use crate::common::{Clients, NOW_MS, command};

#[test]
fn values_are_set_and_gotten() {
    Clients::new(1).expect(&[
        ("GET a", "$-1"),
        ("SET a 1", "+OK"),
        ("GET a", "$1 1"),
        ("SETNX a 2", ":0"),
        ("SETNX b 2", ":1"),
        ("GETSET a 3", "$1 1"),
        ("MGET a b nosuch", "*3 $1 3 $1 2 $-1"),
        ("STRLEN a", ":1"),
        ("GETDEL a", "$1 3"),
        ("GETDEL a", "$-1"),
        ("MSET a 1 b 2 a 3", "+OK"),
        ("MGET a b", "*2 $1 3 $1 2"),
        ("MSETNX b 1 c 1", ":0"),
        ("MSETNX c 1 d 1", ":1"),
        ("MSET a", "-ERR wrong number of arguments for 'mset' command"),
        ("MSET a 1 b", "-ERR wrong number of arguments for 'mset' command"),
        ("GET", "-ERR wrong number of arguments for 'get' command"),
        ("TYPE a", "+string"),
        ("TYPE nosuch", "+none"),
    ]);
}

#[test]
fn set_has_conditions_and_expiries() {
    let mut clients = Clients::new(1);
    clients.expect(&[
        ("SET a 1 XX", "$-1"),
        ("SET a 1 NX", "+OK"),
        ("SET a 2 NX", "$-1"),
        ("SET a 2 XX GET", "$1 1"),
        ("SET a 3 NX GET", "$1 2"),
        ("GET a", "$1 2"),
        ("SET a 1 EX 10", "+OK"),
        ("TTL a", ":10"),
        ("SET a 2 KEEPTTL", "+OK"),
        ("PTTL a", ":10000"),
        ("SET a 2", "+OK"),
        ("TTL a", ":-1"),
        ("SET a 1 PX 1500", "+OK"),
        ("TTL a", ":2"),
        ("SET a 1 EXAT 2000000000", "+OK"),
        ("EXPIRETIME a", ":2000000000"),
        ("PEXPIRETIME a", ":2000000000000"),
        ("SET a 1 PXAT 1", "+OK"),
        ("EXISTS a", ":0"),
        ("SET a 1 NX XX", "-ERR syntax error"),
        ("SET a 1 EX 1 PX 1", "-ERR syntax error"),
        ("SET a 1 EX", "-ERR syntax error"),
        ("SET a 1 KEEPTTL EX 0", "-ERR syntax error"),
        ("SET a 1 EX nine", "-ERR value is not an integer or out of range"),
        ("SET a 1 EX 0", "-ERR invalid expire time in 'set' command"),
        ("SET a 1 EX 9223372036854775807", "-ERR invalid expire time in 'set' command"),
        ("SETEX a 0 1", "-ERR invalid expire time in 'setex' command"),
        ("PSETEX a 10 1", "+OK"),
        ("PTTL a", ":10"),
    ]);
    clients.turn_clock(10);
    clients.expect(&[("GET a", "$-1"), ("SET a 1 NX", "+OK"), ("TTL a", ":-1")]);
}

#[test]
fn getex_changes_the_expiry() {
    Clients::new(1).expect(&[
        ("GETEX a", "$-1"),
        ("GETEX a EX 0", "$-1"),
        ("SET a 1", "+OK"),
        ("GETEX a EX 0", "-ERR invalid expire time in 'getex' command"),
        ("GETEX a EX x", "-ERR value is not an integer or out of range"),
        ("GETEX a EX 10", "$1 1"),
        ("TTL a", ":10"),
        ("GETEX a", "$1 1"),
        ("TTL a", ":10"),
        ("GETEX a PERSIST", "$1 1"),
        ("TTL a", ":-1"),
        ("GETEX a KEEPTTL", "-ERR syntax error"),
        ("GETEX a EX 1 PERSIST", "-ERR syntax error"),
        ("GETEX a PXAT 1", "$1 1"),
        ("EXISTS a", ":0"),
    ]);
}

#[test]
fn numbers_are_counted() {
    Clients::new(1).expect(&[
        ("INCR n", ":1"),
        ("INCRBY n 41", ":42"),
        ("DECR n", ":41"),
        ("DECRBY n 50", ":-9"),
        ("GET n", "$2 -9"),
        ("DECRBY n -9223372036854775808", "-ERR decrement would overflow"),
        ("SET n 9223372036854775807", "+OK"),
        ("INCR n", "-ERR increment or decrement would overflow"),
        ("SET n \" 11 \"", "+OK"),
        ("INCR n", "-ERR value is not an integer or out of range"),
        ("INCRBY m 1.5", "-ERR value is not an integer or out of range"),
        ("SET n 10", "+OK"),
        ("EXPIRE n 100", ":1"),
        ("INCR n", ":11"),
        ("TTL n", ":100"),
        ("SET f 10.50", "+OK"),
        ("INCRBYFLOAT f 0.1", "$4 10.6"),
        ("INCRBYFLOAT f -5", "$3 5.6"),
        ("SET f 5.0e3", "+OK"),
        ("INCRBYFLOAT f 2.0e2", "$4 5200"),
        ("INCRBYFLOAT f abc", "-ERR value is not a valid float"),
        ("INCRBYFLOAT f +inf", "-ERR increment would produce NaN or Infinity"),
    ]);
}

#[test]
fn parts_of_values_are_read_and_written() {
    Clients::new(1).expect(&[
        ("APPEND a Hello", ":5"),
        ("APPEND a \" World\"", ":11"),
        ("GETRANGE a 0 4", "$5 Hello"),
        ("GETRANGE a -5 -1", "$5 World"),
        ("GETRANGE a -1 -5", "$0"),
        ("GETRANGE a 6 1000", "$5 World"),
        ("GETRANGE a 20 30", "$0"),
        ("SUBSTR a 0 -7", "$5 Hello"),
        ("GETRANGE nosuch 0 -1", "$0"),
        ("SETRANGE a 6 Redis", ":11"),
        ("GET a", "$11 Hello Redis"),
        ("SETRANGE nosuch 3 \"\"", ":0"),
        ("EXISTS nosuch", ":0"),
        ("SETRANGE b 2 x", ":3"),
        ("STRLEN b", ":3"),
        ("SETRANGE b -1 x", "-ERR offset is out of range"),
        (
            "SETRANGE b 536870911 xx",
            "-ERR string exceeds maximum allowed size (proto-max-bulk-len)",
        ),
    ]);
}

/// Any bytes are a key and a value, and both are those that the library sees.
#[test]
fn keys_and_values_are_any_bytes() {
    let mut clients = Clients::new(1);
    let (key, value) = (&b"a\0\xFF\r\n*1"[..], &b"\0\r\n$5\r\n"[..]);
    assert_eq!(clients.send(0, command(&[b"SET", key, value])), "+OK\r\n");
    let expected = format!("${}\r\n{}\r\n", value.len(), std::str::from_utf8(value).unwrap());
    assert_eq!(clients.send(0, command(&[b"GET", key])), expected);
    let stored = clients.store.kv().get(&tonnage::Key::of_major([key])).unwrap().unwrap();
    assert_eq!((stored.value.as_slice(), stored.expires_at_ms), (value, 0));
    assert_eq!(clients.send(0, command(&[b"SET", b"", b""])), "+OK\r\n");
    assert_eq!(clients.send(0, command(&[b"GET", b""])), "$0\r\n\r\n");
}

#[test]
fn pairs_of_the_library_are_values_and_their_expiry_is_the_same() {
    let mut clients = Clients::new(1);
    let (pairs, key) = (clients.store.kv(), |name: &str| tonnage::Key::of_major([name]));
    let lives = tonnage::WriteOptions {
        ttl: Some(std::time::Duration::from_secs(7)),
        ..Default::default()
    };
    pairs.put(&key("a"), b"1", &lives).unwrap();
    clients.expect(&[("GET a", "$1 1"), ("TTL a", ":7"), ("SET b 2 EX 3", "+OK")]);
    assert_eq!(pairs.get(&key("b")).unwrap().unwrap().expires_at_ms, NOW_MS + 3_000);
    pairs.delete(&key("b"), &Default::default()).unwrap();
    clients.expect(&[("GET b", "$-1")]);
}

#[test]
fn a_key_longer_than_the_store_takes_is_refused_and_others_are_served() {
    let mut clients = Clients::new(2);
    let long = vec![b'k'; 70_000];
    clients.all[0].receive(&command(&[b"GET", &long]));
    clients.all[1].receive(&command(&[b"SET", b"a", b"1"]));
    clients.run();
    assert!(clients.answer(0).starts_with("-ERR the key is longer"), "it is refused");
    assert_eq!(clients.answer(1), "+OK\r\n");
}

#[test]
fn values_are_set_together_and_live_equally_long() {
    let mut clients = Clients::new(1);
    clients.expect(&[
        ("MSETEX 2 a 1 b 2 EX 10", ":1"),
        ("MGET a b", "*2 $1 1 $1 2"),
        ("TTL b", ":10"),
        ("MSETEX 2 b 3 c 4 NX", ":0"),
        ("MSETEX 2 b 3 c 4 XX", ":0"),
        ("EXISTS c", ":0"),
        ("MSETEX 2 a 5 b 6 KEEPTTL XX", ":1"),
        ("TTL a", ":10"),
        ("MSETEX 1 a 7", ":1"),
        ("TTL a", ":-1"),
        ("MSETEX 1 b 8 PXAT 1", ":1"),
        ("EXISTS b", ":0"),
        ("MSETEX 2 c 1 d 2 NX PX 5", ":1"),
        ("MSETEX 2 a 1 b", "-ERR wrong number of key-value pairs"),
        ("MSETEX 0 a 1", "-ERR invalid numkeys value"),
        ("MSETEX 1 a 1 NX XX", "-ERR syntax error"),
        ("MSETEX 1 a 1 EX 1 PX 1", "-ERR syntax error"),
        ("MSETEX 1 a 1 EX 0", "-ERR invalid expire time in 'msetex' command"),
        ("COMMAND GETKEYS MSETEX 2 a 1 b 2 NX", "*2 $1 a $1 b"),
    ]);
    clients.turn_clock(5);
    clients.expect(&[("EXISTS c d", ":0")]);
}

#[test]
fn a_key_is_deleted_if_its_value_is_the_given_one() {
    Clients::new(1).expect(&[
        ("MSET a 1 b 2 c 3", "+OK"),
        ("DELEX a IFEQ 2", ":0"),
        ("DELEX a IFEQ 1", ":1"),
        ("DELEX b ifne 2", ":0"),
        ("DELEX b IFNE 1", ":1"),
        ("DELEX c", ":1"),
        ("DELEX c IFNE 1", ":0"),
        ("EXISTS a b c", ":0"),
        ("RPUSH l x", ":1"),
        ("DELEX l IFEQ x", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
        ("DELEX l", ":1"),
        ("DELEX l WHAT x", "-ERR syntax error"),
    ]);
}
