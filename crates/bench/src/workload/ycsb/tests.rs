//! Workloads on tiny data, on every system.

use std::time::Duration;

use rstest::rstest;
use tonnage::Result;

use super::*;
use crate::measure::{Measured, NoWatcher};
use crate::report::Report;
use crate::system::{Record, System, SystemKind, SystemSpec};
use crate::workload::RunOptions;

const TARGETS: [SystemKind; 4] = SystemKind::ALL;
const RECORDS: u64 = 500;
const OPERATIONS: u64 = 1000;

/// A core workload on tiny data.
fn workload(name: &str, more: &[&str]) -> Workload {
    let sizes = ["recordcount=500", "operationcount=1000", "fieldcount=4", "fieldlength=20"];
    let arguments: Vec<String> = sizes.iter().chain(more).map(|&text| text.to_owned()).collect();
    Workload::from_arguments(&[name.to_owned()], &arguments).unwrap().remove(0)
}

fn bench(options: YcsbOptions) -> Result<Report> {
    let directory = tempfile::tempdir().unwrap();
    let run_options = RunOptions {
        directories: RunOptions::tiny(directory.path()).directories,
        memory_bytes: Some(32 << 20),
        ..options.run.clone()
    };
    let report = run(&YcsbOptions { run: run_options, ..options }, &NoWatcher);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "data was left behind");
    report
}

fn options(workloads: Vec<Workload>) -> YcsbOptions {
    let run = RunOptions { systems: TARGETS.to_vec(), ..RunOptions::default() };
    YcsbOptions { workloads, run, ..YcsbOptions::default() }
}

fn only(systems: Vec<SystemKind>) -> RunOptions {
    RunOptions { systems, ..RunOptions::default() }
}

/// A system that is opened for one test, with its directory.
fn with_target<T>(kind: SystemKind, test: impl FnOnce(&dyn System) -> T) -> T {
    let directory = tempfile::tempdir().unwrap();
    let spec = SystemSpec {
        memory_bytes: Some(32 << 20),
        ..SystemSpec::new(kind, directory.path().join("data"))
    };
    test(spec.open().unwrap().as_ref())
}

fn load_plan(bulk: bool) -> LoadPlan {
    LoadPlan { name: "load".to_owned(), threads: 2, bulk }
}

fn run_plan(threads: usize) -> RunPlan {
    RunPlan { name: "run".to_owned(), threads, warm_up: Duration::ZERO, seconds_max: None, seed: 1 }
}

/// Loads a workload, and runs it.
fn load_and_run(system: &dyn System, core: &CoreOptions, bulk: bool) -> (Measured, Measured) {
    let (mut dataset, loaded) = Dataset::load(system, core, &load_plan(bulk), &NoWatcher).unwrap();
    (loaded, dataset.run(core, &run_plan(3), &NoWatcher).unwrap())
}

fn assert_all_worked(measured: &Measured, count: u64) {
    assert_eq!((measured.failures, measured.failure_messages.as_slice()), (0, [].as_slice()));
    assert_eq!(measured.count, count);
}

fn count_of(measured: &Measured, operation: &str) -> u64 {
    measured
        .operations
        .iter()
        .find(|report| report.name == operation)
        .map_or(0, |report| report.count)
}

#[rstest]
fn every_core_workload_does_what_it_is_asked_for(
    #[values("a", "b", "c", "d", "e", "f")] name: &str,
    #[values(false, true)] bulk_load: bool,
) {
    let report =
        bench(YcsbOptions { bulk_load, threads: vec![2], ..options(vec![workload(name, &[])]) })
            .unwrap();
    let counts: Vec<_> = report
        .runs
        .iter()
        .map(|run| (run.target.as_str(), run.labels["phase"].as_str(), run.operations_count))
        .collect();
    let expected = TARGETS
        .map(|system| [(system.name(), "load", RECORDS), (system.name(), "run", OPERATIONS)])
        .concat();
    assert_eq!(counts, expected);
    for run in &report.runs {
        assert_eq!(
            (run.failures, run.failure_messages.as_slice()),
            (0, [].as_slice()),
            "{}",
            run.title()
        );
    }
}

