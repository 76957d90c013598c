//! How long operations took.

use super::escape::escaped;
use super::group::Group;
use super::palette::{Palette, swatch};
use super::table::{Cell, Table};
use crate::report::{Latency, OperationReport, format};

const COLUMNS: [&str; 10] = ["count", "mean", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "max", "failed"];

/// A line for each operation of each target; at a fixed rate, a second one with the time from when it was due.
pub(super) fn table(group: &Group<'_>, palette: &Palette) -> String {
    if group.runs.iter().all(|run| run.operations.is_empty()) {
        return String::new();
    }
    let mut columns = vec![Cell::text("operation")];
    columns.extend(COLUMNS.map(Cell::number));
    let mut table = Table::new(columns);
    for (name, colour, operation) in lines(group, palette) {
        table.row(&row(&name, colour, operation, &operation.service));
        if let Some(intended) = &operation.intended {
            table.row(&row(&format!("{name} from when it was due"), colour, operation, intended));
        }
    }
    table.html()
}

/// The same operation of all targets one below the other.
fn lines<'a>(group: &Group<'a>, palette: &Palette) -> Vec<(String, usize, &'a OperationReport)> {
    let mut names: Vec<&str> = Vec::new();
    for operation in group.runs.iter().flat_map(|run| &run.operations) {
        if !names.contains(&operation.name.as_str()) {
            names.push(&operation.name);
        }
    }
    let of_name = |name: &str| {
        let lines = group.runs.iter().flat_map(|run| run.operations.iter().map(move |operation| (run, operation)));
        let lines = lines.filter(|(_, operation)| operation.name == name);
        lines
            .map(|(run, operation)| (format!("{name} {}", run.target), palette.colour(&run.target), operation))
            .collect::<Vec<_>>()
    };
    names.into_iter().flat_map(of_name).collect()
}

fn row(name: &str, colour: usize, operation: &OperationReport, latency: &Latency) -> Vec<Cell> {
    let time = |us: f64| Cell::number(if operation.count > 0 { format::micros(us) } else { "–".to_owned() });
    let percentiles = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99].map(|percent| time(latency.at(percent)));
    let mut cells =
        vec![Cell::Html(format!("{}{}", swatch(colour), escaped(name))), Cell::number(format::whole(operation.count as f64))];
    cells.push(time(latency.mean_us));
    cells.extend(percentiles);
    cells.extend([time(latency.max_us), Cell::number(format::whole(operation.failed as f64))]);
    cells
}
