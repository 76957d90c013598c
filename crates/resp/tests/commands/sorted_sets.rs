//! Sorted sets.

use proptest::prelude::*;
use tonnage::{Key, WriteOptions};

use crate::common::{Clients, command};

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

#[test]
fn members_are_added_and_removed_and_have_scores() {
    Clients::new(1).expect(&[
        ("ZADD z 1 a 2.5 b", ":2"),
        ("ZADD z 3 a 1 c", ":1"),
        ("ZSCORE z a", "$1 3"),
        ("ZSCORE z b", "$3 2.5"),
        ("ZSCORE z nosuch", "$-1"),
        ("ZCARD z", ":3"),
        ("ZRANK z c", ":0"),
        ("ZRANK z a", ":2"),
        ("ZRANK z nosuch", "$-1"),
        ("ZRANK z b WITHSCORE", "*2 :1 $3 2.5"),
        ("ZREVRANK z b withscore", "*2 :1 $3 2.5"),
        ("ZRANK z nosuch WITHSCORE", "*-1"),
        ("ZRANK nosuch a WITHSCORE", "*-1"),
        ("ZRANK z b WHAT", "-ERR syntax error"),
        ("ZRANK z b WITHSCORE x", "-ERR wrong number of arguments for 'zrank' command"),
        ("ZINCRBY z 1.25 b", "$4 3.75"),
        ("ZINCRBY z -1 new", "$2 -1"),
        ("ZRANGE z 0 -1 WITHSCORES", "*8 $3 new $2 -1 $1 c $1 1 $1 a $1 3 $1 b $4 3.75"),
        ("ZINCRBY z -0 zero", "$2 -0"),
        ("ZSCORE z zero", "$1 0"),
        ("ZREM z a nosuch a zero", ":2"),
        ("ZREM z b c new", ":3"),
        ("EXISTS z", ":0"),
    ]);
}

#[test]
fn options_say_which_members_are_added() {
    Clients::new(1).expect(&[
        ("ZADD z XX 1 a", ":0"),
        ("ZADD z NX 1 a 1 b", ":2"),
        ("ZADD z NX CH 5 a 5 c", ":1"),
        ("ZADD z XX CH 5 a 5 d", ":1"),
        ("ZADD z GT CH 4 a 6 b 7 e", ":2"),
        ("ZADD z LT CH 4 a 7 b", ":1"),
        ("ZRANGE z 0 -1 WITHSCORES", "*8 $1 a $1 4 $1 c $1 5 $1 b $1 6 $1 e $1 7"),
        ("ZADD z INCR 2 a", "$1 6"),
        ("ZADD z NX INCR 2 a", "$-1"),
        ("ZADD z XX INCR 2 nosuch", "$-1"),
        ("ZADD z GT INCR -2 a", "$-1"),
        ("ZADD z inf i -inf j", ":2"),
        ("ZINCRBY z -inf i", "-ERR resulting score is not a number (NaN)"),
        ("ZADD z 1", "-ERR wrong number of arguments for 'zadd' command"),
        ("ZADD z 1 a 2", "-ERR syntax error"),
        ("ZADD z CH NX", "-ERR syntax error"),
        ("ZADD z x a", "-ERR value is not a valid float"),
        ("ZADD z 1 f nan g", "-ERR value is not a valid float"),
        ("ZINCRBY z x a", "-ERR value is not a valid float"),
        ("ZSCORE z f", "$-1"),
        ("ZADD z NX XX 1 a", "-ERR XX and NX options at the same time are not compatible"),
        ("ZADD z GT NX 1 a", "-ERR GT, LT, and/or NX options at the same time are not compatible"),
        ("ZADD z INCR 1 a 1 b", "-ERR INCR option supports a single increment-element pair"),
    ]);
}

