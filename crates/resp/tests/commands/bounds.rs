//! What clients take stays within bounds: replies, values that are looked up, keys that are watched.

use tonnage_resp::ClientLimits;

use crate::common::{Clients, command};

fn limits(output_bytes_max: usize) -> ClientLimits {
    ClientLimits { output_bytes_max, output_pause_bytes: 1_000, ..ClientLimits::default() }
}

/// Runs once, and says how many bytes wait for all clients.
fn run_once(clients: &mut Clients) -> usize {
    clients.executor.run(&mut clients.all);
    clients.all.iter().map(|client| client.output().len()).sum()
}

/// Runs and sends until everything is answered. Never more waits than the bound.
fn answers(clients: &mut Clients, waiting_max: usize) -> Vec<String> {
    let mut answers = vec![String::new(); clients.all.len()];
    loop {
        let waiting = run_once(clients);
        assert!(waiting <= waiting_max, "{waiting} bytes wait");
        if waiting == 0 {
            return answers;
        }
        for (client, answer) in answers.iter_mut().enumerate() {
            answer.push_str(&clients.answer(client));
        }
    }
}

/// Once a pipeline of short commands had the server hold a copy of the value for each of them.
#[test]
fn replies_of_a_round_are_bounded_and_none_is_lost() {
    let mut clients = Clients::with(3, false, limits(20_000));
    clients.ask(&format!("SET a {}", "x".repeat(4_000)));
    for client in &mut clients.all {
        // Lines with quotes are changed when they are read, and are read again.
        client.receive("GET \"a\"\r\nINCR n\r\n".repeat(50).as_bytes());
        client.receive(&command(&[b"GET", b"a"]));
        // One that waits for all before it is held, and has quotes, too.
        client.receive(b"ECHO \"e\"\r\n");
        client.receive(b"GET 'a\r\n");
    }
    let answers = answers(&mut clients, 25_000);
    for answer in &answers {
        assert_eq!(answer.matches("$4000\r\n").count(), 51);
        assert_eq!(answer.matches("$1\r\ne\r\n").count(), 1);
        // An inline command with open quotes ends the connection after all before it.
        assert!(answer.ends_with("-ERR Protocol error: unbalanced quotes in request\r\n"));
    }
    let counted: i64 = answers
        .iter()
        .flat_map(|answer| answer.lines())
        .filter_map(|line| line.strip_prefix(':')?.parse::<i64>().ok())
        .sum();
    // Each was carried out once.
    assert_eq!(counted, (1..=150).sum::<i64>());
}

#[test]
fn a_reply_that_shows_one_value_again_and_again_is_refused_by_its_sum() {
    let mut clients = Clients::with(2, false, limits(20_000));
    clients.ask(&format!("SET a {}", "x".repeat(4_000)));
    clients.all[0].receive(&command(&[&[&b"MGET"[..]], &vec![&b"a"[..]; 100_000][..]].concat()));
    clients.all[1].receive(b"GET a\r\n");
    let answers = answers(&mut clients, 25_000);
    assert!(answers[0].starts_with("-ERR the reply is larger"), "{}", answers[0]);
    assert!(answers[1].starts_with("$4000\r\n"));
}

/// Whatever is refused has changed nothing.
#[test]
fn a_command_whose_reply_is_too_large_stores_nothing() {
    let mut clients = Clients::with(1, false, limits(3_000));
    clients.ask(&format!("SET a {}", "x".repeat(4_000)));
    let answer = clients.ask("GETSET a short");
    assert!(answer.starts_with("-ERR the reply is larger"), "{answer}");
    clients.expect(&[("STRLEN a", ":4000")]);
}

#[test]
fn a_transaction_whose_replies_are_too_many_is_carried_out_and_its_client_closed() {
    let mut clients = Clients::with(2, false, limits(10_000));
    clients.ask(&format!("SET a {}", "x".repeat(4_000)));
    let lines =
        format!("MULTI\r\nINCR n\r\n{}KEYS *\r\nINCR n\r\nEXEC\r\n", "GET a\r\n".repeat(50));
    clients.all[0].receive(lines.as_bytes());
    assert!(run_once(&mut clients) < 15_000);
    assert!(clients.all[0].is_closed());
    assert_eq!(clients.send(1, "GET n\r\n"), "$1\r\n2\r\n");
}

