//! The pictures of a matrix: cells in groups of bars, systems and places side by side.

use super::options::MatrixOptions;
use crate::report::{Chart, Run};
use crate::system::SystemKind;

/// The label of the run with the best count of threads of its cell and system.
const BEST: &str = "best";
/// The figure that says how a run compares with the yardstick's best one of the same cell.
const RATIO: &str = "yardstick_ratio";

/// Labels the best runs, and says how they compare with the yardstick.
pub(super) fn mark_best(runs: &mut [Run]) {
    let is_cell = |run: &Run| run.labels.contains_key("workload");
    let best = |run: &Run| is_cell(run) && !runs.iter().any(|other| other.beats(run));
    let best: Vec<bool> = runs.iter().map(best).collect();
    for (run, is_best) in runs.iter_mut().zip(best) {
        run.labels.remove(BEST);
        run.labels.extend(is_best.then(|| (BEST.to_owned(), "yes".to_owned())));
    }
    let ratios: Vec<_> = runs.iter().map(|run| ratio(run, runs)).collect();
    for (run, ratio) in runs.iter_mut().zip(ratios) {
        run.figures.remove(RATIO);
        run.figures.extend(ratio.map(|ratio| (RATIO.to_owned(), ratio)));
    }
}

fn is_best(run: &Run) -> bool {
    run.labels.contains_key(BEST)
}

/// Nothing for the yardstick itself, and where there is none.
fn ratio(run: &Run, runs: &[Run]) -> Option<f64> {
    let yardstick = SystemKind::RocksDb.name();
    let is_yardstick = |other: &&Run| other.target == yardstick && other.name == run.name;
    let compared = runs.iter().filter(is_yardstick).find(|other| is_best(other))?.throughput();
    let comparable = is_best(run) && run.target != yardstick && compared > 0.0;
    comparable.then(|| run.throughput() / compared)
}

/// How high a run's bar is.
type Height = fn(&Run) -> Option<f64>;

/// Throughput, latency and ratio, a picture of each for each size.
pub(super) fn charts(options: &MatrixOptions, runs: &[Run]) -> Vec<Chart> {
    let pictures: [(&str, &str, Height); 3] = [
        ("Throughput", "operations/s", |run| Some(run.throughput())),
        ("Latency, 99th percentile", "µs", |run| run.latency().map(|times| times.at(99.0))),
        ("Ratio to raw RocksDB", "times its throughput", |run| run.figures.get(RATIO).copied()),
    ];
    let mut charts = Vec::new();
    for (title, unit, height) in pictures {
        for size in &options.sizes {
            let title = format!("{title}: data {size} times the memory");
            let mut chart = Chart::bars(&title, "workload and distribution", unit);
            add_cells(&mut chart, options, *size, runs, height);
            charts.push(chart);
        }
    }
    charts.retain(Chart::is_drawn);
    charts
}

fn add_cells(chart: &mut Chart, options: &MatrixOptions, size: f64, runs: &[Run], height: Height) {
    let size = format!("{size}x");
    for workload in &options.workloads {
        for distribution in &options.distributions {
            let labels = [
                ("size", size.as_str()),
                ("workload", &workload.name),
                ("distribution", distribution.name()),
            ];
            let is_of = |run: &&Run| labels.iter().all(|(name, label)| run.label(name) == *label);
            let category = format!("{} {}", workload.name.to_uppercase(), distribution.name());
            chart.categories.push(category.clone());
            for run in runs.iter().filter(|run| is_best(run)).filter(is_of) {
                chart.add_bar(&category, &series_name(options, run), height(run));
            }
        }
    }
}

/// The place is named only where there is more than one.
fn series_name(options: &MatrixOptions, run: &Run) -> String {
    match run.labels.get("directory") {
        Some(directory) if options.run.directories.len() > 1 => {
            format!("{} on {directory}", run.target)
        }
        _ => run.target.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::named;

    fn run(system: &str, threads: usize, throughput: f64) -> Run {
        let labels = [
            ("workload", "a"),
            ("distribution", "uniform"),
            ("size", "0.33x"),
            ("directory", "ssd"),
        ];
        Run {
            name: "a".to_owned(),
            target: system.to_owned(),
            threads,
            labels: named(labels.map(|(name, label)| (name, label.to_owned()))),
            throughputs: vec![throughput],
            ..Run::default()
        }
    }

    #[test]
    fn the_best_count_of_threads_is_compared_with_the_best_of_the_yardstick() {
        let mut runs = [
            run("tonnage-rocksdb", 1, 80.0),
            run("tonnage-rocksdb", 2, 90.0),
            run("rocksdb", 1, 100.0),
        ];
        mark_best(&mut runs);
        assert_eq!(runs.each_ref().map(is_best), [false, true, true]);
        let ratios = runs.each_ref().map(|run| run.figures.get(RATIO).copied());
        assert_eq!(ratios, [None, Some(0.9), None]);
    }

    #[test]
    fn a_better_run_takes_the_label_over() {
        let mut runs = vec![run("rocksdb", 1, 100.0)];
        mark_best(&mut runs);
        runs.push(run("rocksdb", 2, 150.0));
        mark_best(&mut runs);
        assert_eq!(runs.iter().map(is_best).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn each_size_has_its_pictures_with_the_targets_side_by_side() {
        let mut runs = vec![run("tonnage-rocksdb", 1, 90.0), run("rocksdb", 1, 100.0)];
        mark_best(&mut runs);
        let charts = charts(&MatrixOptions::default(), &runs);
        let throughput = &charts[0];
        assert_eq!(throughput.categories.len(), 6);
        assert_eq!(throughput.series[0].points, [(0.0, 90.0)]);
        assert_eq!(throughput.series[1].points, [(0.0, 100.0)]);
        let mut ratios = charts.iter().filter(|chart| chart.title.starts_with("Ratio"));
        assert!(ratios.any(|chart| chart.series[0].points == [(0.0, 0.9)]));
    }
}
