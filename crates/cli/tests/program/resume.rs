//! Loads that continue where an earlier one ended.

use std::io::Write;
use std::process::Stdio;

use tonnage_testkit::wait_until;

use crate::common::{Place, Run, finished, ships_csv};

/// Runs a load that notes in `notes.json`, and interrupts it once it has noted rows of `a.csv`.
fn interrupted(place: &Place, arguments: &[&str]) -> Run {
    let mut command = place.command(arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("rows are noted", || noted(place) > 0);
    let mut kill = std::process::Command::new("kill");
    assert!(kill.args(["-INT", &child.id().to_string()]).status().unwrap().success());
    finished(child.wait_with_output().unwrap())
}

/// How many records of `a.csv` are noted.
fn noted(place: &Place) -> u64 {
    let notes = std::fs::read_to_string(place.path("notes.json")).unwrap_or_default();
    let notes: serde_json::Value = serde_json::from_str(&notes).unwrap_or_default();
    notes["files"]["a.csv"]["records"].as_u64().unwrap_or_default()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
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
    run.ends(0).says(&["10 read by an earlier run, 1 read, 1 inserted, 0 existed"]);
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
    again().says(&["20 read by an earlier run, 0 read"]);
    // The notes of versions that knew only the size say too little.
    let notes = place.read("notes.json");
    let mut notes: serde_json::Value = serde_json::from_str(&notes).unwrap();
    notes["files"]["a.csv"] = serde_json::json!({"bytes": 508, "records": 20, "complete": true});
    place.write("notes.json", notes.to_string());
    again().says(&["20 read, 0 inserted, 20 existed"]);
}

/// A user who mended the options of a load that rejected all records, and gave the same notes,
/// loaded nothing: the records were passed over, and the exit code was 0.
#[test]
fn a_file_that_is_read_with_other_options_is_read_anew() {
    let place = Place::new();
    place.run(&["sql", "CREATE TABLE t (id LONG, v LONG, PRIMARY KEY (id))"]).ends(0);
    place.write("a.csv", "id,v\n1,NA\n2,NA\n");
    let load = |options: &[&str]| {
        place.run(&[&["load", "t", "a.csv", "--resume", "notes.json"], options].concat())
    };
    load(&[]).ends(1).says(&["2 read, 0 inserted", "2 failed"]);
    load(&[]).ends(0).says(&["2 read by an earlier run, 0 read"]);
    load(&["--null", "NA"]).ends(0).says(&["with other options", "2 read, 2 inserted"]);
    load(&["--null", "NA"]).ends(0).says(&["2 read by an earlier run, 0 read"]);
    let other = ["--null", "NA", "--on-existing", "replace", "--map", "v=id * 2"];
    load(&other).ends(0).says(&["with other options", "2 read"]);
    load(&other).ends(0).says(&["2 read by an earlier run, 0 read"]);
    assert_eq!(place.run(&["sql", "SELECT v FROM t ORDER BY id"]).out, "v\n2\n4\n");
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

/// After a crash the records after the last note were stored again, each under a further number.
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

/// The rows between the last note and the stop were stored again, each under another random key.
#[test]
fn records_with_keys_that_change_are_not_resumed() {
    let place = Place::new();
    place
        .run(&["sql", "CREATE TABLE t (id STRING, k LONG, at TIMESTAMP(3), PRIMARY KEY (id))"])
        .ends(0);
    place.write("a.csv", "k\n1\n");
    let load = |map: &str, more: &[&str]| {
        place.run(&[&["load", "t", "a.csv", "--map", map], more].concat())
    };
    let resume = ["--resume", "n"];
    for changing in ["uuid()", "CAST(random() AS STRING)", "concat('at ', CAST(now() AS STRING))"] {
        let run = load(&format!("ID={changing}"), &resume).ends(3);
        run.says(&["a.csv", "key column id", "change from run to run", "leave out --resume"]);
    }
    // A column that is not a key may change: the second run of a record finds its key.
    let lasting = ["--map", "at=now()", "--resume", "n"];
    load("id=CAST(k AS STRING)", &lasting).ends(0).says(&["1 inserted"]);
    load("id=uuid()", &[]).ends(0).says(&["1 inserted"]);
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
/// kept: they would never have been read again.
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
        "5000",
        "--sync-every",
        "0.5",
        "--resume",
        "notes.json",
        "--summary",
        "s.json",
    ];
    // At that rate the load takes 40 seconds: once rows are noted, many are still to come.
    interrupted(&place, &arguments).ends(4).says(&["interrupted", "read", "inserted"]);
    let summary = place.json("s.json");
    assert_eq!(summary["outcome"], "interrupted");
    let stored = summary["inserted"].as_u64().unwrap();
    assert!(stored > 0 && stored < 200_000, "{stored}");
    assert_eq!(place.run(&["count", "ships"]).out, format!("{stored}\n"));
    assert_eq!(noted(&place), stored);
    place.run(&["load", "ships", "a.csv", "--resume", "notes.json"]).ends(0);
    assert_eq!(place.run(&["count", "ships"]).out, "200000\n");
}

/// The note ended before the batch in which the load was stopped, though some of it was stored:
/// with `--on-existing fail` the load could never continue.
#[test]
fn the_note_of_an_interrupted_load_tells_of_all_that_is_stored() {
    let place = Place::new().with_ships();
    let row = |ship: u32| match ship % 100 {
        99 => format!("x{ship},2022-01-03T00:00:00\n"),
        _ => format!("{ship},2022-01-03T00:00:00\n"),
    };
    place.write("a.csv", format!("ship,at\n{}", (0..200_000).map(row).collect::<String>()));
    let load = ["load", "ships", "a.csv", "--on-existing", "fail", "--resume", "notes.json"];
    let load = [&load[..], &["--rejects", "R", "--summary", "s.json"]].concat();
    let slow = ["--rate", "5000", "--sync-every", "0.5"];
    interrupted(&place, &[&load[..], &slow].concat()).ends(4);
    let (summary, noted) = (place.json("s.json"), noted(&place));
    let dealt_with = ["inserted", "failed"].map(|count| summary[count].as_u64().unwrap());
    assert!(noted < 200_000 && dealt_with.iter().sum::<u64>() == noted, "{noted}, {summary}");
    place.run(&load).ends(1);
    assert_eq!(place.run(&["count", "ships"]).out, "198000\n");
    // Those that were rejected before the stop are not read again.
    assert_eq!(place.read("R/a.csv").lines().count(), 1 + 2_000);
}

/// A batch of 16,384 records was noted at its end, 16 seconds later, whatever `--sync-every` said.
#[test]
fn a_load_at_a_slow_rate_notes_as_often_as_it_is_told() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(5_000));
    let notes = ["--resume", "notes.json", "--sync-every", "1s", "--rate", "500"];
    interrupted(&place, &[&["load", "ships", "a.csv"], &notes[..]].concat()).ends(4);
    let first = noted(&place);
    assert!(first < 5_000, "it was noted while it ran");
    place
        .run(&["load", "ships", "a.csv", "--resume", "notes.json"])
        .ends(0)
        .says(&[&format!("{} read by an earlier run", tonnage_grouped(first))]);
}

/// A count as the program writes it.
fn tonnage_grouped(count: u64) -> String {
    if count < 1_000 {
        count.to_string()
    } else {
        format!("{},{:03}", count / 1_000, count % 1_000)
    }
}
