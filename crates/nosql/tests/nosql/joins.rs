//! Several tables in FROM: commas, LEFT OUTER JOIN, NESTED TABLES.

use serde_json::{Value as Json, json};

use crate::client::Client;

fn rows(client: &Client, statement: &str) -> Vec<Json> {
    let answer = client.ask(7, None, json!({"st": statement, "qv": 4}));
    assert_eq!(answer["e"], json!(0), "{statement}: {answer}");
    answer["qr"].as_array().cloned().unwrap_or_default()
}

/// The values of rows, without their names.
fn values(client: &Client, statement: &str) -> Vec<Vec<Json>> {
    let values = |row: &Json| row.as_object().unwrap().values().cloned().collect();
    rows(client, statement).iter().map(values).collect()
}

fn failure(client: &Client, statement: &str) -> (i64, String) {
    let answer = client.ask(7, None, json!({"st": statement, "qv": 4}));
    let code = answer["e"].as_i64().unwrap();
    assert_ne!(code, 0, "{statement}: {answer}");
    (code, answer["x"].as_str().unwrap().to_owned())
}

/// Customers with orders, with items of these, and with notes. An order has no customer.
fn shop() -> Client {
    let client = Client::new(&[
        "create table c(id integer, name string, primary key(id))",
        "create table c.o(oid integer, sum integer, primary key(oid))",
        "create table c.o.i(iid integer, what string, primary key(iid))",
        "create table c.n(nid integer, text string, primary key(nid))",
    ]);
    for (id, name) in [(1, "ann"), (2, "bob"), (3, "cleo")] {
        client.put("c", json!({"id": id, "name": name}));
    }
    for (id, oid, sum) in [(1, 1, 10), (1, 2, 20), (2, 1, 5), (9, 1, 7)] {
        client.put("c.o", json!({"id": id, "oid": oid, "sum": sum}));
    }
    for (id, oid, iid) in [(1, 1, 1), (1, 1, 2), (9, 1, 1)] {
        client.put("c.o.i", json!({"id": id, "oid": oid, "iid": iid, "what": format!("w{iid}")}));
    }
    for (id, nid) in [(1, 1), (3, 1)] {
        client.put("c.n", json!({"id": id, "nid": nid, "text": "t"}));
    }
    client
}

#[test]
fn tables_behind_commas_give_the_rows_that_fulfil_the_condition() {
    let client = shop();
    let statement = "select c.name, o.sum from c, c.o o where c.id = o.id order by o.sum";
    assert_eq!(json!(values(&client, statement)), json!([["bob", 5], ["ann", 10], ["ann", 20]]));
    let turned = "select name, sum from c.o o, c where o.id = c.id and sum > 5 order by sum";
    assert_eq!(json!(values(&client, turned)), json!([["ann", 10], ["ann", 20]]));
    let twice = "select o1.oid, o2.oid from c.o o1, c.o $o2 where o1.id = $o2.id and \
                 o1.sum < $o2.sum";
    assert_eq!(json!(values(&client, twice)), json!([[1, 2]]));
    let all = "select count(*) from c, c.o o";
    assert_eq!(json!(values(&client, all)), json!([[{"long": 12}]]));
}

#[test]
fn a_left_outer_join_keeps_rows_without_others() {
    let client = shop();
    let statement = "select c.name, o.oid, i.what from c left outer join c.o o on c.id = o.id \
                     left outer join c.o.i i on o.id = i.id and o.oid = i.oid";
    assert_eq!(
        json!(values(&client, statement)),
        json!([
            ["ann", 1, "w1"],
            ["ann", 1, "w2"],
            ["ann", 2, null],
            ["bob", 1, null],
            ["cleo", null, null]
        ])
    );
    let up = "select i.iid, c.name, o.sum from c.o.i i left outer join c on i.id = c.id \
              left outer join c.o o on i.id = o.id and i.oid = o.oid and o.sum > 8";
    assert_eq!(
        json!(values(&client, up)),
        json!([[1, "ann", 10], [2, "ann", 10], [1, null, null]])
    );
}

