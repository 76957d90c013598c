//! SELECT, as the server of the SDKs answers it: what is asked, and the rows that come.

use serde_json::{Value as Json, json};

use crate::client::Client;

const TABLE: &str = "create table o(s integer, id integer, js json, i integer, l long, d double, \
                     n number, ar array(integer), t timestamp(3), name string, \
                     primary key(shard(s), id))";

/// Documents of all kinds, the null of documents, and NULL.
fn mixed() -> Client {
    let client = Client::new(&[TABLE]);
    let documents = [
        json!({"a": 1}),
        json!({"a": "b"}),
        json!({"a": true}),
        json!({"a": null}),
        json!({}),
        json!({"a": 2.5}),
        json!({"a": 2}),
        json!({"a": 1_099_511_627_776_i64}),
        json!({"a": "B"}),
        json!({"a": false}),
        json!({"a": ""}),
        json!({"a": -3}),
        json!({"a": 1.0}),
        json!(null),
    ];
    for (id, document) in documents.iter().enumerate() {
        let row = json!({
            "s": 1, "id": id, "js": document, "i": 2_147_483_647 - id as i64, "l": 1_i64 << 62,
            "d": 0.1, "n": {"number": "0.1"}, "ar": (0..id % 4).collect::<Vec<_>>(),
            "t": "2020-01-02T03:04:05.678", "name": format!("n{id}"),
        });
        client.put("o", row);
    }
    client.put("o", json!({"s": 1, "id": 14, "i": 5}));
    client
}

fn rows(client: &Client, statement: &str) -> Vec<Json> {
    let answer = client.ask(7, None, json!({"st": statement, "qv": 4}));
    assert_eq!(answer["e"], json!(0), "{statement}: {answer}");
    answer["qr"].as_array().cloned().unwrap_or_default()
}

/// The values of one row, without their names.
fn values(client: &Client, exprs: &str) -> Vec<Json> {
    let statement = format!("select {exprs} from o $t where s = 1 and id = 0");
    let rows = rows(client, &statement);
    assert_eq!(rows.len(), 1, "{statement}");
    rows[0].as_object().unwrap().values().cloned().collect()
}

/// The values of one column, row by row.
fn column(client: &Client, statement: &str) -> Vec<Json> {
    let rows = rows(client, statement).into_iter();
    rows.map(|row| row.as_object().unwrap().values().next().unwrap().clone()).collect()
}

