//! INSERT, UPSERT, UPDATE and DELETE, as the server of the SDKs answers them.

use serde_json::{Value as Json, json};

use crate::client::Client;

fn client() -> Client {
    Client::new(&[
        "create table u(id integer, name string, age integer, primary key(id))",
        "create table q(sid integer, id integer, age integer, js json, primary key(shard(sid), id))",
    ])
}

fn ask(client: &Client, statement: &str) -> Json {
    client.ask(7, None, json!({"st": statement, "qv": 4}))
}

fn told(client: &Client, statement: &str) -> Json {
    let answer = ask(client, statement);
    assert_eq!(answer["e"], json!(0), "{statement}: {answer}");
    answer["qr"].clone()
}

fn refused(client: &Client, statement: &str, part: &str) {
    let answer = ask(client, statement);
    assert_eq!(answer["e"], json!(4), "{statement}: {answer}");
    assert!(answer["x"].as_str().unwrap().contains(part), "{statement}: {answer}");
}

#[test]
fn a_row_is_put_in_and_told() {
    let client = client();
    for (statement, answer) in [
        ("insert into u values(50, \"i\", 1)", json!([{"NumRowsInserted": 1}])),
        ("insert into u values(50, \"i\", 1)", json!([{"NumRowsInserted": 0}])),
        ("upsert into u values(50, \"j\", 2)", json!([{"NumRowsInserted": 0}])),
        (
            "upsert into u values(51, \"j\", 2) returning *",
            json!([{"id": 51, "name": "j", "age": 2}]),
        ),
    ] {
        assert_eq!(told(&client, statement), answer, "{statement}");
    }
    for (statement, part) in [
        ("insert into u(name) values(\"x\")", "No value specified for primary key column id"),
        ("insert into u values(1, \"x\")", "not equal to the number of table columns"),
        (
            "insert into u values(\"a\", \"x\", 1)",
            "Cannot cast value \na\nof type \nString\nto type \nInteger",
        ),
    ] {
        refused(&client, statement, part);
    }
}

#[test]
fn rows_are_changed_under_a_shard_key() {
    let client = client();
    told(&client, "insert into u values(50, \"i\", 1)");
    for id in 0..3 {
        client.put("q", json!({"sid": 0, "id": id, "age": id, "js": {"a": 1}}));
    }
    for (statement, answer) in [
        ("update u set age = age + 1 where id = 50", json!([{"NumRowsUpdated": 1}])),
        ("update u set age = 1 where id = 5000", json!([{"NumRowsUpdated": 0}])),
        ("update u set age = 9 where id = 50 returning id, age", json!([{"id": 50, "age": 9}])),
        ("update u set age = 9 where id = 5000 returning *", json!([])),
        ("update q set age = 33 where sid = 0", json!([{"NumRowsUpdated": 3}])),
        (
            "update q $t set $t.js.a = 5, put $t.js {\"p\" : [1]}, add $t.js.p 0 \"z\", \
             remove $t.js.q where sid = 0 and id = 0 returning $t.js",
            json!([{"js": {"a": 5, "p": ["z", 1]}}]),
        ),
        (
            "update q $t json merge $t.js with patch {\"a\" : null, \"m\" : {\"n\" : 1}} \
             where sid = 0 and id = 0 returning $t.js",
            json!([{"js": {"p": ["z", 1], "m": {"n": 1}}}]),
        ),
        (
            "update q $t set $t.js.none.deep = 5 where sid = 0 and id = 1 returning $t.js",
            json!([{"js": {"a": 1}}]),
        ),
    ] {
        assert_eq!(told(&client, statement), answer, "{statement}");
    }
    for (statement, part) in [
        ("update u set age = 9 where age = 3", "A complete shard key must be specified"),
        ("update u set id = 9 where id = 50", "Cannot update a primary key column"),
        ("update u set zz = 9 where id = 50", "No table in the FROM clause has a column named zz"),
    ] {
        refused(&client, statement, part);
    }
}

#[test]
fn rows_are_deleted_by_any_condition() {
    let client = client();
    for id in 0..5 {
        told(&client, &format!("insert into u values({id}, \"n{id}\", {id})"));
    }
    for (statement, answer) in [
        ("delete from u where id = 0", json!([{"numRowsDeleted": {"long": 1}}])),
        ("delete from u where id = 0", json!([{"numRowsDeleted": {"long": 0}}])),
        ("delete from u where id = 1 returning name", json!([{"name": "n1"}])),
        ("delete from u where age > 2", json!([{"numRowsDeleted": {"long": 2}}])),
        ("select id from u", json!([{"id": 2}])),
    ] {
        assert_eq!(told(&client, statement), answer, "{statement}");
    }
}

#[test]
fn a_row_counts_as_updated_where_a_change_found_its_place() {
    let client = client();
    told(
        &client,
        "insert into q values(1, 1, 5, {\"m\": {\"a\": 1, \"b\": 2}, \"one\": {\"x\": 1}})",
    );
    let before = told(&client, "select version($t) from q $t");
    for change in [
        "put t.js.m.a {\"c\": 1}",
        "put t.js.m seq_concat()",
        "add t.js.m 1",
        "set t.js.none.x = 1",
        "set t.js.one.x = seq_concat()",
        "remove t.js.one.none",
    ] {
        let statement = format!("update q t {change} where sid = 1 and id = 1");
        assert_eq!(told(&client, &statement), json!([{"NumRowsUpdated": 0}]), "{statement}");
    }
    assert_eq!(told(&client, "select version($t) from q $t"), before, "nothing was written");
    for (change, after) in [
        ("remove t.js.m.keys($key = \"a\")", json!({"m": {"b": 2}, "one": {"x": 1}})),
        ("set t.js.one[].x = 7", json!({"m": {"b": 2}, "one": {"x": 7}})),
        ("set t.js.one[0] = 8", json!({"m": {"b": 2}, "one": 8})),
    ] {
        let statement = format!("update q t {change} where sid = 1 and id = 1");
        assert_eq!(told(&client, &statement), json!([{"NumRowsUpdated": 1}]), "{statement}");
        assert_eq!(told(&client, "select js from q"), json!([{"js": after}]), "{statement}");
    }
}
