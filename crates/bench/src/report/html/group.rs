//! One thing that was measured, with every target it was measured on.

use tonnage::Result;

use super::escape::escaped;
use super::figures;
use super::latency;
use super::palette::{Palette, swatch};
use super::series;
use super::shell::section as titled;
use crate::report::{Report, Run, format};

/// Runs of the same name and as many threads.
pub(super) struct Group<'a> {
    pub(super) name: &'a str,
    pub(super) threads: usize,
    pub(super) runs: Vec<&'a Run>,
}

impl<'a> Group<'a> {
    /// The groups of a report, in the order of their first runs. A target that comes again begins a
    /// group of its own.
    pub(super) fn of(report: &'a Report) -> Vec<Self> {
        let mut groups: Vec<Group<'a>> = Vec::new();
        for run in &report.runs {
            let group = groups.iter_mut().find(|group| {
                group.name == run.name
                    && group.threads == run.threads
                    && group.run_of(&run.target).is_none()
            });
            match group {
                Some(group) => group.runs.push(run),
                None => {
                    groups.push(Group { name: &run.name, threads: run.threads, runs: vec![run] })
                }
            }
        }
        groups
    }

    /// The run of a target.
    pub(super) fn run_of(&self, target: &str) -> Option<&'a Run> {
        self.runs.iter().copied().find(|run| run.target == target)
    }

    /// Its name, and its threads.
    pub(super) fn title(&self) -> String {
        format!(
            "{} · {} thread{}",
            self.name,
            self.threads,
            if self.threads == 1 { "" } else { "s" }
        )
    }
}

/// A fold-out for each group. A single one is open.
pub(super) fn section(groups: &[Group<'_>], palette: &Palette) -> Result<String> {
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

fn summary(group: &Group<'_>, palette: &Palette) -> String {
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

fn details(group: &Group<'_>, palette: &Palette) -> Result<String> {
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