fn failure(client: &Client, statement: &str) -> (i64, String) {
    let answer = client.ask(7, None, json!({"st": statement, "qv": 4}));
    (answer["e"].as_i64().unwrap(), answer["x"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn the_order_is_numbers_texts_booleans_nothing_json_null_and_null() {
    let client = mixed();
    for (order, ids) in [
        ("$t.js.a, id", json!([11, 0, 12, 6, 5, 7, 10, 8, 1, 9, 2, 4, 13, 3, 14])),
        ("$t.js.a desc, id", json!([14, 3, 4, 13, 2, 9, 1, 8, 10, 7, 5, 6, 0, 12, 11])),
        ("$t.js.a nulls first, id", json!([4, 13, 3, 14, 11, 0, 12, 6, 5, 7, 10, 8, 1, 9, 2])),
        ("$t.js.a desc nulls last, id", json!([2, 9, 1, 8, 10, 7, 5, 6, 0, 12, 11, 14, 3, 4, 13])),
    ] {
        let statement = format!("select id from o $t where s = 1 order by {order}");
        assert_eq!(json!(column(&client, &statement)), ids, "{order}");
    }
    let statement = "select id from o $t order by s desc, id desc limit 3";
    assert_eq!(json!(column(&client, statement)), json!([14, 13, 12]));
}

#[test]
fn three_kinds_of_nothing_are_kept_apart() {
    let client = mixed();
    let of = |expr: &str, ids: &str| {
        json!(column(&client, &format!("select {expr} from o $t where s = 1 and id in ({ids})")))
    };
    let nothing = "3, 4, 13, 14";
    assert_eq!(of("$t.js.a = null", nothing), json!([true, false, false, null]));
    assert_eq!(of("$t.js.a is null", nothing), json!([false, false, false, true]));
    assert_eq!(of("exists $t.js.a", nothing), json!([true, false, false, null]));
    assert_eq!(of("exists $t.js", nothing), json!([true, true, true, true]));
    assert_eq!(of("$t.js.a != 1", "0, 3, 4, 13, 14"), json!([false, true, true, true, null]));
    assert_eq!(of("not ($t.js.a = 1)", "0, 3, 4, 13, 14"), json!([false, true, true, true, null]));
    assert_eq!(
        of("$t.js.a in (1, \"b\", true, null)", "0, 3, 4, 14"),
        json!([true, true, false, null])
    );
    assert_eq!(of("[$t.js.a, 1]", nothing), json!([[{"json": null}, 1], [1], [1], [1]]));
    assert_eq!(of("$t.js.a || \"x\"", "1, 3, 4, 14"), json!(["bx", "nullx", "x", "x"]));
    let given = values(&client, "null = null as a, (null = 1) and false as b, not (null = 1) as c");
    assert_eq!(given, [json!(true), json!(false), json!(true)]);
}

#[test]
fn kinds_that_have_no_order_among_each_other_are_neither_less_nor_unequal() {
    let client = mixed();
    let statement = "select $t.js.a = 2 as e, $t.js.a != 2 as n, $t.js.a < 2 as l from o $t \
                     where s = 1 and id in (0, 1, 2, 6, 14)";
    let expected = json!([
        {"e": false, "n": true, "l": true}, {"e": false, "n": false, "l": false},
        {"e": false, "n": false, "l": false}, {"e": true, "n": false, "l": false},
        {"e": null, "n": null, "l": null},
    ]);
    assert_eq!(json!(rows(&client, statement)), expected);
}

#[test]
fn arithmetic_has_the_widest_kind_of_its_operands() {
    let client = mixed();
    let expected = [
        json!(3),
        json!(3.5),
        json!(-2_147_483_648_i64),
        json!(3.5),
        json!(-3),
        json!(2.5),
        json!({"number": "2"}),
        json!({"number": "0.3333333"}),
        json!({"long": 4_611_686_020_574_871_551_i64}),
        json!({"number": "2.147484E+9"}),
    ];
    let given = values(
        &client,
        "7 / 2 as a, 7 / 2.0 as b, 2147483647 + 1 as c, 1 + 2.5 as d, -7 / 2 as e, 5 div 2 as f, \
         1 + 1n as g, 1 / 3n as h, i + l as j, i + n as k",
    );
    assert_eq!(given, expected);
    for (expr, part) in [
        ("1 / 0", "Error: at (1, 7) Arithmetic exception in query"),
        ("name + 1", "Operand : 0 type :\nString"),
    ] {
        let (code, message) =
            failure(&client, &format!("select {expr} from o where s = 1 and id = 0"));
        assert_eq!(code, 4);
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn paths_step_into_documents_arrays_and_maps() {
    let client = mixed();
    for (expr, expected) in [
        ("[1, 2, 3][0:1]", json!([1, 2])),
        ("[1, 2, 3][-1]", Json::Null),
        ("[[1, 2, 3][$element > 1]]", json!([2, 3])),
        ("[[1, 2, 3][$pos < 1]]", json!([1])),
        ("{\"a\" : 1, \"b\" : {\"c\" : 2}}.b.c", json!(2)),
        ("[{\"a\" : 1, \"b\" : 2}.keys()]", json!(["a", "b"])),
        ("[{\"a\" : 1, \"b\" : 2}.values($key = \"b\")]", json!([2])),
        ("[[{\"a\" : 1}, {\"a\" : 2}].a]", json!([1, 2])),
        ("[1, 2][] >any 1", json!(true)),
        ("[1, 2] =any 2", json!(false)),
        ("seq_transform([1, 2][], $ * 2)", json!([2, 4])),
        ("seq_sum([1, 2.5, 3n][])", json!({"number": "6.5"})),
        ("seq_max([3, \"a\", true][])", json!(true)),
        ("size([1, 2])", json!(2)),
        ("[1, 2] < [1, 3]", json!(true)),
        ("{\"a\" : 1, \"b\" : 2} = {\"b\" : 2, \"a\" : 1.0}", json!(true)),
    ] {
        assert_eq!(values(&client, &format!("{expr} as x")), [expected], "{expr}");
    }
}

#[test]
fn functions_give_what_the_language_says() {
    let client = mixed();
    for (expr, expected) in [
        ("upper(\"aß\")", json!("ASS")),
        ("substring(\"hello\", 1, 2)", json!("el")),
        ("substring(\"hello\", -1)", Json::Null),
        ("index_of(\"hello\", \"l\", 3)", json!(3)),
        ("replace(\"aaa\", \"a\")", json!("")),
        ("trim(\"xxaxx\", \"both\", \"x\")", json!("a")),
        ("length(\"é😀\")", json!(2)),
        ("concat(\"a\", null, 1)", json!("anull1")),
        ("regex_like(\"n10\", \"n1.*\")", json!(true)),
        ("round(-2.5)", json!(-3.0)),
        ("round(2.71828, 2)", json!(2.72)),
        ("trunc(1.987, 2)", json!(1.98)),
        ("log(10, 100)", json!(0.5)),
        ("abs(-5)", json!(5)),
        (
            "timestamp_add(\"2020-01-31\", \"1 month\")",
            json!({"timestamp": "2020-02-29T00:00:00.000000000"}),
        ),
        (
            "timestamp_diff(\"2020-01-31\", \"2020-01-01T12:00:00\")",
            json!({"long": 2_548_800_000_i64}),
        ),
        (
            "timestamp_trunc(cast(\"2020-05-17T10:11:12\" as timestamp(3)), \"quarter\")",
            json!({"timestamp": "2020-04-01T00:00:00"}),
        ),
        (
            "format_timestamp(cast(\"2020-05-17T10:11:12.5\" as timestamp(3)), \"dd/MM/yyyy HH:mm:ss.SSS\")",
            json!("17/05/2020 10:11:12.500"),
        ),
        (
            "parse_to_timestamp(\"17.05.2020\", \"dd.MM.yyyy\")",
            json!({"timestamp": "2020-05-17T00:00:00.000000000"}),
        ),
        ("extract(isoweek from cast(\"2021-01-03\" as timestamp(0)))", json!(53)),
        ("week(cast(\"2021-01-03\" as timestamp(0)))", json!(2)),
        ("cast(1.9 as integer)", json!(1)),
        ("cast(1e20 as string)", json!("1.0E20")),
        ("cast(1e20 as long)", json!({"long": i64::MAX})),
        ("case when 1 > 2 then 1 end", Json::Null),
        ("$t.js.a is of type (integer)", json!(true)),
    ] {
        assert_eq!(values(&client, &format!("{expr} as x")), [expected], "{expr}");
    }
}

#[test]
fn groups_keep_json_null_and_null_apart_and_drop_rows_without_a_key() {
    let client = mixed();
    let groups =
        rows(&client, "select $t.js.a as a, count(*) as c from o $t where s = 1 group by $t.js.a");
    assert_eq!(groups.len(), 12);
    assert!(groups.contains(&json!({"a": 1, "c": {"long": 2}})));
    assert!(groups.contains(&json!({"a": null, "c": {"long": 1}})));
    assert!(groups.contains(&json!({"a": {"json": null}, "c": {"long": 1}})));
    let total = rows(
        &client,
        "select count($t.js.a) as c, count(*) as n, min($t.js.a) as mi, max($t.js.a) as ma, \
                     sum(l) as l, count(distinct $t.js.a) as d from o $t",
    );
    let expected = json!([{
        "c": {"long": 12}, "n": {"long": 15}, "mi": -3, "ma": true, "l": {"long": i64::MIN},
        "d": {"long": 11},
    }]);
    assert_eq!(json!(total), expected);
    let none = rows(&client, "select count(*) as c, sum(id) as s from o where id > 1000");
    assert_eq!(json!(none), json!([{"c": {"long": 0}, "s": null}]));
    assert!(rows(&client, "select id, count(*) from o where id > 1000 group by id").is_empty());
}

#[test]
fn a_part_has_as_many_rows_as_are_asked_for_and_goes_on_behind_them() {
    let client = mixed();
    for (statement, count) in [
        ("select id from o", 15),
        ("select id from o where s = 1", 15),
        ("select id from o where s = 1 order by id desc", 15),
        ("select id from o order by name", 15),
        ("select id from o limit 7 offset 2", 7),
        ("select id, count(*) from o group by id", 15),
        ("select distinct id from o", 15),
        ("select t.id, $a from o as t, t.ar[] as $a", 20),
    ] {
        let (mut payload, mut found) = (json!({"st": statement, "qv": 4, "nl": 4}), Vec::new());
        loop {
            let answer = client.ask(7, None, payload.clone());
            let part = answer["qr"].as_array().unwrap_or_else(|| panic!("{statement}: {answer}"));
            assert!(part.len() <= 4, "{statement}");
            found.extend(part.iter().map(|row| row.to_string()));
            let Some(continuation) = answer.get("ck") else { break };
            payload["ck"] = continuation.clone();
        }
        assert_eq!(found.len(), count, "{statement}");
        let whole: Vec<String> = rows(&client, statement).iter().map(Json::to_string).collect();
        assert_eq!(found, whole, "{statement}");
    }
}

#[test]
fn a_prepared_statement_takes_variables_and_ends_with_its_table() {
    let client = mixed();
    let statement = "declare $a integer; select id from o where s = $a and id < ?";
    let prepared = client.ask(8, None, json!({"st": statement, "qv": 4}));
    assert_eq!((&prepared["n"], &prepared["qo"]), (&json!("o"), &json!(5)));
    let ask = |variables: Json| {
        let payload = json!({"is": true, "pq": prepared["pq"], "qv": 4, "bv": variables});
        client.ask(7, Some("o"), payload)
    };
    let answer = ask(json!([{"m": "$a", "l": 1}, {"m": "#1", "l": 2}]));
    assert_eq!(answer, json!({"e": 0, "qr": [{"id": 0}, {"id": 1}]}));
    let wrong = ask(json!([{"m": "$a", "l": "x"}, {"m": "#1", "l": 2}]));
    assert!(wrong["x"].as_str().unwrap().contains("variable '$a': Invalid string for Integer: x"));
    let missing = ask(json!([{"m": "$a", "l": 1}]));
    assert!(missing["x"].as_str().unwrap().contains("Variable $$1 has not been bound"));
    client.ask(15, None, json!({"st": "alter table o(add z string)"}));
    let stale = ask(json!([{"m": "$a", "l": 1}, {"m": "#1", "l": 2}]));
    assert!(stale["x"].as_str().unwrap().contains("must be prepared again"));
}

#[test]
fn mistakes_are_told_with_their_place() {
    let client = mixed();
    for (statement, code, part) in [
        ("selec * from o", 4, "at (1, 0) mismatched input 'selec' expecting {ALTER"),
        ("select * from none", 2, "Table not found: none"),
        ("select nope from o", 4, "at (1, 7) No table in the FROM clause has a column named nope"),
        ("select $x.id from o $t", 4, "at (1, 7)  Unknown variable $x"),
        ("select nofunc(id) from o", 4, "Could not find function with name nofunc"),
        ("select upper(id, 1) from o", 4, "function with name upper and arity 2"),
        ("select count(*), id from o", 4, "at (1, 17) Invalid expression in SELECT"),
        ("select * from o group by id", 4, "select * is not allowed together with group by"),
        ("select i as a, l as a from o", 4, "at (1, 7) Duplicate column name in SELECT clause: a"),
        ("select * from o where id", 4, "at (1, 22) Cannot promote type :\nInteger"),
        ("select id from o limit -1", 4, "Limit can not be a negative number"),
        ("select id from o limit id", 4, "Limit expression is not constant"),
        ("select id from o where s = 1 and $t.js = $zz", 4, "Unknown variable"),
        ("select \"abc", 4, "does not end"),
        ("select * from o, users u where u.id = o.id", 21, "joins of tables"),
        (
            "select cast(\"x\" as integer) from o where id = 1",
            4,
            "Cannot cast value \nx\nof type \nString",
        ),
    ] {
        let (found, message) = failure(&client, statement);
        assert_eq!(found, code, "{statement}: {message}");
        assert!(message.contains(part), "{statement}: {message}");
    }
    let deep = format!("select {}1{} from o", "(".repeat(10_000), ")".repeat(10_000));
    assert!(failure(&client, &deep).1.contains("deep in each other"));
    let rubbish = json!({"st": "select * from o", "qv": 4, "ck": {"binary": [1, 2, 3]}});
    assert_eq!(client.ask(7, None, rubbish)["e"], json!(125));
}

#[test]
fn limit_and_offset_take_variables() {
    let client = mixed();
    let declared = "declare $n integer; $m long; select id from o order by id limit $n offset $m";
    for order in ["order by id ", ""] {
        let statement = declared.replace("order by id ", order);
        for (n, m, expected) in [(3, 2, vec![2, 3, 4]), (100, 13, vec![13, 14]), (0, 0, vec![])] {
            let bound = json!([{"m": "$n", "l": n}, {"m": "$m", "l": m}]);
            let answer = client.ask(7, None, json!({"st": statement, "qv": 4, "bv": bound}));
            let ids: Vec<_> =
                answer["qr"].as_array().unwrap().iter().map(|row| &row["id"]).collect();
            assert_eq!(json!(ids), json!(expected), "{statement}: {answer}");
        }
    }
    // The rest of an answer has the limit of its variables, too.
    let bound = json!([{"m": "#1", "l": 5}, {"m": "#2", "l": 1}]);
    let statement = "select id from o where s = 1 limit ? offset ?";
    let (mut payload, mut ids) = (json!({"st": statement, "qv": 4, "bv": bound, "nl": 2}), vec![]);
    loop {
        let part = client.ask(7, None, payload.clone());
        ids.extend(part["qr"].as_array().unwrap().iter().map(|row| row["id"].clone()));
        let Some(rest) = part.get("ck") else { break };
        payload["ck"] = rest.clone();
    }
    assert_eq!(json!(ids), json!([1, 2, 3, 4, 5]));
    let negative = json!({"st": "select id from o limit ?", "qv": 4, "bv": [{"m": "#1", "l": -1}]});
    let refused = client.ask(7, None, negative);
    assert!(refused["x"].as_str().unwrap().contains("Limit can not be a negative number"));
}

#[test]
fn a_query_asks_when_rows_were_written() {
    let client = Client::new(&["create table t(s integer, id integer, primary key(shard(s), id))"]);
    for id in 0..3 {
        client.set_ms(crate::client::NOW_MS + 60_000 * id);
        client.put("t", json!({"s": 1, "id": id}));
    }
    let statement = "select modification_time($t) as m from t $t";
    let times = ["2026-11-28T15:57:49.020", "2026-11-28T15:58:49.020", "2026-11-28T15:59:49.020"];
    let shown: Vec<Json> = times.iter().map(|time| json!({ "timestamp": time })).collect();
    assert_eq!(column(&client, statement), shown);
    let late = "select id from t $t where modification_time($t) > \"2026-11-28T15:58:00\" order by \
                modification_time($t) desc";
    assert_eq!(column(&client, late), [json!(2), json!(1)]);
    let changed =
        "update t $t set ttl 5 days where s = 1 and id = 0 returning modification_time($t)";
    assert_eq!(column(&client, changed), [json!({ "timestamp": times[2] })]);
}
