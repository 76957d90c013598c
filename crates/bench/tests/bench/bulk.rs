//! The workload on tiny inputs, so that it cannot rot.

use rstest::rstest;
use tonnage::{Durability, ErrorKind};
use tonnage_bench::measure::NoWatcher;
use tonnage_bench::report::{Report, Run};
use tonnage_bench::system::SystemKind;
use tonnage_bench::workload::bulk::{BulkBenchOptions, DataKind, KeyPart, run};
use tonnage_bench::workload::{KeyOrder, RunOptions};

use crate::common::{assert_all_worked, on_tiny};

fn tiny(run: RunOptions) -> BulkBenchOptions {
    BulkBenchOptions {
        run,
        records: 550,
        value_bytes: 20,
        streams: 3,
        threads: 2,
        gets: 500,
        singles: 120,
        singles_fsync: 5,
        parallelism: vec![1, 2],
        durabilities: vec![Durability::Write, Durability::Fsync],
        bulk_memory_bytes: Some(8 << 20),
        ..BulkBenchOptions::default()
    }
}

fn report_of(
    systems: &[SystemKind],
    change: impl FnOnce(BulkBenchOptions) -> BulkBenchOptions,
) -> Report {
    let report = on_tiny(systems, |options| run(&change(tiny(options)), &NoWatcher).unwrap());
    assert_all_worked(&report);
    report
}

fn find<'r>(report: &'r Report, system: &str, name: &str) -> &'r Run {
    let found = report.runs.iter().find(|run| run.target == system && run.name == name);
    found.unwrap_or_else(|| panic!("no run {name} on {system}"))
}

#[rstest]
fn every_record_is_put_and_every_key_is_found(
    #[values(KeyOrder::Ordered, KeyOrder::Shuffled)] order: KeyOrder,
    #[values(KeyPart::Whole, KeyPart::Partial)] keys: KeyPart,
    #[values(false, true)] children: bool,
) {
    let systems = SystemKind::ALL;
    let report = report_of(&systems, |tiny| BulkBenchOptions { order, keys, children, ..tiny });
    let family = if children { 3 } else { 1 };
    let tables = systems.iter().filter(|system| **system != SystemKind::RocksDb);
    for system in tables.map(|system| system.name()) {
        let count = |name: &str| find(&report, system, name).operations_count;
        assert_eq!(count("phones / put / bulk / write"), 550 * family);
        assert_eq!(count("phones / put / single / write"), 120);
        let expected = if keys == KeyPart::Whole { 500 } else { 550 };
        assert_eq!(count("positions / get / bulk"), expected);
        assert_eq!(count("phones / get / bulk / 2 requests"), expected * family);
    }
    let count = |name: &str| find(&report, "rocksdb", name).operations_count;
    assert_eq!(count("pairs / put / bulk / fsync"), 550);
    assert_eq!(count("pairs / put / single / fsync"), 5);
    assert_eq!(count("pairs / get / bulk"), 500);
}

#[rstest]
fn records_that_exist_and_keys_that_do_not_are_told_apart(
    #[values(KeyPart::Whole, KeyPart::Partial)] keys: KeyPart,
    #[values(false, true)] keep_existing: bool,
) {
    let report = report_of(&SystemKind::ALL, |tiny| BulkBenchOptions {
        keys,
        keep_existing,
        existing_percent: 30,
        missing_percent: 40,
        ..tiny
    });
    for system in SystemKind::ALL {
        let found = find(&report, system.name(), "pairs / get / bulk").operations_count;
        assert!((200..400).contains(&found), "of 500 keys about 300 are there: {found}");
    }
}

#[test]
fn the_verdict_names_each_target_and_charts_hold_the_sweep() {
    let pairs = |tiny| BulkBenchOptions { data: vec![DataKind::Pairs], ..tiny };
    let report = report_of(&SystemKind::ALL, pairs);
    for system in SystemKind::ALL {
        let bulk = find(&report, system.name(), "pairs / put / bulk / write");
        assert!(bulk.figures["times_single_loop"] > 0.0);
        assert!(bulk.figures["times_single_loop_on_threads"] > 0.0);
        let verdict = format!("{}, pairs: bulk get does", system.name());
        assert!(report.notes.iter().any(|note| note.starts_with(&verdict)), "{:?}", report.notes);
    }
    let sweep =
        report.charts.iter().find(|chart| chart.title.contains("requests in flight")).unwrap();
    for series in &sweep.series {
        assert!(series.points.iter().map(|point| point.0).eq([1.0, 2.0]), "{series:?}");
    }
}

#[test]
fn a_target_without_tables_is_left_out_of_them_with_a_note() {
    let positions = |tiny| BulkBenchOptions { data: vec![DataKind::Positions], ..tiny };
    let report = report_of(&[SystemKind::RocksDb], positions);
    assert!(report.runs.is_empty());
    let notes = report.notes.join("\n");
    assert!(notes.contains("rocksdb does not offer tables"), "{notes}");
}

#[test]
fn nothing_is_left_behind() {
    report_of(&SystemKind::ALL, |tiny| BulkBenchOptions {
        run: RunOptions { repeats: 2, ..tiny.run },
        data: vec![DataKind::Pairs],
        ..tiny
    });
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let wrong = [
        BulkBenchOptions { records: 0, ..BulkBenchOptions::default() },
        BulkBenchOptions {
            run: RunOptions { systems: Vec::new(), ..RunOptions::default() },
            ..BulkBenchOptions::default()
        },
        BulkBenchOptions { existing_percent: 101, ..BulkBenchOptions::default() },
        BulkBenchOptions { parallelism: vec![2, 0], ..BulkBenchOptions::default() },
    ];
    for options in wrong {
        assert_eq!(run(&options, &NoWatcher).unwrap_err().kind(), ErrorKind::Invalid);
    }
}
