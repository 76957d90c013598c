//! Loading files into tables.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{Place, finished, ships_csv};

#[test]
fn a_table_is_made_from_the_columns_of_a_file() {
    let place = Place::new();
    place.write("a.csv", ships_csv(3));
    let key = ["--create", "--primary-key", "SHARD(ship), at"];
    place
        .run(&[&["load", "ships", "a.csv"], &key[..]].concat())
        .ends(0)
        .says(&["3 read, 3 inserted, 0 existed, 0 failed"]);
    let ddl = place.run(&["sql", "DESCRIBE ships"]).ends(0).out;
    assert!(
        ddl.contains("ship LONG")
            && ddl.contains("at TIMESTAMP(0)")
            && ddl.contains("SHARD(ship), at"),
        "{ddl}"
    );
    // The same command again finds its table and its rows.
    place
        .run(&[&["load", "ships", "a.csv"], &key[..]].concat())
        .ends(0)
        .says(&["0 inserted, 3 existed"]);
    assert_eq!(place.run(&["count", "ships"]).ends(0).out, "3\n");
}

#[test]
fn days_become_a_column_of_days() {
    let place = Place::new();
    place.write("a.csv", "id,day\n1,2022-01-03\n2,\n3,1969-12-31\n");
    place.run(&["load", "t", "a.csv", "--create", "--primary-key", "id"]).ends(0);
    assert!(place.run(&["sql", "DESCRIBE t"]).out.contains("day DATE"));
    let rows = place.run(&["scan", "t", "--direction", "forward"]).ends(0).out;
    assert_eq!(rows, "id,day\n1,2022-01-03\n2,\n3,1969-12-31\n");
    // A row without a day is refused by its line, the others are stored.
    place.write("b.csv", "id,day\n4,2022-02-30\n5,2022-02-28\n");
    place.run(&["load", "t", "b.csv"]).says(&["1 inserted", "1 failed"]);
}

#[test]
fn the_types_of_several_files_are_brought_together() {
    let place = Place::new();
    place.write("a.csv", "id,x\n1,5\n");
    place.write("b.csv", "id,x,y\n2,5.5,text\n");
    place
        .run(&["load", "t", "*.csv", "--create", "--primary-key", "id"])
        .ends(0)
        .says(&["2 read, 2 inserted"]);
    assert!(place.run(&["sql", "DESCRIBE t"]).out.contains("x DOUBLE"));
}

/// Whole numbers among fractions became doubles, and lost their last digits without a word.
#[test]
fn the_types_of_a_new_table_change_no_number() {
    let place = Place::new();
    place.write("x.csv", "id,v\n1,9007199254740993\n2,1.5\n3,9223372036854775807\n");
    place.run(&["load", "--create", "--primary-key", "id", "x", "x.csv"]).ends(0);
    let rows = place.run(&["scan", "x", "--columns", "v", "--direction", "forward"]).ends(0).out;
    assert_eq!(rows, "v\n9007199254740993.0\n1.5\n9223372036854775807.0\n");
    place.write("y.jsonl", "{\"id\":1,\"v\":1}\n{\"id\":2,\"v\":\"1\"}\n{\"id\":3,\"v\":[1,2]}\n{\"id\":4,\"v\":true}\n");
    place.run(&["load", "--create", "--primary-key", "id", "y", "y.jsonl"]).ends(0);
    let rows = place.run(&["unload", "y", "--format", "jsonl"]).ends(0).out;
    assert_eq!(rows, place.read("y.jsonl"));
}

#[test]
fn the_sample_that_decides_types_can_be_everything() {
    let place = Place::new();
    let rows: String = (0..3_000).map(|id| format!("{id},{id}\n")).collect();
    place.write("a.csv", format!("id,v\n{rows}3000,1.5\n"));
    let load = |table: &str, sample: &str| {
        place.run(&["load", "--create", "--primary-key", "id", table, "a.csv", "--sample", sample])
    };
    load("t", "1000").ends(1).says(&[
        "line 3002, column v",
        "the first 1,000 records",
        "--sample all",
    ]);
    load("u", "all").ends(0).says(&["3,001 inserted"]);
    load("v", "none").ends(3).says(&["a number of records"]);
}

#[test]
fn what_makes_a_column_text_is_told() {
    let place = Place::new();
    place.write("a.csv", "id,temp\n1,NA\n2,1.5\n");
    let load = ["load", "--create", "--primary-key", "id", "t", "a.csv"];
    place
        .run(&load)
        .ends(0)
        .says(&["with --null 'NA' there would be temp DOUBLE instead of STRING"]);
    place.write("b.csv", "id,v\n");
    place
        .run(&["load", "--create", "--primary-key", "id", "u", "b.csv"])
        .ends(0)
        .says(&["no records", "STRING"]);
    place.write("c.csv", "");
    place
        .run(&["load", "--create", "--primary-key", "id", "v", "c.csv"])
        .ends(3)
        .says(&["c.csv: it is empty"]);
}

