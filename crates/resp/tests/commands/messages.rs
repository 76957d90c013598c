//! Messages between clients.

use tonnage::Result;
use tonnage_resp::{ClientAccess, ClientLimits, KeyRight, UserAccess};

use crate::common::{Clients, command};

/// The texts of a reply as clients send them: each after its length.
fn push(kind: char, words: &[&str]) -> String {
    let number = |word: &str| word.strip_prefix(':').map(|_| format!("{word}\r\n"));
    let text =
        |word: &&str| number(word).unwrap_or_else(|| format!("${}\r\n{word}\r\n", word.len()));
    format!("{kind}{}\r\n{}", words.len(), words.iter().map(text).collect::<String>())
}

#[test]
fn a_message_reaches_those_who_subscribe_to_its_channel_or_to_a_pattern() {
    let mut clients = Clients::new(4);
    let told = clients.send(0, "SUBSCRIBE news weather\r\n");
    assert_eq!(
        told,
        push('*', &["subscribe", "news", ":1"]) + &push('*', &["subscribe", "weather", ":2"])
    );
    assert_eq!(
        clients.send(1, "PSUBSCRIBE n* ne?s\r\nSUBSCRIBE news\r\n"),
        push('*', &["psubscribe", "n*", ":1"])
            + &push('*', &["psubscribe", "ne?s", ":2"])
            + &push('*', &["subscribe", "news", ":3"])
    );
    assert_eq!(clients.send(3, "PUBLISH news hello\r\nPUBLISH other x\r\n"), ":4\r\n:0\r\n");
    assert_eq!(clients.answer(0), push('*', &["message", "news", "hello"]));
    assert_eq!(
        clients.answer(1),
        push('*', &["message", "news", "hello"])
            + &push('*', &["pmessage", "n*", "news", "hello"])
            + &push('*', &["pmessage", "ne?s", "news", "hello"])
    );
    assert_eq!(clients.answer(2), "");
    // A channel and a payload are bytes of any kind.
    let told = clients.send(2, command(&[b"SUBSCRIBE", b"\r\n"]));
    assert_eq!(told, push('*', &["subscribe", "\r\n", ":1"]));
    clients.send(3, command(&[b"PUBLISH", b"\r\n", b"a\r\n\0"]));
    assert_eq!(clients.answer(2), push('*', &["message", "\r\n", "a\r\n\0"]));
}

#[test]
fn subscriptions_end_one_by_one_or_all_together() {
    let mut clients = Clients::new(2);
    clients.send(0, "SUBSCRIBE b a\r\nPSUBSCRIBE p*\r\n");
    clients.expect(&[
        ("UNSUBSCRIBE nosuch", "*3 $11 unsubscribe $6 nosuch :3"),
        ("UNSUBSCRIBE", "*3 $11 unsubscribe $1 a :2 *3 $11 unsubscribe $1 b :1"),
        ("UNSUBSCRIBE", "*3 $11 unsubscribe $-1 :1"),
        ("PUNSUBSCRIBE p*", "*3 $12 punsubscribe $2 p* :0"),
        ("PUNSUBSCRIBE", "*3 $12 punsubscribe $-1 :0"),
        ("GET a", "$-1"),
    ]);
    assert_eq!(clients.send(1, "PUBLISH a 1\r\nPUBLISH p1 1\r\n"), ":0\r\n:0\r\n");
    assert_eq!(clients.answer(0), "");
}

#[test]
fn sharded_channels_are_others_than_those_of_the_same_name() {
    let mut clients = Clients::new(2);
    clients.expect(&[("SSUBSCRIBE a b", "*3 $10 ssubscribe $1 a :1 *3 $10 ssubscribe $1 b :2")]);
    assert_eq!(clients.send(1, "PUBLISH a 1\r\nSPUBLISH a 2\r\n"), ":0\r\n:1\r\n");
    assert_eq!(clients.answer(0), push('*', &["smessage", "a", "2"]));
    assert_eq!(
        clients.send(1, "PUBSUB SHARDCHANNELS\r\nPUBSUB SHARDNUMSUB a\r\nPUBSUB CHANNELS\r\n"),
        "*2\r\n$1\r\na\r\n$1\r\nb\r\n*2\r\n$1\r\na\r\n:1\r\n*0\r\n"
    );
    clients.expect(&[
        ("SUNSUBSCRIBE", "*3 $12 sunsubscribe $1 a :1 *3 $12 sunsubscribe $1 b :0"),
        ("SUNSUBSCRIBE", "*3 $12 sunsubscribe $-1 :0"),
    ]);
}

