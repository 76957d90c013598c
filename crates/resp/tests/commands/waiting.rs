//! Commands that wait for an element.

use tonnage::Result;
use tonnage_resp::{ClientAccess, ClientLimits, KeyRight, UserAccess};

use crate::common::Clients;

#[test]
fn what_is_there_is_taken_at_once() {
    let mut clients = Clients::new(1);
    clients.expect(&[
        ("RPUSH l 1 2 3 4 5 6", ":6"),
        ("BLPOP nosuch l 0", "*2 $1 l $1 1"),
        ("BRPOP l 0", "*2 $1 l $1 6"),
        ("BRPOPLPUSH l m 0", "$1 5"),
        ("BLMOVE l m LEFT RIGHT 0.1", "$1 2"),
        ("BLMPOP 0 2 nosuch l LEFT COUNT 5", "*2 $1 l *2 $1 3 $1 4"),
        ("LRANGE m 0 -1", "*2 $1 5 $1 2"),
        ("EXISTS l", ":0"),
        ("ZADD z 1 a 2.5 b 3 c 4 d", ":4"),
        ("BZPOPMIN z 0", "*3 $1 z $1 a $1 1"),
        ("BZPOPMAX nosuch z 0", "*3 $1 z $1 d $1 4"),
        ("BZMPOP 0 1 z MIN COUNT 5", "*2 $1 z *2 *2 $1 b $3 2.5 *2 $1 c $1 3"),
        ("ZADD z 1 a 2.5 b", ":2"),
    ]);
    clients.ask("HELLO 3");
    clients.expect(&[
        ("BZPOPMIN z 0", "*3 $1 z $1 a ,1"),
        ("BZMPOP 0 1 z MAX", "*2 $1 z *1 *2 $1 b ,2.5"),
    ]);
}

#[test]
fn what_is_wrong_is_refused_in_the_words_of_redis() {
    let wrong_type = "-WRONGTYPE Operation against a key holding the wrong kind of value";
    Clients::new(1).expect(&[
        ("SET s 1", "+OK"),
        ("BLPOP k x", "-ERR timeout is not a float or out of range"),
        ("BLPOP k nan", "-ERR timeout is not a float or out of range"),
        ("BLPOP k -1", "-ERR timeout is negative"),
        ("BLPOP k 1e30", "-ERR timeout is out of range"),
        ("BLPOP k", "-ERR wrong number of arguments for 'blpop' command"),
        ("BLPOP s 1", wrong_type),
        ("BLPOP k s 1", wrong_type),
        ("BZPOPMIN s 1", wrong_type),
        ("BRPOPLPUSH s k 1", wrong_type),
        ("BLMOVE a b UP LEFT 0", "-ERR syntax error"),
        ("BLMOVE a b LEFT LEFT x", "-ERR timeout is not a float or out of range"),
        ("BLMPOP 1 0 k LEFT", "-ERR numkeys should be greater than 0"),
        ("BLMPOP 1 x k LEFT", "-ERR numkeys should be greater than 0"),
        ("BLMPOP 1 2 k LEFT", "-ERR syntax error"),
        ("BLMPOP 1 1 k UP", "-ERR syntax error"),
        ("BLMPOP 1 1 k LEFT COUNT", "-ERR syntax error"),
        ("BLMPOP 1 1 k LEFT COUNT 0", "-ERR count should be greater than 0"),
        ("BZMPOP 1 1 k LEFT", "-ERR syntax error"),
        ("RPUSH l 1", ":1"),
        ("BLMOVE l s LEFT LEFT 0", wrong_type),
        ("LLEN l", ":1"),
    ]);
}

#[test]
fn a_client_waits_for_a_push_and_its_pipeline_waits_with_it() {
    let mut clients = Clients::new(2);
    assert_eq!(clients.send(0, "BLPOP k l 0\r\nPING\r\nLLEN l\r\n"), "");
    assert!(clients.all[0].is_waiting() && !clients.all[0].wants_input());
    assert_eq!(clients.send(0, "ECHO x\r\n"), "");
    assert_eq!(clients.send(1, "RPUSH l a b\r\n"), ":2\r\n");
    assert_eq!(clients.answer(0), "*2\r\n$1\r\nl\r\n$1\r\na\r\n+PONG\r\n:1\r\n$1\r\nx\r\n");
    // The wait is over: what comes later stays.
    assert_eq!(clients.send(1, "RPUSH k c\r\nLLEN k\r\n"), ":1\r\n:1\r\n");
    assert_eq!(clients.answer(0), "");
}

