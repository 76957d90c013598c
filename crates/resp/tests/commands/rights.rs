//! Logins and rights.

use tonnage::Result;
use tonnage_resp::{ClientAccess, ClientLimits, KeyRight, UserAccess};

use crate::common::{Clients, command};

/// May read and add keys that begin with `a`.
struct Ann;

impl UserAccess for Ann {
    fn user(&self) -> &str {
        "ann"
    }

    fn may(&self, right: KeyRight, key: &[u8]) -> Result<bool> {
        Ok(key.starts_with(b"a") && matches!(right, KeyRight::Read | KeyRight::Insert))
    }

    fn may_all(&self, _: KeyRight) -> Result<bool> {
        Ok(false)
    }

    fn may_operate(&self, _: &str) -> Result<bool> {
        Ok(false)
    }
}

#[test]
fn nothing_is_done_before_the_login() {
    let mut clients = Clients::with(1, true, ClientLimits::default());
    let noauth = "-NOAUTH Authentication required.";
    clients.expect(&[("GET a", noauth), ("PING", noauth), ("COMMAND", noauth)]);
    assert!(clients.ask("HELLO 3").starts_with("-NOAUTH HELLO must be called"));
    let many = command(&[&b"MGET"[..]; 11]);
    assert_eq!(clients.send(0, many), "-ERR Protocol error: unauthenticated multibulk length\r\n");
    assert!(clients.all[0].is_closed());
    let mut clients = Clients::with(1, true, ClientLimits::default());
    let long = command(&[b"AUTH", &[b'x'; 20_000]]);
    assert_eq!(clients.send(0, long), "-ERR Protocol error: unauthenticated bulk length\r\n");
}

#[test]
fn what_stands_behind_a_login_waits_for_it() {
    let mut clients = Clients::with(1, true, ClientLimits::default());
    assert_eq!(clients.send(0, "AUTH ann secret\r\nSET a 1\r\nGET a\r\n"), "");
    let login = clients.all[0].login().unwrap().clone();
    assert_eq!((login.user.as_deref(), login.password.as_str()), (Some("ann"), "secret"));
    clients.all[0].finish_login(Err("WRONGPASS no".into()));
    clients.run();
    let answer = clients.answer(0);
    assert!(answer.starts_with("-WRONGPASS no\r\n-NOAUTH"), "{answer}");
    assert_eq!(clients.send(0, "HELLO 3 AUTH ann secret SETNAME me\r\nGET a\r\n"), "");
    clients.all[0].finish_login(Ok(ClientAccess::User(Box::new(Ann))));
    clients.run();
    let answer = clients.answer(0);
    assert!(answer.starts_with("%7\r\n") && answer.ends_with("_\r\n"), "{answer}");
    clients.expect(&[("CLIENT GETNAME", "$2 me")]);
}

/// May change keys, and may not read them.
struct Writer;

impl UserAccess for Writer {
    fn user(&self) -> &str {
        "writer"
    }

    fn may(&self, right: KeyRight, _: &[u8]) -> Result<bool> {
        Ok(right != KeyRight::Read)
    }

    fn may_all(&self, _: KeyRight) -> Result<bool> {
        Ok(false)
    }

    fn may_operate(&self, _: &str) -> Result<bool> {
        Ok(false)
    }
}

