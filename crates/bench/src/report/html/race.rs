//! The race to 100 per cent: the rate against the share of the work that is done.

use tonnage::Result;

use super::group::RunGroup;
use super::lines::{ChartLine, LineChart};
use super::palette::Palette;
use crate::report::{Run, format};

/// Fewer points than these are no race.
const POINTS_MIN: usize = 3;

/// Nothing where no run has progress.
pub(super) fn figure(group: &RunGroup<'_>, palette: &Palette) -> Result<String> {
    let runs = group.runs.iter().filter(|run| run.progress.len() >= POINTS_MIN);
    let line = |run: &&Run| ChartLine {
        name: run.target.clone(),
        colour: palette.colour(&run.target),
        points: run.progress.iter().map(|point| (point.percent, point.throughput)).collect(),
        marked: Vec::new(),
    };
    LineChart {
        title: "Race to 100 %",
        unit: "per second, by share of the work done",
        x_label: "% done",
        lines: runs.map(line).collect(),
        shaded_to: 0.0,
        y_text: format::count,
    }
    .figure()
}
