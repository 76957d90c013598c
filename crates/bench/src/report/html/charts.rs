//! Charts across runs: those the workload made, else the rate of each run.

use super::group::RunGroup;
use super::page::{escaped, section as titled, wrapped};
use super::palette::{Palette, legend};
use super::svg::{LineStyle, figure, lines};
use crate::report::{Chart, ChartKind, Report, format};

/// The section; nothing when there is nothing to draw.
pub(super) fn section(report: &Report, groups: &[RunGroup<'_>], palette: &Palette<'_>) -> String {
    let own = if report.charts.is_empty() { rates(groups) } else { None };
    let draw = |chart: &Chart| match chart.kind {
        ChartKind::Bars => bars(chart, palette),
        ChartKind::Lines => lines(chart, palette, &LineStyle::default()),
    };
    let figures: String = report.charts.iter().chain(&own).map(draw).collect();
    titled("Charts", &wrapped("<div class=\"charts\">\n", &figures, "</div>\n"))
}

/// Groups of horizontal bars. Names of categories are long and many, so bars lie: names stand
/// before them and values behind.
fn bars(chart: &Chart, palette: &Palette<'_>) -> String {
    let series = palette.of_series(chart);
    let legend = if series.len() > 1 { legend(&series) } else { String::new() };
    let heights = chart.series.iter().flat_map(|series| &series.points).map(|point| point.1);
    let most = heights.fold(0.0, f64::max);
    let mut groups = String::new();
    for (place, category) in chart.categories.iter().enumerate() {
        let mut bars = String::new();
        for (series, colour) in &series {
            let point = series.points.iter().find(|(at, _)| *at == place as f64);
            bars.extend(point.map(|(_, value)| bar(&series.name, *value, *colour, most)));
        }
        let category = escaped(category);
        groups += &format!("<div class=\"category\"><p>{category}</p><div>\n{bars}</div></div>\n");
    }
    let by = if chart.x_label.is_empty() { "" } else { " by " };
    let unit = [&chart.y_label, by, &chart.x_label].concat();
    figure(&chart.title, &unit, &legend, &format!("<div class=\"bars\">\n{groups}</div>"))
}

fn bar(name: &str, value: f64, colour: usize, most: f64) -> String {
    let (name, text) = (escaped(name), format::count(value));
    let track = track(value, most, colour);
    format!("<div class=\"value\" title=\"{name}: {text}\">{track}<b>{text}</b></div>\n")
}

/// A bar that is as long as a value is high.
pub(super) fn track(value: f64, most: f64, colour: usize) -> String {
    let width = if most > 0.0 { (100.0 * value / most).clamp(0.0, 100.0) } else { 0.0 };
    let bar = format!("<span class=\"c{colour}\" style=\"width:{width:.1}%\"></span>");
    format!("<span class=\"track\">{bar}</span>")
}

/// One group of bars for each group of runs, if there is more than one bar.
fn rates(groups: &[RunGroup<'_>]) -> Option<Chart> {
    let mut chart = Chart::bars("Throughput", "", "per second");
    chart.categories = groups.iter().map(RunGroup::title).collect();
    for (category, group) in groups.iter().enumerate() {
        for run in &group.runs {
            chart.add(&run.target, (category as f64, run.throughput()));
        }
    }
    let bars: usize = chart.series.iter().map(|series| series.points.len()).sum();
    (bars > 1).then_some(chart)
}
