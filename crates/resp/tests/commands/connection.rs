//! The connection: versions of the protocol, names, replies that are left out.

use tonnage_resp::ClientLimits;

use crate::common::Clients;

#[test]
fn clients_greet_and_choose_the_protocol() {
    let mut clients = Clients::new(1);
    clients.expect(&[("PING", "+PONG"), ("PING hi", "$2 hi"), ("ECHO hi", "$2 hi")]);
    let hello = clients.ask("HELLO 3 SETNAME me");
    assert!(hello.starts_with("%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n"), "{hello}");
    assert!(hello.contains("$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:1\r\n"), "{hello}");
    clients.expect(&[
        ("GET nosuch", "_"),
        ("CLIENT GETNAME", "$2 me"),
        ("CONFIG GET appendfsync", "%1 $11 appendfsync $8 everysec"),
        ("HELLO 4", "-NOPROTO unsupported protocol version"),
        ("HELLO x", "-ERR Protocol version is not an integer or out of range"),
        ("HELLO 2 WHAT", "-ERR Syntax error in HELLO option 'WHAT'"),
        ("RESET", "+RESET"),
        ("GET nosuch", "$-1"),
        ("CLIENT GETNAME", "$-1"),
    ]);
    // The version holds for what was sent after it in the same bytes.
    let answer = clients.send(0, "GET nosuch\r\nHELLO 3\r\nGET nosuch\r\n");
    assert!(answer.starts_with("$-1\r\n%7\r\n") && answer.ends_with("_\r\n"), "{answer}");
}

/// What clients send when they connect, and what they take for a no.
#[test]
fn what_clients_send_at_first_is_answered() {
    Clients::new(1).expect(&[
        ("CLIENT SETINFO LIB-NAME redis-py", "+OK"),
        ("CLIENT SETINFO LIB-VER 8.1.0", "+OK"),
        ("CLIENT SETINFO LIB-X y", "-ERR Unrecognized option 'LIB-X'"),
        (
            "CLIENT SETNAME \"a b\"",
            "-ERR Client names cannot contain spaces, newlines or special characters.",
        ),
        ("CLIENT ID", ":1"),
        ("CLIENT NO-EVICT on", "+OK"),
        ("CLIENT NO-TOUCH on", "+OK"),
        (
            "CLIENT MAINT_NOTIFICATIONS ON",
            "-ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP.",
        ),
        ("CLIENT TRACKING ON", "-ERR unknown subcommand 'TRACKING'. Try CLIENT HELP."),
        ("SELECT 0", "+OK"),
        ("SELECT 1", "-ERR DB index is out of range"),
        ("SELECT x", "-ERR value is not an integer or out of range"),
        ("CONFIG GET save appendonly", "*4 $10 appendonly $3 yes $4 save $0"),
        ("CONFIG SET appendfsync always", "+OK"),
        ("CONFIG GET appendfsync", "*2 $11 appendfsync $6 always"),
        (
            "CONFIG SET maxmemory 1",
            "-ERR Unknown option or number of arguments for CONFIG SET - 'maxmemory'",
        ),
        ("WAIT 0 10", ":0"),
        ("AUTH default x", "+OK"),
        ("AUTH ann x", "-WRONGPASS invalid username-password pair or user is disabled."),
        ("COMMAND GETKEYS MSET a 1 b 2", "*2 $1 a $1 b"),
        ("XADD a b", "-ERR unknown command 'XADD', with args beginning with: 'a' 'b'"),
        ("COMMAND INFO nosuch", "*1 *-1"),
    ]);
}

#[test]
fn commands_and_the_server_are_described() {
    let mut clients = Clients::new(1);
    let count = clients.ask("COMMAND COUNT");
    let listed = clients.ask("COMMAND");
    assert!(listed.starts_with(&count.replace(':', "*")), "{count}");
    assert!(clients.ask("COMMAND INFO get").starts_with("*1\r\n*10\r\n$3\r\nget\r\n:2\r\n"));
    clients.ask("HELLO 3");
    assert!(clients.ask("COMMAND DOCS set").starts_with("%1\r\n$3\r\nset\r\n%3\r\n"));
    clients.ask("SET a 1");
    let info = clients.ask("INFO");
    for line in ["# Server\r\nredis_version:7.2.4", "\r\nrole:master", "\r\ndb0:keys=1,expires=0"] {
        assert!(info.contains(line), "{line}: {info}");
    }
    assert!(clients.ask("INFO commandstats").contains("cmdstat_set:calls=1\r\n"));
    assert!(clients.ask("CLIENT LIST").contains("id=1 addr=127.0.0.1:1000 laddr="));
}

#[test]
fn replies_are_left_out_when_asked_for() {
    let mut clients = Clients::new(1);
    let answer = clients.send(0, "CLIENT REPLY SKIP\r\nSET a 1\r\nGET a\r\n");
    assert_eq!(answer, "$1\r\n1\r\n");
    let lines = "CLIENT REPLY OFF\r\nSET a 2\r\nNOSUCH\r\nPING\r\nCLIENT REPLY ON\r\nGET a\r\n";
    assert_eq!(clients.send(0, lines), "+OK\r\n$1\r\n2\r\n");
}

