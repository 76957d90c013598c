//! Several rows together: written, and deleted.

use serde_json::{Value as Json, json};

use crate::client::Client;

const SHIPS: &str =
    "create table m(sid integer, id integer, name string, primary key(shard(sid), id))";
const PARENT: &str =
    "create table p(sid integer, id integer, s string, primary key(shard(sid), id))";
const CHILD: &str = "create table p.kid(k integer, v string, primary key(k))";

fn put(id: i32, name: &str, aborts: bool) -> Json {
    json!({"o": 3, "l": {"sid": 1, "id": id, "name": name}, "rr": false, "a": aborts})
}

fn write(client: &Client, operations: Json) -> Json {
    client.ask(9, Some("m"), json!({"no": operations.as_array().unwrap().len(), "os": operations}))
}

#[test]
fn a_group_is_written_and_each_operation_answered() {
    let client = Client::new(&[SHIPS]);
    let delete = json!({"o": 0, "k": {"sid": 1, "id": 9}, "a": false});
    let answer = write(&client, json!([put(1, "a", true), put(2, "b", false), delete]));
    let results = answer["ws"].as_array().unwrap();
    assert_eq!(results.len(), 3, "{answer}");
    assert!(results[0]["ss"] == json!(true) && results[0]["rv"].is_object());
    assert_eq!(results[2], json!({"ss": false}));
    let replace = json!({"o": 3, "l": {"sid": 1, "id": 1, "name": "c"}, "rr": true});
    let delete = json!({"o": 0, "k": {"sid": 1, "id": 2}, "rr": true});
    let answer = write(&client, json!([replace, delete]));
    assert_eq!(answer["ws"][0]["ri"]["el"]["name"], json!("a"), "{answer}");
    assert_eq!(answer["ws"][1]["ri"]["el"]["name"], json!("b"));
    assert_eq!(client.row("m", json!({"sid": 1, "id": 2})), Json::Null);
}

#[test]
fn one_that_may_not_fail_ends_the_group() {
    let client = Client::new(&[SHIPS]);
    client.put("m", json!({"sid": 1, "id": 1, "name": "a"}));
    let absent = |aborts: bool| json!({"o": 4, "l": {"sid": 1, "id": 1, "name": "x"}, "rr": true, "a": aborts});
    let answer = write(&client, json!([put(5, "b", false), absent(true)]));
    assert_eq!(answer["wf"]["wi"], json!(1), "{answer}");
    assert_eq!(answer["wf"]["wr"]["ss"], json!(false));
    assert_eq!(answer["wf"]["wr"]["ri"]["el"]["name"], json!("a"));
    assert_eq!(client.row("m", json!({"sid": 1, "id": 5})), Json::Null);
    // One that may fail is left out, whatever the others may.
    let answer = write(&client, json!([put(5, "b", true), absent(false)]));
    assert_eq!(answer["ws"][1]["ss"], json!(false), "{answer}");
    assert_eq!(client.row("m", json!({"sid": 1, "id": 5}))["name"], json!("b"));
    assert_eq!(client.row("m", json!({"sid": 1, "id": 1}))["name"], json!("a"));
    let missing = json!({"o": 0, "k": {"sid": 1, "id": 77}, "a": true});
    let answer = write(&client, json!([missing]));
    assert_eq!(answer, json!({"e": 0, "wf": {"wi": 0, "wr": {"ss": false}}}));
}

#[test]
fn groups_that_are_none_are_refused() {
    let client = Client::new(&[SHIPS, PARENT, CHILD]);
    let other = json!({"o": 3, "l": {"sid": 2, "id": 1}});
    let stranger = json!({"o": 3, "n": "p", "l": {"sid": 1, "id": 1}});
    for (operations, part) in [
        (json!([put(1, "a", true), other]), "Shard key: {\"sid\":2} does not match the shard key"),
        (json!([put(1, "a", true), put(1, "b", true)]), "More than one operation has the same Key"),
        (json!([put(1, "a", true), stranger]), "are not relatives"),
        (json!([]), "at least one"),
        (json!([{"o": 2, "k": {"sid": 1, "id": 1}}]), "is not a write"),
    ] {
        let answer = write(&client, operations);
        assert_eq!(answer["e"], json!(4));
        assert!(answer["x"].as_str().unwrap().contains(part), "{answer}");
    }
    assert_eq!(client.store.table("m").unwrap().count().unwrap(), 0);
}