#[test]
fn who_came_first_is_served_first() {
    let mut clients = Clients::new(4);
    for client in 0..3 {
        assert_eq!(clients.send(client, "BLPOP k l 0\r\n"), "");
    }
    assert_eq!(clients.send(3, "RPUSH l a b\r\n"), ":2\r\n");
    assert_eq!(clients.answer(0), "*2\r\n$1\r\nl\r\n$1\r\na\r\n");
    assert_eq!(clients.answer(1), "*2\r\n$1\r\nl\r\n$1\r\nb\r\n");
    assert_eq!(clients.answer(2), "");
    // Behind those who wait.
    clients.send(0, "BRPOP l 0\r\n");
    clients.send(3, "RPUSH l c\r\n");
    assert_eq!(clients.answer(0), "");
    assert_eq!(clients.answer(2), "*2\r\n$1\r\nl\r\n$1\r\nc\r\n");
}

/// An element belongs to who waits for it, not to a later command of the same pipeline.
#[test]
fn no_later_command_takes_what_others_wait_for() {
    let mut clients = Clients::new(2);
    clients.send(0, "BLPOP l 0\r\n");
    assert_eq!(clients.send(1, "RPUSH l a\r\nLPOP l\r\nSET x 1\r\n"), ":1\r\n$-1\r\n+OK\r\n");
    assert_eq!(clients.answer(0), "*2\r\n$1\r\nl\r\n$1\r\na\r\n");
    for fill in ["RENAME full l", "LMOVE full l LEFT LEFT", "BRPOPLPUSH full l 0"] {
        clients.send(1, "DEL full\r\nRPUSH full a\r\n");
        clients.send(0, "BLPOP l 0\r\n");
        let answer = clients.send(1, format!("{fill}\r\nLLEN l\r\n"));
        assert!(answer.ends_with(":0\r\n"), "{fill}: {answer}");
        assert_eq!(clients.answer(0), "*2\r\n$1\r\nl\r\n$1\r\na\r\n");
    }
}

#[test]
fn a_wait_ends_with_its_time() {
    let mut clients = Clients::new(2);
    clients.send(0, "BLPOP k 0.5\r\nPING\r\n");
    clients.send(1, "BRPOPLPUSH k l 1\r\n");
    clients.turn_clock(499);
    clients.run();
    assert_eq!((clients.answer(0), clients.answer(1)), (String::new(), String::new()));
    clients.turn_clock(500);
    clients.run();
    assert_eq!((clients.answer(0).as_str(), clients.answer(1).as_str()), ("*-1\r\n+PONG\r\n", ""));
    clients.turn_clock(1_000);
    clients.run();
    assert_eq!(clients.answer(1), "*-1\r\n");
    assert_eq!(clients.keyspace.exchange().waiting, 0);
    assert_eq!(clients.send(0, "RPUSH k a\r\nLLEN k\r\n"), ":1\r\n:1\r\n");
}

#[test]
fn any_command_that_fills_a_key_wakes() {
    let fill = [
        ("RPUSH k a", ":1\r\n"),
        ("LMOVE full k LEFT LEFT", "$1\r\na\r\n"),
        ("RPOPLPUSH full k", "$1\r\na\r\n"),
        ("RENAME full k", "+OK\r\n"),
        ("COPY full k", ":1\r\n"),
        ("MULTI\r\nRPUSH k a\r\nEXEC", "+OK\r\n+QUEUED\r\n*1\r\n:1\r\n"),
        ("MULTI\r\nRENAME full k\r\nEXEC", "+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n"),
    ];
    for (line, reply) in fill {
        let mut clients = Clients::new(2);
        clients.send(1, "RPUSH full a\r\n");
        clients.send(0, "BLPOP k 0\r\n");
        assert_eq!(clients.send(1, format!("{line}\r\n")), reply, "{line}");
        assert_eq!(clients.answer(0), "*2\r\n$1\r\nk\r\n$1\r\na\r\n", "{line}");
    }
    for line in ["ZADD k 1 a", "ZINCRBY k 1 a", "RENAME full k"] {
        let mut clients = Clients::new(2);
        clients.send(1, "ZADD full 1 a\r\n");
        clients.send(0, "BZPOPMIN k 0\r\n");
        clients.send(1, format!("{line}\r\n"));
        assert_eq!(clients.answer(0), "*3\r\n$1\r\nk\r\n$1\r\na\r\n$1\r\n1\r\n", "{line}");
    }
}

