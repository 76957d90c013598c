//! Hashes.

use std::collections::BTreeSet;
use std::sync::Arc;

use tonnage::{Key, Store, WriteOptions};
use tonnage_resp::{Client, ClientAccess, ClientLimits, Executor, Keyspace, SyncPolicy};

use crate::common::{Clients, command};

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

#[test]
fn fields_are_set_and_gotten() {
    Clients::new(1).expect(&[
        ("HGET h a", "$-1"),
        ("HSET h a 1 b 2", ":2"),
        ("HSET h a 3 c 4 c 5", ":1"),
        ("HGET h a", "$1 3"),
        ("HMGET h c nosuch b c", "*4 $1 5 $-1 $1 2 $1 5"),
        ("HGETALL h", "*6 $1 a $1 3 $1 b $1 2 $1 c $1 5"),
        ("HKEYS h", "*3 $1 a $1 b $1 c"),
        ("HVALS h", "*3 $1 3 $1 2 $1 5"),
        ("HLEN h", ":3"),
        ("HEXISTS h b", ":1"),
        ("HEXISTS h nosuch", ":0"),
        ("HSTRLEN h b", ":1"),
        ("HSTRLEN h nosuch", ":0"),
        ("HSETNX h a 9", ":0"),
        ("HSETNX h d four", ":1"),
        ("HSTRLEN h d", ":4"),
        ("HMSET h a 1 e 5", "+OK"),
        ("HMGET h a e", "*2 $1 1 $1 5"),
        ("HDEL h a nosuch b a", ":2"),
        ("HKEYS h", "*3 $1 c $1 d $1 e"),
    ]);
}

#[test]
fn a_hash_that_is_not_there_has_no_fields_and_one_without_fields_is_not_there() {
    Clients::new(1).expect(&[
        ("HMGET h a b", "*2 $-1 $-1"),
        ("HGETALL h", "*0"),
        ("HKEYS h", "*0"),
        ("HVALS h", "*0"),
        ("HLEN h", ":0"),
        ("HDEL h a", ":0"),
        ("HRANDFIELD h", "$-1"),
        ("HRANDFIELD h 3", "*0"),
        ("HSCAN h 0", "*2 $1 0 *0"),
        ("EXISTS h", ":0"),
        ("HSET h a 1", ":1"),
        ("EXPIRE h 100", ":1"),
        ("HSET h a 2 b 2", ":1"),
        ("TTL h", ":100"),
        ("HDEL h a b c", ":2"),
        ("EXISTS h", ":0"),
        ("HSET h a 1", ":1"),
        ("TTL h", ":-1"),
    ]);
}

#[test]
fn arguments_are_checked_as_in_redis() {
    Clients::new(1).expect(&[
        ("HSET h a", "-ERR wrong number of arguments for 'hset' command"),
        ("HSET h a 1 b", "-ERR wrong number of arguments for 'hset' command"),
        ("HMSET h a 1 b", "-ERR wrong number of arguments for 'hmset' command"),
        ("HSETNX h a 1 b 2", "-ERR wrong number of arguments for 'hsetnx' command"),
        ("HGET h", "-ERR wrong number of arguments for 'hget' command"),
        ("HRANDFIELD h x", "-ERR value is not an integer or out of range"),
        ("HRANDFIELD h 1 WITH", "-ERR syntax error"),
        ("HRANDFIELD h 1 WITHVALUES x", "-ERR syntax error"),
        ("HRANDFIELD h -9223372036854775807 WITHVALUES", "-ERR value is out of range"),
        (
            "HRANDFIELD h -9223372036854775808",
            "-ERR value is out of range, value must between -9223372036854775807 and \
             9223372036854775807",
        ),
        ("HSCAN h x", "-ERR invalid cursor"),
        ("HSCAN h 0 COUNT 0", "*2 $1 0 *0"),
        ("HSET h a 1", ":1"),
        ("HSCAN h 0 COUNT 0", "-ERR syntax error"),
        ("HSCAN h 0 COUNT x", "-ERR value is not an integer or out of range"),
        ("HSCAN h 0 COUNT", "-ERR syntax error"),
        ("HSCAN h 0 TYPE string", "-ERR syntax error"),
    ]);
}

