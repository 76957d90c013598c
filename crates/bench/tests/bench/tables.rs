//! The workload on tiny inputs, so that it cannot rot.

use std::time::Duration;

use rstest::rstest;
use tonnage::ErrorKind;
use tonnage_bench::measure::NoWatcher;
use tonnage_bench::report::{Report, Run};
use tonnage_bench::system::SystemKind;
use tonnage_bench::workload::RunOptions;
use tonnage_bench::workload::tables::{Subject, TableKey, TablesOptions, run};

use crate::common::{assert_all_worked, on_tiny};

fn tiny(run: RunOptions) -> TablesOptions {
    TablesOptions {
        run,
        tables: 3,
        tables_many: 4,
        rows: 70,
        rows_large: 90,
        queries: 7,
        table_rows: 3_000,
        list_keys: 100,
        window: Duration::ZERO,
        ..TablesOptions::default()
    }
}

/// Of two repeats.
fn report_of(
    systems: &[SystemKind],
    change: impl FnOnce(TablesOptions) -> TablesOptions,
) -> Report {
    on_tiny(systems, |options| {
        let tiny = tiny(RunOptions { repeats: 2, ..options });
        run(&change(tiny), &NoWatcher).unwrap()
    })
}

fn of_subject(report: &Report, subject: Subject) -> impl Iterator<Item = &Run> {
    report.runs.iter().filter(move |run| run.labels["subject"] == subject.name())
}

#[rstest]
fn every_row_goes_in_and_comes_out_and_every_answer_is_right(
    #[values(TableKey::Id, TableKey::Name)] key: TableKey,
) {
    let report = report_of(&SystemKind::ALL, |tiny| TablesOptions { key, ..tiny });
    assert_all_worked(&report);
    assert!(report.runs.iter().all(|run| run.throughputs.len() == 2), "{:?}", report.runs);
    // On each of the two systems that have tables. Put and get: each size in two ways.
    let runs = |subject| of_subject(&report, subject).count();
    assert_eq!(Subject::ALL.map(runs), [2 * 6, 2 * 4, 2 * 4, 2 * 6, 2 * 4, 2 * 3, 2 * 2, 2 * 2]);
    for run in of_subject(&report, Subject::Put) {
        let label = |name: &str| run.labels[name].parse::<u64>().unwrap();
        assert_eq!(run.operations_count, label("containers") * label("rows"), "{}", run.title());
    }
}

#[test]
fn only_what_is_wanted_is_measured() {
    let subjects = vec![Subject::OneRow, Subject::Index];
    let change = |tiny| TablesOptions { subjects, ..tiny };
    let report = report_of(&[SystemKind::TonnageMemory], change);
    let mut subjects: Vec<&str> =
        report.runs.iter().map(|run| run.labels["subject"].as_str()).collect();
    subjects.dedup();
    assert_eq!(subjects, ["one-row", "index"]);
}

#[test]
fn ratios_charts_and_what_was_left_out_are_in_the_report() {
    let report = report_of(&SystemKind::ALL, |tiny| tiny);
    for start in [
        "tonnage-rocksdb, put: 3 × 70 rows: one call does ",
        "tonnage-memory, aggregates: 15 queries, 3 × 70 rows: one call does ",
        "tonnage-memory: with the index, EXPLAIN says of the condition: StoreScan",
        "rocksdb does not offer calls over several tables",
    ] {
        assert!(report.notes.iter().any(|note| note.starts_with(start)), "{start}");
    }
    let bars: Vec<usize> = report.charts.iter().map(|chart| chart.series.len()).collect();
    assert_eq!(bars, [4, 4, 4, 4, 4, 6, 2, 4], "the ways of each subject on two targets");
}

#[rstest]
#[case(TablesOptions { tables: 0, ..TablesOptions::default() })]
#[case(TablesOptions { subjects: Vec::new(), ..TablesOptions::default() })]
#[case(TablesOptions { list_keys: 11, table_rows: 10, ..TablesOptions::default() })]
fn options_that_make_no_sense_are_refused(#[case] nonsense: TablesOptions) {
    assert_eq!(run(&nonsense, &NoWatcher).unwrap_err().kind(), ErrorKind::Invalid);
}
