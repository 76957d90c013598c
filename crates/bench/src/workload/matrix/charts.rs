//! The pictures of a matrix: cells in groups of bars, systems and places side by side.

use super::options::MatrixOptions;
use crate::report::{Chart, ChartKind, ChartSeries, Run};
use crate::system::SystemKind;

/// The label of the run with the best count of threads of its cell and system.
const BEST: &str = "best";
/// The figure that tells how a run compares with the yardstick's best one of the same cell.
const RATIO: &str = "yardstick_ratio";

/// Labels the best runs, and tells how they compare with the yardstick.
pub(super) fn mark_best(runs: &mut [Run]) {
    for place in 0..runs.len() {
        let is_best = is_cell(&runs[place]) && !runs.iter().any(|other| beats(other, &runs[place]));
        match is_best {
            true => runs[place].labels.insert(BEST.to_owned(), "yes".to_owned()),
            false => runs[place].labels.remove(BEST),
        };
    }
    for place in 0..runs.len() {
        match ratio(&runs[place], runs) {
            Some(ratio) => runs[place].figures.insert(RATIO.to_owned(), ratio),
            None => runs[place].figures.remove(RATIO),
        };
    }
}

fn is_cell(run: &Run) -> bool {
    run.labels.contains_key("workload")
}

fn is_best(run: &Run) -> bool {
    run.labels.contains_key(BEST)
}

/// Of two that are equally fast the one with fewer threads is the better one.
fn beats(other: &Run, run: &Run) -> bool {
    let same_cell = (&other.name, &other.target) == (&run.name, &run.target);
    let order =
        other.throughput().total_cmp(&run.throughput()).then(run.threads.cmp(&other.threads));
    same_cell && order.is_gt()
}

/// Nothing for the yardstick itself, and where there is none.
fn ratio(run: &Run, runs: &[Run]) -> Option<f64> {
    let yardstick = SystemKind::RocksDb.name();
    let compared = runs
        .iter()
        .find(|other| other.target == yardstick && other.name == run.name && is_best(other))?;
    let comparable = is_best(run) && run.target != yardstick && compared.throughput() > 0.0;
    comparable.then(|| run.throughput() / compared.throughput())
}

/// How high a run's bar is.
type Height = fn(&Run) -> Option<f64>;

/// Throughput, latency and ratio, a picture of each for each size.
pub(super) fn charts(options: &MatrixOptions, runs: &[Run]) -> Vec<Chart> {
    let pictures: [(&str, &str, Height); 3] = [
        ("Throughput", "operations/s", |run| Some(run.throughput())),
        ("Latency, 99th percentile", "µs", p99_us),
        ("Ratio to raw RocksDB", "times its throughput", |run| run.figures.get(RATIO).copied()),
    ];
    let mut charts = Vec::new();
    for (title, unit, height) in pictures {
        for size in &options.sizes {
            charts.extend(chart(options, *size, title, unit, runs, height));
        }
    }
    charts
}

fn p99_us(run: &Run) -> Option<f64> {
    run.latency().map(|times| times.at(99.0))
}

fn chart(
    options: &MatrixOptions,
    size: f64,
    title: &str,
    unit: &str,
    runs: &[Run],
    height: Height,
) -> Option<Chart> {
    let label = format!("{size}x");
    let has = |run: &Run, name: &str, value: &str| {
        run.labels.get(name).is_some_and(|label| label == value)
    };
    let runs: Vec<_> = runs.iter().filter(|run| is_best(run) && has(run, "size", &label)).collect();
    let mut categories = Vec::new();
    let mut series: Vec<ChartSeries> = Vec::new();
    for workload in &options.workloads {
        for distribution in &options.distributions {
            let (workload, distribution) = (workload.name.as_str(), distribution.name());
            let in_group = |run: &&&Run| {
                has(run, "workload", workload) && has(run, "distribution", distribution)
            };
            for run in runs.iter().filter(in_group) {
                let Some(height) = height(run) else { continue };
                series_of(&mut series, series_name(options, run))
                    .points
                    .push((categories.len() as f64, height));
            }
            categories.push(format!("{} {distribution}", workload.to_uppercase()));
        }
    }
    (!series.is_empty()).then(|| Chart {
        title: format!("{title}: data {size} times the memory"),
        kind: ChartKind::Bars,
        x_label: "workload and distribution".to_owned(),
        y_label: unit.to_owned(),
        categories,
        series,
    })
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

fn series_of(all: &mut Vec<ChartSeries>, name: String) -> &mut ChartSeries {
    let place = all.iter().position(|series| series.name == name).unwrap_or_else(|| {
        all.push(ChartSeries { name, points: Vec::new() });
        all.len() - 1
    });
    &mut all[place]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, system: &str, threads: usize, throughput: f64) -> Run {
        let labels = [
            ("workload", "a"),
            ("distribution", "uniform"),
            ("size", "0.33x"),
            ("directory", "ssd"),
        ];
        let labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let (name, system) = (name.to_owned(), system.to_owned());
        Run {
            name,
            target: system,
            threads,
            labels,
            throughputs: vec![throughput],
            ..Run::default()
        }
    }

    #[test]
    fn the_best_count_of_threads_is_compared_with_the_best_of_the_yardstick() {
        let mut runs = [
            run("a", "tonnage-rocksdb", 1, 80.0),
            run("a", "tonnage-rocksdb", 2, 90.0),
            run("a", "rocksdb", 1, 100.0),
        ];
        mark_best(&mut runs);
        assert_eq!(runs.each_ref().map(is_best), [false, true, true]);
        assert_eq!(
            runs.each_ref().map(|run| run.figures.get(RATIO).copied()),
            [None, Some(0.9), None]
        );
    }

    #[test]
    fn a_better_run_takes_the_label_over() {
        let mut runs = vec![run("a", "rocksdb", 1, 100.0)];
        mark_best(&mut runs);
        runs.push(run("a", "rocksdb", 2, 150.0));
        mark_best(&mut runs);
        assert_eq!(runs.iter().map(is_best).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn each_size_has_its_pictures_with_the_targets_side_by_side() {
        let mut runs = vec![run("a", "tonnage-rocksdb", 1, 90.0), run("a", "rocksdb", 1, 100.0)];
        mark_best(&mut runs);
        let charts = charts(&MatrixOptions::default(), &runs);
        let throughput = &charts[0];
        assert_eq!(throughput.categories.len(), 6);
        assert_eq!(throughput.series[0].points, [(0.0, 90.0)]);
        assert_eq!(throughput.series[1].points, [(0.0, 100.0)]);
        assert!(charts.iter().any(
            |chart| chart.title.starts_with("Ratio") && chart.series[0].points == [(0.0, 0.9)]
        ));
    }
}
