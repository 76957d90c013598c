//! What is a request, and what is answered to what is none.

use serde_json::json;
use tonnage_nosql::EverythingAllowed;
use tonnage_nosql::nson::{read_document, read_packed_text};

use crate::client::{Client, body_of};

const USERS: &str = "create table users(id integer, name string, age integer, primary key(id))";

#[test]
fn both_versions_are_spoken_and_others_are_refused() {
    let client = Client::new(&[USERS]);
    let get = json!({"h": {"v": 4, "n": "users", "o": 2}, "p": {"k": {"id": 1}}});
    for version in [4, 5] {
        let answer = client.ask_bytes(&EverythingAllowed, &body_of(version, &get));
        assert_eq!(crate::client::read(read_document(&answer).unwrap()), json!({"e": 0}));
    }
    for version in [2, 3, 6] {
        let answer = client.ask_bytes(&EverythingAllowed, &body_of(version, &get));
        assert_eq!(answer[0], 24);
        assert!(read_packed_text(&answer[1..]).unwrap().contains("versions 4 and 5"));
    }
    let empty = client.ask_bytes(&EverythingAllowed, b"");
    assert_eq!((empty[0], read_packed_text(&empty[1..])), (17, Ok("empty request content")));
    assert_eq!(client.ask_bytes(&EverythingAllowed, b"\0")[0], 17);
}

#[test]
fn what_is_wrong_with_a_document_is_told_in_one() {
    let client = Client::new(&[USERS]);
    let ask = |document| client.ask_document(&EverythingAllowed, &document);
    for (document, code, part) in [
        (json!("hello"), 24, "Bad header"),
        (json!({"p": {}}), 24, "Bad header"),
        (json!({"h": {"o": 2, "n": "users"}}), 4, "GET: Illegal Argument: Bad protocol"),
        (json!({"h": {"n": "users"}, "p": {}}), 1, "Unknown op code: null"),
        (json!({"h": {"o": 99}, "p": {}}), 17, "unknown opcode: 99"),
        (
            json!({"h": {"o": 2, "n": "users", "t": -1}, "p": {}}),
            4,
            "GET: Illegal Argument: timeout",
        ),
        (json!({"h": {"o": 2}, "p": {"k": {"id": 1}}}), 4, "Table name is required"),
        (json!({"h": {"o": 2, "n": "users"}, "p": {}}), 17, "no field k"),
        (json!({"h": {"o": 2, "n": "none"}, "p": {"k": {}}}), 2, "Table not found: none"),
        (json!({"h": {"o": 33}, "p": {}}), 21, "AddReplica operation is not supported"),
        (
            json!({"h": {"o": 7}, "p": {"st": "select 1"}}),
            4,
            "QUERY: Illegal Argument: Error: at (1, 8)",
        ),
        (json!({"h": {"o": 8}, "p": {"st": "drop table x"}}), 4, "use TableRequest instead"),
    ] {
        let answer = ask(document);
        assert_eq!(answer["e"], json!(code), "{answer}");
        assert!(answer["x"].as_str().unwrap().contains(part), "{answer}");
    }
    let rubbish: Vec<u8> = (60..120).collect();
    let answer = client.ask_bytes(&EverythingAllowed, &[&[0, 4][..], &rubbish].concat());
    let answer = crate::client::read(read_document(&answer).unwrap());
    assert_eq!(answer, json!({"e": 17, "x": "Unknown value type code: 60"}));
}

#[test]
fn fields_may_stand_in_any_order_and_unknown_ones_are_passed_over() {
    let client = Client::new(&[USERS]);
    let document = json!({"p": {"zz": 1, "k": {"id": 1}}, "h": {"yy": "x", "o": 2, "n": "users"}});
    assert_eq!(client.ask_document(&EverythingAllowed, &document), json!({"e": 0}));
    let document = json!({"h": {"o": 2, "n": "users", "ts": 0}, "p": {"k": {"id": 1}}});
    let answer = client.ask_document(&EverythingAllowed, &document);
    assert_eq!(answer, json!({"e": 0, "tp": {"pn": 1, "sa": [1]}}));
}
