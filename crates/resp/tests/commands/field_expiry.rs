//! Fields of hashes that expire by themselves.

use proptest::prelude::*;
use tonnage::Key;

use crate::common::{Clients, NOW_MS, command};

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

#[test]
fn fields_live_as_long_as_they_were_given_and_others_for_ever() {
    let mut clients = Clients::new(1);
    clients.expect(&[
        ("HSET h a 1 b 2 c 3", ":3"),
        ("HEXPIRE h 10 FIELDS 2 a nosuch", "*2 :1 :-2"),
        ("HPEXPIRE h 5500 FIELDS 1 b", "*1 :1"),
        ("HTTL h FIELDS 4 a b c nosuch", "*4 :10 :6 :-1 :-2"),
        ("HPTTL h FIELDS 2 a b", "*2 :10000 :5500"),
        ("HEXPIRETIME h FIELDS 2 a c", "*2 :1000000010 :-1"),
        ("HPEXPIRETIME h FIELDS 2 b nosuch", "*2 :1000000005500 :-2"),
        ("HTTL nosuch FIELDS 2 a b", "*2 :-2 :-2"),
        ("HEXPIRE nosuch 10 FIELDS 1 a", "*1 :-2"),
        ("EXISTS nosuch", ":0"),
        ("TTL h", ":-1"),
    ]);
    clients.turn_clock(5_500);
    clients.expect(&[
        ("HGETALL h", "*4 $1 a $1 1 $1 c $1 3"),
        ("HLEN h", ":2"),
        ("HGET h b", "$-1"),
        ("HTTL h FIELDS 2 a b", "*2 :5 :-2"),
        ("HSET h b 4", ":1"),
        ("HTTL h FIELDS 1 b", "*1 :-1"),
    ]);
    clients.turn_clock(10_000);
    clients.expect(&[("HKEYS h", "*2 $1 c $1 b"), ("HEXISTS h a", ":0")]);
}

#[test]
fn a_hash_ends_with_the_last_of_its_fields() {
    let mut clients = Clients::new(1);
    clients.expect(&[
        ("HSET h a 1 b 2", ":2"),
        ("HPEXPIRE h 100 FIELDS 1 a", "*1 :1"),
        ("HPEXPIRE h 200 FIELDS 1 b", "*1 :1"),
        ("COPY h other", ":1"),
        ("COPY h third", ":1"),
    ]);
    clients.turn_clock(199);
    clients.expect(&[("EXISTS h other", ":2"), ("HGETALL h", "*2 $1 b $1 2")]);
    clients.turn_clock(200);
    clients.expect(&[
        ("EXISTS h", ":0"),
        ("TYPE h", "+none"),
        ("TTL other", ":-2"),
        ("RENAME third fourth", "-ERR no such key"),
        ("OBJECT ENCODING third", "$-1"),
        ("SET other x", "+OK"),
        ("GET other", "$1 x"),
        ("HGETALL third", "*0"),
        ("RPUSH third x", ":1"),
    ]);
    assert!(clients.store.kv().get(&Key::of_major(["h"])).unwrap().is_none());
}

#[test]
fn conditions_say_which_time_gives_way() {
    Clients::new(1).expect(&[
        ("HSET h a 1", ":1"),
        ("HEXPIRE h 10 XX FIELDS 1 a", "*1 :0"),
        ("HEXPIRE h 10 GT FIELDS 1 a", "*1 :0"),
        ("HEXPIRE h 10 LT FIELDS 1 a", "*1 :1"),
        ("HEXPIRE h 20 NX FIELDS 1 a", "*1 :0"),
        ("HEXPIRE h 20 LT FIELDS 1 a", "*1 :0"),
        ("HEXPIRE h 20 gt FIELDS 1 a", "*1 :1"),
        ("HTTL h FIELDS 1 a", "*1 :20"),
        ("HPERSIST h FIELDS 2 a nosuch", "*2 :1 :-2"),
        ("HPERSIST h FIELDS 1 a", "*1 :-1"),
        ("HEXPIRE h 20 NX FIELDS 1 a", "*1 :1"),
        ("HEXPIREAT h 1 FIELDS 2 a a", "*2 :2 :-2"),
        ("EXISTS h", ":0"),
    ]);
}