#[test]
fn records_in_a_document_are_found_by_their_path() {
    let place = Place::new();
    place
        .write("q.json", "{\n\"type\": \"x\",\n\"features\": [\n{\"id\": 1},\n{\"id\": 2}\n]\n}\n");
    let load = ["load", "--create", "--primary-key", "id", "t", "q.json"];
    place.run(&load).ends(3).says(&["features is an array of objects: --records features"]);
    place.run(&[&load[..], &["--records", "features"]].concat()).ends(0).says(&["2 inserted"]);
}

#[test]
fn text_in_other_encodings_is_loaded() {
    let place = Place::new().with_ships();
    place.write("a.csv", b"ship,at,name\n1,2022-01-03T00:00:00,caf\xe9\n");
    place.run(&["load", "ships", "a.csv"]).ends(1).says(&["Latin-1"]);
    place.run(&["load", "ships", "a.csv", "--encoding", "latin1"]).ends(0);
    assert_eq!(place.run(&["get", "ships", "1", "--columns", "name"]).out, "name\ncafé\n");
}

#[test]
fn columns_without_a_type_can_be_left_out_of_a_new_table() {
    use arrow::array::{ArrayRef, DurationSecondArray, Int64Array, RecordBatch};
    let place = Place::new();
    let columns: [(&str, ArrayRef); 2] = [
        ("id", std::sync::Arc::new(Int64Array::from(vec![1]))),
        ("hour", std::sync::Arc::new(DurationSecondArray::from(vec![3_600]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let target = std::fs::File::create(place.path("a.parquet")).unwrap();
    let (format, plain) = (tonnage_files::Format::Parquet, tonnage_files::Compression::None);
    let mut writer =
        tonnage_files::RecordWriter::new(format, target, batch.schema(), plain).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let load = ["load", "--create", "--primary-key", "id", "t", "a.parquet"];
    place.run(&load).ends(3).says(&["column hour holds", "--ignore-columns"]);
    place.run(&[&load[..], &["--ignore-columns"]].concat()).ends(0).says(&["1 inserted"]);
}

#[test]
fn a_table_with_another_key_is_not_taken_for_the_one_asked_for() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(1));
    let run = place.run(&["load", "ships", "a.csv", "--create", "--primary-key", "at"]);
    run.ends(3).says(&["another primary key", "choose another name"]);
}

#[test]
fn the_summary_is_json() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(5));
    place.write("b.csv", "ship,at,lat\n9,2022-01-03T00:00:00,x\n4,2022-01-03T00:00:00,1\n");
    place
        .run(&[
            "load",
            "ships",
            "a.csv",
            "b.csv",
            "--stream-parallelism",
            "1",
            "--summary",
            "s.json",
        ])
        .ends(1);
    let summary = place.json("s.json");
    let counts =
        ["read", "inserted", "existed", "failed"].map(|name| summary[name].as_u64().unwrap());
    assert_eq!(counts, [7, 5, 1, 1]);
    assert_eq!(summary["outcome"], "rejected");
    assert_eq!(summary["files"][1]["file"], "b.csv");
    assert_eq!(summary["files"][1]["failed"], 1);
    assert!(
        summary["seconds"].as_f64().unwrap() > 0.0
            && summary["rows_per_second"].as_f64().unwrap() > 0.0
    );
    assert!(summary["bytes"].as_u64().unwrap() > 0);
}

#[test]
fn existing_rows_are_kept_replaced_or_refused() {
    let place = Place::new().with_ships();
    place.write("old.csv", "ship,at,name\n1,2022-01-03T00:00:00,old\n");
    place.write("new.csv", "ship,at,name\n1,2022-01-03T00:00:00,new\n");
    let name = || place.run(&["get", "ships", "1", "--columns", "name"]).ends(0).out;
    place.run(&["load", "ships", "old.csv"]).ends(0);
    place.run(&["load", "ships", "new.csv"]).ends(0).says(&["1 existed"]);
    assert_eq!(name(), "name\nold\n");
    place.run(&["load", "ships", "new.csv", "--on-existing", "fail"]).ends(2);
    assert_eq!(name(), "name\nold\n");
    place.run(&["load", "ships", "new.csv", "--on-existing", "replace"]).ends(0);
    assert_eq!(name(), "name\nnew\n");
}

/// The counts beside the reason for a stop did not add up.
#[test]
fn a_load_that_stops_tells_what_it_read_and_did_not_store() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(1));
    place.run(&["load", "ships", "a.csv"]).ends(0);
    place.write("b.csv", ships_csv(3));
    let run =
        place.run(&["load", "ships", "b.csv", "--on-existing", "fail", "--summary", "s.json"]);
    run.ends(2).says(&["3 read, 0 inserted, 1 existed, 0 failed, 2 not stored"]);
    assert_eq!(place.json("s.json")["not_stored"], 2);
}

