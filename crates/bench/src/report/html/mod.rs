//! One page that needs nothing else: no network, no script, no font. Light and dark, wide and
//! narrow.
//!
//! The page reads from the top: what was run, how the targets compare, charts across runs, then a
//! fold-out for each thing that was measured with every target in it, and the machine at the end.

mod bars;
mod charts;
mod comparison;
mod escape;
mod facts;
mod figures;
mod group;
mod head;
mod latency;
mod lines;
mod overview;
mod palette;
mod race;
mod series;
mod shell;
mod table;

use tonnage::Result;

use super::{Comparison, Report};
use group::Group;
use palette::Palette;

/// The page of a report.
pub(super) fn page(report: &Report) -> Result<String> {
    let palette = Palette::of(report.runs.iter().map(|run| run.target.as_str()));
    let groups = Group::of(report);
    let sections = [
        head::header(report),
        head::notes(&report.notes),
        overview::section(report, &groups, &palette),
        charts::section(report, &groups, &palette)?,
        group::section(&groups, &palette)?,
        facts::section(report),
    ];
    Ok(shell::document(&format!("bench {}", report.workload), &sections.concat()))
}

/// The page of a comparison.
pub(super) fn comparison(comparison: &Comparison) -> String {
    shell::document("bench compare", &comparison::body(comparison))
}