#[test]
fn new_values_live_for_ever_and_sums_as_long_as_before() {
    Clients::new(1).expect(&[
        ("HSET h a 1 b 2 c 3", ":3"),
        ("HEXPIRE h 10 FIELDS 3 a b c", "*3 :1 :1 :1"),
        ("HSET h a 5", ":0"),
        ("HINCRBY h b 1", ":3"),
        ("HINCRBYFLOAT h c 0.5", "$3 3.5"),
        ("HTTL h FIELDS 3 a b c", "*3 :-1 :10 :10"),
        ("HDEL h b", ":1"),
        ("HSET h b 1", ":1"),
        ("HTTL h FIELDS 1 b", "*1 :-1"),
        ("HSCAN h 0", "*2 $1 0 *6 $1 a $1 5 $1 c $3 3.5 $1 b $1 1"),
    ]);
}

#[test]
fn fields_are_gotten_and_deleted_or_get_a_time() {
    let mut clients = Clients::new(1);
    clients.expect(&[
        ("HSET h a 1 b 2 c 3", ":3"),
        ("HGETEX h FIELDS 2 a nosuch", "*2 $1 1 $-1"),
        ("HGETEX h EX 10 FIELDS 1 a", "*1 $1 1"),
        ("HGETEX h FIELDS 1 a", "*1 $1 1"),
        ("HTTL h FIELDS 1 a", "*1 :10"),
        ("HGETEX h PERSIST FIELDS 2 a b", "*2 $1 1 $1 2"),
        ("HTTL h FIELDS 1 a", "*1 :-1"),
        ("HGETEX h PXAT 1 FIELDS 1 a", "*1 $1 1"),
        ("HEXISTS h a", ":0"),
        ("HGETDEL h FIELDS 3 b nosuch b", "*3 $1 2 $-1 $-1"),
        ("HGETALL h", "*2 $1 c $1 3"),
        ("HGETDEL h FIELDS 1 c", "*1 $1 3"),
        ("EXISTS h", ":0"),
        ("HGETDEL h FIELDS 1 c", "*1 $-1"),
        ("HGETEX h FIELDS 1 c", "*1 $-1"),
    ]);
}

#[test]
fn fields_are_set_with_a_time_and_together_or_not_at_all() {
    let mut clients = Clients::new(1);
    clients.expect(&[
        ("HSETEX h EX 10 FIELDS 2 a 1 b 2", ":1"),
        ("HTTL h FIELDS 2 a b", "*2 :10 :10"),
        ("HSETEX h KEEPTTL FIELDS 2 a 3 c 4", ":1"),
        ("HSETEX h FIELDS 1 b 5", ":1"),
        ("HTTL h FIELDS 3 a b c", "*3 :10 :-1 :-1"),
        ("HSETEX h FNX FIELDS 2 d 1 a 1", ":0"),
        ("HSETEX h FXX FIELDS 2 a 1 d 1", ":0"),
        ("HSETEX nosuch FXX FIELDS 1 a 1", ":0"),
        ("EXISTS nosuch", ":0"),
        ("HGETALL h", "*6 $1 a $1 3 $1 b $1 5 $1 c $1 4"),
        ("HSETEX h FXX PX 7 FIELDS 2 a 6 c 7", ":1"),
        ("HSETEX h FNX FIELDS 2 d 8 e 9", ":1"),
        ("HSETEX h EXAT 1 FIELDS 2 d 8 f 9", ":1"),
        ("HGETALL h", "*8 $1 a $1 6 $1 b $1 5 $1 c $1 7 $1 e $1 9"),
        ("HSETEX nosuch PXAT 1 FIELDS 1 a 1", ":1"),
        ("EXISTS nosuch", ":0"),
    ]);
    clients.turn_clock(7);
    clients.expect(&[("HKEYS h", "*2 $1 b $1 e")]);
}

