//! Reading rows by their keys, and by reading whole tables.

use crate::common::Place;

fn shop() -> Place {
    let place = Place::new();
    let ddl = "CREATE TABLE phones (maker STRING, price INTEGER, id LONG, name STRING, PRIMARY KEY (SHARD(maker), price, id));
        CREATE TABLE phones.images (image INTEGER, bytes BINARY, PRIMARY KEY (image))";
    place.run(&["sql", ddl]).ends(0);
    let phones = "maker,price,id,name\nApple,150,1,old\nApple,450,2,fair\nNokia,200,3,cheap\nNokia,501,4,dear\n\"LG, Inc.\",300,5,other\n";
    place.write("phones.csv", phones);
    place.write(
        "images.csv",
        "maker,price,id,image,bytes\nApple,450,2,1,QUJD\nApple,450,2,2,REVG\nNokia,501,4,1,AAAA\n",
    );
    place.run(&["load", "phones", "phones.csv"]).ends(0).says(&["5 inserted"]);
    place.run(&["load", "phones.images", "images.csv"]).ends(0).says(&["3 inserted"]);
    place
}

fn track() -> Place {
    let place = Place::new().with_ships();
    let rows: String = (0..24)
        .flat_map(|hour| {
            (1..4).map(move |ship| format!("{ship},2022-01-03T{hour:02}:00:00,{hour}\n"))
        })
        .collect();
    place.write("track.csv", format!("ship,at,lat\n{rows}"));
    place.run(&["load", "ships", "track.csv"]).ends(0);
    place
}

/// A key with more digits than its column has found the row of the rounded key.
#[test]
fn a_key_that_its_column_would_round_is_refused() {
    let place = Place::new();
    place
        .run(&["sql", "CREATE TABLE t (g LONG, k NUMBER(60, 20), PRIMARY KEY (SHARD(g), k))"])
        .ends(0);
    let key = "1234567890123456789012345678901234567890.5";
    place.run(&["sql", &format!("INSERT INTO t VALUES (1, {key})")]).ends(0);
    let zeros = format!("1,{key}{}", "0".repeat(30));
    assert_eq!(place.run(&["get", "t", &zeros, "--format", "jsonl"]).ends(0).lines().len(), 1);
    let near = format!("{key}{}1", "0".repeat(19));
    for arguments in [vec![format!("1,{near}")], vec!["1".into(), "--from".into(), near.clone()]] {
        let mut run = vec!["get", "t"];
        run.extend(arguments.iter().map(String::as_str));
        place.run(&run).ends(3).says(&["would be rounded", "NUMBER(60, 20)"]);
    }
}

#[test]
fn relatives_come_along_below_their_parents() {
    let run = shop().run(&[
        "get",
        "phones",
        "Apple",
        "Samsung",
        "Nokia",
        "Motorola",
        "--from",
        "200",
        "--to",
        "500",
        "--with",
        "phones.images",
        "--format",
        "jsonl",
        "--direction",
        "forward",
    ]);
    let expected = [
        r#"{"table":"phones","row":{"maker":"Apple","price":450,"id":2,"name":"fair"}}"#,
        r#"{"table":"phones.images","row":{"maker":"Apple","price":450,"id":2,"image":1,"bytes":"QUJD"}}"#,
        r#"{"table":"phones.images","row":{"maker":"Apple","price":450,"id":2,"image":2,"bytes":"REVG"}}"#,
        r#"{"table":"phones","row":{"maker":"Nokia","price":200,"id":3,"name":"cheap"}}"#,
    ];
    assert_eq!(run.ends(0).lines(), expected);
}

#[test]
fn relatives_as_one_json_array() {
    let run = shop()
        .run(&["get", "phones", "Apple,450", "--with", "phones.images", "--format", "json"])
        .ends(0);
    let rows: Vec<serde_json::Value> = serde_json::from_str(&run.out).unwrap();
    assert_eq!(
        rows.iter().map(|row| row["table"].as_str().unwrap()).collect::<Vec<_>>(),
        ["phones", "phones.images", "phones.images"]
    );
}

