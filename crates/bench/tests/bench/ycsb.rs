//! Workloads on tiny data, on every system.

use std::time::Duration;

use rstest::rstest;
use tonnage::Result;
use tonnage_bench::measure::{MeasurePlan, Measured, NoWatcher};
use tonnage_bench::report::{Report, Run};
use tonnage_bench::system::{Record, System, SystemKind};
use tonnage_bench::workload::RunOptions;
use tonnage_bench::workload::ycsb::{
    CoreOptions, Dataset, LoadPlan, Phase, Workload, YcsbOptions, run,
};

use crate::common::{PhaseWatcher, on_tiny};
use crate::systems::open;

const RECORDS: u64 = 500;
const OPERATIONS: u64 = 1000;

/// A core workload on tiny data.
fn workload(name: &str, more: &[&str]) -> Workload {
    let sizes = ["recordcount=500", "operationcount=1000", "fieldcount=4", "fieldlength=20"];
    let arguments: Vec<String> = sizes.iter().chain(more).map(|&text| text.to_owned()).collect();
    Workload::from_arguments(&[name.to_owned()], &arguments).unwrap().remove(0)
}

/// Runs a workload on some systems; `change` says how.
fn bench(
    systems: &[SystemKind],
    workloads: Vec<Workload>,
    change: impl FnOnce(YcsbOptions) -> YcsbOptions,
) -> Result<Report> {
    on_tiny(systems, |options| {
        let options = YcsbOptions { run: options, workloads, ..YcsbOptions::default() };
        run(&change(options), &NoWatcher)
    })
}

fn in_memory(test: impl FnOnce(&dyn System)) {
    test(&*open(SystemKind::TonnageMemory).system);
}

fn on_each(test: impl Fn(&dyn System)) {
    SystemKind::ALL.into_iter().for_each(|kind| test(&*open(kind).system));
}

fn is_there(system: &dyn System, numbers: &[u64]) -> Vec<bool> {
    let mut client = system.client().unwrap();
    let mut read =
        |number| client.read(&format!("user{number}"), None, &mut Record::default()).unwrap();
    numbers.iter().map(&mut read).collect()
}

fn load_plan(bulk: bool) -> LoadPlan {
    LoadPlan { name: "load".to_owned(), threads: 2, bulk }
}

/// Runs a workload on its records.
fn run_on(dataset: &mut Dataset<'_>, core: &CoreOptions, threads: usize) -> Measured {
    dataset.run(core, MeasurePlan::default(), threads, 1).unwrap()
}

fn loaded<'a>(system: &'a dyn System, core: &CoreOptions, bulk: bool) -> (Dataset<'a>, Measured) {
    Dataset::load(system, core, &load_plan(bulk), &NoWatcher).unwrap()
}

/// Loads a workload in bulk, and runs it.
fn ran(system: &dyn System, core: &CoreOptions, threads: usize) -> Measured {
    run_on(&mut loaded(system, core, true).0, core, threads)
}

fn assert_all_worked(measured: &Measured, count: u64) {
    assert_eq!((measured.failures, measured.failure_messages.as_slice()), (0, [].as_slice()));
    assert_eq!(measured.operations_count, count);
}