#[test]
fn numbers_in_fields_are_counted() {
    Clients::new(1).expect(&[
        ("HINCRBY h n 5", ":5"),
        ("HINCRBY h n -7", ":-2"),
        ("HGET h n", "$2 -2"),
        ("HINCRBY h n x", "-ERR value is not an integer or out of range"),
        ("HSET h x abc m 9223372036854775807", ":2"),
        ("HINCRBY h x 1", "-ERR hash value is not an integer"),
        ("HINCRBY h m 1", "-ERR increment or decrement would overflow"),
        ("HINCRBYFLOAT h f 10.5", "$4 10.5"),
        ("HINCRBYFLOAT h f 0.1", "$4 10.6"),
        ("HINCRBYFLOAT h f x", "-ERR value is not a valid float"),
        ("HINCRBYFLOAT h f inf", "-ERR value is NaN or Infinity"),
        ("HINCRBYFLOAT h x 1", "-ERR hash value is not a float"),
        ("HGETALL h", "*8 $1 n $2 -2 $1 x $3 abc $1 m $19 9223372036854775807 $1 f $4 10.6"),
    ]);
}

#[test]
fn commands_of_strings_refuse_hashes_and_those_of_hashes_refuse_strings() {
    let mut clients = Clients::new(1);
    clients.expect(&[("HSET h a 1", ":1"), ("SET s 1", "+OK")]);
    for line in [
        "GET h",
        "STRLEN h",
        "GETRANGE h 0 1",
        "GETSET h 1",
        "SET h 1 GET",
        "GETDEL h",
        "GETEX h",
        "INCR h",
        "INCRBYFLOAT h 1",
        "APPEND h x",
        "SETRANGE h 0 x",
        "SETRANGE h 0 \"\"",
        "SETBIT h 0 1",
        "GETBIT h 0",
        "BITCOUNT h",
        "BITPOS h 1",
        "BITOP OR t s h",
        "HGET s a",
        "HSET s a 1 b 2",
        "HMSET s a 1",
        "HSETNX s a 1",
        "HMGET s a b",
        "HGETALL s",
        "HDEL s a b",
        "HLEN s",
        "HEXISTS s a",
        "HKEYS s",
        "HVALS s",
        "HSTRLEN s a",
        "HINCRBY s a 1",
        "HINCRBYFLOAT s a 1",
        "HRANDFIELD s",
        "HRANDFIELD s 2",
        "HSCAN s 0",
        "HSCAN s 0 WHAT",
    ] {
        clients.expect(&[(line, WRONG_TYPE)]);
    }
    clients.expect(&[
        ("MGET s h s", "*3 $1 1 $-1 $1 1"),
        ("HGETALL h", "*2 $1 a $1 1"),
        ("EXISTS t", ":0"),
        ("SETNX h 1", ":0"),
        ("SET h 1 XX", "+OK"),
        ("GET h", "$1 1"),
        ("BITOP NOT h s", ":1"),
    ]);
}

#[test]
fn keys_of_hashes_are_keys_like_others() {
    let mut clients = Clients::new(1);
    let long = "x".repeat(65);
    clients.expect(&[
        ("HSET h a 1", ":1"),
        ("TYPE h", "+hash"),
        ("OBJECT ENCODING h", "$8 listpack"),
        ("EXPIRE h 10", ":1"),
        ("COPY h g", ":1"),
        ("TTL g", ":10"),
        ("PERSIST g", ":1"),
        ("RENAME g i", "+OK"),
        ("HGETALL i", "*2 $1 a $1 1"),
        (&format!("HSET i b {long}"), ":1"),
        ("OBJECT ENCODING i", "$9 hashtable"),
        ("SET s 1", "+OK"),
    ]);
    let scan = |kind: &str| format!("SCAN 0 COUNT 100 TYPE {kind}");
    assert!(clients.ask(&scan("hash")).ends_with("*2\r\n$1\r\nh\r\n$1\r\ni\r\n"));
    assert!(clients.ask(&scan("STRING")).ends_with("*1\r\n$1\r\ns\r\n"));
    assert!(clients.ask(&scan("list")).ends_with("*0\r\n"));
    clients.expect(&[("DEL h i nosuch", ":2"), ("DBSIZE", ":1")]);
    clients.expect(&[("HSET h a 1", ":1"), ("PEXPIRE h 5", ":1")]);
    clients.turn_clock(5);
    clients.expect(&[("HLEN h", ":0"), ("TYPE h", "+none")]);
}

#[test]
fn maps_are_maps_where_the_protocol_has_them() {
    let mut clients = Clients::new(1);
    clients.ask("HELLO 3");
    clients.expect(&[
        ("HGETALL h", "%0"),
        ("HSET h a 1", ":1"),
        ("HGETALL h", "%1 $1 a $1 1"),
        ("HRANDFIELD h 2", "*1 $1 a"),
        ("HRANDFIELD h 2 WITHVALUES", "*1 *2 $1 a $1 1"),
        ("HMGET h a b", "*2 $1 1 _"),
    ]);
}