#[test]
fn rejected_records_are_kept_as_they_stood_with_their_reasons() {
    let place = Place::new().with_ships();
    let dirty = "ship,at,lat,name\n1,2022-01-03T00:00:00,x,\"a, b\"\n2,2022-01-03T00:00:00,1,fine\n3\n,2022-01-03T00:00:00,1,no ship\n";
    place.write("in/dirty.csv", dirty);
    place
        .run(&["load", "ships", "in/dirty.csv", "--rejects", "R"])
        .ends(1)
        .says(&["4 read, 1 inserted", "3 failed"]);
    assert_eq!(
        place.read("R/dirty.csv"),
        "ship,at,lat,name\n,2022-01-03T00:00:00,1,no ship\n1,2022-01-03T00:00:00,x,\"a, b\"\n3\n"
    );
    let reasons = place.read("R/dirty.reasons.jsonl");
    let reasons: Vec<serde_json::Value> =
        reasons.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let places: Vec<_> = reasons
        .iter()
        .map(|reason| (reason["record"].as_u64().unwrap(), reason["line"].as_u64().unwrap()))
        .collect();
    // What the table refuses comes before what cannot be read.
    assert_eq!(places, [(3, 5), (0, 2), (2, 4)]);
    assert_eq!(reasons[0]["column"], "ship");
    assert_eq!(reasons[1]["column"], "lat");
    assert!(
        reasons.iter().all(|reason| reason["file"] == "in/dirty.csv"
            && !reason["reason"].as_str().unwrap().is_empty())
    );
}

#[test]
fn rejected_files_can_be_mended_and_loaded() {
    let place = Place::new().with_ships();
    place.write("a.csv", "ship,at,lat\n1,2022-01-03T00:00:00,x\n");
    place.run(&["load", "ships", "a.csv", "--rejects", "R"]).ends(1);
    place.write("mended.csv", place.read("R/a.csv").replace('x', "1"));
    place.run(&["load", "ships", "mended.csv"]).ends(0).says(&["1 inserted"]);
}

#[test]
fn inputs_of_one_name_keep_their_rejects_apart() {
    let place = Place::new().with_ships();
    place.write("1/a.csv", "ship,at\nx,2022-01-03T00:00:00\n");
    place.write("2/a.csv", "ship,at\ny,2022-01-03T00:00:00\n");
    place.run(&["load", "ships", "1/a.csv", "2/a.csv", "--rejects", "R"]).ends(1);
    assert!(place.read("R/a.csv").contains('x'));
    assert!(place.read("R/a-2.csv").contains('y'));
}

/// The directory could be that of the input: the records that were rejected first took the place of
/// the file that was being read.
#[test]
fn rejected_records_never_take_the_place_of_other_files() {
    let place = Place::new().with_ships();
    let input = "ship,at\nx,2022-01-03T00:00:00\n1,2022-01-03T00:00:00\n";
    place.write("a.csv", input);
    for _ in 0..2 {
        place.run(&["load", "ships", "a.csv", "--rejects", "."]).ends(1);
        assert_eq!(place.read("a.csv"), input);
        assert_eq!(place.read("a-2.csv"), "ship,at\nx,2022-01-03T00:00:00\n");
    }
    // Those of another load stay, too.
    for (folder, ship) in [("1", "y"), ("2", "z")] {
        let path = format!("{folder}/b.csv");
        place.write(&path, format!("ship,at\n{ship},2022-01-03T00:00:00\n"));
        place.run(&["load", "ships", &path, "--rejects", "R"]).ends(1);
    }
    assert!(place.read("R/b.csv").contains('y') && place.read("R/b-2.csv").contains('z'));
    // Mended where it was kept.
    place.run(&["load", "ships", "R/b.csv", "--rejects", "R"]).ends(1);
    assert!(place.read("R/b.csv").contains('y') && place.read("R/b-3.csv").contains('y'));
}

/// Their reasons went into one file, which each of them began anew.
#[test]
fn inputs_of_one_name_and_several_formats_keep_their_reasons_apart() {
    let place = Place::new().with_ships();
    place.write("a.csv", "ship,at\nx,2022-01-03T00:00:00\n");
    place.write("a.jsonl", "{\"ship\":\"y\",\"at\":\"2022-01-03T00:00:00\"}\n");
    place.run(&["load", "ships", "a.csv", "a.jsonl", "--rejects", "R"]).ends(1);
    for (name, file) in [("a", "a.csv"), ("a-2", "a.jsonl")] {
        let reasons = place.read(&format!("R/{name}.reasons.jsonl"));
        let reason: serde_json::Value = serde_json::from_str(&reasons).unwrap();
        assert_eq!(reason["file"], file);
    }
    assert!(place.read("R/a.csv").contains('x') && place.read("R/a-2.jsonl").contains('y'));
}