#[test]
fn arguments_are_checked_as_in_redis() {
    let no_fields = "-ERR Mandatory argument FIELDS is missing or not at the right position";
    let too_many = "-ERR The `numfields` parameter must match the number of arguments";
    let not_positive = "-ERR Number of fields must be a positive integer";
    let one_time = "-ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified";
    Clients::new(1).expect(&[
        ("SET s 1", "+OK"),
        ("HEXPIRE s 1 FIELDS 2 a b", WRONG_TYPE),
        ("HTTL s FIELDS 1 a", WRONG_TYPE),
        ("HSETEX s FIELDS 1 a 1", WRONG_TYPE),
        ("HEXPIRE h x FIELDS 1 a", "-ERR value is not an integer or out of range"),
        ("HEXPIRE h -1 FIELDS 1 a", "-ERR invalid expire time, must be >= 0"),
        (
            "HEXPIRE h 9223372036854775807 FIELDS 1 a",
            "-ERR invalid expire time in 'hexpire' command",
        ),
        (
            "HPEXPIREAT h 70368744177664 FIELDS 1 a",
            "-ERR invalid expire time in 'hpexpireat' command",
        ),
        ("HEXPIRE h 1 FIELDS 0 a", "-ERR Parameter `numFields` should be greater than 0"),
        ("HEXPIRE h 1 FIELDS 2 a", too_many),
        ("HEXPIRE h 1 WHAT 1 a", no_fields),
        ("HEXPIRE h 1 NX 1 a", no_fields),
        ("HTTL h FIELDS 0 a", not_positive),
        ("HTTL h FIELDS 2 a", too_many),
        ("HTTL h WHAT 1 a", no_fields),
        ("HGETDEL h FIELDS -1 a", not_positive),
        ("HGETEX h EX 5 WHAT 1 a", no_fields),
        ("HGETEX h PERSIST 1 FIELDS 1 a", no_fields),
        ("HSETEX h NX FIELDS 1 a 1", "-ERR unknown argument: NX"),
        ("HSETEX h FNX FXX FIELDS 1 a 1", "-ERR Only one of FXX or FNX arguments can be specified"),
        ("HSETEX h EX 1 KEEPTTL FIELDS 1 a 1", one_time),
        ("HSETEX h FIELDS x a 1", "-ERR invalid number of fields"),
        ("HSETEX h FIELDS 2 a 1", "-ERR wrong number of arguments for 'hsetex' command"),
    ]);
}

/// A hash without times has the form that it had before there were any.
#[test]
fn the_form_has_times_only_where_fields_expire() {
    let mut clients = Clients::new(1);
    let stored =
        |clients: &Clients| clients.store.kv().get(&Key::of_major(["h"])).unwrap().unwrap().value;
    clients.ask("HSET h f 12");
    let plain = b"\xFE\0tonnage\0\xFEh\x01\0\0\0\x01\x02f12";
    assert_eq!(stored(&clients), plain);
    clients.ask("HPEXPIREAT h 1000000000001 FIELDS 1 f");
    let time = (NOW_MS + 1).to_le_bytes();
    let head = &b"\xFE\0tonnage\0\xFEe\x01\0\0\0"[..];
    assert_eq!(stored(&clients), [head, &time, b"\x01\x02", &time, b"f12"].concat());
    clients.ask("HPERSIST h FIELDS 1 f");
    assert_eq!(stored(&clients), plain);
}

/// Entries of their own have no time, so such a hash is one value again.
#[test]
fn a_large_hash_is_gathered_where_a_field_gets_a_time() {
    let mut clients = Clients::new(1);
    for number in 0..40 {
        let name = format!("f{number}");
        clients.send(0, command(&[b"HSET", b"h", name.as_bytes(), &[b'x'; 1_000]]));
    }
    let stored =
        |clients: &Clients| clients.store.kv().get(&Key::of_major(["h"])).unwrap().unwrap().value;
    assert!(stored(&clients).len() < 100, "spread");
    let usage = clients.ask("MEMORY USAGE h SAMPLES 5");
    let usage: usize = usage.trim_end().trim_start_matches(':').parse().unwrap();
    assert!((40_000..45_000).contains(&usage), "{usage}");
    clients.expect(&[
        ("HTTL h FIELDS 2 f7 nosuch", "*2 :-1 :-2"),
        ("HEXPIRE h 10 XX FIELDS 1 f7", "*1 :0"),
    ]);
    assert!(stored(&clients).len() < 100, "still spread");
    clients.expect(&[("HEXPIRE h 10 FIELDS 2 f7 f8", "*2 :1 :1"), ("HLEN h", ":40")]);
    assert!(stored(&clients).len() > 40_000, "one value");
    clients.turn_clock(10_000);
    clients.expect(&[
        ("HLEN h", ":38"),
        ("HEXISTS h f7", ":0"),
        ("HSTRLEN h f39", ":1000"),
        ("HSET h f7 y", ":1"),
        ("HLEN h", ":39"),
        ("HGET h f7", "$1 y"),
    ]);
    assert!(stored(&clients).len() < 100, "spread again");
    assert_eq!(clients.keyspace.delete_leftovers().unwrap(), 1);
    clients.expect(&[("HLEN h", ":39"), ("HSTRLEN h f39", ":1000")]);
}

