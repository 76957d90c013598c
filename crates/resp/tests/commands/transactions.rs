//! Transactions.

use crate::common::Clients;

#[test]
fn a_transaction_is_carried_out_at_its_end() {
    let mut clients = Clients::new(2);
    clients.expect(&[
        ("EXEC", "-ERR EXEC without MULTI"),
        ("DISCARD", "-ERR DISCARD without MULTI"),
        ("MULTI", "+OK"),
        ("MULTI", "-ERR MULTI calls can not be nested"),
        ("SET a 1", "+QUEUED"),
        ("INCR a", "+QUEUED"),
        ("PING", "+QUEUED"),
        ("GET a", "+QUEUED"),
    ]);
    assert_eq!(clients.send(1, "GET a\r\n"), "$-1\r\n");
    clients.expect(&[
        ("EXEC", "*4 +OK :2 +PONG $1 2"),
        ("GET a", "$1 2"),
        ("MULTI", "+OK"),
        ("SET a 9", "+QUEUED"),
        ("DISCARD", "+OK"),
        ("GET a", "$1 2"),
        ("MULTI", "+OK"),
        ("EXEC", "*0"),
    ]);
}

#[test]
fn what_is_wrong_when_it_is_noted_breaks_a_transaction_and_what_is_wrong_later_does_not() {
    Clients::new(1).expect(&[
        ("MULTI", "+OK"),
        ("SET a", "-ERR wrong number of arguments for 'set' command"),
        ("SET b 1", "+QUEUED"),
        ("EXEC", "-EXECABORT Transaction discarded because of previous errors."),
        ("EXISTS b", ":0"),
        ("SET a x", "+OK"),
        ("MULTI", "+OK"),
        ("INCR a", "+QUEUED"),
        ("SET b 1", "+QUEUED"),
        ("EXEC", "*2 -ERR value is not an integer or out of range +OK"),
        ("GET b", "$1 1"),
        ("MULTI", "+OK"),
        ("HELLO 3", "-ERR Command not allowed inside a transaction"),
        ("EXEC", "-EXECABORT Transaction discarded because of previous errors."),
    ]);
}

#[test]
fn a_transaction_depends_on_the_keys_that_are_watched() {
    let mut clients = Clients::new(2);
    clients.expect(&[("WATCH a b", "+OK"), ("MULTI", "+OK"), ("SET a 1", "+QUEUED")]);
    assert_eq!(clients.send(1, "SET b 1\r\n"), "+OK\r\n");
    clients.expect(&[
        ("EXEC", "*-1"),
        ("EXISTS a", ":0"),
        // The watch ended with the transaction.
        ("MULTI", "+OK"),
        ("SET a 1", "+QUEUED"),
        ("EXEC", "*1 +OK"),
        ("WATCH a", "+OK"),
        ("MULTI", "+OK"),
        ("WATCH b", "-ERR WATCH inside MULTI is not allowed"),
        ("EXEC", "*0"),
        ("WATCH a", "+OK"),
    ]);
    clients.send(1, "SET a 5\r\n");
    clients.expect(&[("UNWATCH", "+OK"), ("MULTI", "+OK"), ("GET a", "+QUEUED")]);
    clients.expect(&[("EXEC", "*1 $1 5")]);
}

/// Pipelined, as most programs send it.
#[test]
fn a_whole_transaction_may_come_at_once() {
    let mut clients = Clients::new(1);
    let answer = clients.send(0, "SET a 1\r\nMULTI\r\nINCR a\r\nINCR a\r\nEXEC\r\nGET a\r\n");
    assert_eq!(answer, "+OK\r\n+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:2\r\n:3\r\n$1\r\n3\r\n");
}