#[test]
fn without_a_place_to_keep_them_the_first_rejected_records_are_shown() {
    let place = Place::new().with_ships();
    let bad: String = (0..50).map(|ship| format!("{ship},never\n")).collect();
    place.write("a.csv", format!("ship,at\n{bad}"));
    let run = place
        .run(&["load", "ships", "a.csv"])
        .ends(1)
        .says(&["a.csv, line 2, column at", "--rejects DIR"]);
    assert_eq!(run.err.matches("rejected: a.csv").count(), 10);
}

#[test]
fn a_load_stops_when_more_fails_than_allowed() {
    let place = Place::new().with_ships();
    place.write("a.csv", "ship,at\n1,never\n2,never\n3,never\n");
    place.run(&["load", "ships", "a.csv", "--errors-max", "3"]).ends(1);
    place
        .run(&["load", "ships", "a.csv", "--errors-max", "2"])
        .ends(2)
        .says(&["--errors-max (2)", "fix the input"]);
    place.run(&["load", "ships", "a.csv", "--errors-max", "50%"]).ends(2).says(&["50%"]);
}

/// Of the batch in which a load stopped the bad records were counted, and the good ones were neither
/// stored nor counted. The message told another count than the summary.
#[test]
fn a_load_that_stops_counts_all_records_of_its_last_batch() {
    let place = Place::new();
    place.run(&["sql", "CREATE TABLE t (id LONG, v LONG, PRIMARY KEY (id))"]).ends(0);
    let row = |id: usize| {
        if id.is_multiple_of(2) { format!("{id},bad\n") } else { format!("{id},{id}\n") }
    };
    place.write("a.csv", format!("id,v\n{}", (0..40_000).map(row).collect::<String>()));
    let run =
        place.run(&["load", "t", "a.csv", "--errors-max", "5", "--summary", "s.json"]).ends(2);
    let summary = place.json("s.json");
    let count = |name: &str| summary[name].as_u64().unwrap();
    let (read, failed) = (count("read"), count("failed"));
    assert_eq!(count("inserted"), read / 2, "{summary}");
    assert_eq!((failed, count("not_stored")), (read / 2, 0), "{summary}");
    assert!(run.err.contains(&format!("{failed} of {read} entries failed")), "{}", run.err);
    assert_eq!(place.run(&["count", "t"]).out, format!("{}\n", count("inserted")));
}

/// The rows were stored, and only then was it found that the summary cannot be written; notes that
/// cannot be written were told of and forgotten.
#[test]
fn what_cannot_be_written_beside_the_store_is_told_before_anything_is_done() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(3));
    for (option, path, says) in [
        ("--summary", "no/such/s.json", "--summary no/such/s.json: cannot be written"),
        ("--resume", "no/such/notes", "--resume no/such/notes: cannot be written"),
        ("--rejects", "a.csv", "--rejects a.csv: it is a file: name a directory"),
        ("--rejects", "a.csv/bad", "--rejects a.csv/bad: cannot be written"),
    ] {
        place.run(&["load", "ships", "a.csv", option, path]).ends(3).says(&[says]);
    }
    assert_eq!(place.run(&["count", "ships"]).out, "0\n");
    let all = ["--summary", "s.json", "--resume", "n", "--rejects", "deep/R"];
    place.run(&[&["load", "ships", "a.csv"][..], &all].concat()).ends(0);
    assert!(place.path("s.json").exists() && !place.path("deep").exists());
}

#[test]
fn a_dry_run_reads_everything_and_writes_nothing() {
    let place = Place::new();
    place.write(
        "a.csv",
        "ship,at,x\n1,2022-01-03T00:00:00,1\n2,2022-01-03T00:00:00,2\n,2022-01-03T00:00:00,3\n",
    );
    let arguments = [
        "load",
        "ships",
        "a.csv",
        "--dry-run",
        "--create",
        "--primary-key",
        "ship",
        "--summary",
        "s.json",
    ];
    place.run(&arguments).ends(1).says(&["would make", "3 read, 1 would fail"]);
    assert!(!place.path("S").exists());
    assert_eq!(place.json("s.json")["dry_run"], true);
    assert_eq!(place.json("s.json")["failed"], 1);

    let place = place.with_ships();
    place.write("b.csv", "ship,at\n1,2022-01-03T00:00:00\n2,never\n");
    place
        .run(&["load", "ships", "b.csv", "--dry-run", "--rejects", "R"])
        .ends(1)
        .says(&["2 read, 1 would fail"]);
    assert_eq!(place.read("R/b.csv"), "ship,at\n2,never\n");
    assert_eq!(place.run(&["count", "ships"]).out, "0\n");
}

