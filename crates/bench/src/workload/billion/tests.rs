//! The whole workload on tiny inputs, on each system.

use rstest::rstest;

use super::*;
use crate::measure::{NoWatcher, PhaseWatcher};
use crate::report::Run;
use crate::system::SystemKind;
use crate::workload::{KeyOrder, RunOptions};

fn phases(report: &Report) -> Vec<&str> {
    report.runs.iter().map(|run: &Run| run.labels["phase"].as_str()).collect()
}

fn tiny(directory: &tempfile::TempDir, kind: SystemKind) -> BillionOptions {
    BillionOptions {
        run: RunOptions::tiny(directory, &[kind]),
        records: 20_003,
        connections: 3,
        calls: 4,
        ..BillionOptions::default()
    }
}

#[rstest]
fn every_record_goes_in_and_comes_out(
    #[values(SystemKind::TonnageRocksDb, SystemKind::TonnageMemory, SystemKind::RocksDb)]
    kind: SystemKind,
    #[values(Api::Bulk, Api::Single)] api: Api,
    #[values(KeyOrder::Shuffled, KeyOrder::Ordered)] order: KeyOrder,
) {
    let directory = tempfile::tempdir().unwrap();
    let options = BillionOptions { api, order, ..tiny(&directory, kind) };
    let report = run(&options, &NoWatcher).unwrap();
    assert_eq!(phases(&report), ["put", "get", "overlap"]);
    for run in &report.runs {
        let (counts, messages) = ((run.failures, run.operations_count), &run.failure_messages);
        assert_eq!(counts, (0, options.records), "{}: {messages:?}", run.name);
    }
    assert_eq!(report.charts.len(), 3);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "the data is deleted");
}

#[test]
fn only_the_phases_asked_for_are_reported() {
    let directory = tempfile::tempdir().unwrap();
    let options =
        BillionOptions { phases: vec![Phase::Get], ..tiny(&directory, SystemKind::TonnageMemory) };
    let report = run(&options, &NoWatcher).unwrap();
    assert_eq!(phases(&report), ["get"]);
}

#[test]
fn repeats_are_of_one_run() {
    let directory = tempfile::tempdir().unwrap();
    let tiny = tiny(&directory, SystemKind::TonnageMemory);
    let options = BillionOptions {
        run: RunOptions { repeats: 2, ..tiny.run.clone() },
        phases: vec![Phase::Put],
        ..tiny
    };
    let report = run(&options, &NoWatcher).unwrap();
    assert_eq!(report.runs.iter().map(|run| run.throughputs.len()).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_put_in_calls_has_a_point_of_progress_for_each() {
    let directory = tempfile::tempdir().unwrap();
    let report = run(&tiny(&directory, SystemKind::TonnageMemory), &NoWatcher).unwrap();
    assert_eq!(report.runs[0].progress.len(), 4);
}

#[rstest]
#[case::no_records(BillionOptions { records: 0, ..BillionOptions::default() })]
#[case::no_connections(BillionOptions { connections: 0, ..BillionOptions::default() })]
#[case::only_writes(BillionOptions { factor: 1, ..BillionOptions::default() })]
fn options_that_make_no_sense_are_refused(#[case] options: BillionOptions) {
    assert_eq!(run(&options, &NoWatcher).unwrap_err().kind(), tonnage::ErrorKind::Invalid);
}

#[test]
fn an_interrupted_run_still_has_a_report() {
    let directory = tempfile::tempdir().unwrap();
    let report =
        run(&tiny(&directory, SystemKind::TonnageMemory), &PhaseWatcher::until(0)).unwrap();
    assert!(report.notes.iter().any(|note| note.starts_with("Interrupted")), "{:?}", report.notes);
}
