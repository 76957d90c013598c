//! JSON documents loaded as they are, and asked for by what is in them.

use tonnage_testkit::test_data;

use crate::common::Place;

const DEVICES: &str = r#"[
  {"model": "a", "os": {"type": "android", "ver": "2.2"}, "memory": {"ram": 512}},
  {"model": "b", "os": {"type": "android", "ver": "4.4"},
   "memory": {"ram": 2048}},
  {"model": "c", "os": {"type": "ios", "ver": "7"}}
]"#;

const CREATE: [&str; 5] = ["--document-column", "doc", "--create", "--primary-key", "model"];

#[test]
fn a_table_of_documents_is_made_and_asked() {
    let place = Place::new();
    place.write("devices.json", DEVICES);
    let load = [&["load", "devices", "devices.json"], &CREATE[..]].concat();
    place.run(&load).ends(0).says(&["3 read, 3 inserted, 0 existed, 0 failed"]);
    let ddl = place.run(&["sql", "DESCRIBE devices"]).ends(0).out;
    assert!(ddl.contains("model STRING") && ddl.contains("doc JSON"), "{ddl}");
    place.run(&load).ends(0).says(&["0 inserted, 3 existed"]);
    let query = "SELECT model, doc->'memory'->>'ram' AS ram FROM devices WHERE doc->'os'->>'type' = 'android' ORDER BY model";
    assert_eq!(
        place.run(&["sql", "--format", "csv", query]).ends(0).out,
        "model,ram\na,512\nb,2048\n"
    );
    place.run(&["sql", "CREATE INDEX by_version ON devices (doc.os.ver)"]).ends(0);
    let query = "SELECT model FROM devices WHERE doc->'os'->>'ver' = '4.4'";
    assert_eq!(place.run(&["sql", "--format", "csv", query]).ends(0).out, "model\nb\n");
    let change = "UPDATE devices SET doc = json_set(doc, 'os', 'ver', '8') WHERE model = 'c'";
    place.run(&["sql", change]).ends(0);
    let query = "SELECT model FROM devices WHERE doc->'os'->>'ver' = '8'";
    assert_eq!(place.run(&["sql", "--format", "csv", query]).ends(0).out, "model\nc\n");
}

#[test]
fn keys_come_from_places_further_in_or_are_made() {
    let place = Place::new();
    place.write(
        "events.jsonl",
        "{\"from\": {\"id\": 7}, \"at\": 1}\n{\"from\": {\"id\": 7}, \"at\": 2}\n{\"from\": {\"id\": 8}, \"at\": 1}\n",
    );
    let key = [
        "--document-column",
        "doc",
        "--create",
        "--primary-key",
        "SHARD(sender), at",
        "--path",
        "sender=from.id",
    ];
    place
        .run(&[&["load", "events", "events.jsonl"], &key[..]].concat())
        .ends(0)
        .says(&["3 inserted"]);
    assert_eq!(
        place.run(&["get", "events", "7", "--columns", "at", "--format", "csv"]).ends(0).out,
        "at\n1\n2\n"
    );

    let made = ["--document-column", "doc", "--make-key", "id", "--create", "--primary-key", "id"];
    let load = [&["load", "log", "events.jsonl"], &made[..]].concat();
    place.run(&load).ends(0).says(&["3 inserted"]);
    place.run(&load).ends(0).says(&["3 inserted"]);
    assert_eq!(place.run(&["count", "log"]).out, "6\n");
    assert!(place.run(&["sql", "DESCRIBE log"]).out.contains("id UUID"));

    place.run(&["sql", "CREATE TABLE numbered (n LONG PRIMARY KEY, doc JSON)"]).ends(0);
    let load = ["load", "numbered", "events.jsonl", "--document-column", "doc", "--make-key", "n"];
    place.run(&load).ends(0).says(&["3 inserted"]);
    place.run(&load).ends(0).says(&["3 existed"]);
    let query = "SELECT n, doc->>'at' AS at FROM numbered ORDER BY n DESC LIMIT 1";
    assert_eq!(place.run(&["sql", "--format", "csv", query]).ends(0).out, "n,at\n2,1\n");
}