#[test]
fn what_a_load_reports_a_dry_run_foretells() {
    let place = Place::new().with_ships();
    let rows: String = (0..40_000)
        .map(|ship| if ship % 1_000 == 7 { "x,y\n".into() } else { format!("{ship},2022-01-03\n") })
        .collect();
    place.write("a.csv", format!("ship,at\n{rows}"));
    place.run(&["load", "ships", "a.csv", "--dry-run", "--rejects", "D"]).ends(1);
    place
        .run(&["load", "ships", "a.csv", "--rejects", "R"])
        .ends(1)
        .says(&["40,000 read, 39,960 inserted, 0 existed, 40 failed"]);
    assert_eq!(place.read("D/a.csv"), place.read("R/a.csv"));
    assert_eq!(place.read("D/a.reasons.jsonl"), place.read("R/a.reasons.jsonl"));
}

#[test]
fn files_that_are_loaded_are_not_read_again() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(10));
    place.run(&["load", "ships", "a.csv", "--resume", "notes.json"]).ends(0).says(&["10 read"]);
    place.write("b.csv", "ship,at\n77,2022-01-03T00:00:00\n");
    let run = place.run(&[
        "load",
        "ships",
        "a.csv",
        "b.csv",
        "--resume",
        "notes.json",
        "--summary",
        "s.json",
    ]);
    run.ends(0).says(&["10 stored by an earlier run, 1 read, 1 inserted, 0 existed"]);
    assert_eq!(place.json("s.json")["resumed"], 10);
    place
        .run(&["load", "ships", "a.csv", "b.csv", "--resume", "notes.json"])
        .ends(0)
        .says(&["0 read"]);
    // A file that has changed is another file.
    place.write("b.csv", "ship,at\n77,2022-01-03T00:00:00\n78,2022-01-03T00:00:00\n");
    place
        .run(&["load", "ships", "a.csv", "b.csv", "--resume", "notes.json"])
        .ends(0)
        .says(&["2 read, 1 inserted, 1 existed"]);
}

/// Only the name and the size were noted: the new rows of a file that was written anew were never
/// loaded.
#[test]
fn a_file_that_was_rewritten_is_read_anew() {
    let place = Place::new().with_ships();
    let rows = |from: u32| {
        (from..from + 20).map(|ship| format!("{ship},2022-01-03T00:00:00\n")).collect::<String>()
    };
    place.write("a.csv", format!("ship,at\n{}", rows(101)));
    place.run(&["load", "ships", "a.csv", "--resume", "notes.json"]).ends(0).says(&["20 inserted"]);
    place.write("a.csv", format!("ship,at\n{}", rows(201)));
    let again = || place.run(&["load", "ships", "a.csv", "--resume", "notes.json"]).ends(0);
    again().says(&["a.csv: has changed since it was noted", "20 read, 20 inserted"]);
    again().says(&["20 stored by an earlier run, 0 read"]);
    // The notes of versions that knew only the size say too little.
    let notes = place.read("notes.json");
    let mut notes: serde_json::Value = serde_json::from_str(&notes).unwrap();
    notes["files"]["a.csv"] = serde_json::json!({"bytes": 508, "records": 20, "complete": true});
    place.write("notes.json", notes.to_string());
    again().says(&["20 read, 0 inserted, 20 existed"]);
}

#[test]
fn the_note_of_another_load_is_refused() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(1));
    place.run(&["load", "ships", "a.csv", "--resume", "notes.json"]).ends(0);
    place
        .run(&[
            "load",
            "--store",
            "T",
            "ships",
            "a.csv",
            "--create",
            "--primary-key",
            "ship",
            "--resume",
            "notes.json",
        ])
        .ends(3)
        .says(&["give each load its own"]);
    place.write("notes.json", "nonsense");
    place
        .run(&["load", "ships", "a.csv", "--resume", "notes.json"])
        .ends(3)
        .says(&["delete it to start anew"]);
}

#[test]
fn a_resumed_load_goes_on_where_damage_stopped_it() {
    let place = Place::new().with_ships();
    let whole = gzip(ships_csv(200_000).as_bytes());
    place.write("a.csv.gz", &whole[..whole.len() / 2]);
    let run =
        place.run(&["load", "ships", "a.csv.gz", "--resume", "notes.json", "--summary", "s.json"]);
    run.ends(2).says(&["a.csv.gz", "cut short"]);
    let before = place.json("s.json")["inserted"].as_u64().unwrap();
    assert!(before > 0);
    assert_eq!(place.run(&["count", "ships"]).out, format!("{before}\n"));
    assert_eq!(place.json("notes.json")["files"]["a.csv.gz"]["records"], before);
}

/// After a crash the records behind the last note were stored again, each under a further number.
#[test]
fn records_that_the_store_numbers_are_not_resumed() {
    let place = Place::new();
    let key = "id LONG GENERATED BY DEFAULT AS IDENTITY";
    place.run(&["sql", &format!("CREATE TABLE t ({key}, v STRING, PRIMARY KEY (id))")]).ends(0);
    place.write("a.csv", "v\na\n");
    place.write("b.csv", "id,v\n7,b\n");
    let load = |file: &str| place.run(&["load", "t", file, "--resume", "n"]);
    load("a.csv").ends(3).says(&["a.csv", "the store numbers", "(id)", "leave out --resume"]);
    load("b.csv").ends(0).says(&["1 inserted"]);
    place.run(&["load", "t", "a.csv"]).ends(0).says(&["1 inserted"]);
}