/// As Redis does it: a transaction is one command, and each of its commands may change the mode.
#[test]
fn replies_of_transactions_are_left_out_when_asked_for() {
    for (lines, expected) in [
        (
            "CLIENT REPLY OFF\r\nMULTI\r\nSET a 1\r\nSET\r\nEXEC\r\nEXEC\r\nCLIENT REPLY ON\r\n",
            "+OK\r\n",
        ),
        ("CLIENT REPLY SKIP\r\nMULTI\r\nSET a 1\r\nEXEC\r\n", "+QUEUED\r\n*1\r\n+OK\r\n"),
        (
            "CLIENT REPLY OFF\r\nCLIENT REPLY SKIP\r\nCLIENT REPLY ON\r\nPING\r\n",
            "+OK\r\n+PONG\r\n",
        ),
        ("CLIENT REPLY SKIP\r\nCLIENT REPLY SKIP\r\nPING\r\nPING\r\n", "+PONG\r\n"),
        ("CLIENT REPLY SKIP\r\nRESET\r\nPING\r\n", "+PONG\r\n"),
        ("CLIENT REPLY SKIP\r\nEXEC\r\nPING\r\n", "+PONG\r\n"),
        ("CLIENT REPLY SKIP\r\n\r\nPING\r\nPING\r\n", "+PONG\r\n+PONG\r\n"),
        (
            "MULTI\r\nSET a 1\r\nCLIENT REPLY OFF\r\nSET a 2\r\nEXEC\r\nPING\r\nCLIENT REPLY ON\r\n",
            "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n+OK\r\n+OK\r\n",
        ),
        (
            "MULTI\r\nCLIENT REPLY SKIP\r\nSET a 1\r\nEXEC\r\nPING\r\nGET a\r\n",
            "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n$1\r\n1\r\n",
        ),
        (
            "CLIENT REPLY OFF\r\nMULTI\r\nSET a 1\r\nCLIENT REPLY ON\r\nPING\r\nEXEC\r\nGET a\r\n",
            "+OK\r\n+PONG\r\n$1\r\n1\r\n",
        ),
    ] {
        assert_eq!(Clients::new(1).send(0, lines), expected, "{lines}");
    }
}

#[test]
fn quit_discards_what_is_pipelined_behind_it() {
    let mut clients = Clients::new(1);
    assert_eq!(clients.send(0, "SET a 1\r\nQUIT\r\nSET a 2\r\n"), "+OK\r\n+OK\r\n");
    assert!(clients.all[0].is_closed());
    let stored = clients.store.kv().get(&tonnage::Key::of_major(["a"])).unwrap();
    assert_eq!(stored.unwrap().value, b"1");
}

#[test]
fn clients_kill_each_other() {
    let mut clients = Clients::new(2);
    let kills = clients.keyspace.kills();
    clients.expect(&[
        ("CLIENT KILL 1.2.3.4:5", "-ERR No such client"),
        ("CLIENT KILL ID 2", ":1"),
        ("CLIENT KILL ID 0", "-ERR client-id should be greater than 0"),
    ]);
    assert!(clients.all[1].is_closed() && !clients.all[0].is_closed());
    assert_ne!(clients.keyspace.kills(), kills);
}

#[test]
fn a_client_that_does_not_read_is_not_served_further() {
    let limits = ClientLimits { output_pause_bytes: 1_000, ..ClientLimits::default() };
    let mut clients = Clients::with(1, false, limits);
    clients.ask(&format!("SET a {}", "x".repeat(400)));
    clients.all[0].receive("GET a\r\n".repeat(10_000).as_bytes());
    clients.run();
    // A round is answered as a whole.
    let waiting = clients.all[0].output().len();
    assert!((1_000..2_000_000).contains(&waiting), "{waiting}");
    assert!(!clients.all[0].wants_input());
    let mut answered = 0;
    while !clients.all[0].output().is_empty() {
        answered += clients.answer(0).matches("$400").count();
        clients.run();
    }
    assert_eq!(answered, 10_000);
}

#[test]
fn a_greedy_command_fails_alone_and_a_pipeline_waits_until_its_replies_are_read() {
    let limits = ClientLimits {
        output_bytes_max: 10_000,
        output_pause_bytes: 1_000,
        ..ClientLimits::default()
    };
    let mut clients = Clients::with(2, false, limits);
    clients.ask(&format!("SET a {}", "x".repeat(4_000)));
    clients.ask(&format!("SET b {}", "y".repeat(4_000)));
    clients.ask(&format!("SET c {}", "z".repeat(4_000)));
    clients.all[0].receive(b"MGET a b c\r\n");
    clients.all[1].receive(b"GET a\r\n");
    clients.run();
    assert!(clients.answer(0).starts_with("-ERR the reply is larger"));
    assert!(clients.answer(1).starts_with("$4000\r\n"));
    let mut answers = clients.send(1, "GET a\r\nGET a\r\nGET a\r\n");
    assert!(answers.len() < 10_000);
    clients.run();
    answers += &clients.answer(1);
    assert_eq!(answers.matches("$4000\r\n").count(), 3);
    assert!(!clients.all[1].is_closed() && !clients.all[0].is_closed());
}