#[test]
fn fields_by_chance_are_each_one_once_or_as_often_as_they_come() {
    let mut clients = Clients::new(1);
    clients.ask("HSET h a 1 b 2 c 3 d 4");
    clients.expect(&[
        ("HRANDFIELD h 4", "*4 $1 a $1 b $1 c $1 d"),
        ("HRANDFIELD h 9 withvalues", "*8 $1 a $1 1 $1 b $1 2 $1 c $1 3 $1 d $1 4"),
        ("HRANDFIELD h 0", "*0"),
    ]);
    let (mut seen, mut pairs) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..200 {
        seen.insert(clients.ask("HRANDFIELD h"));
        let two = clients.ask("HRANDFIELD h 2");
        let names: BTreeSet<&str> = two.lines().skip(2).step_by(2).collect();
        assert_eq!((names.len(), two.lines().count()), (2, 5), "{two}");
        pairs.insert(two);
        let many = clients.ask("HRANDFIELD h -9");
        assert_eq!(many.lines().count(), 19, "{many}");
    }
    assert_eq!((seen.len(), pairs.len()), (4, 6));
}

#[test]
fn a_scan_answers_all_fields_that_match() {
    Clients::new(1).expect(&[
        ("HSET h a1 1 b1 2 a2 3", ":3"),
        ("HSCAN h 0", "*2 $1 0 *6 $2 a1 $1 1 $2 b1 $1 2 $2 a2 $1 3"),
        ("HSCAN h 7 MATCH a* COUNT 1", "*2 $1 0 *4 $2 a1 $1 1 $2 a2 $1 3"),
        ("HSCAN h 0 MATCH nosuch", "*2 $1 0 *0"),
    ]);
}

/// Changes of one key that come together happen in memory, whatever is between them.
#[test]
fn a_pipeline_of_all_kinds_sees_its_own_effects() {
    let mut clients = Clients::new(1);
    let lines = "HSET h a 1 b 2\r\nHGETALL h\r\nHINCRBY h a 4\r\nHGET h a\r\nEXPIRE h 50\r\n\
                 HDEL h b\r\nTYPE h\r\nGET h\r\nHGETALL h\r\nTTL h\r\nHDEL h a\r\nEXISTS h\r\n\
                 SET h x\r\nHSET h a 1\r\nGET h\r\nDEL h\r\nHSET h c 3\r\nHGETALL h\r\nTTL h\r\n";
    let expected = format!(
        ":2 *4 $1 a $1 1 $1 b $1 2 :5 $1 5 :1 :1 +hash {WRONG_TYPE} *2 $1 a $1 5 :50 :1 :0 +OK \
         {WRONG_TYPE} $1 x :1 :1 *2 $1 c $1 3 :-1 "
    );
    assert_eq!(clients.send(0, lines).replace("\r\n", " "), expected);
    // What is stored is what the last of them saw.
    clients.expect(&[("HGETALL h", "*2 $1 c $1 3")]);
}

#[test]
fn transactions_change_hashes_as_a_whole_and_watch_them() {
    let mut clients = Clients::new(2);
    clients.expect(&[
        ("MULTI", "+OK"),
        ("HSET h a 1", "+QUEUED"),
        ("HINCRBY h a 1", "+QUEUED"),
        ("HGETALL h", "+QUEUED"),
        ("GET h", "+QUEUED"),
    ]);
    assert_eq!(clients.send(1, "HLEN h\r\n"), ":0\r\n");
    clients.expect(&[
        ("EXEC", &format!("*4 :1 :2 *2 $1 a $1 2 {WRONG_TYPE}")),
        ("WATCH h", "+OK"),
        ("MULTI", "+OK"),
        ("HSET h a 9", "+QUEUED"),
    ]);
    assert_eq!(clients.send(1, "HSET h b 1\r\n"), ":1\r\n");
    clients.expect(&[("EXEC", "*-1"), ("HGETALL h", "*4 $1 a $1 2 $1 b $1 1")]);
}