/// The second run began the files of rejected records anew. Those of the first run are never read
/// again, so they were lost.
#[test]
fn a_resumed_load_adds_to_the_rejected_records() {
    let place = Place::new().with_ships();
    let row = |ship: usize| match ship {
        5 | 150_000 | 150_001 | 190_000 => format!("x{ship},2022-01-03T00:00:00\n"),
        _ => format!("{ship},2022-01-03T00:00:00\n"),
    };
    place.write("1/a.csv", format!("ship,at\n{}", (0..200_000).map(row).collect::<String>()));
    let load = ["load", "ships", "1/a.csv", "--resume", "n", "--rejects", "R"];
    place.run(&[&load[..], &["--errors-max", "2"]].concat()).ends(2);
    let noted = place.json("n")["files"]["1/a.csv"]["records"].as_u64().unwrap();
    assert!((150_002..190_000).contains(&noted), "{noted}");
    assert!(place.read("R/a.csv").starts_with("ship,at\nx5,"));
    place.run(&load).ends(1);
    let kept = place.read("R/a.csv");
    assert!(kept.starts_with("ship,at\nx5,"));
    for once in ["x150000", "x150001", "x190000", "ship,at"] {
        assert_eq!(kept.matches(once).count(), 1, "{once}");
    }
    assert_eq!(place.run(&["count", "ships"]).out, "199996\n");
    // A file that is done with keeps its own while another of its name is loaded.
    place.write("2/a.csv", "ship,at\ny,2022-01-03T00:00:00\n");
    let both = ["load", "ships", "1/a.csv", "2/a.csv", "--resume", "n", "--rejects", "R"];
    place.run(&both).ends(1);
    assert_eq!(place.read("R/a.csv"), kept);
    assert!(place.read("R/a-2.csv").contains('y'));
}

/// The note was on the disk before the rejected records were, and stayed where these could not be
/// kept: nobody would have read them again.
#[cfg(target_os = "linux")]
#[test]
fn a_file_whose_rejected_records_are_lost_is_not_noted_as_done() {
    let place = Place::new().with_ships();
    place.write("a.csv", "ship,at\nx,2022-01-03T00:00:00\n1,2022-01-03T00:00:00\n");
    let load = ["load", "ships", "a.csv", "--resume", "n", "--rejects", "R"];
    place.run(&load).ends(1);
    std::fs::remove_file(place.path("n")).unwrap();
    std::fs::remove_file(place.path("R/a.csv")).unwrap();
    std::os::unix::fs::symlink("/dev/full", place.path("R/a.csv")).unwrap();
    let run = place.run(&load);
    assert_ne!(run.code, 0);
    run.says(&["--rejects R", "cannot be kept"]);
    let noted = std::fs::read_to_string(place.path("n")).unwrap_or_default();
    assert!(!noted.contains("\"complete\": true"), "{noted}");
    std::fs::remove_file(place.path("R/a.csv")).unwrap();
    place.run(&load).ends(1);
    assert!(place.read("R/a.csv").contains('x'));
}