#[rstest]
fn every_distribution_and_order_asks_for_records_that_are_there(
    #[values("uniform", "zipfian", "latest", "hotspot", "sequential", "exponential")]
    requests: &str,
    #[values("hashed", "ordered")] order: &str,
) {
    let more = [
        &format!("requestdistribution={requests}"),
        &format!("insertorder={order}"),
        "insertproportion=0.2",
    ];
    let workload = workload("a", &more.map(|text: &str| text));
    with_target(SystemKind::TonnageMemory, |system| {
        let (_, ran) = load_and_run(system, &workload.core, false);
        assert_all_worked(&ran, OPERATIONS);
    });
}

#[test]
fn operations_are_done_as_often_as_the_mix_says() {
    let more = [
        "updateproportion=0.3",
        "readproportion=0.3",
        "insertproportion=0.1",
        "scanproportion=0.1",
    ];
    let workload = workload(
        "a",
        &[&more[..], &["readmodifywriteproportion=0.2", "operationcount=20000"]].concat(),
    );
    with_target(SystemKind::TonnageMemory, |system| {
        let (_, ran) = load_and_run(system, &workload.core, true);
        assert_all_worked(&ran, 20_000);
        let expected = [
            ("READ", 6000),
            ("UPDATE", 6000),
            ("INSERT", 2000),
            ("SCAN", 2000),
            ("READ-MODIFY-WRITE", 4000),
            ("ALL", 20_000),
        ];
        for (operation, expected) in expected {
            let count = count_of(&ran, operation);
            assert!(count.abs_diff(expected) < 400, "{operation}: {count}");
        }
    });
}

#[rstest]
fn single_fields_are_read_and_all_are_written(#[values(0, 1, 2, 3)] system: usize) {
    let more = [
        "readallfields=false",
        "writeallfields=true",
        "dataintegrity=true",
        "readmodifywriteproportion=0.3",
    ];
    let workload = workload("a", &more);
    with_target(TARGETS[system], |system| {
        assert_all_worked(&load_and_run(system, &workload.core, false).1, OPERATIONS)
    });
}

#[rstest]
fn data_integrity_holds_where_nothing_is_altered(
    #[values(0, 1, 2, 3)] system: usize,
    #[values(false, true)] bulk: bool,
) {
    let workload =
        workload("f", &["dataintegrity=true", "insertproportion=0.1", "updateproportion=0.2"]);
    with_target(TARGETS[system], |system| {
        assert_all_worked(&load_and_run(system, &workload.core, bulk).1, OPERATIONS)
    });
}

#[rstest]
fn data_integrity_finds_what_was_altered(#[values(0, 1, 2, 3)] system: usize) {
    let workload = workload(
        "c",
        &["dataintegrity=true", "insertorder=ordered", "requestdistribution=sequential"],
    );
    with_target(TARGETS[system], |system| {
        let (mut dataset, _) =
            Dataset::load(system, &workload.core, &load_plan(true), &NoWatcher).unwrap();
        let mut altered = Record::default();
        altered.push(&[b'x'; 20]);
        assert!(system.client().unwrap().update("user7", &[2], &altered).unwrap());
        let ran = dataset.run(&workload.core, &run_plan(1), &NoWatcher).unwrap();
        assert_eq!((ran.count, ran.failures), (OPERATIONS - 2, 2));
        assert!(ran.failure_messages[0].contains("field2 of user7"), "{:?}", ran.failure_messages);
    });
}

#[rstest]
fn a_record_that_is_not_found_is_a_failure(#[values(0, 1, 2, 3)] system: usize) {
    let workload = workload("a", &["insertorder=ordered", "requestdistribution=sequential"]);
    with_target(TARGETS[system], |system| {
        let (mut dataset, _) =
            Dataset::load(system, &workload.core, &load_plan(true), &NoWatcher).unwrap();
        assert!(system.client().unwrap().delete("user7").unwrap());
        let ran = dataset.run(&workload.core, &run_plan(1), &NoWatcher).unwrap();
        assert_eq!((ran.count, ran.failures), (OPERATIONS - 2, 2));
        assert!(
            ran.failure_messages[0].contains("user7 was inserted but is not found"),
            "{:?}",
            ran.failure_messages
        );
    });
}