#[test]
fn bad_documents_are_told_by_their_places_and_kept_for_mending() {
    let place = Place::new();
    place.write(
        "bad.json",
        "[\n{\"model\": \"a\"},\n{\"model\": \"b\",\n \"x\": },\n{\"name\": \"no key\"},\n[1],\n{\"model\": \"c\"}\n]\n",
    );
    let run = place
        .run(&[&["load", "devices", "bad.json", "--rejects", "R"], &CREATE[..]].concat())
        .ends(1);
    run.says(&["5 read, 2 inserted, 0 existed, 3 failed"]);
    let reasons: Vec<serde_json::Value> = place
        .read("R/bad.reasons.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: Vec<_> = reasons
        .iter()
        .map(|reason| (reason["line"].as_u64().unwrap(), reason["reason"].as_str().unwrap()))
        .collect();
    let mut sorted = told.clone();
    sorted.sort_unstable();
    let expected = [
        (3, "a value is missing"),
        (5, "is NULL, but part of the primary key"),
        (6, "the record is not a JSON object"),
    ];
    assert_eq!(sorted, expected);
    // What is kept is a record on each line, whatever it was: mended, it can be loaded.
    let kept = place.read("R/bad.json");
    assert_eq!(kept.lines().count(), 3, "{kept}");
    assert!(kept.contains("{\"model\": \"b\",  \"x\": }"), "{kept}");
}

#[test]
fn what_cannot_be_loaded_as_documents_is_told_before_anything_is_written() {
    let place = Place::new();
    place.write("a.csv", "model\na\n");
    place.write("a.jsonl", "{\"model\": \"a\"}\n");
    place
        .run(&[&["load", "t", "a.csv"], &CREATE[..]].concat())
        .ends(3)
        .says(&["a.csv: is csv: documents are read from JSON"]);
    assert!(!place.path("S").exists(), "no store was made");
    place.run(&["load", "t", "a.jsonl", "--path", "model=x"]).ends(3).says(&["--document-column"]);
    let wrong = ["--document-column", "doc", "--from", "model"];
    place
        .run(&[&["load", "t", "a.jsonl"], &wrong[..]].concat())
        .ends(3)
        .says(&["write COLUMN=NAME"]);
    place.run(&["sql", "CREATE TABLE t (model STRING PRIMARY KEY, doc STRING)"]).ends(0);
    let run = place.run(&["load", "t", "a.jsonl", "--document-column", "doc"]).ends(3);
    run.says(&["a.jsonl: column doc takes documents, but is not of type JSON"]);
    place
        .run(&["load", "t", "a.jsonl", "--document-column", "body"])
        .ends(3)
        .says(&["there is no column body", "model, doc"]);
}

#[test]
fn real_phones_are_loaded_whole_and_come_back_as_they_were() {
    let Some(file) = test_data("phone_devices.jsonl") else { return };
    let place = Place::new();
    let (path, text) = (file.to_str().unwrap(), std::fs::read_to_string(&file).unwrap());
    place
        .run(&[&["load", "devices", path], &CREATE[..]].concat())
        .ends(0)
        .says(&["442 read, 442 inserted"]);
    // The same as one array.
    place.write("array.json", format!("[{}]", text.trim().replace('\n', ",\n")));
    place
        .run(&["load", "devices", "array.json", "--document-column", "doc"])
        .ends(0)
        .says(&["442 read, 0 inserted, 442 existed"]);
    let rows = place.run(&["scan", "devices", "--format", "jsonl"]).ends(0).out;
    let stored: std::collections::BTreeMap<String, serde_json::Value> = rows
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|row| (row["model"].as_str().unwrap().to_owned(), row["doc"].clone()))
        .collect();
    let original =
        text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    assert_eq!(
        stored,
        original.map(|device| (device["model"].as_str().unwrap().to_owned(), device)).collect()
    );
}