#[test]
fn an_interrupted_load_stores_what_it_read_and_goes_on_later() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(200_000));
    let arguments = [
        "load",
        "ships",
        "a.csv",
        "--rate",
        "40000",
        "--resume",
        "notes.json",
        "--summary",
        "s.json",
    ];
    let mut command = place.command(&arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // At that rate the load takes five seconds: rows flow now, and many are still to come.
    std::thread::sleep(Duration::from_millis(1_500));
    assert!(
        std::process::Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    let asked = Instant::now();
    finished(child.wait_with_output().unwrap()).ends(4).says(&["interrupted", "read", "inserted"]);
    assert!(asked.elapsed() < Duration::from_secs(10));
    let summary = place.json("s.json");
    assert_eq!(summary["outcome"], "interrupted");
    let stored = summary["inserted"].as_u64().unwrap();
    assert!(stored > 0 && stored < 200_000, "{stored}");
    assert_eq!(place.run(&["count", "ships"]).out, format!("{stored}\n"));
    let noted = place.json("notes.json")["files"]["a.csv"]["records"].as_u64().unwrap();
    assert!(noted > 0 && noted <= stored, "{noted}, {stored}");
    place.run(&["load", "ships", "a.csv", "--resume", "notes.json"]).ends(0);
    assert_eq!(place.run(&["count", "ships"]).out, "200000\n");
}

#[test]
fn csv_without_header_and_with_other_marks() {
    let place = Place::new().with_ships();
    place.write("a.txt", "5;-;2022-01-03T00:00:00\n");
    let arguments = [
        "load",
        "ships",
        "a.txt",
        "--input-format",
        "csv",
        "--delimiter",
        ";",
        "--no-header",
        "--columns",
        "ship,name,at",
        "--null",
        "-",
    ];
    place.run(&arguments).ends(0);
    assert_eq!(
        place.run(&["get", "ships", "5", "--format", "jsonl"]).out,
        "{\"ship\":5,\"at\":\"2022-01-03T00:00:00\",\"lat\":null,\"name\":null}\n"
    );
}

#[test]
fn standard_input_is_a_file_too() {
    let place = Place::new().with_ships();
    place
        .run_with_input(&["load", "ships", "-"], ships_csv(7).as_bytes())
        .ends(0)
        .says(&["7 inserted"]);
    place.run(&["load", "ships", "-", "--resume", "n"]).ends(3).says(&["standard input"]);
    place
        .run_with_input(&["load", "t", "-", "--create", "--primary-key", "ship"], b"ship\n1\n")
        .ends(0)
        .says(&["1 inserted"]);
}

#[test]
fn columns_that_the_table_lacks_can_be_left_out() {
    let place = Place::new().with_ships();
    place.write("a.csv", "ship,at,crew\n1,2022-01-03T00:00:00,12\n");
    place.run(&["load", "ships", "a.csv", "--ignore-columns"]).ends(0).says(&["1 inserted"]);
}

#[test]
fn rows_live_as_long_as_they_are_told_to() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(3));
    place.run(&["load", "ships", "a.csv", "--ttl", "1s"]).ends(0);
    std::thread::sleep(Duration::from_millis(1_200));
    assert_eq!(place.run(&["count", "ships"]).out, "0\n");
}

#[test]
fn every_durability_stores_everything() {
    for durability in ["none", "write", "fsync"] {
        let place = Place::new().with_ships();
        place.write("a.csv", ships_csv(1_000));
        place
            .run(&["load", "ships", "a.csv", "--durability", durability, "--memory", "64M"])
            .ends(0)
            .says(&["1,000 inserted"]);
        assert_eq!(place.run(&["count", "ships"]).out, "1000\n", "{durability}");
    }
}

#[test]
fn quiet_says_nothing() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(3));
    let run = place.run(&["load", "ships", "a.csv", "--quiet"]).ends(0);
    assert_eq!((run.out.as_str(), run.err.as_str()), ("", ""));
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The entry of a stream was named, which nobody can look up.
#[test]
fn a_key_that_exists_is_named_with_its_file_and_line() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(3));
    place.run(&["load", "ships", "a.csv"]).ends(0);
    let text = "ship,at,name\n77,2022-01-03T00:00:00,\"two\nlines\"\n\n2,2022-01-03T00:00:00,b\n";
    place.write("b.csv", text);
    let fail = ["--on-existing", "fail"];
    place.run(&[&["load", "ships", "b.csv"], &fail[..]].concat()).ends(2).says(&[
        "b.csv, line 5: the row (ship 2, at 2022-01-03T00:00:00) of table ships exists already",
        "--on-existing keep or replace",
    ]);
    place.run_with_input(&[&["load", "ships", "-"], &fail[..]].concat(), text.as_bytes()).ends(2).says(
        &["-, record 1 from 0 (its line is not known: a pipe cannot be read again): the row (ship 2"],
    );
    // A key far behind a first one, whose batch is gone when the load finds out.
    let many: String = (0..200_000).map(|ship| format!("{ship},2023-01-03T00:00:00\n")).collect();
    place.write("c.csv", format!("ship,at\n{many}150000,2023-01-03T00:00:00\n"));
    let run = place.run(&[&["load", "ships", "c.csv"], &fail[..]].concat()).ends(2);
    let line = run.err.split("c.csv, line ").nth(1).unwrap().split(':').next().unwrap();
    assert!(["150002", "200002"].contains(&line), "{}", run.err);
}

#[test]
fn columns_get_other_names() {
    let place = Place::new();
    place.write("a.csv", "id,name.first,v\n1,x,2\n");
    let load = ["load", "--create", "--primary-key", "id", "t", "a.csv"];
    place.run(&load).ends(3).says(&["--rename 'name.first=name_first'", "'.=_'"]);
    assert!(!place.path("S").exists());
    place.run(&[&load[..], &["--rename", ".=_", "--rename", "v=value"]].concat()).ends(0);
    let unloaded = place.run(&["unload", "t"]).ends(0).out;
    assert_eq!(unloaded, "id,name_first,value\n1,x,2\n");
    place.run(&["load", "t", "a.csv"]).ends(3).says(&["name.first", "--rename"]);
    place.run(&["load", "t", "a.csv", "--rename", "v"]).ends(3).says(&["OLD=NEW"]);
    let none = ["load", "t", "a.csv", "--rename", ".=_", "--rename", "w=value"];
    place.run(&none).ends(3).says(&["a.csv: there is no column w to be called value"]);
}

