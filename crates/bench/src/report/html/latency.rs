//! How long operations took.

use super::escape::escaped;
use super::group::RunGroup;
use super::palette::{Palette, swatch};
use super::table::{HtmlCell, HtmlTable};
use crate::report::{Latency, OperationReport, format};

const COLUMNS: [&str; 10] =
    ["count", "mean", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "max", "failed"];

/// A line for each operation of each target; at a fixed rate, a second one with the time from when
/// it was due.
pub(super) fn table(group: &RunGroup<'_>, palette: &Palette) -> String {
    if group.runs.iter().all(|run| run.operations.is_empty()) {
        return String::new();
    }
    let mut table = HtmlTable::new(
        ["operation", "target"]
            .map(HtmlCell::text)
            .into_iter()
            .chain(COLUMNS.map(HtmlCell::number))
            .collect(),
    );
    for (target, operation) in lines(group) {
        let target = format!("{}{}", swatch(palette.colour(target)), escaped(target));
        table.row(&row(&operation.name, &target, operation, &operation.service));
        if let Some(intended) = &operation.intended {
            table.row(&row(&format!("{} intended", operation.name), &target, operation, intended));
        }
    }
    table.html()
}

/// The same operation of all targets one below the other.
fn lines<'a>(group: &RunGroup<'a>) -> Vec<(&'a str, &'a OperationReport)> {
    let all = || {
        group
            .runs
            .iter()
            .flat_map(|run| run.operations.iter().map(|operation| (run.target.as_str(), operation)))
    };
    let mut names: Vec<&str> = Vec::new();
    for (_, operation) in all() {
        if !names.contains(&operation.name.as_str()) {
            names.push(&operation.name);
        }
    }
    names
        .into_iter()
        .flat_map(|name| all().filter(move |(_, operation)| operation.name == name))
        .collect()
}

fn row(name: &str, target: &str, operation: &OperationReport, latency: &Latency) -> Vec<HtmlCell> {
    let time = |us: f64| {
        HtmlCell::number(if operation.count > 0 { format::micros(us) } else { "–".to_owned() })
    };
    let whole = |count: u64| HtmlCell::number(format::whole(count as f64));
    let percentiles =
        [50.0, 90.0, 95.0, 99.0, 99.9, 99.99].map(|percent| time(latency.at(percent)));
    let mut cells = vec![
        HtmlCell::text(name),
        HtmlCell::Label(target.to_owned()),
        whole(operation.count),
        time(latency.mean_us),
    ];
    cells.extend(percentiles);
    cells.extend([time(latency.max_us), whole(operation.failed)]);
    cells
}