/// Once EXEC left its other commands undone.
#[test]
fn a_transaction_that_kills_its_client_is_carried_out_to_its_end() {
    let mut clients = Clients::new(2);
    let lines = "MULTI\r\nSET a 1\r\nCLIENT KILL ID 1 SKIPME no\r\nSET b 2\r\nPING\r\nEXEC\r\n";
    let answer = clients.send(0, lines);
    assert!(answer.ends_with("*4\r\n+OK\r\n:1\r\n+OK\r\n+PONG\r\n"), "{answer}");
    assert!(clients.all[0].is_closed());
    assert_eq!(clients.send(1, "MGET a b\r\n"), "*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
}

#[test]
fn values_that_are_combined_are_bounded_and_combined_one_after_another() {
    let mut clients = Clients::with(1, false, limits(50_000));
    clients.ask("SETRANGE a 3999 x");
    let of = |count: usize| {
        let words: Vec<&[u8]> =
            [&[&b"BITOP"[..], b"OR", b"t"], &vec![&b"a"[..]; count][..]].concat();
        command(&words)
    };
    assert_eq!(clients.send(0, of(10)), ":4000\r\n");
    let answer = clients.send(0, of(1_000));
    assert!(answer.starts_with("-OOM BITOP reads at most 50000 bytes"), "{answer}");
    clients.expect(&[
        ("SET x abc", "+OK"),
        ("BITOP AND t x nosuch x", ":3"),
        ("BITCOUNT t", ":0"),
        ("BITOP XOR t nosuch x", ":3"),
        ("GET t", "$3 abc"),
        ("BITOP OR t nosuch", ":0"),
        ("EXISTS t", ":0"),
    ]);
}

/// Its memory was not counted, and 100,000 keys took minutes.
#[test]
fn watched_keys_count_as_memory_and_there_may_be_many() {
    let mut clients = Clients::new(1);
    let before = clients.all[0].memory_bytes();
    let keys: Vec<String> = (0..100_000).map(|number| format!("key{number:0100}")).collect();
    for some in keys.chunks(20_000) {
        let words: Vec<&[u8]> =
            std::iter::once(&b"WATCH"[..]).chain(some.iter().map(|key| key.as_bytes())).collect();
        assert_eq!(clients.send(0, command(&words)), "+OK\r\n");
    }
    assert!(clients.all[0].memory_bytes() - before > 10_000_000);
    assert!(clients.ask("WATCH other").starts_with("-OOM a client watches at most 100000 keys"));
    clients.ask("UNWATCH");
    assert!(clients.all[0].memory_bytes() < 10_000_000);
    let few = ClientLimits { input_bytes_max: 10_000, ..ClientLimits::default() };
    let mut clients = Clients::with(1, false, few);
    let key = "k".repeat(6_000);
    clients.expect(&[(&format!("WATCH {key}1"), "+OK")]);
    assert!(
        clients.ask(&format!("WATCH {key}2")).starts_with("-OOM the keys that a client watches")
    );
}

#[test]
fn an_appended_value_keeps_to_the_limit_of_an_argument() {
    let few = ClientLimits { argument_bytes_max: 10, ..ClientLimits::default() };
    let mut clients = Clients::with(1, false, few);
    let too_long = "-ERR string exceeds maximum allowed size (proto-max-bulk-len)";
    clients.expect(&[
        ("APPEND a 123456", ":6"),
        ("APPEND a 12345", too_long),
        ("APPEND a 1234", ":10"),
        ("APPEND a 1", too_long),
        ("SETRANGE a 9 12", too_long),
        ("STRLEN a", ":10"),
    ]);
}

/// A client that reads slowly had all that it left moved for each piece that it took.
#[test]
fn replies_that_are_taken_in_small_pieces_are_moved_seldom() {
    let mut clients = Clients::new(1);
    clients.ask("SETRANGE a 19999999 x");
    clients.all[0].receive(b"GET a\r\n");
    clients.run();
    let (begun, mut pieces) = (std::time::Instant::now(), 0);
    while !clients.all[0].output().is_empty() {
        let piece = clients.all[0].output().len().min(1_000);
        clients.all[0].sent(piece);
        pieces += 1;
    }
    assert_eq!(pieces, 20_001);
    // All together 20 MB were moved, not 200 GB.
    assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{:?}", begun.elapsed());
}
