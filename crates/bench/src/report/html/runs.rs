//! Run by run: a fold-out for each thing that was measured, with how long operations took, what
//! failed, readings over time, and further figures and settings; targets side by side.

use std::collections::BTreeSet;

use super::group::RunGroup;
use super::page::{Cell, boxed, escaped, section as titled, table};
use super::palette::{Palette, swatch};
use super::series;
use crate::report::{Latency, OperationReport, Run, distinct, format};

/// A fold-out for each group. A single one is open.
pub(super) fn section(groups: &[RunGroup<'_>], palette: &Palette<'_>) -> String {
    let open = if groups.len() == 1 { " open" } else { "" };
    let fold = |group: &RunGroup<'_>| {
        let rates: String = group.runs.iter().map(|run| rate(run, palette)).collect();
        let title = escaped(&group.title());
        let details = [
            latencies(group, palette),
            group.runs.iter().map(|run| failures(run)).collect(),
            series::charts(group, palette),
            figures(group, palette),
        ]
        .concat();
        format!(
            "<details{open}>\n<summary><span class=\"name\">{title}</span>{rates}</summary>\n\
             {details}</details>\n"
        )
    };
    titled("Run by run", &groups.iter().map(fold).collect::<String>())
}

fn rate(run: &Run, palette: &Palette<'_>) -> String {
    let p99 = |latency: &Latency| format!(" · p99 {}", format::micros(latency.at(99.0)));
    let (mark, rate) = (swatch(palette.colour(&run.target)), format::count(run.throughput()));
    let p99 = run.latency().map(p99).unwrap_or_default();
    format!("<span class=\"sum\">{mark}{rate}/s{p99}</span>")
}

fn failures(run: &Run) -> String {
    let (count, target) = (format::whole(run.failures as f64), escaped(&run.target));
    let heading = format!("<h3>{count} failed on {target}</h3>");
    boxed(" class=\"failures\"", &heading, &run.failure_messages)
}

const COLUMNS: [&str; 10] =
    ["count", "mean", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "max", "failed"];

/// A line for each operation of each target, the same operation one below the other; at a fixed
/// rate, a second one with the time from when it was due.
fn latencies(group: &RunGroup<'_>, palette: &Palette<'_>) -> String {
    let row = |name: &str, run: &Run, operation: &OperationReport, latency: &Latency| {
        let time = |us: f64| Cell::optional((operation.count > 0).then(|| format::micros(us)));
        let whole = |count: u64| Cell::number(format::whole(count as f64));
        let target = Cell::label(palette.named(&run.target));
        let mut cells = vec![Cell::text(name), target, whole(operation.count)];
        cells.push(time(latency.mean_us));
        cells.extend(Latency::PERCENTS.map(|percent| time(latency.at(percent))));
        cells.extend([time(latency.max_us), whole(operation.failed)]);
        cells
    };
    let all = || group.runs.iter().flat_map(|run| run.operations.iter().map(move |one| (run, one)));
    let mut rows = Vec::new();
    for name in distinct(all().map(|(_, operation)| operation.name.as_str())) {
        for (run, operation) in all().filter(|(_, operation)| operation.name == name) {
            rows.push(row(name, run, operation, &operation.service));
            if let Some(intended) = &operation.intended {
                rows.push(row(&format!("{name} intended"), run, operation, intended));
            }
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let names = ["operation", "target"].map(Cell::text);
    table(names.into_iter().chain(COLUMNS.map(Cell::number)).collect(), rows)
}

/// Figures first, then settings.
fn figures(group: &RunGroup<'_>, palette: &Palette<'_>) -> String {
    let row = |name: &str, text: &dyn Fn(&Run) -> Option<String>| {
        let values = group.runs.iter().map(|run| Cell::optional(text(run)));
        std::iter::once(Cell::text(name)).chain(values).collect::<Vec<_>>()
    };
    let repeats = |run: &Run| {
        run.throughputs.iter().map(|rate| format::count(*rate)).collect::<Vec<_>>().join(" · ")
    };
    let mut rows = vec![
        row("measured for", &|run| Some(format::seconds(run.seconds))),
        row("operations or rows", &|run| Some(format::whole(run.operations_count as f64))),
        row("each repeat, per second", &|run| Some(repeats(run))),
    ];
    let names: BTreeSet<_> = group.runs.iter().flat_map(|run| run.figures.keys()).collect();
    for name in names {
        let text = |run: &Run| run.figures.get(name).map(|figure| with_unit(name, *figure));
        rows.push(row(&words(name), &text));
    }
    let names: BTreeSet<_> = group.runs.iter().flat_map(|run| run.settings.keys()).collect();
    rows.extend(names.iter().map(|name| row(name, &|run| run.settings.get(*name).cloned())));
    let targets = group.runs.iter().map(|run| Cell::html(palette.named(&run.target)));
    let head = std::iter::once(Cell::text("figure")).chain(targets).collect();
    format!("<h3>Figures and settings</h3>\n{}", table(head, rows))
}

type UnitText = fn(f64) -> String;

/// The units that names of figures end in.
const UNITS: [(&str, UnitText); 7] = [
    ("_bytes_per_second", |bytes| format!("{}/s", format::bytes(bytes))),
    ("_per_second", |count| format!("{}/s", format::count(count))),
    ("_bytes", format::bytes),
    ("_seconds", format::seconds),
    ("_us", format::micros),
    ("_ms", |ms| format::micros(ms * 1e3)),
    ("_percent", |percent| format::percent(percent / 100.0)),
];

fn with_unit(name: &str, figure: f64) -> String {
    let padded = format!("_{name}");
    let unit = UNITS.iter().find(|(unit, _)| padded.ends_with(unit));
    unit.map_or_else(|| format::count(figure), |(_, text)| text(figure))
}

/// `memory_peak_bytes` as `memory peak`: the unit stands with the number.
fn words(name: &str) -> String {
    let mut units = UNITS.iter().map(|(unit, _)| *unit).filter(|unit| *unit != UNITS[0].0);
    let unit = units.find(|unit| name.ends_with(unit)).unwrap_or("");
    name.strip_suffix(unit).unwrap_or(name).replace('_', " ")
}