#[test]
fn a_client_of_resp2_that_subscribes_does_little_else() {
    let refused = |name: &str| {
        format!(
            "-ERR Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / \
             RESET are allowed in this context"
        )
    };
    let mut clients = Clients::new(2);
    clients.expect(&[
        ("SUBSCRIBE a", "*3 $9 subscribe $1 a :1"),
        ("PING", "*2 $4 pong $0"),
        ("PING hi", "*2 $4 pong $2 hi"),
        ("GET k", &refused("get")),
        ("MULTI", &refused("multi")),
        ("CLIENT ID", &refused("client|id")),
        ("GET", "-ERR wrong number of arguments for 'get' command"),
        ("RESET", "+RESET"),
        ("GET k", "$-1"),
        ("PING", "+PONG"),
    ]);
    assert_eq!(clients.send(1, "PUBLISH a 1\r\n"), ":0\r\n");
}

#[test]
fn a_client_of_resp3_continues_and_gets_pushes_behind_its_replies() {
    let mut clients = Clients::new(2);
    clients.ask("HELLO 3");
    clients.expect(&[("SUBSCRIBE a", ">3 $9 subscribe $1 a :1"), ("PING", "+PONG")]);
    assert_eq!(
        clients.ask("PUBLISH a me\r\nECHO x"),
        ":1\r\n".to_owned() + &push('>', &["message", "a", "me"]) + "$1\r\nx\r\n"
    );
    // Those who speak different versions get one message in different forms.
    clients.send(1, "SUBSCRIBE a\r\n");
    clients.ask("PUBLISH a all");
    assert_eq!(clients.answer(1), push('*', &["message", "a", "all"]));
    clients.expect(&[("UNSUBSCRIBE", ">3 $11 unsubscribe $1 a :0")]);
    clients.expect(&[("UNSUBSCRIBE", ">3 $11 unsubscribe _ :0")]);
}

/// Settings of replies are for replies.
#[test]
fn messages_come_where_replies_are_left_out() {
    let mut clients = Clients::new(1);
    clients.ask("HELLO 3");
    clients.expect(&[
        ("CLIENT REPLY OFF", ""),
        ("SUBSCRIBE a", ">3 $9 subscribe $1 a :1"),
        ("PUBLISH a 1", ">3 $7 message $1 a $1 1"),
        ("CLIENT REPLY ON", "+OK"),
        ("CLIENT REPLY SKIP", ""),
        ("UNSUBSCRIBE a", ">3 $11 unsubscribe $1 a :0"),
        ("PING", "+PONG"),
    ]);
}

#[test]
fn a_transaction_publishes_when_it_is_carried_out() {
    let mut clients = Clients::new(2);
    clients.send(1, "SUBSCRIBE a\r\n");
    clients.expect(&[("MULTI", "+OK"), ("SET k 1", "+QUEUED"), ("PUBLISH a k", "+QUEUED")]);
    assert_eq!(clients.answer(1), "");
    clients.expect(&[("EXEC", "*2 +OK :1")]);
    assert_eq!(clients.answer(1), push('*', &["message", "a", "k"]));
    // Confirmations are the answers of a transaction; messages come after it.
    clients.ask("HELLO 3");
    clients.ask("MULTI\r\nSUBSCRIBE b\r\nPUBLISH b 1\r\nGET k");
    clients.expect(&[("EXEC", "*3 >3 $9 subscribe $1 b :1 :1 $1 1 >3 $7 message $1 b $1 1")]);
}

#[test]
fn pubsub_says_what_is_subscribed_to() {
    let mut clients = Clients::new(2);
    clients.send(1, "SUBSCRIBE news weather\r\nPSUBSCRIBE n*\r\n");
    clients.expect(&[
        ("PUBSUB CHANNELS", "*2 $4 news $7 weather"),
        ("PUBSUB CHANNELS w*", "*1 $7 weather"),
        ("PUBSUB NUMSUB news nosuch", "*4 $4 news :1 $6 nosuch :0"),
        ("PUBSUB NUMSUB", "*0"),
        ("PUBSUB NUMPAT", ":1"),
        ("PUBSUB NUMPAT x", "-ERR wrong number of arguments for 'pubsub|numpat' command"),
        ("PUBSUB", "-ERR wrong number of arguments for 'pubsub' command"),
        ("PUBSUB nosuch", "-ERR unknown subcommand 'nosuch'. Try PUBSUB HELP."),
        (
            "PUBSUB CHANNELS a b",
            "-ERR unknown subcommand or wrong number of arguments for 'CHANNELS'. Try PUBSUB HELP.",
        ),
    ]);
    let info = clients.ask("INFO stats");
    assert!(info.contains("pubsub_channels:2\r\npubsub_patterns:1\r\n"), "{info}");
    let list = clients.ask("CLIENT LIST TYPE pubsub");
    assert!(list.contains(" flags=P db=0 sub=2 psub=1 ssub=0 "), "{list}");
    assert!(!list.contains("flags=N"), "{list}");
    let exchange = clients.keyspace.exchange();
    assert_eq!((exchange.channels, exchange.patterns, exchange.messages), (2, 1, 0));
    let mut gone = clients.all.remove(1);
    gone.leave(&clients.keyspace);
    clients.expect(&[("PUBSUB CHANNELS", "*0"), ("PUBSUB NUMPAT", ":0")]);
}

