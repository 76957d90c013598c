//! Run by run: a fold-out for each thing that was measured.

use tonnage::Result;

use super::escape::escaped;
use super::group::RunGroup;
use super::page::section as titled;
use super::palette::{Palette, swatch};
use super::{figures, latency, series};
use crate::report::{Run, format};

/// A fold-out for each group. A single one is open.
pub(super) fn section(groups: &[RunGroup<'_>], palette: &Palette) -> Result<String> {
    let open = if groups.len() == 1 { " open" } else { "" };
    let mut content = String::new();
    for group in groups {
        content += &format!(
            "<details{open}>\n<summary>{}</summary>\n{}</details>\n",
            summary(group, palette),
            details(group, palette)?
        );
    }
    Ok(titled("Run by run", &content))
}

fn summary(group: &RunGroup<'_>, palette: &Palette) -> String {
    let rates: String = group.runs.iter().map(|run| rate(run, palette)).collect();
    format!("<span class=\"name\">{}</span>{rates}", escaped(&group.title()))
}

fn rate(run: &Run, palette: &Palette) -> String {
    let p99 = run
        .latency()
        .map_or_else(String::new, |latency| format!(" · p99 {}", format::micros(latency.at(99.0))));
    format!(
        "<span class=\"sum\">{}{}/s{p99}</span>",
        swatch(palette.colour(&run.target)),
        format::count(run.throughput())
    )
}

fn details(group: &RunGroup<'_>, palette: &Palette) -> Result<String> {
    let failures: String = group.runs.iter().map(|run| failures(run)).collect();
    Ok([
        latency::table(group, palette),
        failures,
        series::charts(group, palette)?,
        figures::table(group, palette),
    ]
    .concat())
}

fn failures(run: &Run) -> String {
    let messages: String = run
        .failure_messages
        .iter()
        .map(|message| format!("<li>{}</li>\n", escaped(message)))
        .collect();
    if messages.is_empty() {
        return messages;
    }
    let count = format::whole(run.failures as f64);
    format!(
        "<aside class=\"failures\"><h3>{count} failed on {}</h3>\n<ul>\n{messages}</ul></aside>\n",
        escaped(&run.target)
    )
}