#[test]
fn an_element_that_is_moved_serves_those_who_wait_for_its_new_list() {
    let mut clients = Clients::new(4);
    clients.send(0, "BLMOVE a b LEFT LEFT 0\r\n");
    clients.send(1, "BRPOPLPUSH b c 0\r\n");
    clients.send(2, "BLPOP c 0\r\n");
    assert_eq!(clients.send(3, "RPUSH a x\r\nEXISTS a b c\r\n"), ":1\r\n:0\r\n");
    assert_eq!(clients.answer(0), "$1\r\nx\r\n");
    assert_eq!(clients.answer(1), "$1\r\nx\r\n");
    assert_eq!(clients.answer(2), "*2\r\n$1\r\nc\r\n$1\r\nx\r\n");
}

#[test]
fn a_transaction_does_not_wait_and_wakes_when_it_ends() {
    let mut clients = Clients::new(2);
    clients.expect(&[
        ("MULTI", "+OK"),
        ("BLPOP k 0", "+QUEUED"),
        ("BLMOVE k l LEFT LEFT 0", "+QUEUED"),
        ("BZPOPMIN k 0", "+QUEUED"),
        ("EXEC", "*3 *-1 $-1 *-1"),
    ]);
    clients.send(0, "BLPOP k l m 0\r\n");
    // What it takes away again no client gets.
    clients.send(1, "MULTI\r\nRPUSH k a\r\nDEL k\r\nEXEC\r\n");
    assert_eq!(clients.answer(0), "");
    // The list that was filled first counts.
    clients.send(1, "MULTI\r\nRPUSH m a\r\nRPUSH l b\r\nRPUSH m c\r\nEXEC\r\n");
    assert_eq!(clients.answer(0), "*2\r\n$1\r\nm\r\n$1\r\na\r\n");
}

#[test]
fn a_value_of_another_kind_ends_no_wait() {
    let mut clients = Clients::new(3);
    clients.send(0, "BLPOP k 0\r\n");
    clients.send(1, "BZPOPMIN k 0\r\n");
    clients.send(2, "SET k 1\r\n");
    assert_eq!((clients.answer(0), clients.answer(1)), (String::new(), String::new()));
    clients.send(2, "DEL k\r\nZADD k 1 a\r\n");
    assert_eq!(clients.answer(0), "");
    assert_eq!(clients.answer(1), "*3\r\n$1\r\nk\r\n$1\r\na\r\n$1\r\n1\r\n");
    clients.send(2, "RPUSH k a\r\n");
    assert_eq!(clients.answer(0), "*2\r\n$1\r\nk\r\n$1\r\na\r\n");
    // A target of another kind ends it with an error, and the element stays.
    clients.send(2, "SET s 1\r\n");
    clients.send(0, "BLMOVE k s LEFT LEFT 0\r\n");
    assert_eq!(clients.send(2, "RPUSH k a\r\nLLEN k\r\n"), ":1\r\n:1\r\n");
    assert!(clients.answer(0).starts_with("-WRONGTYPE"));
}