#[test]
fn a_run_inserts_new_records_after_those_of_the_run_before() {
    let workload =
        workload("d", &["insertorder=ordered", "insertproportion=1", "readproportion=0"]);
    with_target(SystemKind::TonnageMemory, |system| {
        let (mut dataset, _) =
            Dataset::load(system, &workload.core, &load_plan(false), &NoWatcher).unwrap();
        for _ in 0..2 {
            assert_all_worked(
                &dataset.run(&workload.core, &run_plan(2), &NoWatcher).unwrap(),
                OPERATIONS,
            );
        }
        let mut client = system.client().unwrap();
        let is_there = |number: u64| {
            client.read(&format!("user{number}"), None, &mut Record::default()).unwrap()
        };
        assert_eq!(
            [RECORDS, RECORDS + 2 * OPERATIONS - 1, RECORDS + 2 * OPERATIONS].map(is_there),
            [true, true, false]
        );
    });
}

#[test]
fn a_part_of_the_records_may_be_loaded() {
    let workload = workload("c", &["insertstart=100", "insertcount=50", "insertorder=ordered"]);
    with_target(SystemKind::TonnageMemory, |system| {
        let (loaded, ran) = load_and_run(system, &workload.core, true);
        assert_all_worked(&loaded, 50);
        assert_all_worked(&ran, OPERATIONS);
        let mut client = system.client().unwrap();
        let is_there = |number: u64| {
            client.read(&format!("user{number}"), None, &mut Record::default()).unwrap()
        };
        assert_eq!([99, 100, 149, 150].map(is_there), [false, true, true, false]);
    });
}

#[test]
fn a_rate_is_kept_and_intended_times_are_told() {
    let workload = workload("c", &["target=2000", "operationcount=400"]);
    with_target(SystemKind::TonnageMemory, |system| {
        let (mut dataset, _) = Dataset::load(
            system,
            &CoreOptions { rate: None, ..workload.core.clone() },
            &load_plan(true),
            &NoWatcher,
        )
        .unwrap();
        let ran = dataset.run(&workload.core, &run_plan(2), &NoWatcher).unwrap();
        assert_all_worked(&ran, 400);
        // The last is due after 0.1995 s; a busy machine may only be slower.
        assert!(ran.seconds >= 0.199, "{}", ran.seconds);
        let read = &ran.operations[0];
        let intended = read.intended.as_ref().unwrap();
        assert!(
            intended.mean_us >= read.service.mean_us,
            "{} {}",
            intended.mean_us,
            read.service.mean_us
        );
    });
}

#[test]
fn without_a_rate_there_are_no_intended_times() {
    with_target(SystemKind::TonnageMemory, |system| {
        let (_, ran) = load_and_run(system, &workload("c", &[]).core, true);
        assert!(ran.operations.iter().all(|operation| operation.intended.is_none()));
    });
}

#[test]
fn a_run_ends_when_its_time_is_over() {
    let workload = workload("c", &["operationcount=0", "maxexecutiontime=1", "target=100"]);
    with_target(SystemKind::TonnageMemory, |system| {
        let core = CoreOptions { rate: None, ..workload.core.clone() };
        let (mut dataset, _) = Dataset::load(system, &core, &load_plan(true), &NoWatcher).unwrap();
        let plan = RunPlan { seconds_max: Some(Duration::from_millis(300)), ..run_plan(2) };
        let ran = dataset.run(&workload.core, &plan, &NoWatcher).unwrap();
        assert!(ran.failures == 0 && (1..=100).contains(&ran.count), "{}", ran.count);
    });
}

#[test]
fn a_run_without_any_end_is_refused() {
    let workload = workload("c", &["operationcount=0"]);
    with_target(SystemKind::TonnageMemory, |system| {
        let (mut dataset, _) =
            Dataset::load(system, &workload.core, &load_plan(true), &NoWatcher).unwrap();
        let error = dataset.run(&workload.core, &run_plan(1), &NoWatcher).unwrap_err().to_string();
        assert!(error.contains("operationcount"), "{error}");
    });
}

