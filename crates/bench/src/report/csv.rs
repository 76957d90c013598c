//! Runs and their readings as CSV, for other programs.

use std::collections::BTreeSet;

use super::{Latency, OperationReport, Report, Run, Second};

const RUN_COLUMNS: [&str; 8] = [
    "name",
    "target",
    "threads",
    "throughput",
    "throughput_min",
    "throughput_max",
    "seconds",
    "operation",
];
const LATENCY_COLUMNS: [&str; 9] = [
    "mean_us",
    "min_us",
    "p50_us",
    "p90_us",
    "p95_us",
    "p99_us",
    "p99.9_us",
    "p99.99_us",
    "max_us",
];

/// A line for each operation of each run; for runs of bulk calls without operations, one. Labels
/// stand in columns of their own.
pub(super) fn runs(report: &Report) -> String {
    let labels: BTreeSet<&String> = report.runs.iter().flat_map(|run| run.labels.keys()).collect();
    let mut header: Vec<String> = RUN_COLUMNS.map(str::to_owned).to_vec();
    header.extend(["count", "failed"].map(str::to_owned));
    header.extend(LATENCY_COLUMNS.map(str::to_owned));
    header.extend(LATENCY_COLUMNS.map(|column| format!("intended_{column}")));
    header.extend(labels.iter().map(|label| format!("label_{label}")));
    let lines = report.runs.iter().flat_map(|run| {
        let labels = labels
            .iter()
            .map(|&label| run.labels.get(label).cloned().unwrap_or_default())
            .collect::<Vec<_>>();
        run_lines(run).into_iter().map(move |line| [line, labels.clone()].concat())
    });
    document(std::iter::once(header).chain(lines))
}

fn run_lines(run: &Run) -> Vec<Vec<String>> {
    let whole = OperationReport {
        count: run.operations_count,
        failed: run.failures,
        ..OperationReport::default()
    };
    let operations =
        if run.operations.is_empty() { std::slice::from_ref(&whole) } else { &run.operations };
    operations.iter().map(|operation| run_line(run, operation)).collect()
}

fn run_line(run: &Run, operation: &OperationReport) -> Vec<String> {
    let mut line = run_key(run);
    let (least, most) = run
        .throughputs
        .iter()
        .fold((f64::MAX, 0.0_f64), |(least, most), &each| (least.min(each), most.max(each)));
    line.extend(
        [run.throughput(), least.min(most), most, run.seconds].map(|number| number.to_string()),
    );
    line.extend([
        operation.name.clone(),
        operation.count.to_string(),
        operation.failed.to_string(),
    ]);
    line.extend(latency(
        Some(&operation.service).filter(|_| operation.count > 0 && !operation.name.is_empty()),
    ));
    line.extend(latency(operation.intended.as_ref()));
    line
}

fn run_key(run: &Run) -> Vec<String> {
    vec![run.name.clone(), run.target.clone(), run.threads.to_string()]
}

fn latency(latency: Option<&Latency>) -> Vec<String> {
    let Some(latency) = latency else { return vec![String::new(); LATENCY_COLUMNS.len()] };
    let percentiles = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99].map(|percent| latency.at(percent));
    let numbers =
        [latency.mean_us, latency.min_us].into_iter().chain(percentiles).chain([latency.max_us]);
    numbers.map(|number| number.to_string()).collect()
}

/// A line for each reading of each run.
pub(super) fn series(report: &Report) -> String {
    const COLUMNS: [&str; 14] = [
        "name",
        "target",
        "threads",
        "at_seconds",
        "warm_up",
        "throughput",
        "p99_us",
        "stalled",
        "compaction_pending_bytes",
        "cpu_cores",
        "memory_bytes",
        "disk_read_bytes_per_second",
        "disk_write_bytes_per_second",
        "disk_bytes",
    ];
    let header = COLUMNS.map(str::to_owned).to_vec();
    let lines = report.runs.iter().flat_map(|run| {
        run.series.iter().map(|second| [run_key(run), second_line(second)].concat())
    });
    document(std::iter::once(header).chain(lines))
}

fn second_line(second: &Second) -> Vec<String> {
    vec![
        second.at_seconds.to_string(),
        second.warm_up.to_string(),
        second.throughput.to_string(),
        second.p99_us.map_or_else(String::new, |us| us.to_string()),
        second.stalled.to_string(),
        second.compaction_pending_bytes.to_string(),
        second.cpu_cores.to_string(),
        second.memory_bytes.to_string(),
        second.disk_read_bytes_per_second.to_string(),
        second.disk_write_bytes_per_second.to_string(),
        second.disk_bytes.to_string(),
    ]
}

fn document(lines: impl Iterator<Item = Vec<String>>) -> String {
    lines
        .map(|line| line.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",") + "\n")
        .collect()
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
