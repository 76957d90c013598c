//! Runs and their readings as CSV, for other programs.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Latency, OperationReport, Report, Run, Second};

/// A cell with the name of its column.
type Cell = (String, String);

fn cell(name: &str, value: impl ToString) -> Cell {
    (name.to_owned(), value.to_string())
}

/// A line for each operation of each run; for runs of bulk calls without operations, one. Labels
/// stand in columns of their own.
pub(super) fn runs(report: &Report) -> String {
    let labels: BTreeSet<&String> = report.runs.iter().flat_map(|run| run.labels.keys()).collect();
    let line = |run: &Run, operation: &OperationReport| {
        let label = |name: &&String| cell(&format!("label_{name}"), run.label(name));
        let labels = labels.iter().map(label).collect();
        [run_key(run), rates(run), operation_cells(operation), labels].concat()
    };
    let lines = report.runs.iter().flat_map(|run| {
        let (count, failed) = (run.operations_count, run.failures);
        let whole = [OperationReport { count, failed, ..OperationReport::default() }];
        let operations = if run.operations.is_empty() { &whole[..] } else { &run.operations };
        operations.iter().map(|operation| line(run, operation)).collect::<Vec<_>>()
    });
    document(&line(&Run::default(), &OperationReport::default()), lines)
}

fn run_key(run: &Run) -> Vec<Cell> {
    vec![cell("name", &run.name), cell("target", &run.target), cell("threads", run.threads)]
}

fn rates(run: &Run) -> Vec<Cell> {
    let (least, most) = run.slowest_and_fastest();
    vec![
        cell("throughput", run.throughput()),
        cell("throughput_min", least),
        cell("throughput_max", most),
        cell("seconds", run.seconds),
    ]
}

fn operation_cells(operation: &OperationReport) -> Vec<Cell> {
    let OperationReport { name, count, failed, service, intended } = operation;
    let mut cells = vec![cell("operation", name), cell("count", count), cell("failed", failed)];
    let service = Some(service).filter(|_| *count > 0 && !name.is_empty());
    cells.extend(latency("", service));
    cells.extend(latency("intended_", intended.as_ref()));
    cells
}

fn latency(prefix: &str, latency: Option<&Latency>) -> Vec<Cell> {
    let time = |name: &str, read: &dyn Fn(&Latency) -> f64| {
        let text = latency.map_or_else(String::new, |latency| read(latency).to_string());
        cell(&format!("{prefix}{name}_us"), text)
    };
    let mut cells = vec![time("mean", &|at| at.mean_us), time("min", &|at| at.min_us)];
    let percentile = |percent: f64| time(&format!("p{percent}"), &|times| times.at(percent));
    cells.extend(Latency::PERCENTS.map(percentile));
    cells.push(time("max", &|at| at.max_us));
    cells
}

/// A line for each reading of each run.
pub(super) fn series(report: &Report) -> String {
    let line = |run: &Run, second: &Second| [run_key(run), fields(second)].concat();
    let lines = report.runs.iter().flat_map(|run| run.series.iter().map(move |at| line(run, at)));
    document(&line(&Run::default(), &Second::default()), lines)
}

/// The fields of a reading, as JSON has them.
fn fields(second: &Second) -> Vec<Cell> {
    let Ok(Value::Object(fields)) = serde_json::to_value(second) else { return Vec::new() };
    let text = |value: Value| match value {
        Value::Null => String::new(),
        // Without the point that JSON writes after whole ones.
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or(0.0).to_string(),
        other => other.to_string(),
    };
    fields.into_iter().map(|(name, value)| (name, text(value))).collect()
}

/// Lines below the names of their columns, which are those of a sample.
fn document(sample: &[Cell], lines: impl Iterator<Item = Vec<Cell>>) -> String {
    const FITS: &str = "lines are as long as their head, and memory takes them";
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(sample.iter().map(|(name, _)| name)).expect(FITS);
    for line in lines {
        table.write_record(line.iter().map(|(_, value)| value)).expect(FITS);
    }
    String::from_utf8(table.into_inner().expect(FITS)).expect("cells are texts")
}
