//! Records that a load rejects, and loads that stop.

use crate::common::{Place, ships_csv};

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

/// A record was kept up to 64 KiB. A user who mended it there and loaded it stored a part of its
/// text, and nothing said so.
#[test]
fn long_records_are_kept_whole() {
    let place = Place::new();
    place.run(&["sql", "CREATE TABLE t (id LONG, v STRING, PRIMARY KEY (id))"]).ends(0);
    let long = "long ".repeat(50_000);
    place.write("a.csv", format!("id,v\nx,{long}\n"));
    place.write("a.jsonl", format!("{{\"id\":\"x\",\"v\":\"{long}\"}}\n"));
    place.run(&["load", "t", "a.csv", "a.jsonl", "--rejects", "R"]).ends(1);
    assert_eq!(place.read("R/a.csv"), place.read("a.csv"));
    assert_eq!(place.read("R/a-2.jsonl"), place.read("a.jsonl"));
    // Of a record that no load would take, the beginning is enough.
    place.write("b.csv", format!("id,v\n1,{}\n2,b\n", "x".repeat(34 << 20)));
    place.run(&["load", "t", "b.csv", "--rejects", "R"]).ends(1).says(&["1 inserted"]);
    assert_eq!(place.read("R/b.csv").len(), "id,v\n".len() + (64 << 10) + 1);
    assert!(place.read("R/b.reasons.jsonl").contains("its beginning is kept"));
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

/// The directory could be that of the input: the records that were rejected first took the position
/// of the file that was being read.
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

/// Of the batch in which a load stopped the bad records were counted, and the good ones were
/// neither stored nor counted. The message had another count than the summary.
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