#[test]
fn a_hash_too_large_for_one_value_refuses_times() {
    let mut clients = Clients::new(1);
    for number in 0..9 {
        let name = format!("f{number}");
        clients.send(0, command(&[b"HSET", b"h", name.as_bytes(), &vec![b'x'; 1 << 20]]));
    }
    let refused = "-ERR a hash with fields that expire has 8 MiB at most: spread it over several \
                   keys";
    clients.expect(&[
        ("HEXPIRE h 10 FIELDS 1 f7", refused),
        ("HGETEX h EX 10 FIELDS 1 nosuch", "*1 $-1"),
        ("HSETEX h EX 10 FIELDS 2 a 1 b 2", refused),
        ("HMGET h a b", "*2 $-1 $-1"),
        ("HLEN h", ":9"),
        ("HDEL h f0 f1", ":2"),
        ("HEXPIRE h 10 FIELDS 1 f7", "*1 :1"),
        ("HLEN h", ":7"),
    ]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Against a plain list of fields with their times; many come together, or each by itself.
    #[test]
    fn fields_are_those_of_a_list_with_times(
        actions in proptest::collection::vec(
            (0..5_u8, 0..7_u8, 1..50_u64, any::<bool>()), 1..60),
    ) {
        let mut clients = Clients::new(1);
        let (mut model, mut replies) = (Vec::<(String, u64)>::new(), String::new());
        let mut now = 0;
        for (field, action, ms, runs) in &actions {
            let name = format!("f{field}");
            let place = model.iter().position(|(known, _)| *known == name);
            let until = now + ms;
            let (line, reply) = match (action, place) {
                (0, None) => {
                    model.push((name.clone(), 0));
                    (format!("HSET h {name} v"), ":1\r\n".to_owned())
                }
                (0, Some(at)) => {
                    model[at].1 = 0;
                    (format!("HSET h {name} v"), ":0\r\n".to_owned())
                }
                (1, None) => {
                    model.push((name.clone(), until));
                    (format!("HSETEX h PX {ms} FIELDS 1 {name} v"), ":1\r\n".to_owned())
                }
                (1, Some(at)) => {
                    model[at].1 = until;
                    (format!("HSETEX h PX {ms} FIELDS 1 {name} v"), ":1\r\n".to_owned())
                }
                (2, place) => {
                    place.into_iter().for_each(|at| drop(model.remove(at)));
                    (format!("HDEL h {name}"), format!(":{}\r\n", u8::from(place.is_some())))
                }
                (3, place) => {
                    place.into_iter().for_each(|at| model[at].1 = until);
                    let reply = if place.is_some() { 1 } else { -2 };
                    (format!("HPEXPIRE h {ms} FIELDS 1 {name}"), format!("*1\r\n:{reply}\r\n"))
                }
                (4, place) => {
                    let left = place.map_or(-2, |at| match model[at].1 {
                        0 => -1,
                        until => (until - now) as i64,
                    });
                    (format!("HPTTL h FIELDS 1 {name}"), format!("*1\r\n:{left}\r\n"))
                }
                _ => {
                    let names: String = model
                        .iter()
                        .map(|(name, _)| format!("${}\r\n{name}\r\n", name.len()))
                        .collect();
                    ("HKEYS h".to_owned(), format!("*{}\r\n{names}", model.len()))
                }
            };
            replies.push_str(&reply);
            clients.all[0].receive(format!("{line}\r\n").as_bytes());
            // The clock moves between rounds only.
            if *runs {
                clients.run();
                now += ms / 2;
                clients.turn_clock(now);
                model.retain(|(_, until)| *until == 0 || *until > now);
            }
        }
        clients.run();
        prop_assert_eq!(&clients.answer(0), &replies);
        prop_assert_eq!(clients.ask("EXISTS h"), format!(":{}\r\n", u8::from(!model.is_empty())));
    }
}
