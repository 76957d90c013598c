//! The whole workload on tiny inputs, on each system.

use rstest::rstest;
use tonnage_bench::measure::NoWatcher;
use tonnage_bench::report::{Report, Run};
use tonnage_bench::system::SystemKind;
use tonnage_bench::workload::billion::{Api, BillionOptions, Phase, run};
use tonnage_bench::workload::{KeyOrder, RunOptions};

use crate::common::{PhaseWatcher, assert_all_worked, on_tiny};

fn phases(report: &Report) -> Vec<&str> {
    report.runs.iter().map(|run: &Run| run.labels["phase"].as_str()).collect()
}

fn tiny(run: RunOptions) -> BillionOptions {
    BillionOptions { run, records: 20_003, connections: 3, calls: 4, ..BillionOptions::default() }
}

/// In memory.
fn report_of(change: impl FnOnce(BillionOptions) -> BillionOptions) -> Report {
    let run_on = |options| run(&change(tiny(options)), &NoWatcher).unwrap();
    on_tiny(&[SystemKind::TonnageMemory], run_on)
}

#[rstest]
fn every_record_goes_in_and_comes_out(
    #[values(SystemKind::TonnageRocksDb, SystemKind::TonnageMemory, SystemKind::RocksDb)]
    kind: SystemKind,
    #[values(Api::Bulk, Api::Single)] api: Api,
    #[values(KeyOrder::Shuffled, KeyOrder::Ordered)] order: KeyOrder,
) {
    let report = on_tiny(&[kind], |options| {
        run(&BillionOptions { api, order, ..tiny(options) }, &NoWatcher).unwrap()
    });
    assert_eq!(phases(&report), ["put", "get", "overlap"]);
    assert_all_worked(&report);
    assert!(report.runs.iter().all(|run| run.operations_count == 20_003), "{:?}", report.runs);
    assert_eq!(report.charts.len(), 3);
}

#[test]
fn only_the_phases_asked_for_are_reported() {
    let report = report_of(|tiny| BillionOptions { phases: vec![Phase::Get], ..tiny });
    assert_eq!(phases(&report), ["get"]);
}

#[test]
fn repeats_are_of_one_run() {
    let report = report_of(|tiny| BillionOptions {
        run: RunOptions { repeats: 2, ..tiny.run },
        phases: vec![Phase::Put],
        ..tiny
    });
    assert_eq!(report.runs.iter().map(|run| run.throughputs.len()).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_put_in_calls_has_a_point_of_progress_for_each() {
    assert_eq!(report_of(|tiny| tiny).runs[0].progress.len(), 4);
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
    let report = on_tiny(&[SystemKind::TonnageMemory], |options| {
        run(&tiny(options), &PhaseWatcher::until(0)).unwrap()
    });
    assert!(report.notes.iter().any(|note| note.starts_with("Interrupted")), "{:?}", report.notes);
}
