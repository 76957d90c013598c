//! Rows: put under conditions, read, deleted.

use serde_json::{Value as Json, json};

use crate::client::{Client, NOW_MS};

const USERS: &str = "create table users(id integer, name string, age integer, primary key(id))";
const HOUR_MS: u64 = 3_600_000;

fn ann() -> Json {
    json!({"id": 1, "name": "ann", "age": 5})
}

fn version(client: &Client, id: i32) -> Json {
    client.get("users", json!({ "id": id })).unwrap()["rv"].clone()
}

#[test]
fn a_row_is_put_read_and_deleted() {
    let client = Client::new(&[USERS]);
    let put = client.put("users", ann());
    assert!(put["e"] == json!(0) && put["rv"].is_object(), "{put}");
    let found = client.get("USERS", json!({"ID": 1, "other": true})).unwrap();
    assert_eq!(found["l"], ann());
    assert_eq!((&found["xp"], &found["rv"]), (&json!({"long": 0}), &put["rv"]));
    let deleted = client.ask(0, Some("users"), json!({"k": {"id": 1}}));
    assert_eq!(deleted, json!({"e": 0, "ss": true}));
    assert_eq!(client.get("users", json!({"id": 1})), None);
    let deleted = client.ask(0, Some("users"), json!({"k": {"id": 1}, "rr": true}));
    assert_eq!(deleted, json!({"e": 0, "ss": false}));
}

#[test]
fn puts_go_by_their_conditions_and_tell_the_row_that_they_found() {
    let client = Client::new(&[USERS]);
    let put = |operation: i32, row: Json| {
        client.ask(operation, Some("users"), json!({"rr": true, "l": row}))
    };
    let was = |answer: &Json| answer["ri"]["el"].clone();
    // New rows: nothing was found.
    assert_eq!(was(&put(3, ann())), Json::Null);
    let replaced = put(3, json!({"id": 1, "name": "bob"}));
    assert!(was(&replaced) == ann() && replaced["rv"].is_object(), "{replaced}");
    let refused = put(4, json!({"id": 1, "name": "x"}));
    assert!(was(&refused)["name"] == json!("bob") && refused.get("rv").is_none(), "{refused}");
    assert!(put(4, json!({"id": 2}))["rv"].is_object());
    assert_eq!(put(5, json!({"id": 3})), json!({"e": 0}));
    assert_eq!(
        was(&put(5, json!({"id": 2, "age": 7}))),
        json!({"id": 2, "name": null, "age": null})
    );
}

#[test]
fn versions_are_matched() {
    let client = Client::new(&[USERS]);
    client.put("users", ann());
    let first = version(&client, 1);
    let put = |version: &Json, name: &str| {
        let row = json!({"id": 1, "name": name});
        client.ask(6, Some("users"), json!({"rr": true, "rv": version, "l": row}))
    };
    // The caller knows the row that is gone.
    let done = put(&first, "bob");
    assert!(done["rv"].is_object() && done.get("ri").is_none(), "{done}");
    let refused = put(&first, "cat");
    assert!(refused["ri"]["el"]["name"] == json!("bob") && refused.get("rv").is_none());
    let rubbish = put(&json!({"binary": [97, 98, 99]}), "dan");
    assert_eq!(rubbish["x"], json!("PUT: Illegal Argument: Invalid byte format of Version"));
    let delete = |version: &Json| {
        client.ask(1, Some("users"), json!({"rr": true, "rv": version, "k": {"id": 1}}))
    };
    let refused = delete(&first);
    assert!(refused["ss"] == json!(false) && refused["ri"]["el"]["name"] == json!("bob"));
    assert_eq!(delete(&version(&client, 1)), json!({"e": 0, "ss": true}));
}

#[test]
fn rows_that_do_not_fit_are_refused_in_the_words_of_the_protocol() {
    let defaults = "create table d(id integer, a integer not null default 7, s string default \"none\", \
        e enum(x, y) not null default y, t timestamp(3) default \"2020-01-01\", primary key(id))";
    let client = Client::new(&[USERS, defaults]);
    for (row, message) in [
        (json!({"name": "x"}), "Missing primary key field: id"),
        (json!({"id": null}), "Missing primary key field: id"),
        (json!({"id": 1, "age": "ab"}), "Invalid string for Integer: ab"),
        (json!({"id": 1, "name": 5}), "Type mismatch on input. Expected STRING, got INTEGER"),
        (json!([1]), "Type mismatch on input. Expected MAP, got ARRAY"),
    ] {
        let answer = client.put("users", row);
        assert_eq!(answer, json!({"e": 4, "x": format!("PUT: Illegal Argument: {message}")}));
    }
    let null = client.put("d", json!({"id": 1, "a": null}));
    assert_eq!(null["x"], json!("PUT: Illegal Argument: The field can not be null: a"));
    // Columns of other names matter where the match is to be exact.
    assert!(client.put("users", json!({"id": 1, "foo": 1}))["rv"].is_object());
    let exact = json!({"ec": true, "l": {"id": 1, "foo": 1}});
    let exact = client.ask(3, Some("users"), exact);
    assert_eq!(exact["x"], json!("PUT: Illegal Argument: There is no field with name foo"));
    client.put("d", json!({"id": 2, "s": null}));
    let row = json!({"id": 2, "a": 7, "s": null, "e": "y", "t": {"timestamp": "2020-01-01T00:00:00.000"}});
    assert_eq!(client.row("d", json!({"id": 2})), row);
}

