//! `tonnage bench`: tiny runs, their reports, and what is refused.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{Place, Run, finished, wait_for_work};

/// A run of less than a second.
const TINY: [&str; 6] = ["--connections", "2", "--records", "1000", "--phase", "put"];

fn billion(place: &Place, report: &str, more: &[&str]) -> Run {
    place.run(&[&["bench", "billion"], &TINY[..], &["--report", report], more].concat())
}

#[test]
fn a_tiny_run_leaves_a_report_and_nothing_else() {
    let place = Place::new();
    let run = billion(&place, "R", &["--format", "csv"]).ends(0).says(&["R/report.html"]);
    assert_eq!(run.lines().len(), 3, "a header and a line for each target: {}", run.out);
    let report = place.json("R/report.json");
    assert_eq!(report["workload"], "billion");
    assert_eq!(
        report["command"],
        "tonnage bench billion --connections 2 --records 1000 --phase put --report R --format csv"
    );
    let counts: Vec<_> =
        report["runs"].as_array().unwrap().iter().map(|run| &run["operations_count"]).collect();
    assert_eq!(counts, [1000, 1000]);
    assert!(place.read("R/report.html").contains("<svg"));
    let left: Vec<_> = std::fs::read_dir(place.path("."))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["R"], "the data is deleted, and no store was made");
}

#[test]
fn a_report_is_not_overwritten_unless_told_so() {
    let place = Place::new();
    billion(&place, "R", &[]).ends(0);
    billion(&place, "R", &[]).ends(3).says(&["--report R", "--force"]);
    billion(&place, "R", &["--force"]).ends(0);
}

#[test]
fn two_reports_are_compared() {
    let place = Place::new();
    billion(&place, "A", &[]).ends(0);
    billion(&place, "B", &[]).ends(0);
    let run =
        place.run(&["bench", "compare", "A", "B", "--format", "jsonl", "--report", "C"]).ends(0);
    assert_eq!(run.lines().len(), 2, "a line for each target: {}", run.out);
    assert!(run.out.contains("b_to_a"), "{}", run.out);
    assert!(place.read("C/compare.html").contains("<html"));
}

#[test]
fn a_comparison_needs_two_reports_of_one_workload() {
    let place = Place::new();
    place.run(&["bench", "compare", "A", "B"]).ends(3).says(&["A", "report.json"]);
    billion(&place, "A", &[]).ends(0);
    place
        .run(&[
            "bench",
            "tables",
            "--measure",
            "put",
            "--rows",
            "100",
            "--rows-large",
            "100",
            "--repeats",
            "1",
            "--report",
            "B",
        ])
        .ends(0);
    place
        .run(&["bench", "compare", "A", "B"])
        .ends(3)
        .says(&["one report is of billion, the other of tables"]);
}

#[test]
fn matrix_goes_on_where_it_was_broken_off() {
    let place = Place::new();
    let matrix = |more: &[&str]| {
        let tiny = [
            "bench",
            "matrix",
            "--memory",
            "2M",
            "--cell-seconds",
            "0.05",
            "--warm-up",
            "0",
            "--repeats",
            "1",
            "--size",
            "0.3",
        ];
        place.run(&[&tiny, ["--report", "M"].as_slice(), more].concat())
    };
    matrix(&["--resume", "--quiet"]).ends(0);
    let again = matrix(&["--resume"]).ends(0);
    assert!(
        !again.err.lines().any(|line| line.starts_with("load ")),
        "every cell was there: {}",
        again.err
    );
    matrix(&["--resume", "--durability", "fsync"])
        .ends(3)
        .says(&["durability was write, and is fsync now"]);
    place.run(&["bench", "matrix", "--resume"]).ends(3).says(&["--report"]);
}

