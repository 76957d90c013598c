//! LCS.

use proptest::prelude::*;

use crate::common::Clients;

#[test]
fn what_two_strings_have_in_common_is_shown_counted_or_placed() {
    let mut clients = Clients::new(1);
    clients.expect(&[
        ("MSET a ohmytext b mynewtext", "+OK"),
        ("LCS a b", "$6 mytext"),
        ("LCS a b LEN", ":6"),
        ("LCS a b IDX", "*4 $7 matches *2 *2 *2 :4 :7 *2 :5 :8 *2 *2 :2 :3 *2 :0 :1 $3 len :6"),
        (
            "LCS a b idx minmatchlen 4 withmatchlen",
            "*4 $7 matches *1 *3 *2 :4 :7 *2 :5 :8 :4 $3 len :6",
        ),
        ("LCS a nosuch", "$0"),
        ("LCS nosuch nosuch IDX", "*4 $7 matches *0 $3 len :0"),
        ("LCS a b LEN IDX", "-ERR If you want both the length and indexes, please just use IDX."),
        ("LCS a b WHAT", "-ERR syntax error"),
        ("LCS a b MINMATCHLEN", "-ERR syntax error"),
        ("RPUSH l x", ":1"),
        ("LCS a l LEN IDX", "-ERR The specified keys must contain string values"),
    ]);
    clients.ask("HELLO 3");
    clients.expect(&[("LCS a a IDX", "%2 $7 matches *1 *2 *2 :0 :7 *2 :0 :7 $3 len :8")]);
}

#[test]
fn strings_too_long_to_be_compared_are_refused() {
    let mut clients = Clients::new(1);
    clients.expect(&[("SETRANGE a 9000 x", ":9001"), ("SETRANGE b 9000 x", ":9001")]);
    let answer = clients.ask("LCS a b LEN");
    assert!(answer.starts_with("-ERR LCS compares strings whose lengths"), "{answer}");
}

/// The length of what two strings have in common, step by step.
fn length(one: &[u8], other: &[u8]) -> usize {
    match (one, other) {
        ([], _) | (_, []) => 0,
        ([byte, one @ ..], [same, other @ ..]) if byte == same => 1 + length(one, other),
        ([_, fewer @ ..], [_, less @ ..]) => length(fewer, other).max(length(one, less)),
    }
}

fn is_within(mut text: &[u8], part: &[u8]) -> bool {
    part.iter().all(|byte| {
        let found = text.iter().position(|one| one == byte);
        found.is_some_and(|at| {
            text = &text[at + 1..];
            true
        })
    })
}

proptest! {
    #[test]
    fn it_is_within_both_and_none_is_longer(one in "[abc]{1,9}", other in "[abc]{1,9}") {
        let mut clients = Clients::new(1);
        clients.ask(&format!("MSET a {one} b {other}"));
        let answer = clients.ask("LCS a b");
        let common = answer.split("\r\n").nth(1).unwrap().as_bytes();
        prop_assert!(is_within(one.as_bytes(), common) && is_within(other.as_bytes(), common));
        prop_assert_eq!(common.len(), length(one.as_bytes(), other.as_bytes()));
        prop_assert_eq!(clients.ask("LCS a b LEN"), format!(":{}\r\n", common.len()));
    }
}