/// A hash that another client wrote meanwhile is looked up and changed anew.
#[test]
fn writers_on_other_threads_get_in_between_and_no_field_is_lost() {
    const EACH: usize = 2_000;
    let store = Store::open("memory:").unwrap();
    let keyspace = Keyspace::new(store, SyncPolicy::No, false);
    let client = |keyspace: &Arc<Keyspace>| {
        let here = String::from("127.0.0.1:1");
        let (access, limits) = (ClientAccess::Everything, ClientLimits::default());
        [Client::new(keyspace, here.clone(), here, access, limits)]
    };
    let counter = |keyspace: Arc<Keyspace>, field: &'static str| {
        std::thread::spawn(move || {
            let mut executor = Executor::new(keyspace.clone());
            let mut clients = client(&keyspace);
            for _ in 0..EACH / 4 {
                let count = format!("HINCRBY h {field} 1\r\n").repeat(4);
                clients[0].receive(format!("{count}HEXISTS h nosuch\r\n").as_bytes());
                executor.run(&mut clients);
            }
            // What was not counted was answered with TRYAGAIN.
            let answers = String::from_utf8_lossy(clients[0].output()).into_owned();
            answers.lines().filter(|line| line.starts_with(':') && *line != ":0").count()
        })
    };
    let counters = ["a", "b", "b"].map(|field| counter(keyspace.clone(), field));
    let [a, b, c] = counters.map(|thread| thread.join().unwrap());
    let mut clients = client(&keyspace);
    clients[0].receive(b"HMGET h a b\r\n");
    Executor::new(keyspace).run(&mut clients);
    let stored = String::from_utf8_lossy(clients[0].output()).into_owned();
    let stored: Vec<&str> = stored.lines().skip(2).step_by(2).collect();
    assert_eq!(stored, [a.to_string(), (b + c).to_string()]);
    assert!(a > 0 && b + c > 0);
}

/// With a search through all fields for each of them, this took minutes.
#[test]
fn a_hash_of_many_fields_is_filled_and_emptied_at_once() {
    let mut clients = Clients::new(1);
    let names: Vec<String> = (0..200_000).map(|number| format!("f{number}")).collect();
    let pairs = names.iter().flat_map(|name| [name.as_bytes(), &b"v"[..]]);
    let set: Vec<&[u8]> = [&b"HSET"[..], b"h"].into_iter().chain(pairs).collect();
    assert_eq!(clients.send(0, command(&set)), ":200000\r\n");
    assert_eq!(clients.send(0, command(&set)), ":0\r\n");
    clients.expect(&[("HLEN h", ":200000"), ("HGET h f199999", "$1 v")]);
    let most = names[1..].iter().map(|name| name.as_bytes());
    let delete: Vec<&[u8]> = [&b"HDEL"[..], b"h"].into_iter().chain(most).collect();
    assert_eq!(clients.send(0, command(&delete)), ":199999\r\n");
    clients.expect(&[("HGETALL h", "*2 $2 f0 $1 v")]);
}

#[test]
fn a_hash_that_stays_whole_keeps_to_its_limit_and_a_command_that_does_not_has_changed_nothing() {
    let few = ClientLimits { argument_bytes_max: 100, ..ClientLimits::default() };
    let mut clients = Clients::with(1, false, few);
    // As with an engine that cannot write members of their own together with their key.
    clients.keyspace.set_whole_bytes_max(usize::MAX);
    let refused = "-ERR the value would take more bytes than one may: spread it over several keys";
    let value = "x".repeat(60);
    clients.expect(&[
        (&format!("HSET h a {value}"), ":1"),
        (&format!("HSET h b 1 c {value} d 2"), refused),
        (&format!("HMSET h b {value}"), refused),
        (&format!("HSETNX h b {value}"), refused),
        ("HINCRBY h a-long-name-of-a-counter 1", refused),
        ("HLEN h", ":1"),
        // What is stored already may stay.
        (&format!("HSETNX h a {value}"), ":0"),
        ("HINCRBY h n 1", ":1"),
    ]);
}

#[test]
fn replies_of_hashes_are_bounded() {
    let limits = ClientLimits { output_bytes_max: 10_200, ..ClientLimits::default() };
    let mut clients = Clients::with(1, false, limits);
    for number in 0..9 {
        clients.ask(&format!("HSET h f{number} {}", "x".repeat(1_000)));
    }
    assert!(clients.ask("HGETALL h").starts_with("*18\r\n"));
    for line in ["HRANDFIELD h -100", "HRANDFIELD h -4000000000000 WITHVALUES"] {
        let answer = clients.ask(line);
        let is_refused = answer.starts_with("-ERR the reply is larger");
        assert_eq!(is_refused, line.contains("WITHVALUES"), "{answer}");
    }
    clients.ask(&format!("HSET h f9 {}", "x".repeat(1_000)));
    for line in ["HGETALL h", "HVALS h", "HSCAN h 0"] {
        assert!(clients.ask(line).starts_with("-ERR the reply is larger"), "{line}");
    }
    clients.expect(&[("HLEN h", ":10"), ("HSTRLEN h f9", ":1000")]);
}