#[test]
fn who_may_not_read_is_told_no_value_and_no_number_of_keys() {
    let mut clients = Clients::with(1, true, ClientLimits::default());
    clients.all[0].set_access(ClientAccess::User(Box::new(Writer)));
    let key = "-NOPERM No permissions to access a key";
    clients.expect(&[
        ("SET a secret", "+OK"),
        ("SET a other GET", key),
        ("SET a other EX 10 get", key),
        ("SET a GET", "+OK"),
        ("GET a", key),
    ]);
    clients.expect(&[
        ("HSET h f secret", ":1"),
        ("HMSET h g secret", "+OK"),
        ("HGET h f", key),
        ("HGETALL h", key),
        ("HINCRBY h n 1", key),
        ("HDEL h f g", ":2"),
        ("ZADD z 1 incr", ":1"),
        ("ZADD z INCR 1 incr", key),
        ("ZADD z CH incr 1 incr", key),
        ("ZSCORE z incr", key),
        ("ZPOPMIN z", key),
        ("ZREMRANGEBYRANK z 0 -1", ":1"),
        ("SADD s secret", ":1"),
        ("SMEMBERS s", key),
        ("SPOP s", key),
        ("SMOVE s t secret", key),
        ("SINTERCARD 1 s", key),
        ("SUNIONSTORE t s", key),
        ("SREM s secret", ":1"),
        ("LPUSH l secret", ":1"),
        ("LPOP l", key),
        ("LMOVE l m LEFT LEFT", key),
        ("LTRIM l 1 0", "+OK"),
        ("HSETEX h EX 10 FIELDS 1 f secret", ":1"),
        ("HEXPIRE h 20 FIELDS 1 f", "*1 :1"),
        ("HTTL h FIELDS 1 f", key),
        ("HGETEX h FIELDS 1 f", key),
        ("HGETDEL h FIELDS 1 f", key),
        ("BITFIELD b SET u8 0 1", key),
        ("MSETEX 1 b secret", ":1"),
        ("LCS a b", key),
        ("DELEX b IFEQ secret", key),
        ("ZUNION 1 z", key),
        ("ZUNIONSTORE z 1 z", key),
        ("ZINTERCARD 1 z", key),
        ("ZMPOP 1 z MIN", key),
        ("LMPOP 1 l LEFT", key),
        ("SORT l", key),
    ]);
    let info = clients.ask("INFO");
    assert!(info.contains("# Keyspace\r\n") && !info.contains("db0:"), "{info}");
}

#[test]
fn sort_reads_no_keys_that_its_user_may_not_read() {
    let mut clients = Clients::with(2, true, ClientLimits::default());
    clients.all[0].set_access(ClientAccess::User(Box::new(Ann)));
    clients.all[1].set_access(ClientAccess::Everything);
    clients.send(1, "RPUSH al 1 2\r\nMSET a1 20 a2 10 b1 secret b2 secret\r\n");
    let key = "-NOPERM No permissions to access a key";
    clients.expect(&[
        ("SORT al BY a* GET a*", "*2 $2 10 $2 20"),
        ("SORT al GET b*", key),
        ("SORT al BY b*", key),
        ("SORT al BY h*->f", key),
    ]);
}

#[test]
fn reset_forgets_who_logged_in() {
    let mut clients = Clients::with(1, true, ClientLimits::default());
    clients.all[0].set_access(ClientAccess::User(Box::new(Ann)));
    clients.expect(&[("PING", "+PONG"), ("RESET", "+RESET")]);
    assert!(clients.all[0].take_reset() && !clients.all[0].take_reset());
    clients.expect(&[("PING", "-NOAUTH Authentication required.")]);
}

#[test]
fn each_key_takes_its_rights() {
    let mut clients = Clients::with(1, true, ClientLimits::default());
    clients.all[0].set_access(ClientAccess::User(Box::new(Ann)));
    let key = "-NOPERM No permissions to access a key";
    let wrong_type = "-WRONGTYPE Operation against a key holding the wrong kind of value";
    let run = |command: &str| {
        format!("-NOPERM User ann has no permissions to run the '{command}' command")
    };
    let (keys, scan, dbsize, flush, list, config) =
        (run("keys"), run("scan"), run("dbsize"), run("flushall"), run("client"), run("config"));
    clients.expect(&[
        ("SETNX a 1", ":1"),
        ("GET a", "$1 1"),
        ("SET a 1", key),
        ("SETNX b 1", key),
        ("SET b 1 GET", key),
        ("MGET a b", key),
        ("DEL a", key),
        ("INCR a", key),
        ("HGET a f", wrong_type),
        ("HSET a f 1", key),
        ("HDEL a f", key),
        ("HGET b f", key),
        ("RENAME a ab", key),
        ("OBJECT ENCODING b", key),
        ("BITOP AND a a", key),
        ("SINTER a b", key),
        ("SINTERCARD 2 a b", key),
        ("SINTERSTORE ab a a", key),
        ("LMOVE a ab LEFT LEFT", key),
        ("ZUNION 2 ab b", key),
        ("ZUNION 2 ab abc", "*0"),
        ("ZUNIONSTORE ab 1 abc", key),
        ("ZMPOP 1 ab MIN", key),
        ("MSETEX 2 ab 1 b 2", key),
        ("HEXPIRE ab 10 FIELDS 1 f", key),
        ("SORT ab", "*0"),
        ("SORT ab STORE abc", key),
        ("KEYS *", &keys),
        ("SCAN 0", &scan),
        ("DBSIZE", &dbsize),
        ("FLUSHALL", &flush),
        ("CLIENT LIST", &list),
        ("CONFIG SET appendfsync no", &config),
    ]);
}