#[test]
fn relatives_as_tables_for_people() {
    let run = shop()
        .run(&["get", "phones", "Apple", "--with", "phones.images", "--format", "table"])
        .ends(0);
    assert!(
        run.out.contains("phones\n+")
            && run.out.contains("phones.images\n+")
            && run.out.contains("(3 bytes)"),
        "{}",
        run.out
    );
}

#[test]
fn several_tables_do_not_fit_into_one_csv() {
    let place = shop();
    let run = place.run(&["get", "phones", "Apple", "--with", "phones.images", "--format", "csv"]);
    run.ends(3).says(&["--format jsonl", "--output-dir"]);
    let run = place.run(&[
        "get",
        "phones",
        "Apple",
        "--with",
        "phones.images",
        "--format",
        "csv",
        "--output-dir",
        "out",
    ]);
    assert_eq!(run.ends(0).out, "");
    assert_eq!(place.read("out/phones.csv").lines().count(), 3);
    assert_eq!(place.read("out/phones.images.csv").lines().count(), 3);
}

#[test]
fn a_child_is_read_by_the_key_of_its_parent() {
    let run = shop().run(&[
        "get",
        "phones.images",
        "Apple,450,2",
        "--direction",
        "forward",
        "--columns",
        "image",
    ]);
    assert_eq!(run.ends(0).out, "image\n1\n2\n");
}

#[test]
fn fields_of_a_key_with_commas_stand_in_quotes() {
    let run = shop().run(&["get", "phones", "\"LG, Inc.\",300", "--columns", "name"]);
    assert_eq!(run.ends(0).out, "name\nother\n");
}

#[test]
fn a_range_of_the_first_open_column() {
    let run = track().run(&[
        "get",
        "ships",
        "2",
        "--from",
        "2022-01-03T06:00:00",
        "--to",
        "2022-01-03T12:00:00",
        "--direction",
        "reverse",
        "--columns",
        "at",
    ]);
    let lines: Vec<_> = run.ends(0).lines().into_iter().skip(1).map(str::to_owned).collect();
    assert_eq!(lines.len(), 7);
    assert_eq!(
        (lines[0].as_str(), lines[6].as_str()),
        ("2022-01-03T12:00:00", "2022-01-03T06:00:00")
    );
}

#[test]
fn the_latest_of_each_key_in_a_file() {
    let place = track();
    place.write("keys.csv", "port,ship\nx,3\ny,1\n");
    let latest = [
        "--direction",
        "reverse",
        "--limit-per-key",
        "1",
        "--columns",
        "ship,at",
        "--format",
        "csv",
    ];
    let run = place.run(&[&["get", "ships", "--keys", "keys.csv"], &latest[..]].concat());
    assert_eq!(run.ends(0).out, "ship,at\n3,2022-01-03T23:00:00\n1,2022-01-03T23:00:00\n");
    place.write("keys.jsonl", "{\"ship\": 2}\n");
    let run = place.run(&[&["get", "ships", "--keys", "keys.jsonl"], &latest[..]].concat());
    assert_eq!(run.ends(0).out, "ship,at\n2,2022-01-03T23:00:00\n");
}

#[test]
fn keys_in_a_file_may_be_whole_and_may_have_a_range() {
    let place = track();
    place.write("whole.csv", "at,ship\n2022-01-03T05:00:00,3\n2022-01-03T09:00:00,77\n");
    let run = place.run(&["get", "ships", "--keys", "whole.csv", "--columns", "ship,lat"]);
    assert_eq!(run.ends(0).out, "ship,lat\n3,5.0\n");
    place.write("part.csv", "ship\n1\n2\n");
    let run = place.run(&[
        "get",
        "ships",
        "--keys",
        "part.csv",
        "--from",
        "2022-01-03T22:00:00",
        "--keys-only",
    ]);
    assert_eq!(run.ends(0).lines().len(), 5);
}