#[test]
fn what_was_measured_before_an_interrupt_is_reported() {
    let place = Place::new();
    let arguments = [
        "bench",
        "billion",
        "--records",
        "100M",
        "--api",
        "single",
        "--target",
        "tonnage-memory",
        "--force",
        "--report",
        "R",
    ];
    let child =
        place.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // However slowly it started, it measures by then.
    wait_for_work(child.id(), 50);
    let interrupted = Instant::now();
    assert!(
        std::process::Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    finished(child.wait_with_output().unwrap()).ends(4).says(&["Interrupted", "R/report.html"]);
    assert!(interrupted.elapsed() < Duration::from_secs(60));
    assert_eq!(place.json("R/report.json")["runs"][0]["labels"]["phase"], "put");
}

#[test]
fn what_cannot_be_measured_is_refused_before_anything_is_written() {
    let place = Place::new();
    place.write("file", "");
    let refused = |arguments: &[&str], says: &[&str]| {
        place.run(&[&["bench", "billion"], arguments].concat()).ends(3).says(says);
    };
    refused(&["--target", "oracle"], &["no target is called oracle", "tonnage-memory"]);
    refused(&["--target", "rocksdb,rocksdb"], &["named twice"]);
    refused(&["--dir", "nowhere"], &["--dir nowhere", "no such directory"]);
    refused(&["--dir", "a=.", "--dir", "b=.."], &["one directory"]);
    refused(&["--memory", "much"], &["'much' is not a size"]);
    refused(&["--records", "many"], &["'many' is not a number"]);
    refused(&["--records", "0"], &["0 records"]);
    refused(&["--repeats", "0"], &["'0' is not a number of repeats"]);
    refused(&["--factor", "1"], &["factor"]);
    refused(&["--report", "file"], &["--report file", "no report can be written there"]);
    refused(&["--store", "other"], &["touches no store", "--dir"]);
    refused(&["--records", "900G"], &["--dir", "are free", "--force"]);
    place.run(&["bench", "matrix", "--dir", "a=.", "--dir", "a=.."]).ends(3).says(&["labelled a"]);
    refused(&["16", "1000", "put"], &["unexpected argument '16'"]);
    let left: Vec<_> = std::fs::read_dir(place.path("."))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["file"]);
}

#[test]
fn ycsb_reads_property_files_and_arguments() {
    let place = Place::new();
    place
        .write("workloadx", "workload=site.ycsb.workloads.CoreWorkload\nrecordcount=100\nreadproportion=1\nupdateproportion=0\n");
    place.write("sizes.dat", "operationcount=300\nmeasurementtype=raw\n");
    let arguments =
        ["bench", "ycsb", "-P", "workloadx", "-P", "sizes.dat", "-P", "a", "-p", "recordcount=200"];
    let more = ["--threads", "1,2", "--operations", "400", "--phase", "run", "--report", "R"];
    place
        .run(&[&arguments[..], &more].concat())
        .ends(0)
        .says(&["R/report.html", "ignored: measurementtype"]);
    let report = place.json("R/report.json");
    let runs: Vec<_> = report["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (&run["name"], &run["threads"]))
        .collect();
    assert_eq!(runs.len(), 8, "two workloads on two targets with two counts of threads: {runs:?}");
    let loaded: Vec<_> =
        report["runs"].as_array().unwrap().iter().map(|run| &run["labels"]["records"]).collect();
    assert_eq!(loaded, ["200"; 8]);
    let text = place.read("R/report.txt");
    assert!(text.contains("[READ], Operations, 400"), "{text}");
}

#[test]
fn a_wrong_property_of_ycsb_is_named_with_its_line() {
    let place = Place::new();
    place.write("workloadx", "# sizes\nrecordcount=many\n");
    place.run(&["bench", "ycsb", "-P", "workloadx"]).ends(3).says(&[
        "workloadx, line 2",
        "recordcount=many",
        "whole number",
    ]);
    place.run(&["bench", "ycsb", "-P", "workloadz"]).ends(3).says(&["workloadz", "a to f"]);
}

#[test]
fn bulk_calls_are_measured_against_the_loop() {
    let place = Place::new();
    let tiny = [
        "bench",
        "bulk",
        "--records",
        "300",
        "--singles",
        "50",
        "--singles-fsync",
        "3",
        "--parallelism",
        "1,2",
        "--report",
        "R",
    ];
    place.run(&tiny).ends(0).says(&["bulk put does", "rocksdb does not offer tables"]);
    let report = place.json("R/report.json");
    let runs = report["runs"].as_array().unwrap();
    let find = |name: &str| {
        runs.iter().find(|run| run["name"] == name && run["target"] == "tonnage-rocksdb").unwrap()
    };
    assert_eq!(find("phones / put / bulk / write")["operations_count"], 300);
    assert_eq!(find("pairs / put / single / fsync")["operations_count"], 3);
    assert!(find("positions / get / bulk")["figures"]["times_single_loop"].as_f64().unwrap() > 0.0);
    place
        .run(&["bench", "bulk", "--durabilities", "write,write", "--report", "S"])
        .ends(3)
        .says(&["--durabilities", "twice"]);
}