#[test]
fn parents_and_children_go_together() {
    let client = Client::new(&[PARENT, CHILD]);
    let operations = json!([
        {"n": "p", "o": 3, "l": {"sid": 1, "id": 1, "s": "p"}, "a": true},
        {"n": "p.kid", "o": 3, "l": {"sid": 1, "id": 1, "k": 1, "v": "c"}, "a": true},
    ]);
    let answer = client.ask(9, None, json!({"no": 2, "os": operations}));
    assert_eq!(answer["ws"].as_array().unwrap().len(), 2, "{answer}");
    let child = json!({"sid": 1, "id": 1, "k": 1, "v": "c"});
    assert_eq!(client.row("p.kid", json!({"sid": 1, "id": 1, "k": 1})), child);
    // A deletion of the parent leaves the child.
    let deleted = client.ask(10, Some("p"), json!({"mw": 0, "k": {"sid": 1}}));
    assert_eq!(deleted, json!({"e": 0, "nd": 1}));
    assert_eq!(client.row("p.kid", json!({"sid": 1, "id": 1, "k": 1})), child);
}

#[test]
fn numbers_that_the_store_gives_are_told_for_each_row() {
    let client =
        Client::new(&["create table g(sid integer, id long generated always as identity, \
        primary key(shard(sid), id))"]);
    let operations = json!([{"o": 3, "l": {"sid": 1}, "a": true}, {"o": 3, "l": {"sid": 1}}]);
    let answer = client.ask(9, Some("g"), json!({"no": 2, "os": operations}));
    assert_eq!(
        (&answer["ws"][0]["gn"], &answer["ws"][1]["gn"]),
        (&json!({"long": 1}), &json!({"long": 2}))
    );
}

#[test]
fn rows_of_a_range_are_deleted_a_part_at_a_time() {
    let client = Client::new(&[SHIPS]);
    for id in 0..20 {
        client.put("m", json!({"sid": 5, "id": id}));
    }
    let delete = |payload: Json| client.ask(10, Some("m"), payload);
    let range = json!({"rp": "id", "sr": {"l": 3, "in": true}, "en": {"l": 6, "in": false}});
    assert_eq!(delete(json!({"mw": 0, "rg": range, "k": {"sid": 5}})), json!({"e": 0, "nd": 3}));
    let (mut counts, mut continuation) = (Vec::new(), Json::Null);
    loop {
        let mut payload = json!({"mw": 8, "k": {"sid": 5}});
        if !continuation.is_null() {
            payload["ck"] = continuation;
        }
        let answer = delete(payload);
        counts.push(answer["nd"].as_i64().unwrap());
        continuation = answer["ck"].clone();
        if continuation.is_null() {
            break;
        }
    }
    assert_eq!(counts, [8, 8, 1]);
    for (payload, part) in [
        (json!({"k": {}}), "A required field is missing from the Primary Key"),
        (
            json!({"k": {"sid": 5}, "rg": {"rp": "name"}}),
            "Field does not exist in primary key: name",
        ),
        (
            json!({"k": {"sid": 5}, "rg": {"rp": "id", "sr": {"l": "a"}}}),
            "Invalid string for Integer: a",
        ),
        (
            json!({"k": {"sid": 5}, "rg": {"rp": "id", "sr": {"l": 9}, "en": {"l": 3}}}),
            "start value must be less",
        ),
        (json!({"k": {"sid": 5}, "ck": {"binary": [1, 2, 3]}}), "MULTI_DELETE: Illegal Argument"),
    ] {
        let answer = delete(payload);
        assert!(answer["x"].as_str().unwrap_or_default().contains(part), "{answer}");
    }
}

#[test]
fn a_deletion_continues_after_the_row_that_a_query_ended_with() {
    let client = Client::new(&[SHIPS]);
    (0..6).for_each(|id| drop(client.put("m", json!({"sid": 5, "id": id}))));
    let query = json!({"st": "select id from m where sid = 5", "qv": 4, "nl": 4});
    let part = client.ask(7, None, query.clone());
    assert_eq!(part["qr"].as_array().unwrap().len(), 4, "{part}");
    let rest = json!({"k": {"sid": 5}, "ck": part["ck"]});
    assert_eq!(client.ask(10, Some("m"), rest), json!({"e": 0, "nd": 2}));
    let left = client.ask(7, None, query);
    assert_eq!(left["qr"], part["qr"]);
}
