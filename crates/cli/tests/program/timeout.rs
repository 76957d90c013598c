//! `--timeout`: a run that takes longer stops in good order, and says so.

use std::io::Write;

use crate::common::{Place, finished, piped};

const ROWS: usize = 30_000;

fn with_table() -> Place {
    let place = Place::new();
    place.run(&["sql", "CREATE TABLE t (id LONG, v STRING, PRIMARY KEY (id))"]).ends(0);
    place
}

#[test]
fn a_load_out_of_time_stores_what_it_read() {
    let place = with_table();
    let mut command = place.command(&["load", "t", "-", "--timeout", "8s", "--summary", "s.json"]);
    let (child, mut input) = piped(&mut command);
    let rows: String = (0..ROWS).map(|id| format!("{id},row {id}\n")).collect();
    input.write_all(format!("id,v\n{rows}").as_bytes()).unwrap();
    input.flush().unwrap();
    // The pipe stays open and silent.
    finished(child.wait_with_output().unwrap()).ends(2).says(&["--timeout of 8s", "read"]);
    drop(input);
    let summary = place.json("s.json");
    assert_eq!(summary["outcome"], "stopped");
    let stored = summary["inserted"].as_u64().unwrap();
    assert_eq!(place.run(&["count", "t"]).out, format!("{stored}\n"));
}

#[test]
fn reads_and_writes_take_a_timeout() {
    let place = with_table();
    let hour = ["--timeout", "1h"];
    let run = |arguments: &[&str]| place.run(&[arguments, &hour[..]].concat()).ends(0);
    run(&["put", "t", "{\"id\": 1, \"v\": \"one\"}"]);
    run(&["get", "t", "1"]);
    run(&["scan", "t"]);
    run(&["unload", "t"]);
    run(&["check"]);
    assert_eq!(run(&["count", "t"]).out, "1\n");
    run(&["kv", "put", "/a/-/b", "1"]);
    assert_eq!(run(&["kv", "get", "/a/-/b"]).out, "1");
    run(&["kv", "delete", "/a/-/b"]);
    run(&["backup", "backups"]);
    run(&["--store", "restored", "restore", "backups"]);
    place.run(&["sql", "CREATE TABLE u (id LONG, PRIMARY KEY (id))", "--timeout", "1h"]).ends(0);
    place.run(&["count", "t", "--timeout", "0s"]).ends(3).says(&["give more than zero"]);
}

#[test]
fn a_read_out_of_time_says_so() {
    let place = with_table();
    let run = place.run(&["scan", "t", "--timeout", "0.000001s"]);
    run.ends(2).says(&["took longer than its --timeout", "give it more time"]);
}