#[test]
fn ranges_go_by_places_by_scores_and_by_names() {
    Clients::new(1).expect(&[
        ("ZADD z 1 a 2 b 2 c 3 d", ":4"),
        ("ZRANGE z 1 2", "*2 $1 b $1 c"),
        ("ZRANGE z -2 9", "*2 $1 c $1 d"),
        ("ZRANGE z 0 1 REV", "*2 $1 d $1 c"),
        ("ZRANGE z 3 1", "*0"),
        ("ZRANGE z (1 2 BYSCORE", "*2 $1 b $1 c"),
        ("ZRANGE z +inf (2 BYSCORE REV", "*1 $1 d"),
        ("ZRANGE z 3 1 BYSCORE REV LIMIT 1 2", "*2 $1 c $1 b"),
        ("ZRANGEBYSCORE z -inf +inf LIMIT 1 2", "*2 $1 b $1 c"),
        ("ZRANGEBYSCORE z 2 3 WITHSCORES LIMIT 1 -1", "*4 $1 c $1 2 $1 d $1 3"),
        ("ZRANGEBYSCORE z 0 9 LIMIT -1 5", "*0"),
        ("ZRANGEBYSCORE z 0 9 LIMIT 0 0", "*0"),
        ("ZRANGEBYSCORE nosuch 0 9", "*0"),
        ("ZRANGEBYSCORE z 3 1e999", "*1 $1 d"),
        ("ZADD n 0 a 0 b 0 c", ":3"),
        ("ZRANGE n [b + BYLEX", "*2 $1 b $1 c"),
        ("ZRANGE n (c - BYLEX REV LIMIT 0 1", "*1 $1 b"),
        // Where scores differ it is the first members in their order that are between the names.
        ("ZRANGE z [b [c BYLEX", "*2 $1 b $1 c"),
        ("ZLEXCOUNT z (a +", ":3"),
        ("ZRANGE z [d [a BYLEX", "*0"),
        ("ZRANGE z + - BYLEX", "*0"),
        ("ZRANGEBYSCORE z x 9", "-ERR min or max is not a float"),
        ("ZRANGE n b c BYLEX", "-ERR min or max not valid string range item"),
        ("ZRANGE z 0 x", "-ERR value is not an integer or out of range"),
        ("ZRANGE z 0 1 BYSCORE BYLEX", "-ERR syntax error"),
        ("ZRANGEBYSCORE z 0 1 REV", "-ERR syntax error"),
        ("ZRANGEBYSCORE z 0 1 LIMIT 0", "-ERR syntax error"),
        (
            "ZRANGE z 0 1 LIMIT 0 1",
            "-ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX",
        ),
        (
            "ZRANGE n - + BYLEX WITHSCORES",
            "-ERR syntax error, WITHSCORES not supported in combination with BYLEX",
        ),
    ]);
}

#[test]
fn scores_are_doubles_where_the_protocol_has_them() {
    let mut clients = Clients::new(1);
    clients.ask("HELLO 3");
    clients.expect(&[
        ("ZADD z 1.5 a inf b", ":2"),
        ("ZSCORE z a", ",1.5"),
        ("ZADD z INCR 1 a", ",2.5"),
        ("ZRANGE z 0 -1 WITHSCORES", "*2 *2 $1 a ,2.5 *2 $1 b ,inf"),
        ("ZRANGE z 0 -1", "*2 $1 a $1 b"),
    ]);
}

#[test]
fn sorted_sets_are_a_kind_of_their_own_and_keys_like_others() {
    let mut clients = Clients::new(1);
    clients.expect(&[("ZADD z 1 a", ":1"), ("HSET h a 1", ":1"), ("SET s 1", "+OK")]);
    for line in [
        "GET z",
        "HGET z a",
        "HGETALL z",
        "APPEND z x",
        "ZADD h 1 a",
        "ZSCORE s a",
        "ZCARD h",
        "ZRANGE s 0 1",
        "ZREM h a",
        "ZINCRBY s 1 a",
        "ZRANK h a",
        "ZRANGEBYSCORE h 0 1",
    ] {
        clients.expect(&[(line, WRONG_TYPE)]);
    }
    clients.expect(&[
        ("TYPE z", "+zset"),
        ("OBJECT ENCODING z", "$8 listpack"),
        ("EXPIRE z 10", ":1"),
        ("COPY z y", ":1"),
        ("TTL y", ":10"),
        ("ZRANGE y 0 -1", "*1 $1 a"),
        ("MGET z s", "*2 $-1 $1 1"),
    ]);
    let together = "ZADD x 1 a\r\nHSET x a 1\r\nTYPE x\r\nDEL x\r\nHSET x a 1\r\nZADD x 1 a\r\n";
    let expected = format!(":1 {WRONG_TYPE} +zset :1 :1 {WRONG_TYPE} ");
    assert_eq!(clients.send(0, together).replace("\r\n", " "), expected);
}

