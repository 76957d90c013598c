//! Sets and lists, and collections whose members are entries of their own.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use tonnage::{CollectionBatch, Key, WriteOptions};
use tonnage_resp::{Client, ClientAccess, ClientLimits, Executor, Keyspace, SyncPolicy};

use crate::common::{Clients, command};

/// Clients of a store whose collections are spread from the first member on.
fn spread_clients() -> Clients {
    let clients = Clients::new(1);
    clients.keyspace.set_whole_bytes_max(0);
    clients
}

/// How many entries a key has, of whatever generation.
fn entries(clients: &Clients, key: &str) -> usize {
    let Some(entries) = clients.store.kv().session().collections().unwrap() else { return 0 };
    let mut scan = entries.scan(key.as_bytes(), (b"", None), false, 100).unwrap();
    let (mut count, mut found) = (0, CollectionBatch::default());
    while scan.next_batch(&mut found).unwrap() {
        count += found.len();
    }
    count
}

#[test]
fn sets_are_combined_and_stored() {
    for bytes in [0, usize::MAX] {
        let mut clients = Clients::new(1);
        clients.keyspace.set_whole_bytes_max(bytes);
        clients.expect(&[
            ("SADD a 1 2 3 3", ":3"),
            ("SADD b 2 3 4", ":3"),
            ("SADD c 3", ":1"),
            ("SINTER a b c", "*1 $1 3"),
            ("SINTER a b nosuch", "*0"),
            ("SDIFF a b", "*1 $1 1"),
            ("SUNIONSTORE u a b nosuch", ":4"),
            ("SCARD u", ":4"),
            ("SINTERCARD 2 a b LIMIT 1", ":1"),
            ("SINTERSTORE a a c", ":1"),
            ("SMEMBERS a", "*1 $1 3"),
            ("SDIFFSTORE u a c", ":0"),
            ("EXISTS u", ":0"),
            ("SMOVE b a 4", ":1"),
            ("SMOVE b a 9", ":0"),
            ("SMISMEMBER a 3 4 5", "*3 :1 :1 :0"),
            ("SET s x", "+OK"),
            ("SMOVE b s 2", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
            ("SISMEMBER b 2", ":1"),
            ("SPOP c", "$1 3"),
            ("TYPE c", "+none"),
            ("SPOP c", "$-1"),
        ]);
        assert!(clients.ask("HELLO 3").starts_with('%'));
        assert!(clients.ask("SMEMBERS b").starts_with("~2\r\n"));
    }
}

#[test]
fn a_list_has_two_ends_and_a_middle() {
    for bytes in [0, usize::MAX] {
        let mut clients = Clients::new(1);
        clients.keyspace.set_whole_bytes_max(bytes);
        clients.expect(&[
            ("RPUSH l b c", ":2"),
            ("LPUSH l a z", ":4"),
            ("LRANGE l 0 -1", "*4 $1 z $1 a $1 b $1 c"),
            ("LINSERT l AFTER a n", ":5"),
            ("LPOS l n", ":2"),
            ("LREM l 0 z", ":1"),
            ("LSET l -1 d", "+OK"),
            ("LTRIM l 1 -1", "+OK"),
            ("LRANGE l 0 -1", "*3 $1 n $1 b $1 d"),
            ("LMOVE l m RIGHT LEFT", "$1 d"),
            ("RPOPLPUSH l l", "$1 b"),
            ("LRANGE l 0 -1", "*2 $1 b $1 n"),
            ("LPOP l 5", "*2 $1 b $1 n"),
            ("EXISTS l", ":0"),
            ("LPOP l 5", "*-1"),
            ("LPUSHX l a", ":0"),
        ]);
    }
}

#[test]
fn only_the_head_of_a_spread_collection_is_a_pair() {
    let mut clients = spread_clients();
    clients.expect(&[("HSET h a 1 b 2", ":2"), ("ZADD z 1 a", ":1"), ("RPUSH l a b", ":2")]);
    clients.expect(&[("DBSIZE", ":3"), ("KEYS h*", "*1 $1 h"), ("TYPE h", "+hash")]);
    assert_eq!(clients.store.kv().count().unwrap(), 3);
    let head = clients.store.kv().get(&Key::of_major(["h"])).unwrap().unwrap().value;
    assert_eq!((head.len(), &head[..12]), (28, &b"\xFE\0tonnage\0\xFEH"[..]));
    assert_eq!(head[20..], 2_u64.to_le_bytes());
    assert_eq!((entries(&clients, "h"), entries(&clients, "z"), entries(&clients, "l")), (2, 2, 2));
}

/// Its members are in the store that it came from.
#[test]
fn a_head_that_came_from_another_store_is_refused_where_members_are_needed() {
    let mut from = spread_clients();
    from.ask("HSET h a 1");
    let head = from.store.kv().get(&Key::of_major(["h"])).unwrap().unwrap().value;
    let mut to = Clients::new(1);
    to.store.kv().put(&Key::of_major(["h"]), &head, &WriteOptions::default()).unwrap();
    let answer = to.ask("HGETALL h");
    assert!(answer.starts_with("-ERR the members of this key are not in this store"), "{answer}");
    to.expect(&[("DEL h", ":1"), ("HSET h a 2", ":1"), ("HGET h a", "$1 2")]);
}

#[test]
fn members_of_a_collection_that_ended_are_seen_by_nobody_and_deleted_later() {
    let mut clients = spread_clients();
    for key in ["deleted", "over", "expired", "elsewhere", "moved", "left"] {
        clients.ask(&format!("SADD {key} a b c"));
    }
    clients.expect(&[("DEL deleted", ":1"), ("SET over x", "+OK"), ("PEXPIRE expired 5", ":1")]);
    clients.expect(&[("RENAME moved other", "+OK"), ("SADD deleted c d", ":2")]);
    clients.store.kv().delete(&Key::of_major(["elsewhere"]), &WriteOptions::default()).unwrap();
    clients.turn_clock(10);
    clients.expect(&[("SCARD deleted", ":2"), ("SISMEMBER deleted a", ":0")]);
    assert_eq!(entries(&clients, "deleted"), 5);
    // One for each collection that ended.
    assert_eq!(clients.keyspace.delete_leftovers().unwrap(), 5);
    let left = ["deleted", "over", "expired", "elsewhere", "moved", "other", "left"];
    assert_eq!(left.map(|key| entries(&clients, key)), [2, 0, 0, 0, 0, 3, 3]);
    assert_eq!(clients.keyspace.delete_leftovers().unwrap(), 0);
    clients.expect(&[("SCARD other", ":3"), ("SMISMEMBER left a b c", "*3 :1 :1 :1")]);
    clients.expect(&[("FLUSHALL", "+OK"), ("SADD left d", ":1")]);
    assert_eq!(entries(&clients, "left"), 1);
}

/// Cut off at once, whatever its length.
#[test]
fn what_is_cut_off_a_long_list_is_deleted_later() {
    let mut clients = spread_clients();
    let elements: Vec<String> = (0..5_000).map(|number| number.to_string()).collect();
    let words = [&b"RPUSH"[..], b"l"].into_iter().chain(elements.iter().map(|one| one.as_bytes()));
    assert_eq!(clients.send(0, command(&words.collect::<Vec<_>>())), ":5000\r\n");
    clients.expect(&[("LTRIM l 2000 2001", "+OK"), ("LRANGE l 0 -1", "*2 $4 2000 $4 2001")]);
    assert_eq!(entries(&clients, "l"), 5_000);
    clients.expect(&[("LPUSH l x", ":3"), ("RPUSH l y", ":4")]);
    clients.keyspace.delete_leftovers().unwrap();
    assert_eq!(entries(&clients, "l"), 4);
    clients.expect(&[("LRANGE l 0 -1", "*4 $1 x $4 2000 $4 2001 $1 y")]);
}

/// The cursor is a position in the set: another server that opens the store continues there.
#[test]
fn a_scan_of_a_spread_set_sees_each_member_once_page_by_page() {
    let mut clients = spread_clients();
    let members: Vec<String> = (0..1_000).map(|number| format!("m{number}")).collect();
    let words = [&b"SADD"[..], b"s"].into_iter().chain(members.iter().map(|one| one.as_bytes()));
    clients.send(0, command(&words.collect::<Vec<_>>()));
    let (mut cursor, mut seen, mut pages) = (String::from("0"), BTreeSet::new(), 0);
    loop {
        clients.keyspace = Keyspace::new(clients.store.clone(), SyncPolicy::EverySecond, false);
        clients.executor = Executor::new(clients.keyspace.clone());
        let page = clients.ask(&format!("SSCAN s {cursor} COUNT 50"));
        let words: Vec<&str> = page.lines().filter(|line| !line.starts_with(['*', '$'])).collect();
        assert!(words.len() <= 51, "{page}");
        words[1..].iter().for_each(|member| assert!(seen.insert((*member).to_owned()), "{member}"));
        pages += 1;
        cursor = words[0].to_owned();
        if cursor == "0" {
            break;
        }
    }
    assert_eq!((seen.len(), pages), (1_000, 20));
}

#[test]
fn members_by_chance_are_members_each_once_and_not_always_the_same() {
    let mut clients = spread_clients();
    let members: Vec<String> = (0..200).map(|number| format!("m{number}")).collect();
    clients.ask(&format!("SADD s {}", members.join(" ")));
    let of = |answer: String| -> Vec<String> {
        answer.lines().filter(|line| line.starts_with('m')).map(str::to_owned).collect()
    };
    for count in [1, 10, 150, 199] {
        let some = of(clients.ask(&format!("SRANDMEMBER s {count}")));
        let distinct: BTreeSet<&String> = some.iter().collect();
        assert_eq!((some.len(), distinct.len()), (count, count));
        assert!(some.iter().all(|member| members.contains(member)));
    }
    assert_eq!(of(clients.ask("SRANDMEMBER s -300")).len(), 300);
    let singles: BTreeSet<String> =
        (0..60).flat_map(|_| of(clients.ask("SRANDMEMBER s"))).collect();
    assert!(singles.len() > 10, "{singles:?}");
    let mut popped = BTreeSet::new();
    while popped.len() < 200 {
        let some = of(clients.ask("SPOP s 30"));
        assert!(!some.is_empty());
        some.into_iter().for_each(|member| assert!(popped.insert(member)));
    }
    clients.expect(&[("EXISTS s", ":0")]);
}

#[test]
fn a_member_that_is_too_long_for_a_spread_collection_is_refused_with_all_of_its_command() {
    let mut clients = spread_clients();
    clients.ask("SADD s a");
    let long = "x".repeat(70_000);
    let words = [&b"SADD"[..], b"s", b"b", long.as_bytes()];
    let answer = clients.send(0, command(&words));
    assert!(answer.starts_with("-ERR the member is longer than a large collection"), "{answer}");
    clients.expect(&[("SCARD s", ":1")]);
    let ask = [&b"SISMEMBER"[..], b"s", long.as_bytes()];
    assert_eq!(clients.send(0, command(&ask)), ":0\r\n");
    // One that is whole has it, and stays whole.
    let words = [&b"SADD"[..], b"t", long.as_bytes()];
    assert_eq!(clients.send(0, command(&words)), ":1\r\n");
    clients.expect(&[("SADD t b", ":1"), ("SCARD t", ":2")]);
    assert_eq!(entries(&clients, "t"), 0);
}

/// Each writer sets two fields to one value; a reader that sees them differ saw two points in time.
#[test]
fn readers_see_a_spread_hash_of_one_moment_while_others_write() {
    let clients = spread_clients();
    let keyspace = clients.keyspace.clone();
    let is_over = AtomicBool::new(false);
    let client = || {
        let (here, access) = ("127.0.0.1:1".to_owned(), ClientAccess::Everything);
        [Client::new(&keyspace, here.clone(), here, access, ClientLimits::default())]
    };
    std::thread::scope(|threads| {
        for writer in 0..2 {
            let (mut clients, keyspace) = (client(), keyspace.clone());
            threads.spawn(move || {
                let mut executor = Executor::new(keyspace);
                for number in 0..300 {
                    let line = format!(
                        "HSET h a{writer} {number} z{writer} {number}\r\nHINCRBY h n 1\r\n"
                    );
                    clients[0].receive(line.as_bytes());
                    while executor.run(&mut clients).has_more {}
                }
            });
        }
        let (mut readers, keyspace, is_over) = (client(), keyspace.clone(), &is_over);
        let reader = threads.spawn(move || {
            let mut executor = Executor::new(keyspace);
            let mut looks = 0;
            while !is_over.load(Ordering::Relaxed) || looks == 0 {
                readers[0].receive(b"HGETALL h\r\n");
                while executor.run(&mut readers).has_more {}
                let answer = String::from_utf8_lossy(readers[0].output()).into_owned();
                readers[0].sent(answer.len());
                if answer.starts_with("-TRYAGAIN") {
                    continue;
                }
                let words: Vec<&str> =
                    answer.lines().filter(|line| !line.starts_with(['*', '$'])).collect();
                let value = |name: &str| {
                    words.chunks(2).find(|field| field[0] == name).map(|field| field[1])
                };
                for writer in 0..2 {
                    assert_eq!(value(&format!("a{writer}")), value(&format!("z{writer}")));
                }
                looks += 1;
            }
            looks
        });
        let mut watcher = client();
        let mut executor = Executor::new(clients.keyspace.clone());
        loop {
            watcher[0].receive(b"HGET h n\r\n");
            while executor.run(&mut watcher).has_more {}
            let answer = String::from_utf8_lossy(watcher[0].output()).into_owned();
            watcher[0].sent(answer.len());
            // Nothing that two counted is lost.
            if answer == "$3\r\n600\r\n" {
                break;
            }
            std::thread::yield_now();
        }
        is_over.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 0);
    });
}