/// May read keys that begin with `a`, and insert those that begin with `b`.
struct Ann;

impl UserAccess for Ann {
    fn user(&self) -> &str {
        "ann"
    }

    fn may(&self, right: KeyRight, key: &[u8]) -> Result<bool> {
        Ok(match right {
            KeyRight::Read => key.starts_with(b"a"),
            KeyRight::Insert => key.starts_with(b"b"),
            KeyRight::Update | KeyRight::Delete => false,
        })
    }

    fn may_all(&self, _: KeyRight) -> Result<bool> {
        Ok(false)
    }

    fn may_operate(&self, _: &str) -> Result<bool> {
        Ok(false)
    }
}

#[test]
fn a_right_on_keys_is_one_on_channels_of_their_names() {
    let mut clients = Clients::with(2, true, ClientLimits::default());
    clients.all[0].set_access(ClientAccess::User(Box::new(Ann)));
    clients.all[1].set_access(ClientAccess::Everything);
    clients.send(1, "SUBSCRIBE a1 c1\r\n");
    let refused = "-NOPERM No permissions to access a channel";
    clients.ask("HELLO 3");
    clients.expect(&[
        ("SUBSCRIBE b", refused),
        ("SUBSCRIBE a b", refused),
        ("SSUBSCRIBE b", refused),
        ("PSUBSCRIBE *", refused),
        ("PSUBSCRIBE [a]", refused),
        ("PUBLISH a 1", refused),
        ("SPUBLISH a 1", refused),
        ("PUBLISH b 1", ":0"),
        ("PUBSUB CHANNELS", "*1 $2 a1"),
        ("PUBSUB NUMSUB c1", refused),
        ("SUBSCRIBE a", ">3 $9 subscribe $1 a :1"),
        ("PSUBSCRIBE a*", ">3 $10 psubscribe $2 a* :2"),
    ]);
    // Who loses the right is closed.
    clients.all[0].set_access(ClientAccess::User(Box::new(Ann)));
    assert!(!clients.all[0].is_closed());
    clients.all[0].set_access(ClientAccess::Nothing);
    assert!(clients.all[0].is_closed());
}

#[test]
fn who_leaves_too_many_messages_unread_is_closed() {
    let limits = ClientLimits {
        messages_bytes_max: 3_000,
        messages_bytes_kept: 1_500,
        ..ClientLimits::default()
    };
    let mut clients = Clients::with(3, false, limits);
    clients.send(0, "SUBSCRIBE a\r\n");
    clients.send(1, "SUBSCRIBE b\r\n");
    let message = |channel: &[u8]| command(&[b"PUBLISH", channel, &[b'x'; 1_000]]);
    // At once.
    for _ in 0..3 {
        clients.send(2, message(b"a"));
    }
    assert!(clients.all[0].is_closed() && clients.all[0].is_cut_off());
    // Fewer after a minute.
    clients.send(2, message(b"b"));
    clients.send(2, message(b"b"));
    clients.turn_clock(59_000);
    clients.send(2, "PUBLISH b x\r\n");
    assert!(!clients.all[1].is_closed());
    clients.turn_clock(61_000);
    assert_eq!(clients.send(2, "PUBLISH b x\r\n"), ":1\r\n");
    assert!(clients.all[1].is_closed() && clients.all[1].is_cut_off());
}

/// What has not been taken is bounded for all clients together.
#[test]
fn messages_that_no_loop_takes_are_bounded() {
    let mut clients = Clients::new(2);
    clients.keyspace.set_messages_bytes_max(10_000);
    clients.send(0, "SUBSCRIBE a\r\n");
    // All of one round are left before the loop of the first client takes any.
    let mut other = clients.all.remove(1);
    other.receive(&command(&[b"PUBLISH", b"a", &[b'x'; 1_000]]).repeat(20));
    let mut others = [other];
    while clients.executor.run(&mut others).has_more {}
    clients.run();
    assert!(clients.all[0].is_cut_off());
}
