//! Two reports side by side.

use rstest::rstest;
use tonnage::arrow::array::AsArray;
use tonnage::arrow::datatypes::Float64Type;
use tonnage_bench::report::Verdict::{Faster, Slower, TooFewReadings, WithinNoise};
use tonnage_bench::report::{Comparison, NoiseSource, Report, Run, Verdict, compare};

use super::sample;

fn report(runs: Vec<Run>) -> Report {
    Report { runs, ..sample::report() }
}

fn compared(a: Run, b: Run) -> Comparison {
    compare(&report(vec![a]), &report(vec![b]))
}

fn run(throughputs: &[f64]) -> Run {
    let run = sample::run("a / zipfian", "rocksdb", throughputs[0]);
    Run { throughputs: throughputs.to_vec(), ..run }
}

/// A run of one repeat, whose seconds go up and down by a share.
fn single(rate: f64, share: f64, seconds: usize) -> Run {
    let mut run = run(&[rate]);
    run.series.iter_mut().for_each(|second| second.warm_up = false);
    run.series.truncate(seconds);
    for (number, second) in run.series.iter_mut().enumerate() {
        second.throughput = rate * (1.0 + if number / 6 % 2 == 0 { share } else { -share });
    }
    run
}

fn nothing() -> Run {
    Run { throughputs: vec![0.0; 3], ..run(&[1.0]) }
}

const REPEATS: Option<NoiseSource> = Some(NoiseSource::Repeats);
const READINGS: Option<NoiseSource> = Some(NoiseSource::Readings);

#[rstest]
#[case::a_clear_gain(run(&[100.0, 101.0, 99.0]), run(&[120.0, 121.0, 119.0]), Faster, REPEATS)]
#[case::a_clear_loss(run(&[120.0, 121.0, 119.0]), run(&[100.0, 101.0, 99.0]), Slower, REPEATS)]
#[case::repeats_vary(run(&[100.0, 120.0, 80.0]), run(&[110.0, 130.0, 90.0]), WithinNoise, REPEATS)]
#[case::steady_seconds(single(100.0, 0.01, 60), single(120.0, 0.01, 60), Faster, READINGS)]
#[case::seconds_vary(single(100.0, 0.5, 60), single(120.0, 0.5, 60), WithinNoise, READINGS)]
// Two runs differ by that much.
#[case::near(single(100.0, 0.0, 60), single(102.0, 0.0, 60), WithinNoise, READINGS)]
#[case::few_seconds(single(100.0, 0.0, 7), single(200.0, 0.0, 60), TooFewReadings, None)]
#[case::nothing_is_no_gain(nothing(), run(&[1.0, 1.0, 1.0]), TooFewReadings, None)]
#[case::nothing_on_both_sides(nothing(), nothing(), TooFewReadings, None)]
fn a_difference_counts_beyond_the_noise(
    #[case] a: Run,
    #[case] b: Run,
    #[case] verdict: Verdict,
    #[case] source: Option<NoiseSource>,
) {
    let comparison = compared(a, b);
    let noise = comparison.matches[0].noise.map(|(_, source)| source);
    assert_eq!((comparison.matches[0].verdict, noise), (verdict, source));
}

#[test]
fn what_one_side_alone_has_is_listed() {
    let other = |name: &str| Run { name: name.to_owned(), ..run(&[1.0]) };
    let comparison = compare(
        &report(vec![run(&[1.0]), other("only here")]),
        &report(vec![other("only there"), run(&[1.0])]),
    );
    assert_eq!(comparison.matches.len(), 1);
    let [here, there] =
        ["only here", "only there"].map(|name| format!("{name} / rocksdb / 4 threads"));
    assert!(comparison.notes().contains(&format!("Only b has {there}.")));
    assert_eq!(comparison.only, [vec![here], vec![there]]);
}

#[test]
fn targets_are_compared_where_each_side_has_one() {
    let other =
        Run { target: "tonnage-rocksdb".to_owned(), threads: 8, ..run(&[90.0, 91.0, 89.0]) };
    let comparison = compared(run(&[100.0, 101.0, 99.0]), other);
    assert_eq!(comparison.matches[0].target, "rocksdb, 4 threads → tonnage-rocksdb, 8 threads");
    assert_eq!(comparison.matches[0].verdict, Verdict::Slower);
}

#[test]
fn targets_are_not_mixed_up_where_a_side_has_several() {
    let other = Run { target: "tonnage-rocksdb".to_owned(), ..run(&[90.0]) };
    let comparison = compare(&report(vec![run(&[100.0]), other.clone()]), &report(vec![other]));
    assert_eq!(comparison.matches.len(), 1);
    assert_eq!(comparison.matches[0].target, "tonnage-rocksdb, 4 threads");
    assert_eq!(comparison.only[0].len(), 1);
}

#[test]
fn other_machines_programs_and_settings_are_told() {
    let (a, mut b) = (sample::report(), sample::report());
    assert!(compare(&a, &b).notes().is_empty());
    b.environment.memory_bytes = 64 << 30;
    b.environment.load_average = 9.0;
    b.environment.disks[0].free_bytes = 1;
    b.settings.insert("records".to_owned(), "2".to_owned());
    b.settings.insert("new".to_owned(), "on".to_owned());
    let notes = compare(&a, &b).notes();
    let expected = [
        "The memory differs: 23 GiB in a, 64 GiB in b.",
        "The setting records differs: 1,000,000 in a, 2 in b.",
        "The setting new differs: nothing in a, on in b.",
    ];
    assert_eq!(notes, expected);
}

#[test]
fn the_table_has_ratios_and_verdicts() {
    let table = compared(run(&[100.0, 101.0, 99.0]), run(&[150.0, 151.0, 149.0])).table();
    assert_eq!(table.num_rows(), 1);
    for (name, expected) in [("a_per_second", 100.0), ("b_per_second", 150.0), ("b_to_a", 1.5)] {
        let numbers = table.column_by_name(name).unwrap().as_primitive::<Float64Type>();
        assert_eq!(numbers.value(0), expected, "{name}");
    }
    assert_eq!(table.column_by_name("b_is").unwrap().as_string::<i32>().value(0), "faster");
}
