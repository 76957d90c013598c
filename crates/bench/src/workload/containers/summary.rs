//! What the runs say together.

use std::collections::BTreeMap;

use super::{ContainersOptions, Method, Phase};
use crate::report::{Chart, ChartKind, ChartSeries, Report};

/// The options as names and values.
pub(super) fn settings(options: &ContainersOptions) -> BTreeMap<String, String> {
    [
        ("containers", options.containers.to_string()),
        ("rows", options.rows.to_string()),
        ("key", format!("{:?}", options.key).to_lowercase()),
        ("durability", format!("{:?}", options.durability).to_lowercase()),
        ("memory_bytes", options.memory_bytes.map_or("the target's own".to_owned(), |bytes| bytes.to_string())),
        ("direct_io", options.direct_io.to_string()),
        ("repeats", options.repeats.to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

fn containers(count: usize) -> String {
    if count == 1 { "1 container".to_owned() } else { format!("{count} containers") }
}

/// What a run is called.
pub(super) fn run_name(count: usize, phase: Phase, method: Method) -> String {
    format!("{} / {} / {}", containers(count), phase.name(), method.name())
}

/// Adds figures, notes and charts that compare the runs of a report.
pub(super) fn add_to(report: &mut Report, options: &ContainersOptions) {
    for phase in [Phase::Put, Phase::Get] {
        for (target, count) in pairs(options) {
            add_ratio(report, target, count, phase);
        }
    }
    let charts = [Phase::Put, Phase::Get].map(|phase| chart(report, options, phase));
    report.charts.extend(charts.into_iter().filter(|chart| !chart.series.is_empty()));
}

fn pairs(options: &ContainersOptions) -> impl Iterator<Item = (&'static str, usize)> {
    options.targets.iter().flat_map(|target| options.counts().map(|count| (target.name(), count)))
}

fn rate(report: &Report, target: &str, name: &str) -> Option<f64> {
    let run = report.runs.iter().find(|run| run.target == target && run.name == name)?;
    Some(run.throughput()).filter(|rate| *rate > 0.0)
}

/// How many times the loop's rate one call reaches.
fn add_ratio(report: &mut Report, target: &str, count: usize, phase: Phase) {
    let [single, multi] = [Method::Single, Method::Multi].map(|method| run_name(count, phase, method));
    let (Some(loop_rate), Some(call_rate)) = (rate(report, target, &single), rate(report, target, &multi)) else { return };
    let times = call_rate / loop_rate;
    report.notes.push(format!(
        "{target}, {}: multi {} does {times:.1} times the rows of the loop.",
        containers(count),
        phase.name()
    ));
    if let Some(run) = report.runs.iter_mut().find(|run| run.target == target && run.name == multi) {
        run.figures.insert("times_single_loop".to_owned(), times);
    }
}

fn chart(report: &Report, options: &ContainersOptions, phase: Phase) -> Chart {
    let mut series = Vec::new();
    for target in options.targets.iter().map(|target| target.name()) {
        for method in [Method::Single, Method::Multi] {
            let point = |(place, count)| Some((place as f64, rate(report, target, &run_name(count, phase, method))?));
            let points: Vec<_> = options.counts().enumerate().filter_map(point).collect();
            if !points.is_empty() {
                series.push(ChartSeries { name: format!("{target} {}", method.name()), points });
            }
        }
    }
    Chart {
        title: format!("Containers: {}", phase.name()),
        kind: ChartKind::Bars,
        x_label: "containers".to_owned(),
        y_label: "rows/s".to_owned(),
        categories: options.counts().map(containers).collect(),
        series,
    }
}
