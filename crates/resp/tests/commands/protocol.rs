//! Bytes: however they are cut, whatever they are.

use proptest::prelude::*;
use tonnage_resp::{ClientLimits, CommandReader, ReadStep};

use crate::common::{Clients, command};

/// The commands that are read, and the error at the end, if there is one.
fn read(pieces: &[&[u8]]) -> (Vec<Vec<Vec<u8>>>, Option<String>) {
    let (mut reader, mut buffer, mut commands) = (CommandReader::default(), Vec::new(), Vec::new());
    for piece in pieces {
        buffer.extend_from_slice(piece);
        loop {
            match reader.next(&mut buffer, &ClientLimits::default(), true) {
                Ok(ReadStep::Incomplete) => break,
                Ok(ReadStep::Command) => {
                    let words = reader.arguments().iter();
                    commands.push(words.map(|word| word.of(&buffer).to_vec()).collect());
                }
                Err(error) => return (commands, Some(error.0)),
            }
        }
        // As a client does it: what was read is removed.
        let done = reader.needed_from();
        buffer.drain(..done);
        reader.shift(done);
    }
    (commands, None)
}

/// What looks like a command more often than by chance.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..6),
        Just(b"*".to_vec()),
        Just(b"*2\r\n".to_vec()),
        Just(b"*-1\r\n".to_vec()),
        Just(b"$3\r\nfoo\r\n".to_vec()),
        Just(b"$0\r\n\r\n".to_vec()),
        Just(b"$99999\r\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"SET a \"b c\"\r\n".to_vec()),
        Just(b"PING\n".to_vec()),
    ];
    proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn however_bytes_are_cut_the_commands_are_the_same(
        bytes in bytes(),
        cuts in proptest::collection::vec(0_usize..200, 0..8),
    ) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut start = 0;
        for cut in cuts.into_iter().chain([bytes.len()]) {
            pieces.push(&bytes[start..cut]);
            start = cut;
        }
        let each: Vec<&[u8]> = bytes.chunks(1).collect();
        let whole = read(&[&bytes]);
        prop_assert_eq!(&read(&pieces), &whole);
        prop_assert_eq!(&read(&each), &whole);
    }

    #[test]
    fn commands_are_read_as_they_were_written(
        commands in proptest::collection::vec(
            proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 1..5),
            0..5,
        ),
    ) {
        let bytes: Vec<u8> = commands
            .iter()
            .flat_map(|words| command(&words.iter().map(Vec::as_slice).collect::<Vec<_>>()))
            .collect();
        prop_assert_eq!(read(&[&bytes]), (commands, None));
    }

    /// Nothing panics, and no memory is taken for what did not come.
    #[test]
    fn any_bytes_are_answered_or_refused(bytes in bytes()) {
        let mut clients = Clients::new(1);
        clients.all[0].receive(&bytes);
        clients.run();
        prop_assert!(clients.all[0].memory_bytes() < 64 << 10);
    }
}

#[test]
fn what_is_no_command_is_refused_in_the_words_of_redis() {
    let long = "x".repeat(70_000);
    let cases = [
        ("*3000000000\r\n", "invalid multibulk length"),
        ("*x\r\n", "invalid multibulk length"),
        ("*3\r\n$3\r\nSET\r\n$1\r\nx\r\nfooz\r\n", "expected '$', got 'f'"),
        ("*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$-10\r\n", "invalid bulk length"),
        ("*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$2000000000\r\n", "invalid bulk length"),
        ("SET a \"b\r\n", "unbalanced quotes in request"),
        (&long, "too big inline request"),
        (&format!("*{long}"), "too big mbulk count string"),
        (&format!("*1\r\n${long}"), "too big bulk count string"),
    ];
    for (bytes, expected) in cases {
        let mut clients = Clients::new(1);
        // What came before is answered, what comes after is not.
        let answer = clients.send(0, format!("PING\r\n{bytes}"));
        assert_eq!(answer, format!("+PONG\r\n-ERR Protocol error: {expected}\r\n"));
        assert!(clients.all[0].is_closed());
    }
}

#[test]
fn commands_without_words_are_passed_over() {
    let mut clients = Clients::new(1);
    assert_eq!(clients.send(0, "\r\n\n*0\r\n*-1\r\nPING\r\n"), "+PONG\r\n");
}

/// A browser that is led here sends a form. Its body would be commands.
#[test]
fn requests_of_browsers_close_the_connection() {
    for request in ["POST / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: here\r\n"] {
        let mut clients = Clients::new(1);
        let answer = clients.send(0, format!("{request}SET a 1\r\n"));
        assert!(!answer.contains("OK"), "{answer}");
        assert!(clients.all[0].is_closed(), "{request}");
        assert_eq!(clients.store.kv().count().unwrap(), 0);
    }
}

#[test]
fn a_command_larger_than_a_client_may_send_closes_it() {
    let limits = ClientLimits { input_bytes_max: 1_000, ..ClientLimits::default() };
    let mut clients = Clients::with(1, false, limits);
    let answer = clients.send(0, format!("*2\r\n$3\r\nGET\r\n$5000\r\n{}", "x".repeat(2_000)));
    assert_eq!(answer, "-ERR Protocol error: a command of more than 1000 bytes\r\n");
    assert!(clients.all[0].is_closed());
}

#[test]
fn commands_of_very_many_words_are_carried_out() {
    let mut clients = Clients::new(1);
    let words: Vec<&[u8]> = [vec![&b"DEL"[..]], vec![&b"a"[..]; 200_000]].concat();
    clients.ask("SET a 1");
    assert_eq!(clients.send(0, command(&words)), ":1\r\n");
}