#[test]
fn rows_without_a_key_are_numbered() {
    let place = Place::new();
    place.write("a.csv", "name,x\na,1\na,1\nb,2\n");
    let load = ["load", "--create", "--make-key", "nr", "t", "a.csv"];
    place.run(&load).ends(0).says(&["3 inserted"]);
    place.run(&load).ends(0).says(&["3 inserted"]);
    place.write("b.jsonl", "{\"name\":\"c\",\"x\":3}\n");
    place.run(&["load", "t", "b.jsonl"]).ends(0).says(&["1 inserted"]);
    assert_eq!(place.run(&["count", "t"]).out, "7\n");
    let rows = place.run(&[
        "sql",
        "SELECT name, x, count(DISTINCT nr) AS n FROM t GROUP BY name, x ORDER BY name",
    ]);
    assert_eq!(rows.ends(0).out, "name,x,n\na,1,4\nb,2,2\nc,3,1\n");
    // What was unloaded brings its numbers.
    place.run(&["unload", "t", "-o", "t.jsonl"]).ends(0);
    place.run(&["load", "t", "t.jsonl"]).ends(0).says(&["0 inserted, 7 existed"]);
    place
        .run(&["load", "u", "a.csv", "--create", "--make-key", "name"])
        .ends(3)
        .says(&["--make-key name"]);
    place.run(&["load", "u", "a.csv", "--create"]).ends(3).says(&["--primary-key", "--make-key"]);
    place.run(&["load", "t", "a.csv", "--make-key", "nr"]).ends(3).says(&["--create"]);
}

#[test]
fn folders_are_columns() {
    let place = Place::new();
    place.write("d/country=FR/year=2021/a.csv", "id,v\n1,a\n2,b\n");
    place.write("d/country=D%45/year=2022/a.csv", "id,v\n3,c\n");
    place.write(
        "d/country=__HIVE_DEFAULT_PARTITION__/year=2022/b.jsonl",
        "{\"id\":4,\"v\":\"d\"}\n",
    );
    let load =
        ["load", "t", "d/*/*/*.*", "--folders", "--create", "--primary-key", "SHARD(year), id"];
    place.run(&load).ends(0).says(&["4 inserted"]);
    let rows = place.run(&["sql", "SELECT id, v, country, year FROM t ORDER BY id"]).ends(0).out;
    assert_eq!(rows, "id,v,country,year\n1,a,FR,2021\n2,b,FR,2021\n3,c,DE,2022\n4,d,,2022\n");
    place.write("e/year=soon/a.csv", "id,v\nx,a\n");
    place
        .run(&["load", "t", "e/year=soon/a.csv", "--folders"])
        .ends(3)
        .says(&["e/year=soon/a.csv", "`soon`"]);
    // A record is kept as it stands in its file, without the columns of the folders.
    place.write("e/year=2023/a.csv", "id,v\nx,a\n");
    place.run(&["load", "t", "e/year=2023/a.csv", "--folders", "--rejects", "R"]).ends(1);
    assert_eq!(place.read("R/a.csv"), "id,v\nx,a\n");
    place.write("f/id=5/a.csv", "id,v\n5,a\n");
    place
        .run(&["load", "t", "f/id=5/a.csv", "--folders"])
        .ends(3)
        .says(&["stands in the file and"]);
}

#[test]
fn progress_is_told_to_programs() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(3));
    let run = place.run(&["load", "ships", "a.csv", "--progress", "json"]).ends(0);
    let told =
        run.err.lines().find_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let told = told.unwrap();
    let figures =
        ["read", "inserted", "failed", "durable"].map(|name| told[name].as_u64().unwrap());
    assert_eq!((figures, &told["over"]), ([3, 3, 0, 3], &true.into()));
}

#[test]
fn usage_names_no_option_that_is_not_needed() {
    // Every test has TONNAGE_STORE set.
    let run = Place::new().run(&["load", "t"]).ends(3).says(&["Usage: tonnage load"]);
    assert!(!run.err.contains("--store"), "{}", run.err);
    assert!(Place::new().run(&["load", "--help"]).ends(0).out.contains("[env: TONNAGE_STORE]"));
}

#[test]
fn options_are_called_as_they_are_given() {
    let place = Place::new().with_ships();
    place.write("a.csv", "ship,at\n1,never\n2,never\n");
    place.run(&["load", "ships", "a.csv", "--errors-max", "1"]).ends(2).says(&["--errors-max (1)"]);
    place.run(&["load", "ships", "a.csv", "--memory", "1K"]).ends(3).says(&["--memory is 1024"]);
    place.run(&["put", "ships", "nojson"]).ends(3).says(&["`nojson` is no object", "JSON object"]);
}