#[test]
fn all_types_go_in_and_out() {
    let client =
        Client::new(&["create table t(id integer, i integer, l long, f float, d double, \
        n number, s string, b boolean, bin binary, fb binary(4), e enum(red, green), \
        ar array(integer), mp map(long), rc record(x integer, y string, z record(w double)), \
        js json, ts timestamp(3), u string as uuid, primary key(id))"]);
    let row = json!({
        "id": 1, "i": -2_147_483_648, "l": i64::MIN, "f": 0.5, "d": 0.1,
        "n": {"number": "12345678901234567890.123456789"}, "s": "a", "b": true,
        "bin": {"binary": [0, 255]}, "fb": {"binary": [97, 98, 99, 100]}, "e": "green",
        "ar": [3, 1, 2], "mp": {"z": 1, "a": 1_099_511_627_776_i64},
        "rc": {"x": 1, "y": "q", "z": {"w": 1.5}},
        "js": {"a": [1, 2.5, "x", null, true], "b": {}},
        "ts": {"timestamp": "2020-01-02T03:04:05.123"},
        "u": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    });
    let put = client.put("t", row.clone());
    assert_eq!(put["e"], json!(0), "{put}");
    let mut expected = row;
    expected["l"] = json!({"long": i64::MIN});
    expected["mp"] = json!({"z": {"long": 1}, "a": {"long": 1_099_511_627_776_i64}});
    expected["js"]["a"][3] = json!({"json": null});
    assert_eq!(client.row("t", json!({"id": 1})), expected);
    // Fields that are lacking or of no record, and an array for one.
    client.put("t", json!({"id": 2, "rc": {"X": 1, "other": 2}, "js": null}));
    let row = client.row("t", json!({"id": 2}));
    assert_eq!(row["rc"], json!({"x": 1, "y": null, "z": null}));
    assert_eq!((&row["js"], &row["s"]), (&json!({"json": null}), &Json::Null));
    for (column, value, message) in [
        ("ar", json!([1, null]), "Invalid driver type for Integer: NULL"),
        ("mp", json!([1]), "Type mismatch on input. Expected MAP, got ARRAY"),
        (
            "fb",
            json!({"binary": [1]}),
            "Invalid length for FixedBinary array, it must be 4, and it is 1",
        ),
        ("u", json!("abc"), "Invalid UUID string: abc"),
    ] {
        let answer = client.put("t", json!({"id": 3, column: value}));
        assert_eq!(answer["x"], json!(format!("PUT: Illegal Argument: {message}")));
    }
}

#[test]
fn rows_expire_at_whole_hours_and_days() {
    let client =
        Client::new(&[USERS, "create table t(id integer, primary key(id)) using ttl 3 days"]);
    let expiry =
        |table: &str| client.get(table, json!({"id": 1})).unwrap()["xp"]["long"].as_u64().unwrap();
    let put = |table: &str, ttl: Json| {
        let mut payload = json!({"l": {"id": 1}});
        if let Some(ttl) = ttl.as_str() {
            payload["tt"] = ttl.into();
        }
        payload["ut"] = json!(ttl != json!(false));
        client.ask(3, Some(table), payload)
    };
    put("users", json!("5 HOURS"));
    let kept = expiry("users");
    assert_eq!((kept % HOUR_MS, (kept - NOW_MS) / HOUR_MS), (0, 5));
    // An update that says nothing leaves it.
    put("users", json!(false));
    assert_eq!(expiry("users"), kept);
    put("users", json!("0 DAYS"));
    assert_eq!(expiry("users"), 0);
    put("t", json!(false));
    let of_table = expiry("t");
    assert_eq!((of_table % (24 * HOUR_MS), (of_table - NOW_MS) / HOUR_MS), (0, 80));
    put("t", json!("5 HOURS"));
    put("t", json!(false));
    assert_eq!((expiry("t") - NOW_MS) / HOUR_MS, 5);
    put("t", json!(true));
    assert_eq!(expiry("t"), of_table);
    let refused = put("t", json!("5 MINUTES"));
    assert!(refused["x"].as_str().unwrap().starts_with("PUT: Illegal Argument: Invalid TimeUnit"));
}

