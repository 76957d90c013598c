//! YCSB's text format, which many tools parse: `[READ], AverageLatency(us), 12.3`.
//!
//! Each run is a section of its own after a line that names it and begins with `#`. Latencies have
//! digits after the point where YCSB cuts them to whole microseconds, because an embedded store
//! answers within one.

use std::fmt::Write as _;

use super::{Latency, OperationReport, Percentile, Report, Run};

pub(super) fn text(report: &Report) -> String {
    report.runs.iter().map(section).collect::<Vec<_>>().join("\n")
}

fn section(run: &Run) -> String {
    let mut text = format!("# {}\n", run.title().replace(['\r', '\n'], " "));
    line(&mut text, "OVERALL", "RunTime(ms)", (run.seconds * 1e3).round());
    line(&mut text, "OVERALL", "Throughput(ops/sec)", run.throughput());
    for operation in run.operations.iter().filter(|operation| operation.name != "ALL") {
        add_operation(&mut text, operation);
    }
    text
}

fn add_operation(text: &mut String, operation: &OperationReport) {
    let OperationReport { name, count, failed, service, intended } = operation;
    if *count > 0 {
        add_latency(text, name, *count, service);
        line(text, name, "Return=OK", *count as f64);
    }
    if *failed > 0 {
        line(text, name, "Return=ERROR", *failed as f64);
        line(text, &format!("{name}-FAILED"), "Operations", *failed as f64);
    }
    if let Some(intended) = intended {
        add_latency(text, &format!("Intended-{name}"), *count, intended);
    }
}

fn add_latency(text: &mut String, name: &str, count: u64, latency: &Latency) {
    line(text, name, "Operations", count as f64);
    line(text, name, "AverageLatency(us)", latency.mean_us);
    line(text, name, "MinLatency(us)", latency.min_us);
    line(text, name, "MaxLatency(us)", latency.max_us);
    for Percentile { percent, us } in &latency.percentiles {
        // `50th`, and `99.9` as it is: so does YCSB.
        let th = if percent.fract() == 0.0 { "th" } else { "" };
        line(text, name, &format!("{percent}{th}PercentileLatency(us)"), *us);
    }
}

fn line(text: &mut String, metric: &str, measurement: &str, value: f64) {
    writeln!(text, "[{metric}], {measurement}, {value}").expect("a string takes everything");
}
