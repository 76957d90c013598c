//! Commands that the owner of a client carries out.

use crate::common::Clients;

#[test]
fn a_command_on_tables_is_handed_over_and_the_pipeline_waits_for_its_reply() {
    let mut clients = Clients::new(1);
    assert_eq!(clients.send(0, "SET a 1\r\ntn.Sql \"SELECT 1\" x\r\nGET a\r\n"), "+OK\r\n");
    let call = clients.all[0].outside_call().unwrap().clone();
    assert_eq!(call.words, [&b"tn.sql"[..], b"SELECT 1", b"x"]);
    assert!(!clients.all[0].wants_input() && !clients.all[0].has_waiting());
    clients.run();
    assert_eq!(clients.answer(0), "");
    clients.all[0].finish_call(b"*0\r\n");
    clients.run();
    assert_eq!(clients.answer(0), "*0\r\n$1\r\n1\r\n");
    clients.all[0].finish_call(b"*0\r\n");
    assert_eq!(clients.answer(0), "");
}

#[test]
fn its_reply_may_be_left_out_and_a_client_that_is_closing_gets_it() {
    let mut clients = Clients::new(1);
    clients.send(0, "CLIENT REPLY SKIP\r\nTN.MGET t 1\r\nPING\r\n");
    clients.all[0].finish_call(b"*0\r\n");
    clients.run();
    assert_eq!(clients.answer(0), "+PONG\r\n");
    clients.send(0, "TN.MPUT t {}\r\n");
    clients.all[0].close();
    assert!(!clients.all[0].is_closed());
    clients.all[0].finish_call(b"%0\r\n");
    assert_eq!(clients.answer(0), "%0\r\n");
    assert!(clients.all[0].is_closed());
}

#[test]
fn it_cannot_be_part_of_a_transaction() {
    Clients::new(1).expect(&[
        ("MULTI", "+OK"),
        ("TN.SQL x", "-ERR Command not allowed inside a transaction"),
        ("EXEC", "-EXECABORT Transaction discarded because of previous errors."),
        ("TN.SQL", "-ERR wrong number of arguments for 'tn.sql' command"),
        ("TN.MGET t", "-ERR wrong number of arguments for 'tn.mget' command"),
    ]);
}
