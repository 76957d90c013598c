//! Pictures across the runs of a benchmark.

use crate::report::{Chart, Run, distinct};

/// Throughput by threads for each workload that ran with several counts; throughput and 99th
/// percentile by workload where there is something to stand beside.
pub(super) fn charts(runs: &[Run]) -> Vec<Chart> {
    let workloads = distinct(runs.iter().map(|run| run.label("workload")));
    let mut charts: Vec<Chart> =
        workloads.iter().filter_map(|workload| by_threads(runs, workload)).collect();
    for phase in distinct(runs.iter().map(|run| run.label("phase"))) {
        let best = best_of_threads(runs.iter().filter(|run| run.label("phase") == phase));
        if best.len() > 1 {
            let rate = |run: &Run| Some(run.throughput());
            let title = format!("Throughput ({phase} phase)");
            charts.push(by_workload(&best, &title, "operations per second", rate));
            let p99 = |run: &Run| run.operations.last().map(|all| all.service.at(99.0));
            let title = format!("99th percentile ({phase} phase)");
            charts.push(by_workload(&best, &title, "microseconds", p99));
        }
    }
    charts.retain(Chart::is_drawn);
    charts
}

/// Lines over the counts of threads, one for each system.
fn by_threads(runs: &[Run], workload: &str) -> Option<Chart> {
    let title = format!("Workload {workload}: throughput by threads");
    let mut chart = Chart::lines(&title, "threads", "operations per second");
    let is_of = |run: &&Run| (run.label("workload"), run.label("phase")) == (workload, "run");
    for run in runs.iter().filter(is_of) {
        chart.add(&run.target, (run.threads as f64, run.throughput()));
    }
    chart.series.iter().any(|line| line.points.len() > 1).then_some(chart)
}

/// Groups of bars, one group for each workload, one bar for each system.
fn by_workload(
    runs: &[&Run],
    title: &str,
    unit: &str,
    height: impl Fn(&Run) -> Option<f64>,
) -> Chart {
    let mut chart = Chart::bars(title, "workload", unit);
    for run in runs {
        chart.add_bar(run.label("workload"), &run.target, height(run));
    }
    chart
}

/// Of the runs that differ in threads alone, the fastest.
fn best_of_threads<'a>(runs: impl Iterator<Item = &'a Run>) -> Vec<&'a Run> {
    let mut best: Vec<&Run> = Vec::new();
    for run in runs {
        match best.iter_mut().find(|known| (&known.name, &known.target) == (&run.name, &run.target))
        {
            Some(known) if known.throughput() >= run.throughput() => {}
            Some(known) => *known = run,
            None => best.push(run),
        }
    }
    best
}
