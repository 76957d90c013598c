//! Hostile statements and bodies: each is answered, and none takes long, panics or asks for memory
//! that it has no bytes for.
//!
//! `PROPTEST_CASES=1000000` looks longer.

use proptest::prelude::*;
use serde_json::json;
use tonnage_nosql::EverythingAllowed;

use crate::client::{Client, body_of};

/// The parts of statements.
const WORDS: [&str; 78] = [
    "select",
    "from",
    "t",
    "$t",
    "where",
    "group by",
    "order by",
    "limit",
    "offset",
    "as",
    "a",
    "js",
    "k",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ".",
    ",",
    ":",
    "*",
    "+",
    "-",
    "/",
    "div",
    "||",
    "=",
    "!=",
    "<",
    ">=",
    "=any",
    "and",
    "or",
    "not",
    "in",
    "between",
    "exists",
    "is null",
    "is of type (string)",
    "case when",
    "then",
    "else",
    "end",
    "cast(",
    "as integer)",
    "null",
    "true",
    "1",
    "0",
    "1.5",
    "1e308",
    "9223372036854775808",
    "1e6000n",
    "7n",
    "\"x\"",
    "'y'",
    "\"",
    "$",
    "$element",
    "$pos",
    "?",
    "declare $v integer;",
    "count(*)",
    "sum(",
    "seq_concat(",
    "upper(",
    "substring(",
    "timestamp_add(",
    ".keys()",
    ".values()",
    "insert into t values(",
    "update t set",
    "delete from t",
    "returning *",
    "regex_like(js, \".*.*a\")",
    "array_collect(",
];

/// Statements that mean something, to be damaged.
const STATEMENTS: [&str; 7] = [
    "select $t.js.a[$element > 1].b as x, k from t $t where k = 1 and js.a is not null order by k desc limit 3 offset 1",
    "select a, count(*) as n, sum(k) from t group by a order by n",
    "declare $v json; select {\"a\" : [k, $v, 1.5e3]} from t $t where $t.js.x.values($key = \"b\") =any $v",
    "update t $t set $t.js.a = 5, put $t.js {\"p\" : [1]}, add $t.js.p 0 \"z\", remove $t.js.q where k = 0 returning *",
    "upsert into t(k, a) values(5, \"x\") set ttl 3 days returning k",
    "delete from t where cast(a as integer) in (1, 2, 3)",
    "select case when k > 1 then timestamp_trunc(\"2020-01-01\", \"month\") else format_timestamp(\"2020-01-01\", \"yyyy\") end from t",
];

fn client() -> Client {
    let client = Client::new(&["create table t(k integer, a string, js json, primary key(k))"]);
    for k in 0..3 {
        let document = json!({"a": [{"b": k}, 2, "x"], "x": {"b": 1}, "p": [], "q": null});
        client.put("t", json!({"k": k, "a": format!("{k}"), "js": document}));
    }
    client
}

fn ask(client: &Client, statement: &str) {
    let bound = json!([{"m": "$v", "l": 1}, {"m": "#1", "l": 2}]);
    for payload in
        [json!({"st": statement, "qv": 4}), json!({"st": statement, "bv": bound, "nl": 1})]
    {
        let answer = client.ask(7, None, payload);
        assert!(answer["e"].is_i64(), "{statement}: {answer}");
    }
}

proptest! {
    #[test]
    fn words_in_any_order_are_answered(words in prop::collection::vec(0..WORDS.len(), 1..24)) {
        let words: Vec<&str> = words.into_iter().map(|word| WORDS[word]).collect();
        let client = client();
        ask(&client, &words.join(" "));
        ask(&client, &format!("select {} from t $t", words.join(" ")));
        ask(&client, &format!("select k from t $t where {}", words.join(" ")));
    }

    #[test]
    fn damaged_statements_are_answered(
        statement in 0..STATEMENTS.len(),
        damages in prop::collection::vec((any::<prop::sample::Index>(), 0..WORDS.len(), 0..4_usize), 1..6),
    ) {
        let mut text: Vec<char> = STATEMENTS[statement].chars().collect();
        for (at, word, len) in damages {
            let at = at.index(text.len() + 1);
            let end = (at + len).min(text.len());
            text.splice(at..end, WORDS[word].chars());
        }
        ask(&client(), &text.into_iter().collect::<String>());
    }

    #[test]
    fn damaged_bodies_are_answered(
        statement in 0..STATEMENTS.len(),
        damages in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let payload = json!({"st": STATEMENTS[statement], "qv": 4, "bv": [{"m": "$v", "l": {"a": [1, 2.5]}}]});
        let mut body = body_of(4, &json!({"h": {"v": 4, "o": 7, "t": 5_000}, "p": payload}));
        for (at, byte) in damages {
            let at = at.index(body.len());
            body[at] = byte;
        }
        assert!(!client().ask_bytes(&EverythingAllowed, &body).is_empty());
    }
}

#[test]
fn statements_of_any_depth_and_length_are_answered() {
    let client = client();
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("upper(", ")"),
        ("not ", ""),
        ("- ", ""),
        ("case when ", " then 1 end"),
    ] {
        for depth in [10, 40, 1_000, 100_000] {
            let statement = format!("select {}1{} from t", open.repeat(depth), close.repeat(depth));
            ask(&client, &statement);
        }
    }
    for between in [" + 1", " and true", " or false", " || \"x\"", ", k", ".a", "[0]"] {
        ask(&client, &format!("select js{} from t $t where k = 1", between.repeat(20_000)));
    }
}
