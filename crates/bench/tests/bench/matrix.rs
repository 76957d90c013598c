//! The whole matrix on tiny inputs, on each system.

use std::collections::BTreeMap;
use std::time::Duration;

use rstest::rstest;
use tonnage_bench::measure::NoWatcher;
use tonnage_bench::system::SystemKind;
use tonnage_bench::workload::RunOptions;
use tonnage_bench::workload::matrix::{MatrixOptions, run};
use tonnage_bench::workload::ycsb::{Requests, Workload};

use crate::common::{PhaseWatcher, assert_all_worked, on_tiny};

fn tiny(run: RunOptions) -> MatrixOptions {
    MatrixOptions {
        run: RunOptions { memory_bytes: Some(16 << 20), repeats: 2, ..run },
        sizes: vec![0.05],
        threads: vec![1, 2],
        cell: Duration::from_millis(300),
        ..MatrixOptions::default()
    }
}

#[rstest]
fn every_cell_is_measured_on_every_target(
    #[values(SystemKind::TonnageRocksDb, SystemKind::TonnageMemory, SystemKind::RocksDb)]
    kind: SystemKind,
) {
    let report = on_tiny(&[kind], |options| run(&tiny(options), &NoWatcher).unwrap());
    let (loads, cells): (Vec<_>, Vec<_>) =
        report.runs.iter().partition(|run| run.name.starts_with("load"));
    assert_eq!((loads.len(), cells.len()), (1, 3 * 2 * 2));
    assert_all_worked(&report);
    for run in &cells {
        assert_eq!(run.throughputs.len(), 2, "{}", run.name);
    }
    // On a busy machine the time of a cell may be over before its first operation. A machine that
    // pauses takes the time of one cell, and not that of all cells of a workload.
    let worked = cells.iter().filter(|run| run.operations_count > 0).count();
    assert!(worked >= cells.len() - 2, "{worked} of {} cells did anything", cells.len());
    let mut by_workload = BTreeMap::new();
    for run in &cells {
        let (workload, _) = run.name.split_once(" / ").unwrap();
        *by_workload.entry(workload).or_insert(0) += run.operations_count;
    }
    let did_all = by_workload.values().all(|operations| *operations > 0);
    assert!(did_all && by_workload.len() == 3, "{by_workload:?}");
}

#[test]
fn a_run_that_was_broken_off_goes_on_with_the_cells_that_are_missing() {
    on_tiny(&[SystemKind::TonnageMemory], |options| {
        let report_directory = tempfile::tempdir().unwrap();
        let tiny = tiny(options);
        let options = MatrixOptions {
            run: RunOptions { repeats: 1, ..tiny.run },
            workloads: Workload::builtin("c").into_iter().collect(),
            distributions: vec![Requests::Uniform, Requests::Zipfian],
            threads: vec![1],
            report_directory: Some(report_directory.path().to_owned()),
            resume: true,
            ..tiny
        };
        // The load, its settling and warming, and the first of the two cells.
        let first = run(&options, &PhaseWatcher::until(5)).unwrap();
        assert_eq!(first.runs.iter().filter(|run| run.name.starts_with("c /")).count(), 1);

        let second = PhaseWatcher::until(usize::MAX);
        let report = run(&options, &second).unwrap();
        assert_eq!((second.seen("c / uniform"), second.seen("c / zipfian")), (0, 1));
        assert_eq!(report.runs.iter().filter(|run| run.name.starts_with("c /")).count(), 2);

        let third = PhaseWatcher::until(usize::MAX);
        run(&options, &third).unwrap();
        assert_eq!(third.seen(""), 0, "there is nothing left to do");

        let run_options = RunOptions { memory_bytes: Some(32 << 20), ..options.run.clone() };
        let other = MatrixOptions { run: run_options, ..options };
        let refused = run(&other, &NoWatcher).unwrap_err().to_string();
        assert!(refused.contains("memory_bytes was 16777216, and is 33554432 now"), "{refused}");
    });
}

#[rstest]
#[case::no_size(MatrixOptions { sizes: vec![], ..MatrixOptions::default() })]
#[case::negative_size(MatrixOptions { sizes: vec![-1.0], ..MatrixOptions::default() })]
#[case::no_threads(MatrixOptions { threads: vec![0], ..MatrixOptions::default() })]
#[case::no_time(MatrixOptions { cell: Duration::ZERO, ..MatrixOptions::default() })]
fn options_that_make_no_sense_are_refused(#[case] options: MatrixOptions) {
    assert_eq!(run(&options, &NoWatcher).unwrap_err().kind(), tonnage::ErrorKind::Invalid);
}
