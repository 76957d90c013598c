//! Pipes as files: FIFOs and process substitution.
//!
//! A pipe given as a file was opened to see what it holds, and again to load it. What the first
//! look had taken, up to 64 KiB of records, was lost with exit code 0; a FIFO that had to be opened
//! twice waited for ever, and one signal did not end it.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use flate2::write::GzEncoder;
use tonnage_testkit::make_fifo;

use crate::common::{Place, finished, has_read, piped};

/// Long enough for a machine with other things to do.
const PATIENCE: Duration = Duration::from_secs(120);
const ROWS: usize = 30_000;

/// A FIFO that a thread fills.
fn fifo(place: &Place, name: &str, bytes: Vec<u8>) -> PathBuf {
    let path = place.path(name);
    make_fifo(&path);
    let writer = path.clone();
    std::thread::spawn(move || std::fs::write(writer, bytes));
    path
}

fn csv() -> String {
    let rows: String = (0..ROWS).map(|id| format!("{id},row {id}\n")).collect();
    format!("id,v\n{rows}")
}

fn jsonl() -> String {
    (0..ROWS).map(|id| format!("{{\"id\":{id},\"v\":\"j\"}}\n")).collect()
}

fn with_table() -> Place {
    let place = Place::new();
    place.run(&["sql", "CREATE TABLE t (id LONG, v STRING, PRIMARY KEY (id))"]).ends(0);
    place
}

#[test]
fn every_record_of_a_fifo_is_loaded() {
    for text in [csv(), jsonl()] {
        let place = with_table();
        fifo(&place, "pipe", text.into_bytes());
        place.run(&["load", "t", "pipe"]).ends(0).says(&["30,000 read, 30,000 inserted"]);
        assert_eq!(place.run(&["count", "t"]).out, "30000\n");
    }
}

#[test]
fn a_table_is_made_from_a_pipe_without_losing_what_was_looked_at() {
    let place = Place::new();
    fifo(&place, "pipe", csv().into_bytes());
    place
        .run(&["load", "--create", "--primary-key", "id", "t", "pipe"])
        .ends(0)
        .says(&["30,000 inserted"]);
    let run = place
        .run_with_input(&["load", "--create", "--primary-key", "id", "u", "-"], jsonl().as_bytes());
    run.ends(0).says(&["30,000 inserted"]);
    assert_eq!(place.run(&["sql", "SELECT sum(id) AS s FROM u"]).out, "s\n449985000\n");
}

#[test]
fn process_substitution_is_loaded_whole() {
    let place = with_table();
    place.write("rows.csv", csv());
    let program = env!("CARGO_BIN_EXE_tonnage");
    let mut shell = Command::new("bash");
    shell.args([
        "-c",
        "\"$0\" load t <(cat rows.csv) && cat rows.csv | \"$0\" load t /dev/stdin",
        program,
    ]);
    shell.env("TONNAGE_STORE", "S").current_dir(place.path(""));
    finished(shell.output().unwrap())
        .ends(0)
        .says(&["30,000 read, 30,000 inserted", "30,000 read, 0 inserted, 30,000 existed"]);
}

#[test]
fn what_cannot_be_read_again_is_refused_where_it_would_have_to_be() {
    let place = with_table();
    fifo(&place, "pipe", b"id,v\n".to_vec());
    place.run(&["load", "t", "pipe", "pipe"]).ends(3).says(&["pipe is given twice"]);
    place
        .run(&["load", "t", "pipe", "--resume", "notes"])
        .ends(3)
        .says(&["pipe cannot be read again", "--resume"]);
}

