//! Namespaces: created, listed, dropped, and tables in them.

use serde_json::{Value as Json, json};
use tonnage::{Row, Store};

use crate::client::Client;

fn system(client: &Client, statement: &str) -> Json {
    client.ask(23, None, json!({"st": {"binary": statement.as_bytes()}}))
}

fn define(client: &Client, statement: &str) -> Json {
    client.ask(15, None, json!({ "st": statement }))
}

#[test]
fn a_namespace_is_made_listed_and_dropped() {
    let client = Client::new(&[]);
    let made = system(&client, "create namespace Ns");
    assert_eq!((&made["ta"], &made["st"]), (&json!(1), &json!("create namespace Ns")), "{made}");
    // It is done: clients ask for it all the same.
    assert_eq!(client.ask(24, None, json!({"od": made["od"]}))["ta"], json!(0));
    assert_eq!(system(&client, "show namespaces")["rs"], json!("namespaces\n  Ns\n  sysdefault"));
    let listed = system(&client, "SHOW AS JSON NAMESPACES");
    assert_eq!(listed["rs"], json!(r#"{"namespaces" : ["Ns","sysdefault"]}"#));
    for (statement, code, part) in [
        ("create namespace NS", 13, "Namespace 'NS' already exists"),
        ("create namespace sysdefault", 13, "already exists"),
        ("create namespace a-b", 4, "letters, digits"),
        ("drop namespace nope", 14, "Namespace 'nope' does not exist."),
        ("drop namespace sysdefault", 4, "cannot be removed"),
    ] {
        let answer = system(&client, statement);
        assert_eq!(answer["e"], json!(code), "{statement}: {answer}");
        assert!(answer["x"].as_str().unwrap().contains(part), "{statement}: {answer}");
    }
    for statement in
        ["create namespace if not exists NS", "drop namespace ns", "drop namespace if exists ns"]
    {
        assert!(system(&client, statement).get("e").is_none(), "{statement}");
    }
    assert_eq!(system(&client, "show namespaces")["rs"], json!("namespaces\n  sysdefault"));
}

#[test]
fn tables_in_a_namespace_are_tables_of_the_store() {
    let client = Client::new(&["create table t(k integer, v string, primary key(k))"]);
    system(&client, "create namespace ns");
    let made = define(&client, "create table ns:t(k integer, v string, primary key(k))");
    assert_eq!((&made["ns"], &made["n"]), (&json!("ns"), &json!("ns:t")), "{made}");
    define(&client, "create table ns:t.kid(i integer, primary key(i))");
    define(&client, "create index i on ns:t(v)");
    client.put("ns:t", json!({"k": 1, "v": "there"}));
    client.put("t", json!({"k": 1, "v": "here"}));
    client.put("NS:T.kid", json!({"k": 1, "i": 2}));
    assert_eq!(client.row("ns:t", json!({"k": 1}))["v"], json!("there"));
    assert_eq!(client.row("sysdefault:t", json!({"k": 1}))["v"], json!("here"));
    let told = client.ask(11, Some("ns:t"), json!({}));
    assert!(
        told["td"].as_str().unwrap().starts_with("CREATE TABLE IF NOT EXISTS ns:t ("),
        "{told}"
    );
    let schema: Json = serde_json::from_str(told["ac"].as_str().unwrap()).unwrap();
    assert_eq!((&schema["namespace"], &schema["name"]), (&json!("ns"), &json!("t")));
    let indexes = client.ask(12, Some("ns:t"), json!({}));
    assert_eq!(indexes["ix"][0]["f"], json!([{"pt": "v"}]));
    // The store has them under the same names.
    let stored = client.store.table("ns:t").unwrap();
    assert_eq!(stored.count().unwrap(), 1);
    let query = json!({"st": "select t.v from ns:t where v = \"there\"", "qv": 3});
    let rows = client.ask(7, None, query);
    assert_eq!(rows["qr"], json!([{"v": "there"}]), "{rows}");
    assert_eq!((&rows["ns"], &rows["n"]), (&json!("ns"), &json!("t")));
    let list = |payload: Json| client.ask(14, None, payload)["tb"].clone();
    assert_eq!(list(json!({})), json!(["ns:t.kid", "ns:t", "t"]));
    assert_eq!(list(json!({"ns": "ns"})), json!(["ns:t.kid", "ns:t"]));
    assert_eq!(list(json!({"ns": "sysdefault"})), json!(["t"]));
    assert_eq!(list(json!({"ns": "nope"})), Json::Null);
    let lost = define(&client, "create table nope:t(k integer, primary key(k))");
    assert!(
        lost["e"] == json!(125) && lost["x"].as_str().unwrap().contains("exist: nope"),
        "{lost}"
    );
}

#[test]
fn a_request_may_have_a_default_namespace() {
    let client = Client::new(&["create table t(k integer, primary key(k))"]);
    system(&client, "create namespace ns");
    let ask = |operation, table, payload| client.ask_in("ns", operation, table, payload);
    let made = ask(15, None, json!({"st": "create table t(k integer, primary key(k))"}));
    assert_eq!(made["n"], json!("ns:t"), "{made}");
    assert_eq!(ask(3, Some("t"), json!({"l": {"k": 7}}))["e"], json!(0));
    let rows = ask(7, None, json!({"st": "select * from t", "qv": 3}));
    assert_eq!(rows["qr"], json!([{"k": 7}]), "{rows}");
    assert_eq!(ask(11, Some("t"), json!({}))["n"], json!("ns:t"));
    assert_eq!(client.row("t", json!({"k": 7})), Json::Null);
    // A name with a namespace of its own keeps it.
    assert_eq!(ask(2, Some("sysdefault:t"), json!({"k": {"k": 7}})), json!({"e": 0}));
    let lost = client.ask_in("nope", 2, Some("t"), json!({"k": {"k": 7}}));
    assert_eq!(lost, json!({"e": 2, "x": "Table not found: nope:t"}));
    assert_eq!(ask(15, None, json!({"st": "drop table t"}))["as"], json!(3));
    assert!(client.store.table("t").is_ok() && client.store.table("ns:t").is_err());
}

#[test]
fn a_namespace_with_tables_is_dropped_with_them_or_not_at_all() {
    let client = Client::new(&["create table t(k integer, primary key(k))"]);
    system(&client, "create namespace ns");
    for table in ["ns:a", "ns:a.kid", "ns:a.kid.toy", "ns:b"] {
        define(
            &client,
            &format!("create table {table}(k{} integer, primary key(k{0}))", table.len()),
        );
    }
    let refused = system(&client, "drop namespace ns");
    assert!(refused["e"] == json!(4) && refused["x"].as_str().unwrap().contains("not empty"));
    assert_eq!(client.store.tables().len(), 5);
    assert_eq!(system(&client, "drop namespace ns cascade")["ta"], json!(1));
    let left: Vec<String> =
        client.store.tables().iter().map(|table| table.path().to_owned()).collect();
    assert_eq!(left, ["t"]);
    assert_eq!(system(&client, "show namespaces")["rs"], json!("namespaces\n  sysdefault"));
}

#[test]
fn users_and_roles_are_shown() {
    let client = Client::new(&[]);
    assert_eq!(system(&client, "show as json users")["rs"], json!("{}"));
    assert_eq!(system(&client, "show users")["rs"], json!("users"));
    let roles: Json =
        serde_json::from_str(system(&client, "show as json roles")["rs"].as_str().unwrap())
            .unwrap();
    assert_eq!(roles["roles"].as_array().unwrap().len(), 7);
    assert_eq!(roles["roles"][0], json!({"name": "dbadmin"}));
}

#[test]
fn a_row_of_a_namespace_is_a_row_of_its_table_in_the_library() {
    let store = Store::open("memory:").unwrap();
    store.execute("CREATE TABLE \"ns:t\" (k LONG, PRIMARY KEY (k))").unwrap();
    let table = store.table("NS:T").unwrap();
    table.put(&Row::new().with("k", 1_i64), &Default::default()).unwrap();
    assert_eq!(table.count().unwrap(), 1);
}
