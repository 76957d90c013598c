//! Run by run: a fold-out for each thing that was measured, with how long operations took, what
//! failed, readings over time, and further figures and settings; targets side by side.

use std::collections::BTreeSet;

use super::charts::{LineStyle, lines};
use super::page::{Cell, boxed, escaped, section as titled, table};
use super::targets::{Palette, RunGroup, swatch};
use crate::report::{Chart, ChartSeries, Latency, OperationReport, Run, Second, distinct, format};

/// A fold-out for each group. A single one is open.
pub(super) fn section(groups: &[RunGroup<'_>], palette: &Palette<'_>) -> String {
    let open = if groups.len() == 1 { " open" } else { "" };
    let fold = |group: &RunGroup<'_>| {
        let rates: String = group.runs.iter().map(|run| rate(run, palette)).collect();
        let title = escaped(&group.title());
        let details = [
            latencies(group, palette),
            group.runs.iter().map(|run| failures(run)).collect(),
            charts(group, palette),
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
        // An operation of which all failed has no times: 0 would read as a very fast one.
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
    // By operation first: the same operation of two targets is in consecutive lines.
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

/// `memory_peak_bytes` as `memory peak`: the unit is with the number.
fn words(name: &str) -> String {
    let mut units = UNITS.iter().map(|(unit, _)| *unit).filter(|unit| *unit != UNITS[0].0);
    let unit = units.find(|unit| name.ends_with(unit)).unwrap_or("");
    name.strip_suffix(unit).unwrap_or(name).replace('_', " ")
}

/// Points that a line has at most: more than a screen shows are not help.
const POINTS_MAX: usize = 600;

/// Fewer readings, or points of progress, than these are not a curve.
const POINTS_MIN: usize = 3;

/// A figure that is read every second: its title, its unit, how it is written (bytes get a unit
/// that fits the whole axis), and how it is read.
type Gauge = (&'static str, &'static str, Option<fn(f64) -> String>, fn(&Second) -> Option<f64>);

const GAUGES: [Gauge; 8] = [
    ("Throughput", "per second", Some(format::count), |at| Some(at.throughput)),
    ("99th percentile", "service time", Some(format::micros), |at| at.p99_us),
    ("Compaction debt", "still to rewrite", None, |at| Some(at.compaction_pending_bytes as f64)),
    ("Cores in use", "of this process", Some(format::count), |at| Some(at.cpu_cores)),
    ("Memory", "of this process", None, |at| Some(at.memory_bytes as f64)),
    ("Read from disk", "per second", None, |at| Some(at.disk_read_bytes_per_second)),
    ("Written to disk", "per second", None, |at| Some(at.disk_write_bytes_per_second)),
    ("Data on disk", "of the target", None, |at| Some(at.disk_bytes as f64)),
];

/// Readings over time, one chart a figure, one line a target; the race to 100 per cent before them.
fn charts(group: &RunGroup<'_>, palette: &Palette<'_>) -> String {
    let mut figures = race(group, palette);
    if group.runs.iter().any(|run| run.series.len() >= POINTS_MIN) {
        figures.extend(GAUGES.iter().map(|gauge| figure(gauge, group, palette)));
    }
    if figures.is_empty() {
        return figures;
    }
    let stalled = group.runs.iter().any(|run| run.series.iter().any(|second| second.stalled));
    let note = match stalled {
        true => "<p class=\"legend-note\">Marks at the top edge: the target held writes up.</p>\n",
        false => "",
    };
    format!("<div class=\"charts\">\n{figures}</div>\n{note}")
}

/// The rate against the share of the work that is done; nothing where no run has progress.
fn race(group: &RunGroup<'_>, palette: &Palette<'_>) -> String {
    let unit = "per second, by share of the work done";
    let mut chart = Chart::lines("Race to 100 %", "% done", unit);
    for run in group.runs.iter().filter(|run| run.progress.len() >= POINTS_MIN) {
        let points = run.progress.iter().map(|point| (point.percent, point.throughput));
        points.for_each(|point| chart.add(&run.target, point));
    }
    lines(&chart, palette, &LineStyle::default())
}

/// Nothing where there is nothing to see: all readings are zero or missing.
fn figure(gauge: &Gauge, group: &RunGroup<'_>, palette: &Palette<'_>) -> String {
    let (title, unit, text, read) = *gauge;
    let seconds = || group.runs.iter().flat_map(|run| &run.series);
    let most = seconds().filter_map(read).fold(0.0, f64::max);
    if most == 0.0 {
        return String::new();
    }
    let fits = |(size, _): &(f64, &str)| most >= *size;
    let (scale, prefix) = match text {
        None => format::BYTE_UNITS.into_iter().find(fits).unwrap_or((1.0, "bytes")),
        Some(_) => (1.0, ""),
    };
    let unit = format!("{prefix} {unit}");
    let mut chart = Chart::lines(title, "seconds", unit.trim_start());
    for run in &group.runs {
        let points = points(run, read, scale);
        chart.series.push(ChartSeries { name: run.target.clone(), points });
    }
    // All targets are shaded up to the longest warm-up of them.
    let warm_up = seconds().filter(|second| second.warm_up).map(|second| second.at_seconds);
    let style = LineStyle {
        marks: group.runs.iter().map(|run| stalls(run)).collect(),
        shaded_to: warm_up.fold(0.0, f64::max),
        y_text: text.unwrap_or(format::count),
    };
    lines(&chart, palette, &style)
}

/// Neighbours become one point where there are too many: the highest of them, so that no peak is
/// lost.
fn points(run: &Run, read: fn(&Second) -> Option<f64>, scale: f64) -> Vec<(f64, f64)> {
    let chunk = run.series.len().div_ceil(POINTS_MAX).max(1);
    let highest = |seconds: &[Second]| {
        let readings =
            seconds.iter().filter_map(|second| Some((second.at_seconds, read(second)? / scale)));
        readings.max_by(|a, b| a.1.total_cmp(&b.1))
    };
    run.series.chunks(chunk).filter_map(highest).collect()
}

/// When writes were held up, readings side by side as one stretch.
fn stalls(run: &Run) -> Vec<(f64, f64)> {
    let (mut stalls, mut from) = (Vec::new(), 0.0);
    for stretch in run.series.chunk_by(|a, b| a.stalled == b.stalled) {
        let to = stretch[stretch.len() - 1].at_seconds;
        if stretch[0].stalled {
            stalls.push((from, to));
        }
        from = to;
    }
    stalls
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name of a type was in a title once, after it was renamed all over the code.
    #[test]
    fn titles_are_plain_words() {
        for (title, ..) in GAUGES {
            assert!(!title.chars().skip(1).any(char::is_uppercase), "{title}");
        }
    }
}
