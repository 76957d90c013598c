//! JSON collections: tables whose rows have any fields beside their key.

use serde_json::{Value as Json, json};
use tonnage::{Row, Value, WriteOptions};

use crate::client::Client;

const USERS: &str =
    "create table c(s integer, id integer, primary key(shard(s), id)) as json collection";

fn client() -> Client {
    let client = Client::new(&[USERS]);
    client.put("c", json!({"s": 1, "id": 1, "name": "ann", "age": 5, "address": {"city": "Oslo"}}));
    client.put("c", json!({"s": 1, "id": 2, "name": "bob", "tags": ["x", 1, null], "Name": true}));
    client.put("c", json!({"s": 1, "id": 3}));
    client
}

fn rows(client: &Client, statement: &str) -> Vec<Json> {
    let answer = client.ask(7, None, json!({"st": statement, "qv": 4}));
    assert_eq!(answer["e"], json!(0), "{statement}: {answer}");
    answer["qr"].as_array().cloned().unwrap_or_default()
}

fn refusal(client: &Client, statement: &str) -> String {
    let answer = client.ask(7, None, json!({"st": statement, "qv": 4}));
    assert_eq!(answer["e"], json!(4), "{statement}: {answer}");
    answer["x"].as_str().unwrap().to_owned()
}

#[test]
fn a_collection_is_made_and_told_as_one() {
    let client = Client::new(&[
        "create table c(k integer, primary key(k)) as json collection using ttl 5 days",
    ]);
    let told = client.ask(11, Some("c"), json!({}));
    let text = "CREATE TABLE IF NOT EXISTS c (k INTEGER, PRIMARY KEY(SHARD(k))) AS JSON COLLECTION \
                USING TTL 5 DAYS";
    assert_eq!(told["td"], json!(text));
    let schema = told["ac"].as_str().unwrap();
    assert!(schema.contains("\"jsonCollection\" : true,\n  \"fields\" : [{"), "{schema}");
    assert!(!schema.contains("document"), "{schema}");
    // The statement in the answer creates it again.
    client.ask(15, None, json!({"st": "drop table c"}));
    assert!(client.ask(15, None, json!({ "st": text })).get("e").is_none());
    assert_eq!(client.ask(11, Some("c"), json!({}))["td"], json!(text));
}

#[test]
fn rows_have_the_fields_that_they_were_put_with() {
    let client = client();
    let row = client.row("c", json!({"s": 1, "id": 2}));
    let tags = json!(["x", 1, {"json": null}]);
    assert_eq!(row, json!({"s": 1, "id": 2, "name": "bob", "tags": tags, "Name": true}));
    assert_eq!(client.row("c", json!({"s": 1, "id": 3})), json!({"s": 1, "id": 3}));
    // All fields are known, so that an exact match has nothing to refuse. A put replaces all.
    let exact = json!({"ec": true, "rr": true, "l": {"s": 1, "ID": 1, "new": {"a": 1.5}}});
    let put = client.ask(3, Some("c"), exact);
    let was = json!({"s": 1, "id": 1, "name": "ann", "age": 5, "address": {"city": "Oslo"}});
    assert_eq!(put["ri"]["el"], was, "{put}");
    let row = json!({"s": 1, "id": 1, "new": {"a": 1.5}});
    assert_eq!(client.row("c", json!({"s": 1, "id": 1})), row);
    let missing = client.put("c", json!({"s": 1, "name": "x"}));
    assert_eq!(missing["x"], json!("PUT: Illegal Argument: Missing primary key field: id"));
    // A field of the name that the store has for the document is one as others are.
    client.put("c", json!({"s": 2, "id": 1, "document": 7}));
    assert_eq!(client.row("c", json!({"s": 2, "id": 1}))["document"], json!(7));
}

#[test]
fn queries_name_fields_as_columns() {
    let client = client();
    let first = json!({"s": 1, "id": 1, "name": "ann", "age": 5, "address": {"city": "Oslo"}});
    assert_eq!(rows(&client, "select * from c where id = 1"), std::slice::from_ref(&first));
    assert_eq!(rows(&client, "select $r from c $r where id = 1"), [json!({ "r": first })]);
    let names = rows(&client, "select id, name from c where s = 1 order by id");
    assert_eq!(names[1], json!({"id": 2, "name": "bob"}));
    assert_eq!(names[2], json!({"id": 3, "name": null}));
    for (condition, ids) in [
        ("age = 5", vec![1]),
        ("t.address.city = \"Oslo\"", vec![1]),
        ("t.tags[] =any 1", vec![2]),
        ("exists t.name", vec![1, 2]),
        ("not exists t.name", vec![3]),
        // The fields of documents have their case.
        ("Name = true", vec![2]),
        ("NAME = true", vec![]),
        ("ID = 3", vec![3]),
    ] {
        let statement = format!("select id from c t where {condition} order by id");
        let found: Vec<Json> =
            rows(&client, &statement).iter().map(|row| row["id"].clone()).collect();
        assert_eq!(json!(found), json!(ids), "{statement}");
    }
    let groups =
        rows(&client, "select name, count(*) as n from c where s = 1 and id < 3 group by name");
    assert_eq!(groups.len(), 2);
    let unnested = rows(&client, "select id, $x from c $t, $t.tags[] as $x where id = 2");
    assert_eq!(unnested.len(), 3);
    // A page at a time, too.
    let payload = json!({"st": "select * from c order by name", "qv": 4, "nl": 1});
    let part = client.ask(7, None, payload);
    assert!(part["qr"][0]["name"] == json!("ann") && part.get("ck").is_some(), "{part}");
}

