//! Further figures of a group's runs and how their targets were set up, targets side by side.

use std::collections::BTreeSet;

use super::escape::escaped;
use super::group::RunGroup;
use super::palette::{Palette, swatch};
use super::table::{HtmlCell, HtmlTable};
use crate::report::{Run, format};

/// Figures first, then settings.
pub(super) fn table(group: &RunGroup<'_>, palette: &Palette) -> String {
    let targets = group.runs.iter().map(|run| {
        HtmlCell::Html(format!("{}{}", swatch(palette.colour(&run.target)), escaped(&run.target)))
    });
    let mut table =
        HtmlTable::new(std::iter::once(HtmlCell::text("figure")).chain(targets).collect());
    row(&mut table, group, "measured for", |run| Some(format::seconds(run.seconds)));
    row(&mut table, group, "operations or rows", |run| {
        Some(format::whole(run.operations_count as f64))
    });
    row(&mut table, group, "each repeat, per second", |run| Some(repeats(run)));
    for name in names(group, |run| run.figures.keys().collect()) {
        row(&mut table, group, &words(name), |run| {
            run.figures.get(name).map(|figure| with_unit(name, *figure))
        });
    }
    for name in names(group, |run| run.settings.keys().collect()) {
        row(&mut table, group, name, |run| run.settings.get(name).cloned());
    }
    format!("<h3>Figures and settings</h3>\n{}", table.html())
}

fn row(
    table: &mut HtmlTable,
    group: &RunGroup<'_>,
    name: &str,
    text: impl Fn(&Run) -> Option<String>,
) {
    let values = group.runs.iter().map(|run| HtmlCell::optional(text(run)));
    table.row(&std::iter::once(HtmlCell::text(name)).chain(values).collect::<Vec<_>>());
}

fn names<'a>(group: &RunGroup<'a>, keys: impl Fn(&'a Run) -> Vec<&'a String>) -> BTreeSet<&'a str> {
    group.runs.iter().flat_map(|run| keys(run)).map(String::as_str).collect()
}

fn repeats(run: &Run) -> String {
    run.throughputs.iter().map(|rate| format::count(*rate)).collect::<Vec<_>>().join(" · ")
}

/// How a number with a unit is written.
type Text = fn(f64) -> String;

/// The units that names of figures end in.
const UNITS: [(&str, Text); 7] = [
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
    let unit = UNITS
        .iter()
        .map(|(unit, _)| *unit)
        .find(|unit| name.ends_with(unit) && *unit != "_bytes_per_second");
    name.strip_suffix(unit.unwrap_or("")).unwrap_or(name).replace('_', " ")
}