#[test]
fn nested_tables_give_one_branch_at_a_time() {
    let client = shop();
    let statement = "select c.id, o.oid, i.iid, n.nid \
                     from nested tables(c descendants(c.o o, c.o.i i, c.n n))";
    assert_eq!(
        json!(values(&client, statement)),
        json!([
            [1, 1, 1, null],
            [1, 1, 2, null],
            [1, 2, null, null],
            [1, null, null, 1],
            [2, 1, null, null],
            [3, null, null, 1]
        ])
    );
    let above = "select i.iid, c.name, o.sum from nested tables(c.o.i i ancestors(c, c.o o on \
                 o.sum > 7))";
    assert_eq!(
        json!(values(&client, above)),
        json!([[1, "ann", 10], [2, "ann", 10], [1, null, null]])
    );
    let both = "select c.name, o.oid, count(*) as items from nested tables(c.o o ancestors(c) \
                descendants(c.o.i i)) where o.id = 1 group by c.name, o.oid";
    assert_eq!(
        json!(values(&client, both)),
        json!([["ann", 1, {"long": 2}], ["ann", 2, {"long": 1}]])
    );
    let whole = rows(&client, "select * from nested tables(c.n n ancestors(c)) where n.id = 3");
    let row = json!({"n": {"id": 3, "nid": 1, "text": "t"}, "c": {"id": 3, "name": "cleo"}});
    assert_eq!(whole, [row]);
}

#[test]
fn items_may_follow_further_tables() {
    let client = shop();
    let statement =
        "select o.oid, $x from c, c.o o, seq_concat(1, 2) as $x where c.id = o.id and c.id = 2";
    assert_eq!(json!(values(&client, statement)), json!([[1, 1], [1, 2]]));
}

#[test]
fn tables_that_cannot_be_joined_are_refused_with_a_reason() {
    let client = shop();
    for (statement, part) in [
        ("select id from c, c.o o where c.id = o.id", "Several tables in the FROM clause"),
        ("select o.nope from c, c.o o", "has a column named nope"),
        ("select * from c, c.o c", "given twice"),
        (
            "select * from nested tables(c descendants(c.o o, c.n n on o.oid = 1))",
            "no table with alias o",
        ),
        ("select * from nested tables(c.o o ancestors(c.n n))", "not an ancestor"),
        ("select * from nested tables(c.o o descendants(c.n n))", "not a descendant"),
        ("select * from c left outer join c.o o", "ON"),
        ("select * from c left outer join c.o o on c.id = 1", "all columns of the key"),
        (
            "select * from c left outer join c.o o on c.id = o.id left outer join c.n n on \
             c.id = n.id",
            "on one way",
        ),
    ] {
        let (code, message) = failure(&client, statement);
        assert_eq!(code, 4, "{statement}: {message}");
        assert!(message.contains(part), "{statement}: {message}");
    }
    let (code, _) = failure(&client, "select * from c, c.nope n");
    assert_eq!(code, 2);
}

#[test]
fn a_join_asks_for_the_right_to_read_each_table() {
    use tonnage::Error;
    use tonnage_nosql::{AccessDecision, AccessRefusal, NosqlAccess, TableRight};

    /// May read all but notes.
    struct NoNotes;
    impl NosqlAccess for NoNotes {
        fn check_table(&self, _: TableRight, path: &str) -> AccessDecision {
            match path {
                "c.n" => Err(AccessRefusal::Denied(Error::unsupported("may not read notes"))),
                _ => Ok(()),
            }
        }

        fn check_description(&self, _: &str) -> AccessDecision {
            Ok(())
        }

        fn check_definition(&self, _: &str) -> AccessDecision {
            Ok(())
        }

        fn may_see(&self, _: &str) -> bool {
            true
        }
    }
    let client = shop();
    let ask = |statement: &str| {
        client.ask_as(&NoNotes, 7, None, json!({"st": statement, "qv": 4}))["e"].clone()
    };
    assert_eq!(ask("select * from c, c.o o"), json!(0));
    for statement in [
        "select * from c, c.n n",
        "select * from c left outer join c.n n on c.id = n.id",
        "select * from nested tables(c descendants(c.n n))",
    ] {
        assert_eq!(ask(statement), json!(12), "{statement}");
    }
}