#[test]
fn another_client_ends_a_wait() {
    let mut clients = Clients::new(2);
    let id = clients.all[0].id();
    clients.send(0, "BLPOP k 0\r\n");
    let list = clients.send(1, "CLIENT LIST\r\n");
    assert!(list.contains("flags=b "), "{list}");
    assert!(clients.send(1, "INFO clients\r\n").contains("blocked_clients:1\r\n"));
    assert_eq!(clients.send(1, format!("CLIENT UNBLOCK {id}\r\n")), ":1\r\n");
    assert_eq!(clients.answer(0), "*-1\r\n");
    assert_eq!(clients.send(1, format!("CLIENT UNBLOCK {id}\r\n")), ":0\r\n");
    clients.send(0, "BLPOP k 0\r\n");
    assert_eq!(clients.send(1, format!("CLIENT UNBLOCK {id} ERROR\r\n")), ":1\r\n");
    assert_eq!(clients.answer(0), "-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n");
    clients.expect(&[
        ("CLIENT UNBLOCK x", "-ERR value is not an integer or out of range"),
        ("CLIENT UNBLOCK 1 foo", "-ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"),
        ("CLIENT UNBLOCK", "-ERR wrong number of arguments for 'client|unblock' command"),
    ]);
}

#[test]
fn a_client_that_has_gone_takes_nothing() {
    let mut clients = Clients::new(2);
    clients.send(0, "BLPOP k 0\r\n");
    let mut gone = clients.all.remove(0);
    gone.leave(&clients.keyspace);
    clients.expect(&[("RPUSH k a", ":1"), ("LLEN k", ":1")]);
    assert_eq!(clients.keyspace.exchange().waiting, 0);
}

/// A reply that is left out is so, too, where it comes late.
#[test]
fn a_late_reply_may_be_left_out_and_messages_come_meanwhile() {
    let mut clients = Clients::new(2);
    clients.ask("HELLO 3");
    clients.send(0, "SUBSCRIBE a\r\nCLIENT REPLY SKIP\r\nBLPOP k 0\r\n");
    clients.answer(0);
    clients.send(1, "PUBLISH a 1\r\n");
    assert_eq!(clients.answer(0), ">3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\n1\r\n");
    clients.send(1, "RPUSH k x\r\n");
    assert_eq!(clients.answer(0), "");
    clients.expect(&[("PING", "+PONG")]);
}

/// May take from keys that begin with `a`.
struct Ann;

impl UserAccess for Ann {
    fn user(&self) -> &str {
        "ann"
    }

    fn may(&self, right: KeyRight, key: &[u8]) -> Result<bool> {
        Ok(key.starts_with(b"a") && right != KeyRight::Insert)
    }

    fn may_all(&self, _: KeyRight) -> Result<bool> {
        Ok(false)
    }

    fn may_operate(&self, _: &str) -> Result<bool> {
        Ok(false)
    }
}

#[test]
fn a_wait_needs_the_rights_of_the_command_that_does_not_wait() {
    let mut clients = Clients::with(1, true, ClientLimits::default());
    clients.all[0].set_access(ClientAccess::User(Box::new(Ann)));
    let refused = "-NOPERM No permissions to access a key";
    clients.expect(&[
        ("BLPOP b 0", refused),
        ("BLPOP a b 0", refused),
        ("BLMPOP 0 2 a b LEFT", refused),
        ("BZMPOP 0 1 b MIN", refused),
        ("BLMOVE a a2 LEFT LEFT 0", refused),
        ("BLPOP a 0", ""),
    ]);
    clients.all[0].set_access(ClientAccess::User(Box::new(Ann)));
    assert!(!clients.all[0].is_closed());
    clients.all[0].set_access(ClientAccess::Nothing);
    assert!(clients.all[0].is_closed());
}

#[test]
fn large_lists_serve_those_who_wait() {
    let mut clients = Clients::new(2);
    clients.keyspace.set_whole_bytes_max(64);
    clients.send(0, "BRPOP l 0\r\n");
    let elements: String = (0..100).map(|number| format!(" {number}")).collect();
    assert_eq!(clients.send(1, format!("RPUSH l{elements}\r\nLLEN l\r\n")), ":100\r\n:99\r\n");
    assert_eq!(clients.answer(0), "*2\r\n$1\r\nl\r\n$2\r\n99\r\n");
    let rest = clients.send(0, "BLMPOP 0 1 l LEFT COUNT 1000\r\n");
    assert!(rest.starts_with("*2\r\n$1\r\nl\r\n*99\r\n$1\r\n0\r\n"), "{rest}");
}