/// The form in which hashes are stored is the one of docs/format.md.
#[test]
fn other_listeners_see_one_pair_for_a_hash() {
    let mut clients = Clients::new(1);
    clients.expect(&[("HSET h f 12", ":1")]);
    let key = Key::of_major(["h"]);
    let stored = clients.store.kv().get(&key).unwrap().unwrap().value;
    assert_eq!(stored, b"\xFE\0tonnage\0\xFEh\x01\0\0\0\x01\x02f12");
    assert_eq!(clients.store.kv().count().unwrap(), 1);
    // And a pair that has this form is a hash.
    clients.store.kv().put(&Key::of_major(["g"]), &stored, &WriteOptions::default()).unwrap();
    clients.expect(&[("HGET g f", "$2 12")]);
}

#[test]
fn bytes_that_are_no_whole_hash_are_an_error_and_the_key_can_be_deleted() {
    let mut clients = Clients::new(1);
    let stored = b"\xFE\0tonnage\0\xFEh\x01\0\0\0\x01\x02f12";
    for end in 12..stored.len() {
        let key = Key::of_major(["h"]);
        clients.store.kv().put(&key, &stored[..end], &WriteOptions::default()).unwrap();
        for line in ["HGET h f", "HSET h a 1 b 2", "HDEL h f", "HLEN h", "HGETALL h", "HSCAN h 0"] {
            let answer = clients.ask(line);
            assert!(
                answer.starts_with("-ERR the stored bytes of this key are not a whole value"),
                "{answer}"
            );
        }
        clients.expect(&[("TYPE h", "+hash"), ("GET h", WRONG_TYPE), ("DEL h", ":1")]);
    }
    let later = Key::of_major(["later"]);
    let value = b"\xFE\0tonnage\0\xFE?";
    clients.store.kv().put(&later, value, &WriteOptions::default()).unwrap();
    clients.expect(&[("HGET later f", WRONG_TYPE), ("GET later", WRONG_TYPE), ("DEL later", ":1")]);
}

/// A string never becomes a hash by its bytes, however they are put together.
#[test]
fn strings_that_begin_like_a_hash_are_refused() {
    let mut clients = Clients::new(1);
    let mark = &b"\xFE\0tonnage\0\xFE"[..];
    let refused = "-ERR a string may not begin with the bytes that mark values of other kinds";
    let mut check = |words: &[&[u8]]| {
        let answer = clients.send(0, command(words));
        assert!(answer.starts_with(refused), "{answer}");
    };
    check(&[b"SET", b"a", mark]);
    check(&[b"SETNX", b"a", mark]);
    check(&[b"GETSET", b"a", mark]);
    check(&[b"SETEX", b"a", b"1", mark]);
    check(&[b"PSETEX", b"a", b"1", mark]);
    check(&[b"MSET", b"b", b"1", b"a", mark]);
    check(&[b"MSETNX", b"b", b"1", b"a", mark]);
    check(&[b"APPEND", b"a", mark]);
    check(&[b"SETRANGE", b"a", b"0", mark]);
    clients.expect(&[("EXISTS a b", ":0")]);
    clients.send(0, command(&[b"SET", b"a", &mark[..10]]));
    clients.send(0, command(&[b"SET", b"b", &[b"\xFF", &mark[1..]].concat()]));
    clients.send(0, command(&[b"SET", b"c", &[b"\xFE", &[0; 10][..]].concat()]));
    clients.send(0, command(&[b"SET", b"d", &[&b"\0"[..], &mark[1..]].concat()]));
    let mut check = |words: &[&[u8]]| {
        let answer = clients.send(0, command(words));
        assert!(answer.starts_with(refused), "{answer}");
    };
    check(&[b"APPEND", b"a", b"\xFE"]);
    check(&[b"SETBIT", b"b", b"7", b"0"]);
    check(&[b"SETRANGE", b"b", b"0", b"\xFE"]);
    check(&[b"BITOP", b"OR", b"t", b"c", b"d"]);
    clients.expect(&[("STRLEN a", ":10"), ("STRLEN b", ":11"), ("GETBIT b 7", ":1")]);
}
