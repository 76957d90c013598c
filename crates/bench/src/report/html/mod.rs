//! One page that needs nothing else: no network, no script, no font. Light and dark, wide and
//! narrow.
//!
//! The page reads from the top: what was run, how the targets compare, charts across runs, then a
//! fold-out for each thing that was measured with every target in it, and the machine at the end.

mod charts;
mod comparison;
mod overview;
mod page;
mod palette;
mod runs;
mod series;
mod svg;
mod table;

use super::{Report, Run};
use palette::Palette;

/// The page of a report.
pub(super) fn page(report: &Report) -> String {
    let palette = Palette::of(report.runs.iter().map(|run| run.target.as_str()));
    let groups = RunGroup::of(report);
    let sections = [
        page::header(report),
        page::notes(&report.notes),
        overview::section(report, &groups, &palette),
        charts::section(report, &groups, &palette),
        runs::section(&groups, &palette),
        page::machine_and_settings(report),
    ];
    page::document(&format!("bench {}", report.workload), &sections.concat())
}

/// Runs of the same name and as many threads: one thing that was measured, with every target it was
/// measured on.
struct RunGroup<'a> {
    name: &'a str,
    threads: usize,
    runs: Vec<&'a Run>,
}

impl<'a> RunGroup<'a> {
    /// The groups of a report, in the order of their first runs. A target that comes again begins a
    /// group of its own.
    fn of(report: &'a Report) -> Vec<Self> {
        let mut groups: Vec<RunGroup<'a>> = Vec::new();
        for run in &report.runs {
            let is_of = |group: &&mut RunGroup<'_>| {
                (group.name, group.threads) == (run.name.as_str(), run.threads)
                    && group.run_of(&run.target).is_none()
            };
            match groups.iter_mut().find(is_of) {
                Some(group) => group.runs.push(run),
                None => {
                    groups.push(RunGroup { name: &run.name, threads: run.threads, runs: vec![run] })
                }
            }
        }
        groups
    }

    /// The run of a target.
    fn run_of(&self, target: &str) -> Option<&'a Run> {
        self.runs.iter().copied().find(|run| run.target == target)
    }

    fn title(&self) -> String {
        format!("{} · {}", self.name, super::format::threads(self.threads))
    }
}