#[test]
fn the_store_numbers_rows_and_tells_the_numbers() {
    let client = Client::new(&[
        "create table a(id long generated always as identity, v string, primary key(id))",
        "create table d(id integer generated by default as identity(start with 10 increment by 5), v string, primary key(id))",
        "create table n(id integer generated by default on null as identity, v string, primary key(id))",
        "create table u(id string as uuid generated by default, v string, primary key(id))",
    ]);
    assert_eq!(client.put("a", json!({"v": "x"}))["gn"], json!({"long": 1}));
    assert_eq!(client.ask(4, Some("a"), json!({"l": {"v": "y"}}))["gn"], json!({"long": 2}));
    let refused =
        "PUT: Illegal Argument: Value should not be set for a generated always identity column: id";
    for given in [json!(7), Json::Null] {
        assert_eq!(client.put("a", json!({"id": given}))["x"], json!(refused));
    }
    assert_eq!(client.put("d", json!({"v": "x"}))["gn"], json!(10));
    assert_eq!(client.put("d", json!({"v": "x"}))["gn"], json!(15));
    assert_eq!(client.put("d", json!({"id": 11})).get("gn"), None);
    let missing = json!("PUT: Illegal Argument: Missing primary key field: id");
    assert_eq!(client.put("d", json!({"id": null}))["x"], missing);
    assert_eq!(client.put("n", json!({"id": null}))["gn"], json!(1));
    assert_eq!(client.put("u", json!({"v": "x"}))["gn"].as_str().unwrap().len(), 36);
}

#[test]
fn rows_have_the_times_of_their_last_writes() {
    let client = Client::new(&[USERS]);
    client.put("users", ann());
    client.set_ms(NOW_MS + 60_000);
    client.put("users", json!({"id": 2, "name": "bob"}));
    let modified = |id: i32| client.get("users", json!({ "id": id })).unwrap()["md"].clone();
    let long = |ms: u64| json!({ "long": ms });
    assert_eq!((modified(1), modified(2)), (long(NOW_MS), long(NOW_MS + 60_000)));
    // The row that a write found has its own.
    client.set_ms(NOW_MS + 120_000);
    let replaced = client.ask(3, Some("users"), json!({"rr": true, "l": ann()}));
    assert_eq!(replaced["ri"]["em"], long(NOW_MS), "{replaced}");
    assert_eq!(modified(1), long(NOW_MS + 120_000));
    let deleted = client.ask(0, Some("users"), json!({"rr": true, "k": {"id": 2}}));
    assert_eq!(deleted["ri"]["em"], long(NOW_MS + 60_000), "{deleted}");
    let put = |operation: i32, row: Json| json!({"o": operation, "rr": true, "l": row});
    let group = client.ask(9, Some("users"), json!({"os": [put(3, ann())]}));
    assert_eq!(group["ws"][0]["ri"]["em"], long(NOW_MS + 120_000), "{group}");
    // A write through the library is one, too.
    client.set_ms(NOW_MS + 180_000);
    let row = tonnage::Row::new().with("id", 3);
    client.store.table("users").unwrap().put(&row, &Default::default()).unwrap();
    assert_eq!(modified(3), long(NOW_MS + 180_000));
}

#[test]
fn numbers_that_end_are_used_up_or_begin_anew() {
    let client = Client::new(&[
        "create table e(id integer generated always as identity(maxvalue 2), v string, primary key(id))",
        "create table o(id integer generated by default as identity(start with 3 maxvalue 4 minvalue 1 cycle cache 2), \
         v string, primary key(id))",
    ]);
    let put = |table: &str| client.put(table, json!({"v": "x"}));
    assert_eq!((&put("e")["gn"], &put("e")["gn"]), (&json!(1), &json!(2)));
    let refused = "PUT: Illegal Argument: Current value cannot exceed max value or no more available \
                   values in the sequence.";
    assert_eq!(put("e"), json!({"e": 4, "x": refused}));
    let numbers: Vec<Json> = (0..6).map(|_| put("o")["gn"].clone()).collect();
    assert_eq!(json!(numbers), json!([3, 4, 1, 2, 3, 4]));
    let told = client.ask(11, Some("o"), json!({}));
    let text = "IDENTITY (START WITH 3 INCREMENT BY 1 MAXVALUE 4 MINVALUE 1 CYCLE CACHE 2)";
    assert!(told["td"].as_str().unwrap().contains(text), "{told}");
    let schema: Json = serde_json::from_str(told["ac"].as_str().unwrap()).unwrap();
    let sequence = &schema["identity"]["sequence"];
    assert_eq!(
        (&sequence["min"], &sequence["max"], &sequence["cycle"]),
        (&json!(1), &json!(4), &json!(true))
    );
}