/// A look at a pipe waited for a megabyte, or for the end of the pipe, however few records were asked
/// for.
#[test]
fn a_sample_of_a_pipe_waits_for_no_more_than_its_records() {
    let jsonl = |id: u32| format!("{{\"id\":{id},\"v\":\"x\"}}\n");
    for (header, row) in
        [("id,v\n", &(|id| format!("{id},x\n")) as &dyn Fn(u32) -> String), ("", &jsonl)]
    {
        let place = Place::new();
        let load = ["load", "t", "-", "--create", "--primary-key", "id", "--sample", "20"];
        let mut command = place.command(&[&load[..], &["--progress", "json"]].concat());
        let (mut child, mut input) = piped(&mut command);
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        input
            .write_all((header.to_owned() + &(0..50).map(row).collect::<String>()).as_bytes())
            .unwrap();
        input.flush().unwrap();
        // The pipe stays open until the records are read, or for long.
        let asked = Instant::now();
        let is_read = |line: &str| {
            let told: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
            told["read"].as_u64() == Some(50)
        };
        let writer = std::thread::spawn(move || {
            std::thread::sleep(PATIENCE);
            drop(input);
        });
        assert!(lines.any(|line| is_read(&line.unwrap())));
        assert!(asked.elapsed() < PATIENCE * 3 / 4, "the load waited for the end of the pipe");
        assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(4));
        drop(writer);
    }
}

#[test]
fn a_signal_ends_the_wait_for_a_silent_pipe() {
    let place = with_table();
    let load = ["load", "t", "-", "--summary", "s.json", "--progress", "json"];
    let mut command = place.command(&load);
    let (mut child, mut input) = piped(&mut command);
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
    input.write_all(csv().as_bytes()).unwrap();
    input.flush().unwrap();
    // The pipe stays open and silent. The program reads, and soon comes to its wait.
    assert!(told.any(|line| has_read(&line.unwrap())));
    std::thread::sleep(Duration::from_secs(1));
    let asked = Instant::now();
    assert!(
        Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success()
    );
    finished(child.wait_with_output().unwrap()).ends(4);
    assert!(asked.elapsed() < PATIENCE);
    drop(input);
    let stored = place.json("s.json")["inserted"].as_u64().unwrap();
    assert_eq!(place.run(&["count", "t"]).out, format!("{stored}\n"));
}

/// Records of a slow program waited for a mebibyte of others, and were stored at its end. Where the
/// program packed them with gzip, they went on waiting for 256 KiB.
#[test]
fn a_program_that_runs_for_days_is_stored_as_it_goes() {
    for is_packed in [false, true] {
        let place = with_table();
        let load = ["load", "t", "-", "--sync-every", "0.3", "--progress", "json"];
        let mut command = place.command(&load);
        let (mut child, mut input) = piped(&mut command);
        let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut packer = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let mut write = |text: &str| {
            packer.write_all(text.as_bytes()).unwrap();
            packer.flush().unwrap();
            let packed = std::mem::take(packer.get_mut());
            input.write_all(if is_packed { &packed } else { text.as_bytes() }).unwrap();
            input.flush().unwrap();
        };
        write("id,v\n");
        for id in 0..5 {
            write(&format!("{id},row\n"));
            let asked = Instant::now();
            // What was written is acknowledged while the pipe stays open.
            loop {
                assert!(asked.elapsed() < PATIENCE, "record {id} is not acknowledged");
                let line = told.next().unwrap().unwrap();
                let figures: serde_json::Value = serde_json::from_str(&line).unwrap();
                if figures["durable"].as_u64().unwrap() == id + 1 {
                    break;
                }
            }
        }
        // It is there even if the program is killed.
        child.kill().unwrap();
        child.wait().unwrap();
        drop(input);
        assert_eq!(place.run(&["count", "t"]).out, "5\n");
    }
}

#[test]
fn a_load_that_is_killed_goes_on_where_it_noted() {
    let place = with_table();
    let rows: String = (0..400_000).map(|id| format!("{id},row {id}\n")).collect();
    place.write("a.csv", format!("id,v\n{rows}"));
    let load = ["load", "t", "a.csv", "--resume", "n.json"];
    let slow = ["--rate", "50000", "--sync-every", "0.5"];
    let mut command = place.command(&[&load[..], &slow[..]].concat());
    let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    let asked = Instant::now();
    let noted = || {
        let notes = std::fs::read_to_string(place.path("n.json")).unwrap_or_default();
        let notes: serde_json::Value = serde_json::from_str(&notes).unwrap_or_default();
        notes["files"]["a.csv"]["records"].as_u64().unwrap_or_default()
    };
    while noted() == 0 {
        assert!(asked.elapsed() < PATIENCE, "nothing is noted");
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = noted();
    assert!(before < 400_000);
    place.run(&load).ends(0).says(&["read by an earlier run"]);
    assert_eq!(place.run(&["count", "t"]).out, "400000\n");
}