#[test]
fn statements_put_rows_with_any_fields() {
    let client = Client::new(&[USERS]);
    for (statement, row) in [
        (
            "insert into c values(1, 1, {\"a\": 1, \"b\": 2}) returning *",
            json!({"s": 1, "id": 1, "a": 1, "b": 2}),
        ),
        (
            "insert into c(s, id, a, b) values(1, 2, [10], {\"c\": \"x\"}) returning *",
            json!({"s": 1, "id": 2, "a": [10], "b": {"c": "x"}}),
        ),
        (
            "insert into c(s, id, \"a with space\") values(1, 3, 10) returning *",
            json!({"s": 1, "id": 3, "a with space": 10}),
        ),
        (
            "insert into c values(1, 4, {\"a\": 1}, {\"a\": 2, \"b\": null}) returning *",
            json!({"s": 1, "id": 4, "a": 2, "b": {"json": null}}),
        ),
        ("upsert into c values(1, 4) returning *", json!({"s": 1, "id": 4})),
    ] {
        assert_eq!(rows(&client, statement), [row], "{statement}");
    }
    for (statement, part) in [
        ("insert into c values(1)", "number of VALUES expressions"),
        ("insert into c values(1, 9, 7)", "documents with fields"),
        ("insert into c values(1, 9, {\"ID\": 7})", "ID is a column"),
        ("insert into c(s, a) values(1, 7)", "No value specified for primary key column id"),
        (
            "insert into c(s, id, a) values(1, 9, cast(\"2023-05-14\" as timestamp(0)))",
            "holds no value of type Timestamp",
        ),
    ] {
        assert!(refusal(&client, statement).contains(part), "{statement}");
    }
    assert!(rows(&client, "select * from c where id = 9").is_empty());
}

#[test]
fn updates_change_fields_and_never_the_key() {
    let client = client();
    let key = "where s = 1 and id = 1 returning *";
    for (change, row) in [
        (
            "update c t set t.name = \"eve\", set t.address.city = \"Bern\"",
            json!({"s": 1, "id": 1, "name": "eve", "age": 5, "address": {"city": "Bern"}}),
        ),
        (
            "update c $t put $t {\"new\": 3}, remove age, remove $t.none",
            json!({"s": 1, "id": 1, "name": "eve", "address": {"city": "Bern"}, "new": 3}),
        ),
        (
            "update c $t json merge $t with patch {\"name\": null, \"new\": {\"a\": [1]}}",
            json!({"s": 1, "id": 1, "address": {"city": "Bern"}, "new": {"a": [1]}}),
        ),
        (
            "update c $t add $t.new.a 0 7, set ttl 5 days",
            json!({"s": 1, "id": 1, "address": {"city": "Bern"}, "new": {"a": [7, 1]}}),
        ),
    ] {
        assert_eq!(rows(&client, &format!("{change} {key}")), [row], "{change}");
    }
    let before = client.row("c", json!({"s": 1, "id": 1}));
    for (change, part) in [
        ("update c remove id", "Cannot update a primary key column"),
        ("update c $t put $t {\"id\": 3}", "Cannot update a primary key column"),
        ("update c $t json merge $t with patch {\"s\": 3}", "Cannot update a primary key column"),
        ("update c $t json merge $t with patch 3", "a document with fields"),
        ("update c $t set $t = {}", "no place in a row"),
    ] {
        assert!(refusal(&client, &format!("{change} {key}")).contains(part), "{change}");
    }
    assert_eq!(client.row("c", json!({"s": 1, "id": 1})), before);
    let deleted = rows(&client, "delete from c where s = 1 and id = 3 returning *");
    assert_eq!(deleted, [json!({"s": 1, "id": 3})]);
}

#[test]
fn indexes_are_on_fields() {
    let client = client();
    let made =
        client.ask(15, None, json!({"st": "create index i on c(address.city as string, id)"}));
    assert!(made.get("e").is_none(), "{made}");
    let told = client.ask(12, Some("c"), json!({}));
    assert_eq!(told["ix"][0]["f"], json!([{"pt": "address.city"}, {"pt": "id"}]));
    let found = rows(&client, "select id from c t where t.address.city = \"Oslo\"");
    assert_eq!(found, [json!({"id": 1})]);
}

#[test]
fn the_store_has_the_key_and_one_document() {
    let client = client();
    let table = client.store.table("c").unwrap();
    let key = Row::new().with("s", 1).with("id", 2);
    let found = table.get(&key).unwrap().unwrap().row;
    let text = r#"{"name":"bob","tags":["x",1,null],"Name":true}"#;
    assert_eq!(found.get("document"), Some(&Value::Json(text.into())));
    // Rows of others need no document, and may have one that has no fields.
    let options = WriteOptions::default();
    table.put(&Row::new().with("s", 5).with("id", 1), &options).unwrap();
    assert_eq!(client.row("c", json!({"s": 5, "id": 1})), json!({"s": 5, "id": 1}));
    let odd = Row::new().with("s", 5).with("id", 2).with("document", Value::Json("[1]".into()));
    table.put(&odd, &options).unwrap();
    assert_eq!(
        client.row("c", json!({"s": 5, "id": 2})),
        json!({"s": 5, "id": 2, "document": [1]})
    );
    assert_eq!(rows(&client, "select * from c where s = 5 and id = 2")[0]["document"], json!([1]));
}
