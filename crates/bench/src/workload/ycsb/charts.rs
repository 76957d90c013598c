//! Pictures across the runs of a benchmark.

use crate::report::{Chart, ChartKind, ChartSeries, Run};

/// Throughput by threads for each workload that ran with several counts; throughput and 99th
/// percentile by workload where there is something to stand beside.
pub(super) fn charts(runs: &[Run]) -> Vec<Chart> {
    let workloads = distinct(runs, |run| label(run, "workload"));
    let mut charts: Vec<Chart> =
        workloads.iter().filter_map(|workload| by_threads(runs, workload)).collect();
    let phases = distinct(runs, |run| label(run, "phase"));
    for phase in phases {
        let best: Vec<&Run> =
            best_of_threads(runs).into_iter().filter(|run| label(run, "phase") == phase).collect();
        if best.len() > 1 {
            let rate = |run: &Run| Some(run.throughput());
            charts.push(by_workload(
                &best,
                format!("Throughput ({phase} phase)"),
                "operations per second",
                rate,
            ));
            let p99 = |run: &Run| run.operations.last().map(|all| all.service.at(99.0));
            if best.iter().any(|run| p99(run).is_some()) {
                charts.push(by_workload(
                    &best,
                    format!("99th percentile ({phase} phase)"),
                    "microseconds",
                    p99,
                ));
            }
        }
    }
    charts
}

/// Lines over the counts of threads, one for each system.
fn by_threads(runs: &[Run], workload: &str) -> Option<Chart> {
    let runs: Vec<&Run> = runs
        .iter()
        .filter(|run| label(run, "workload") == workload && label(run, "phase") == "run")
        .collect();
    let systems = distinct(runs.iter().copied(), |run| &run.target);
    let line = |system: &str| ChartSeries {
        name: system.to_owned(),
        points: runs
            .iter()
            .filter(|run| run.target == system)
            .map(|run| (run.threads as f64, run.throughput()))
            .collect(),
    };
    let series: Vec<ChartSeries> = systems.into_iter().map(line).collect();
    series.iter().any(|line| line.points.len() > 1).then(|| Chart {
        title: format!("Workload {workload}: throughput by threads"),
        kind: ChartKind::Lines,
        x_label: "threads".to_owned(),
        y_label: "operations per second".to_owned(),
        categories: Vec::new(),
        series,
    })
}

/// Groups of bars, one group for each workload, one bar for each system.
fn by_workload(
    runs: &[&Run],
    title: String,
    unit: &str,
    height: impl Fn(&Run) -> Option<f64>,
) -> Chart {
    let workloads = distinct(runs.iter().copied(), |run| label(run, "workload"));
    let systems = distinct(runs.iter().copied(), |run| &run.target);
    let bars = |system: &str| {
        let of_target = runs.iter().filter(|run| run.target == system);
        let bar = |run: &&Run| {
            let group =
                workloads.iter().position(|workload| *workload == label(run, "workload"))?;
            Some((group as f64, height(run)?))
        };
        ChartSeries { name: system.to_owned(), points: of_target.filter_map(bar).collect() }
    };
    Chart {
        title,
        kind: ChartKind::Bars,
        x_label: "workload".to_owned(),
        y_label: unit.to_owned(),
        series: systems.iter().map(|system| bars(system)).collect(),
        categories: workloads.iter().map(|workload| (*workload).to_owned()).collect(),
    }
}

/// Of the runs that differ in threads alone, the fastest.
fn best_of_threads(runs: &[Run]) -> Vec<&Run> {
    let same = |a: &Run, b: &Run| {
        a.target == b.target
            && label(a, "workload") == label(b, "workload")
            && label(a, "phase") == label(b, "phase")
    };
    let mut best: Vec<&Run> = Vec::new();
    for run in runs {
        match best.iter_mut().find(|before| same(before, run)) {
            Some(before) if before.throughput() >= run.throughput() => {}
            Some(before) => *before = run,
            None => best.push(run),
        }
    }
    best
}

fn label<'a>(run: &'a Run, name: &str) -> &'a str {
    run.labels.get(name).map_or("", String::as_str)
}

/// Each value once, in the order in which they come.
fn distinct<'a>(
    runs: impl IntoIterator<Item = &'a Run>,
    value: impl Fn(&'a Run) -> &'a str,
) -> Vec<&'a str> {
    let mut all = Vec::new();
    for value in runs.into_iter().map(value) {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}
