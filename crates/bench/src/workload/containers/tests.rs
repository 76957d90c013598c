//! The workload on tiny inputs, so that it cannot rot.

use rstest::rstest;
use tonnage::ErrorKind;

use super::*;
use crate::measure::NoWatcher;
use crate::workload::Place;

fn tiny(directory: &std::path::Path) -> ContainersOptions {
    ContainersOptions {
        targets: TargetKind::ALL.to_vec(),
        place: Place { label: "test".to_owned(), directory: directory.to_path_buf() },
        containers: 3,
        rows: 70,
        memory_bytes: Some(32 << 20),
        repeats: 2,
        ..ContainersOptions::default()
    }
}

#[rstest]
fn every_row_goes_in_and_comes_out(#[values(ContainerKey::Id, ContainerKey::Name)] key: ContainerKey) {
    let directory = tempfile::tempdir().unwrap();
    let report = run(&ContainersOptions { key, ..tiny(directory.path()) }, &NoWatcher).unwrap();
    assert_eq!(report.runs.len(), 2 * 8, "two targets have tables, with two counts, two phases and two methods each");
    for run in &report.runs {
        assert_eq!(run.failures, 0, "{} on {}: {:?}", run.name, run.target, run.failure_messages);
        let expected = if run.labels["containers"] == "1" { 70 } else { 210 };
        assert_eq!(run.operations_count, expected, "{} on {}", run.name, run.target);
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn ratios_charts_and_what_was_left_out_are_in_the_report() {
    let directory = tempfile::tempdir().unwrap();
    let report = run(&tiny(directory.path()), &NoWatcher).unwrap();
    let says = |start: &str| report.notes.iter().any(|note| note.starts_with(start));
    assert!(says("tonnage-rocksdb, 3 containers: multi put does"), "{:?}", report.notes);
    assert!(says("tonnage-memory: queries are not offered yet") && says("rocksdb does not offer calls over several tables"));
    assert_eq!(report.charts.iter().map(|chart| chart.series.len()).collect::<Vec<_>>(), [4, 4]);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let nothing = ContainersOptions { containers: 0, ..ContainersOptions::default() };
    assert_eq!(run(&nothing, &NoWatcher).unwrap_err().kind(), ErrorKind::Invalid);
}