#[rstest]
fn every_core_workload_does_what_it_is_asked_for(
    #[values("a", "b", "c", "d", "e", "f")] name: &str,
    #[values(false, true)] bulk_load: bool,
) {
    let change = |options| YcsbOptions { bulk_load, threads: vec![2], ..options };
    let report = bench(&SystemKind::ALL, vec![workload(name, &[])], change).unwrap();
    let run_counts = |run: &Run| {
        assert_eq!(run.failure_messages, [""; 0], "{}", run.title());
        (run.target.clone(), run.labels["phase"].clone(), run.operations_count)
    };
    let expected = SystemKind::ALL.map(|system| {
        [("load", RECORDS), ("run", OPERATIONS)]
            .map(|(phase, count)| (system.name().to_owned(), phase.to_owned(), count))
    });
    assert_eq!(report.runs.iter().map(run_counts).collect::<Vec<_>>(), expected.concat());
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
    in_memory(|system| {
        let (mut dataset, _) = loaded(system, &workload.core, false);
        let ran = run_on(&mut dataset, &workload.core, 3);
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
        "readmodifywriteproportion=0.2",
        "operationcount=20000",
    ];
    in_memory(|system| {
        let ran = ran(system, &workload("a", &more).core, 3);
        assert_all_worked(&ran, 20_000);
        let expected = [
            ("READ", 6000_u64),
            ("UPDATE", 6000),
            ("INSERT", 2000),
            ("SCAN", 2000),
            ("READ-MODIFY-WRITE", 4000),
            ("ALL", 20_000),
        ];
        for ((name, expected), seen) in expected.into_iter().zip(&ran.operations) {
            assert_eq!(seen.name, name);
            assert!(seen.count.abs_diff(expected) < 400, "{name}: {}", seen.count);
        }
    });
}

const READS_BEFORE: &str = "readmodifywriteproportion=0.3";

#[rstest]
#[case::fields_by_themselves("a", &["readallfields=false", "writeallfields=true", READS_BEFORE])]
#[case::nothing_is_altered("f", &["insertproportion=0.1", "updateproportion=0.2"])]
fn data_integrity_holds_on_every_system(#[case] name: &str, #[case] more: &[&str]) {
    let workload = workload(name, &[more, &["dataintegrity=true"]].concat());
    on_each(|system| {
        let (mut dataset, _) = loaded(system, &workload.core, false);
        let ran = run_on(&mut dataset, &workload.core, 3);
        assert_all_worked(&ran, OPERATIONS);
    });
    on_each(|system| assert_all_worked(&ran(system, &workload.core, 3), OPERATIONS));
}

#[test]
fn data_integrity_finds_what_was_altered() {
    let more = ["dataintegrity=true", "insertorder=ordered", "requestdistribution=sequential"];
    let workload = workload("c", &more);
    on_each(|system| {
        let (mut dataset, _) = loaded(system, &workload.core, true);
        let (mut altered, mut buffer) = (Record::default(), Record::default());
        altered.push(&[b'x'; 20]);
        let mut client = system.client().unwrap();
        assert!(client.update("user7", &[2], &altered, &mut buffer).unwrap());
        let ran = run_on(&mut dataset, &workload.core, 1);
        assert_eq!((ran.operations_count, ran.failures), (OPERATIONS - 2, 2));
        assert!(ran.failure_messages[0].contains("field2 of user7"), "{:?}", ran.failure_messages);
    });
}

#[test]
fn a_record_that_is_not_found_is_a_failure() {
    let workload = workload("a", &["insertorder=ordered", "requestdistribution=latest"]);
    on_each(|system| {
        let (mut dataset, _) = loaded(system, &workload.core, true);
        // As if one more had been inserted.
        dataset.records_end += 1;
        let ran = run_on(&mut dataset, &workload.core, 1);
        assert_eq!(ran.operations_count + ran.failures, OPERATIONS);
        let message = &ran.failure_messages[0];
        assert!(message.contains("user500 was inserted but is not found"), "{message}");
    });
}

#[test]
fn a_run_inserts_new_records_after_those_of_the_run_before() {
    let workload =
        workload("d", &["insertorder=ordered", "insertproportion=1", "readproportion=0"]);
    in_memory(|system| {
        let (mut dataset, _) = loaded(system, &workload.core, false);
        for _ in 0..2 {
            let ran = run_on(&mut dataset, &workload.core, 2);
            assert_all_worked(&ran, OPERATIONS);
        }
        let end = RECORDS + 2 * OPERATIONS;
        assert_eq!(is_there(system, &[RECORDS, end - 1, end]), [true, true, false]);
    });
}

#[test]
fn a_part_of_the_records_may_be_loaded() {
    let workload = workload("c", &["insertstart=100", "insertcount=50", "insertorder=ordered"]);
    in_memory(|system| {
        let (mut dataset, loaded) = loaded(system, &workload.core, true);
        assert_all_worked(&loaded, 50);
        let ran = run_on(&mut dataset, &workload.core, 3);
        assert_all_worked(&ran, OPERATIONS);
        assert_eq!(is_there(system, &[99, 100, 149, 150]), [false, true, true, false]);
    });
}

#[test]
fn a_rate_is_kept_and_intended_times_are_told() {
    let workload = workload("c", &["target=2000", "operationcount=400"]);
    in_memory(|system| {
        let ran = ran(system, &workload.core, 2);
        assert_all_worked(&ran, 400);
        // The last is due after 0.1995 s; a busy machine may only be slower.
        assert!(ran.seconds >= 0.199, "{}", ran.seconds);
        let read = &ran.operations[0];
        let (service, intended) = (read.service.mean_us, read.intended.as_ref().unwrap().mean_us);
        assert!(intended >= service, "{intended} {service}");
    });
}

#[test]
fn without_a_rate_there_are_no_intended_times() {
    in_memory(|system| {
        let ran = ran(system, &workload("c", &[]).core, 3);
        assert!(ran.operations.iter().all(|operation| operation.intended.is_none()));
    });
}

#[test]
fn a_run_ends_when_its_time_is_over() {
    let workload = workload("c", &["operationcount=0", "maxexecutiontime=60", "target=100"]);
    in_memory(|system| {
        let (mut dataset, _) = loaded(system, &workload.core, true);
        let seconds_max = Some(Duration::from_millis(300));
        let plan = MeasurePlan { seconds_max, ..MeasurePlan::default() };
        let ran = dataset.run(&workload.core, plan, 2, 1).unwrap();
        assert_eq!(ran.failures, 0);
        assert!((0.3..60.0).contains(&ran.seconds), "{}", ran.seconds);
        let due = ran.seconds * 100.0 + 1.0;
        assert!(ran.operations_count as f64 <= due, "{} of {due}", ran.operations_count);
    });
}

#[test]
fn a_run_on_other_records_than_were_loaded_is_refused() {
    in_memory(|system| {
        let (mut dataset, _) = loaded(system, &workload("a", &[]).core, true);
        let other = workload("b", &["recordcount=501"]);
        assert!(dataset.run(&other.core, MeasurePlan::default(), 1, 1).is_err());
        let same = workload("b", &["requestdistribution=uniform"]);
        assert_all_worked(&run_on(&mut dataset, &same.core, 1), OPERATIONS);
    });
}

#[test]
fn each_count_of_threads_is_a_run_and_a_point_of_the_chart() {
    let workloads = vec![workload("a", &[]), workload("b", &[])];
    let systems = [SystemKind::TonnageMemory, SystemKind::RocksDb];
    let report = bench(&systems, workloads, |options| YcsbOptions {
        phase: Phase::Run,
        threads: vec![1, 2],
        run: RunOptions { repeats: 3, ..options.run },
        ..options
    })
    .unwrap();
    assert_eq!(report.runs.len(), 8);
    let is_run = |run: &Run| run.throughputs.len() == 3 && run.labels["phase"] == "run";
    assert!(report.runs.iter().all(is_run));
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
    let workloads = vec![workload("a", &["threadcount=2"])];
    let report = bench(&SystemKind::ALL, workloads, |options| YcsbOptions {
        phase: Phase::Load,
        run: RunOptions { repeats: 2, ..options.run },
        ..options
    })
    .unwrap();
    let told = |run: &Run| (run.name.clone(), run.throughputs.len(), run.operations_count);
    let runs: Vec<_> = report.runs.iter().map(told).collect();
    assert_eq!(runs, vec![("a / load".to_owned(), 2, RECORDS); SystemKind::ALL.len()]);
    let settled = |run: &Run| run.failures == 0 && run.figures.contains_key("settle_seconds");
    assert!(report.runs.iter().all(settled));
}

#[test]
fn ignored_properties_stand_in_the_notes() {
    let workloads = vec![workload("c", &["measurementtype=raw"])];
    let report = bench(&[SystemKind::TonnageMemory], workloads, |options| options).unwrap();
    assert!(report.notes.iter().any(|note| note.contains("measurementtype")), "{:?}", report.notes);
}

#[rstest]
#[case(&SystemKind::ALL, vec![], "no workload")]
#[case(&SystemKind::ALL, vec![workload("a", &[]), workload("a", &[])], "called a")]
#[case(&[], vec![workload("a", &[])], "no target")]
#[case(&SystemKind::ALL, vec![workload("c", &["operationcount=0"])], "operationcount")]
fn options_that_measure_nothing_are_refused(
    #[case] systems: &[SystemKind],
    #[case] workloads: Vec<Workload>,
    #[case] told: &str,
) {
    let error = bench(systems, workloads, |options| options).unwrap_err().to_string();
    assert!(error.contains(told), "{error}");
}

#[test]
fn no_threads_are_refused() {
    let change = |options| YcsbOptions { threads: vec![1, 0], ..options };
    let error = bench(&SystemKind::ALL, vec![workload("a", &[])], change).unwrap_err();
    assert!(error.to_string().contains("0 threads"), "{error}");
}

#[test]
fn a_benchmark_that_is_cancelled_ends_and_says_so() {
    let report = on_tiny(&SystemKind::ALL, |options| {
        let workloads = vec![workload("a", &[])];
        let options = YcsbOptions { run: options, workloads, ..YcsbOptions::default() };
        run(&options, &PhaseWatcher::until(0)).unwrap()
    });
    assert!(report.runs.is_empty() && report.notes.iter().any(|note| note.contains("stopped")));
}
