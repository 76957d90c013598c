//! Keys: expiry, listing, renaming.

use std::collections::BTreeSet;

use crate::common::Clients;

#[test]
fn memory_is_counted_in_bytes_of_the_store() {
    Clients::new(1).expect(&[
        ("SET key value", "+OK"),
        ("MEMORY USAGE key", ":8"),
        ("MEMORY USAGE key SAMPLES 0", ":8"),
        ("MEMORY USAGE nosuch", "$-1"),
        ("MEMORY USAGE", "-ERR wrong number of arguments for 'memory|usage' command"),
        ("MEMORY USAGE key WHAT 1", "-ERR syntax error"),
        ("MEMORY WHAT", "-ERR unknown subcommand 'WHAT'. Try MEMORY HELP."),
    ]);
}

#[test]
fn keys_are_deleted_and_counted() {
    Clients::new(1).expect(&[
        ("MSET a 1 b 2 c 3", "+OK"),
        ("EXISTS a b nosuch a", ":3"),
        ("TOUCH a nosuch", ":1"),
        ("DBSIZE", ":3"),
        ("DEL a nosuch a", ":1"),
        ("UNLINK b", ":1"),
        ("DBSIZE", ":1"),
        ("FLUSHALL", "+OK"),
        ("DBSIZE", ":0"),
        ("FLUSHDB ASYNC", "+OK"),
        ("FLUSHDB NOW", "-ERR syntax error"),
    ]);
}

#[test]
fn keys_expire() {
    let mut clients = Clients::new(1);
    clients.expect(&[
        ("TTL a", ":-2"),
        ("EXPIRE a 10", ":0"),
        ("SET a 1", "+OK"),
        ("TTL a", ":-1"),
        ("EXPIRE a 10 XX", ":0"),
        ("EXPIRE a 10 GT", ":0"),
        ("EXPIRE a 10 NX", ":1"),
        ("EXPIRE a 10 NX", ":0"),
        ("EXPIRE a 5 GT", ":0"),
        ("EXPIRE a 20 GT", ":1"),
        ("EXPIRE a 30 LT", ":0"),
        ("PEXPIRE a 15000 LT", ":1"),
        ("TTL a", ":15"),
        ("PERSIST a", ":1"),
        ("PERSIST a", ":0"),
        ("EXPIREAT a 2000000000", ":1"),
        ("PEXPIRETIME a", ":2000000000000"),
        ("PEXPIREAT a 1", ":1"),
        ("EXISTS a", ":0"),
        ("SET a 1", "+OK"),
        ("EXPIRE a -1", ":1"),
        ("EXISTS a", ":0"),
        ("EXPIRE a x", "-ERR value is not an integer or out of range"),
        ("EXPIRE a 9223372036854775807", "-ERR invalid expire time in 'expire' command"),
        ("EXPIRE a 1 AB", "-ERR Unsupported option AB"),
        (
            "EXPIRE a 1 NX GT",
            "-ERR NX and XX, GT or LT options at the same time are not compatible",
        ),
        ("EXPIRE a x GT LT", "-ERR GT and LT options at the same time are not compatible"),
        ("EXPIRE a 1 GT LT", "-ERR GT and LT options at the same time are not compatible"),
        ("SET a 1 PX 100", "+OK"),
    ]);
    clients.turn_clock(99);
    clients.expect(&[("PTTL a", ":1"), ("EXISTS a", ":1")]);
    clients.turn_clock(100);
    clients.expect(&[("PTTL a", ":-2"), ("EXISTS a", ":0"), ("EXPIRE a 9", ":0")]);
}

#[test]
fn keys_are_renamed_and_copied_with_their_expiry() {
    Clients::new(1).expect(&[
        ("RENAME a b", "-ERR no such key"),
        ("SET a 1 EX 10", "+OK"),
        ("RENAME a b", "+OK"),
        ("TTL b", ":10"),
        ("EXISTS a", ":0"),
        ("SET c 2", "+OK"),
        ("RENAMENX b c", ":0"),
        ("RENAMENX b d", ":1"),
        ("RENAME d d", "+OK"),
        ("COPY d e", ":1"),
        ("TTL e", ":10"),
        ("COPY d c", ":0"),
        ("COPY d c REPLACE", ":1"),
        ("GET c", "$1 1"),
        ("COPY nosuch c", ":0"),
        ("COPY d d", "-ERR source and destination objects are the same"),
        ("COPY d c DB 1", "-ERR DB index is out of range"),
        ("OBJECT ENCODING d", "$3 int"),
        ("OBJECT ENCODING nosuch", "$-1"),
    ]);
}

/// The names among the replies of SCAN, and its next cursor.
fn page(answer: &str) -> (String, Vec<String>) {
    let lines: Vec<&str> = answer.split("\r\n").collect();
    let names = lines[4..].iter().filter(|line| line.starts_with('k'));
    (lines[2].to_owned(), names.map(|name| (*name).to_owned()).collect())
}

#[test]
fn a_scan_sees_every_key_that_is_there_throughout() {
    let mut clients = Clients::new(1);
    for number in 0..300 {
        clients.ask(&format!("SET k{number} v"));
    }
    let (mut cursor, mut seen) = ("0".to_owned(), BTreeSet::new());
    loop {
        let (next, names) = page(&clients.ask(&format!("SCAN {cursor} COUNT 7 MATCH k*")));
        seen.extend(names);
        // Keys that appear and vanish meanwhile do not disturb it.
        clients.ask("SET k00 v");
        clients.ask("DEL k00");
        if next == "0" {
            break;
        }
        cursor = next;
    }
    assert_eq!(seen.iter().filter(|name| *name != "k00").count(), 300);
    let listed = clients.ask("KEYS k1?");
    assert!(listed.starts_with("*10\r\n"), "{listed}");
    assert!(clients.ask("RANDOMKEY").contains("\r\nk"));
    clients.expect(&[
        ("SCAN x", "-ERR invalid cursor"),
        ("SCAN 0 COUNT 0", "-ERR syntax error"),
        ("SCAN 0 COUNT", "-ERR syntax error"),
    ]);
    let of_another_type = clients.ask("SCAN 0 TYPE hash COUNT 1000");
    assert!(of_another_type.ends_with("*0\r\n"), "{of_another_type}");
}

/// Cursors of many scans once had the numbers of others, so that scans continued after keys that
/// they had not seen.
#[test]
fn a_scan_among_very_many_others_misses_no_key() {
    let mut clients = Clients::new(2);
    for number in 0..30 {
        clients.ask(&format!("SET k{number:02} v"));
    }
    let (cursor, mut seen) = page(&clients.ask("SCAN 0 COUNT 10"));
    // Another client is near the end, as often as positions are kept.
    let (last, _) = page(&clients.ask("SCAN 0 COUNT 29"));
    assert_ne!(cursor, last);
    let scans = "SCAN 0 COUNT 29\r\n".repeat(64);
    for _ in 0..300 {
        clients.send(1, &scans);
    }
    let mut next = cursor;
    while next != "0" {
        let (cursor, names) = page(&clients.ask(&format!("SCAN {next} COUNT 10")));
        seen.extend(names);
        next = cursor;
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 30);
}

/// They are there for the library, and belong to no client here.
#[test]
fn pairs_with_longer_paths_are_no_keys() {
    let mut clients = Clients::new(1);
    for key in ["/a/b", "/a/-/b", "/c"] {
        clients.store.kv().put(&key.parse().unwrap(), b"1", &Default::default()).unwrap();
    }
    clients.expect(&[("KEYS *", "*1 $1 c"), ("DBSIZE", ":1"), ("GET a", "$-1")]);
}
