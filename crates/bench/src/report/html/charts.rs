//! Charts across runs: those the workload made, else the rate of each run.

use tonnage::Result;

use super::bars;
use super::group::RunGroup;
use super::lines::{ChartLine, LineChart};
use super::page::section as titled;
use super::palette::Palette;
use crate::report::{Chart, ChartKind, ChartSeries, Report, format};

/// The section; nothing when there is nothing to draw.
pub(super) fn section(
    report: &Report,
    groups: &[RunGroup<'_>],
    palette: &Palette,
) -> Result<String> {
    let own = if report.charts.is_empty() { rates(groups) } else { None };
    let figures = report
        .charts
        .iter()
        .chain(&own)
        .map(|chart| figure(chart, palette))
        .collect::<Result<String>>()?;
    Ok(if figures.is_empty() {
        figures
    } else {
        titled("Charts", &format!("<div class=\"charts\">\n{figures}</div>\n"))
    })
}

fn figure(chart: &Chart, palette: &Palette) -> Result<String> {
    match chart.kind {
        ChartKind::Bars => Ok(bars::figure(chart, palette)),
        ChartKind::Lines => lines(chart, palette),
    }
}

fn lines(chart: &Chart, palette: &Palette) -> Result<String> {
    let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
    let line = |(series, colour): (&ChartSeries, usize)| ChartLine {
        name: series.name.clone(),
        colour,
        points: series.points.clone(),
        marked: Vec::new(),
    };
    LineChart {
        title: &chart.title,
        unit: &chart.y_label,
        x_label: &chart.x_label,
        lines: chart.series.iter().zip(palette.colours(&names)).map(line).collect(),
        shaded_to: 0.0,
        y_text: format::count,
    }
    .figure()
}

/// One group of bars for each group of runs, if there is more than one bar.
fn rates(groups: &[RunGroup<'_>]) -> Option<Chart> {
    let mut series: Vec<ChartSeries> = Vec::new();
    for (category, run) in groups
        .iter()
        .enumerate()
        .flat_map(|(category, group)| group.runs.iter().map(move |run| (category, run)))
    {
        let point = (category as f64, run.throughput());
        match series.iter_mut().find(|series| series.name == run.target) {
            Some(series) => series.points.push(point),
            None => series.push(ChartSeries { name: run.target.clone(), points: vec![point] }),
        }
    }
    let bars: usize = series.iter().map(|series| series.points.len()).sum();
    (bars > 1).then(|| Chart {
        title: "Throughput".to_owned(),
        kind: ChartKind::Bars,
        x_label: String::new(),
        y_label: "per second".to_owned(),
        categories: groups.iter().map(RunGroup::title).collect(),
        series,
    })
}