#[test]
fn a_run_on_other_records_than_were_loaded_is_refused() {
    with_target(SystemKind::TonnageMemory, |system| {
        let (mut dataset, _) =
            Dataset::load(system, &workload("a", &[]).core, &load_plan(true), &NoWatcher).unwrap();
        let other = workload("b", &["recordcount=501"]);
        assert!(dataset.run(&other.core, &run_plan(1), &NoWatcher).is_err());
        let same = workload("b", &["requestdistribution=uniform"]);
        assert_all_worked(&dataset.run(&same.core, &run_plan(1), &NoWatcher).unwrap(), OPERATIONS);
    });
}

#[test]
fn each_count_of_threads_is_a_run_and_a_point_of_the_chart() {
    let workloads = vec![workload("a", &[]), workload("b", &[])];
    let systems = vec![SystemKind::TonnageMemory, SystemKind::RocksDb];
    let report = bench(YcsbOptions {
        phase: Phase::Run,
        threads: vec![1, 2],
        run: RunOptions { repeats: 3, systems, ..RunOptions::default() },
        ..options(workloads)
    })
    .unwrap();
    assert_eq!(report.runs.len(), 8);
    assert!(
        report.runs.iter().all(|run| run.throughputs.len() == 3 && run.labels["phase"] == "run")
    );
    let titles: Vec<&str> = report.charts.iter().map(|chart| chart.title.as_str()).collect();
    let expected = [
        "Workload a: throughput by threads",
        "Workload b: throughput by threads",
        "Throughput (run phase)",
        "99th percentile (run phase)",
    ];
    assert_eq!(titles, expected);
    let threads: Vec<f64> = report.charts[0].series[0].points.iter().map(|point| point.0).collect();
    assert_eq!(threads, [1.0, 2.0]);
    assert!(report.charts[2].series.iter().all(|bars| bars.points.len() == 2));
}

#[test]
fn the_load_phase_alone_is_repeated_on_empty_targets() {
    let report = bench(YcsbOptions {
        phase: Phase::Load,
        run: RunOptions { repeats: 2, systems: TARGETS.to_vec(), ..RunOptions::default() },
        ..options(vec![workload("a", &["threadcount=2"])])
    })
    .unwrap();
    let runs: Vec<_> = report
        .runs
        .iter()
        .map(|run| (run.name.as_str(), run.throughputs.len(), run.operations_count))
        .collect();
    assert_eq!(runs, [("a / load", 2, RECORDS); TARGETS.len()]);
    assert!(
        report
            .runs
            .iter()
            .all(|run| run.failures == 0 && run.figures.contains_key("settle_seconds"))
    );
}

#[test]
fn ignored_properties_stand_in_the_notes() {
    let workload = workload("c", &["measurementtype=raw"]);
    let report = bench(YcsbOptions {
        run: only(vec![SystemKind::TonnageMemory]),
        ..options(vec![workload])
    })
    .unwrap();
    assert!(report.notes.iter().any(|note| note.contains("measurementtype")), "{:?}", report.notes);
}

#[rstest]
#[case(YcsbOptions { workloads: Vec::new(), ..options(Vec::new()) }, "no workload")]
#[case(options(vec![workload("a", &[]), workload("a", &[])]), "called a")]
#[case(YcsbOptions { run: only(Vec::new()), ..options(vec![workload("a", &[])]) }, "no target")]
#[case(YcsbOptions { threads: vec![1, 0], ..options(vec![workload("a", &[])]) }, "0 threads")]
fn options_that_measure_nothing_are_refused(#[case] options: YcsbOptions, #[case] told: &str) {
    let error = bench(options).unwrap_err().to_string();
    assert!(error.contains(told), "{error}");
}

/// Stops everything at once.
struct Cancelled;

impl crate::measure::Watcher for Cancelled {
    fn begin(&self, _: &str, _: Option<u64>) {}
    fn at(&self, _: u64, _: f64) {}
    fn end(&self, _: &str) {}
    fn is_cancelled(&self) -> bool {
        true
    }
}

#[test]
fn a_benchmark_that_is_cancelled_ends_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let run_options = RunOptions::tiny(directory.path());
    let options = YcsbOptions { run: run_options, ..options(vec![workload("a", &[])]) };
    let report = run(&options, &Cancelled).unwrap();
    assert!(report.runs.is_empty() && report.notes.iter().any(|note| note.contains("stopped")));
}