/// Keys in JSON were taken for whole ones: each record may have every member.
#[test]
fn a_range_goes_with_partial_keys_in_json() {
    let place = track();
    let get = |keys: &str| {
        place.write("keys.json", keys);
        let range = ["--from", "2022-01-03T22:00:00", "--keys-only"];
        place.run(&[&["get", "ships", "--keys", "keys.json"], &range[..]].concat())
    };
    for keys in ["{\"ship\": 1}\n{\"ship\": 2}\n", "[{\"ship\": 1}, {\"ship\": 2}]"] {
        assert_eq!(get(keys).ends(0).lines().len(), 5, "{keys}");
    }
    let whole = "{\"ship\": 1, \"at\": \"2022-01-03T23:00:00\"}\n";
    get(whole).ends(3).says(&["--from and --to", "all 2 key columns"]);
}

#[test]
fn scan_knows_limits_and_directions() {
    let place = track();
    let run = place.run(&[
        "scan",
        "ships",
        "--limit-per-shard-key",
        "1",
        "--direction",
        "reverse",
        "--columns",
        "ship,at",
    ]);
    let mut lines: Vec<_> = run.ends(0).lines().into_iter().skip(1).map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["1,2022-01-03T23:00:00", "2,2022-01-03T23:00:00", "3,2022-01-03T23:00:00"]);
    assert_eq!(
        place.run(&["scan", "ships", "--limit", "5", "--keys-only"]).ends(0).lines().len(),
        6
    );
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_program_quietly() {
    let place = Place::new().with_ships();
    place.write("a.csv", crate::common::ships_csv(200_000));
    place.run(&["load", "ships", "a.csv"]).ends(0);
    for format in ["csv", "jsonl", "json", "table", "arrow"] {
        let program = env!("CARGO_BIN_EXE_tonnage");
        let pipeline = format!(
            "set -o pipefail; '{program}' scan ships --format {format} | head -n 1 >/dev/null; echo ${{PIPESTATUS[0]}}"
        );
        let output = std::process::Command::new("bash")
            .args(["-c", &pipeline])
            .env("TONNAGE_STORE", place.path("S"))
            .output()
            .unwrap();
        let run = crate::common::finished(output);
        assert_eq!((run.out.as_str(), run.err.as_str()), ("0\n", ""), "{format}");
    }
}

#[test]
fn a_get_without_keys_says_how_to_give_them() {
    let place = track();
    for arguments in [&["get", "ships"][..], &["get", "ships", "--from", "1"]] {
        let run = place.run(arguments).ends(3);
        run.says(&["there are no keys", "--keys FILE", "`tonnage scan ships` reads all rows"]);
    }
    // It is reported before a store is looked for.
    place.run(&["get", "--store", "none", "gear"]).ends(3).says(&["`tonnage scan gear`"]);
}

#[test]
fn reverse_is_short_for_the_direction() {
    let place = track();
    for key in ["/ship/-/a", "/ship/-/b"] {
        place.run(&["kv", "put", key, "x"]).ends(0);
    }
    for read in [
        &["get", "ships", "2"][..],
        &["scan", "ships"],
        &["kv", "scan"],
        &["kv", "multi-get", "/ship", "--depth", "children"],
    ] {
        let lines = |more: &[&str]| {
            let run = place.run(&[read, &["--keys-only"], more].concat()).ends(0);
            let lines = run.lines().into_iter().filter(|line| !line.starts_with("1,"));
            lines.filter(|line| !line.starts_with("3,")).map(str::to_owned).collect::<Vec<_>>()
        };
        // A scan promises an order under each ship alone.
        let (spelt, forward) =
            (lines(&["--direction", "reverse"]), lines(&["--direction", "forward"]));
        assert_eq!(lines(&["--reverse"]), spelt, "{read:?}");
        assert_eq!(lines(&["--desc"]), spelt, "{read:?}");
        assert_ne!(forward, spelt, "{read:?}");
        let both = [read, &["--reverse", "--direction", "forward"]].concat();
        place.run(&both).ends(3).says(&["cannot be used with"]);
    }
    // It takes no value, so it may stand before a key.
    place.run(&["get", "ships", "--reverse", "2"]).ends(0);
}
