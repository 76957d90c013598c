//! One page that needs nothing else: no network, no script, no font. Light and dark, wide and
//! narrow.
//!
//! The page reads from the top: what was run, how the targets compare, charts across runs, then a
//! fold-out for each thing that was measured with every target in it, and the machine at the end.

mod charts;
mod page;
mod results;
mod runs;
mod targets;

use super::Report;
use targets::{Palette, RunGroup};

pub(super) fn page(report: &Report) -> String {
    let palette = Palette::of(report.runs.iter().map(|run| run.target.as_str()));
    let groups = RunGroup::of(report);
    let sections = [
        page::header(report),
        page::notes(&report.notes),
        results::section(report, &groups, &palette),
        charts::section(report, &groups, &palette),
        runs::section(&groups, &palette),
        page::machine_and_settings(report),
    ];
    page::document(&format!("bench {}", report.workload), &sections.concat())
}