#[test]
fn a_stored_set_is_in_order_and_what_is_none_is_an_error() {
    let mut clients = Clients::new(1);
    clients.expect(&[("ZADD z 2 b", ":1"), ("ZADD z 1 a", ":1")]);
    let key = Key::of_major(["z"]);
    let stored = clients.store.kv().get(&key).unwrap().unwrap().value;
    let expected = [
        &b"\xFE\0tonnage\0\xFEz\x02\0\0\0"[..],
        b"\x01\x08a",
        &1_f64.to_le_bytes(),
        b"\x01\x08b",
        &2_f64.to_le_bytes(),
    ];
    assert_eq!(stored, expected.concat());
    let put = |clients: &Clients, value: &[u8]| {
        clients.store.kv().put(&key, value, &WriteOptions::default()).unwrap();
    };
    // Another program may have written them in any order.
    let other = [expected[0], expected[3], expected[4], expected[1], expected[2]].concat();
    put(&clients, &other);
    clients.expect(&[("ZRANGE z 0 -1", "*2 $1 a $1 b")]);
    let no_number = [expected[0], expected[1], &f64::NAN.to_le_bytes(), b"\x01\0b"].concat();
    for end in 12..no_number.len() {
        put(&clients, &no_number[..end]);
        let answer = clients.ask("ZADD z 1 a");
        assert!(answer.starts_with("-ERR the stored bytes of this key"), "{answer}");
    }
}

/// With a sort for each of them, this took minutes.
#[test]
fn a_set_of_many_members_is_filled_at_once() {
    let mut clients = Clients::new(1);
    let words: Vec<String> =
        (0..100_000).flat_map(|n| [(n * 7_919 % 100_000).to_string(), format!("m{n}")]).collect();
    let words = words.iter().map(|word| word.as_bytes());
    let add: Vec<&[u8]> = [&b"ZADD"[..], b"z"].into_iter().chain(words).collect();
    assert_eq!(clients.send(0, command(&add)), ":100000\r\n");
    clients.expect(&[("ZRANGEBYSCORE z 99999 inf", "*1 $6 m82321"), ("ZRANK z m1", ":7919")]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Against a plain sorted list; many come together, or each by itself.
    #[test]
    fn ranges_are_those_of_a_sorted_list(
        actions in proptest::collection::vec(
            (0..8_u8, -3..4_i32, 0..4_u8, any::<bool>()), 1..50),
    ) {
        let mut clients = Clients::new(1);
        let (mut model, mut replies) = (Vec::<(i32, String)>::new(), String::new());
        for (member, score, action, runs) in &actions {
            let name = format!("m{member}");
            let before = model.iter().position(|(_, known)| *known == name);
            let (line, reply) = match action {
                0 => {
                    model.retain(|(_, known)| *known != name);
                    (format!("ZREM z {name}"), format!(":{}\r\n", usize::from(before.is_some())))
                }
                1 => {
                    let low = *score;
                    let some: Vec<_> = model.iter().filter(|(score, _)| *score >= low).collect();
                    let all: String = some
                        .iter()
                        .map(|(_, name)| format!("${}\r\n{name}\r\n", name.len()))
                        .collect();
                    (
                        format!("ZRANGEBYSCORE z {low} +inf"),
                        format!("*{}\r\n{all}", some.len()),
                    )
                }
                _ => {
                    model.retain(|(_, known)| *known != name);
                    model.push((*score, name.clone()));
                    model.sort();
                    let reply = format!(":{}\r\n", usize::from(before.is_none()));
                    (format!("ZADD z {score} {name}"), reply)
                }
            };
            replies.push_str(&reply);
            clients.all[0].receive(format!("{line}\r\n").as_bytes());
            if *runs {
                clients.run();
            }
        }
        clients.run();
        prop_assert_eq!(&clients.answer(0), &replies);
        prop_assert_eq!(clients.ask("ZCARD z"), format!(":{}\r\n", model.len()));
    }
}
