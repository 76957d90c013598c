//! Charts: bars across runs, and lines over a numeric axis as a drawing. The style sheet gives the
//! colours, so that they follow light and dark.

use super::page::{escaped, section as titled, wrapped};
use super::targets::{Palette, RunGroup, legend};
use crate::report::{Chart, ChartKind, ChartSeries, Report, format};

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 250.0;
/// Where the axes begin and end.
const LEFT: f64 = 64.0;
const RIGHT: f64 = WIDTH - 20.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = HEIGHT - 44.0;
/// The height of a row of marks, as a share of the chart.
const MARK: f64 = 0.035;
/// Lines of few points show each.
const DOTS_MAX: usize = 20;

/// Those of the workload, else the rate of each run; nothing when there is nothing to draw.
pub(super) fn section(report: &Report, groups: &[RunGroup<'_>], palette: &Palette<'_>) -> String {
    let own = if report.charts.is_empty() { rates(groups) } else { None };
    let draw = |chart: &Chart| match chart.kind {
        ChartKind::Bars => bars(chart, palette),
        ChartKind::Lines => lines(chart, palette, &LineStyle::default()),
    };
    let figures: String = report.charts.iter().chain(&own).map(draw).collect();
    titled("Charts", &wrapped("<div class=\"charts\">\n", &figures, "</div>\n"))
}

/// Groups of horizontal bars. Names of categories are long and many, so bars are horizontal: names
/// precede them and values follow.
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

pub(super) struct LineStyle {
    /// For each line, stretches that are marked at the top, in its colour.
    pub(super) marks: Vec<Vec<(f64, f64)>>,
    /// Up to where the ground is shaded.
    pub(super) shaded_to: f64,
    /// How the numbers of the vertical axis are written.
    pub(super) y_text: fn(f64) -> String,
}

impl Default for LineStyle {
    fn default() -> Self {
        LineStyle { marks: Vec::new(), shaded_to: 0.0, y_text: format::count }
    }
}

/// Lines as a figure; nothing when none has two points. Both axes begin at zero.
pub(super) fn lines(chart: &Chart, palette: &Palette<'_>, style: &LineStyle) -> String {
    if chart.series.iter().all(|line| line.points.len() < 2) {
        return String::new();
    }
    let series = palette.of_series(chart);
    let drawing = format!("<div class=\"scroll\">{}</div>", svg(chart, &series, style));
    figure(&chart.title, &chart.y_label, &legend(&series), &drawing)
}

fn svg(chart: &Chart, series: &[(&ChartSeries, usize)], style: &LineStyle) -> String {
    let area = PlotArea::of(chart, style);
    let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n");
    if style.shaded_to > 0.0 {
        svg += &area.rectangle("warm", (0.0, style.shaded_to), area.y_max, 0.0);
    }
    svg += &area.axes(&chart.x_label, style.y_text);
    for (row, (line, colour)) in series.iter().enumerate() {
        let points = line.points.iter().filter(is_finite);
        let points: Vec<_> = points.map(|(x, y)| (area.x(*x), area.y(*y))).collect();
        let path: String = points.iter().map(|(x, y)| format!("{x:.1},{y:.1} ")).collect();
        svg += &format!("<polyline class=\"c{colour}\" points=\"{}\"/>\n", path.trim_end());
        for (x, y) in points.iter().filter(|_| points.len() <= DOTS_MAX) {
            svg +=
                &format!("<circle class=\"c{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>\n");
        }
        let top = area.y_max * (1.0 - MARK * row as f64);
        let bottom = top - area.y_max * MARK * 0.8;
        let marks = style.marks.get(row).into_iter().flatten();
        svg.extend(marks.map(|mark| area.rectangle(&format!("c{colour}"), *mark, top, bottom)));
    }
    svg + "</svg>"
}

/// Where the axes end, and so where values lie.
struct PlotArea {
    x_max: f64,
    y_max: f64,
}

impl PlotArea {
    /// With room above the highest point, and for marks where there are some.
    fn of(chart: &Chart, style: &LineStyle) -> Self {
        let lines = &chart.series;
        let points = || lines.iter().flat_map(|line| &line.points).filter(is_finite);
        let has_marks = style.marks.iter().any(|marks| !marks.is_empty());
        let marks = if has_marks { MARK * lines.len() as f64 } else { 0.0 };
        let end = |most: f64| if most > 0.0 { most } else { 1.0 };
        let x_max = points().map(|point| point.0).fold(0.0, f64::max);
        let y_max = points().map(|point| point.1).fold(0.0, f64::max) * (1.06 + marks);
        PlotArea { x_max: end(x_max), y_max: end(y_max) }
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * (value / self.x_max).min(1.0)
    }

    fn y(&self, value: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * (value / self.y_max).min(1.0)
    }

    fn rectangle(&self, class: &str, (from, to): (f64, f64), top: f64, bottom: f64) -> String {
        let (left, width) = (self.x(from), self.x(to) - self.x(from));
        let (top, height) = (self.y(top), self.y(bottom) - self.y(top));
        format!(
            "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" \
             width=\"{width:.1}\" height=\"{height:.1}\"/>\n"
        )
    }

    /// Lines across and numbers at round values, and what the horizontal axis is.
    fn axes(&self, x_label: &str, y_text: fn(f64) -> String) -> String {
        let mut axes = String::new();
        for value in ticks(self.y_max, 6) {
            let at = self.y(value);
            axes +=
                &format!("<line x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\n");
            axes += &label(" class=\"y\"", LEFT - 6.0, at + 5.0, &short(&y_text(value)));
        }
        for value in ticks(self.x_max, 8) {
            axes += &label("", self.x(value), BOTTOM + 18.0, &short(&format!("{value:.2}")));
        }
        axes + &label("", (LEFT + RIGHT) / 2.0, BOTTOM + 38.0, x_label)
    }
}

fn label(class: &str, x: f64, y: f64, text: &str) -> String {
    format!("<text{class} x=\"{x:.1}\" y=\"{y:.1}\">{}</text>\n", escaped(text))
}

fn is_finite(point: &&(f64, f64)) -> bool {
    point.0.is_finite() && point.1.is_finite()
}

/// Something that is drawn, with its heading.
pub(super) fn figure(title: &str, unit: &str, legend: &str, drawing: &str) -> String {
    let (title, unit) = (escaped(title), escaped(unit));
    format!(
        "<figure>\n<figcaption><strong>{title}</strong><span class=\"unit\">{unit}</span>\
         {legend}</figcaption>\n{drawing}\n</figure>\n"
    )
}

/// Round numbers from 0 on, so many at most beside it.
fn ticks(most: f64, count: u32) -> impl Iterator<Item = f64> {
    let magnitude = 10_f64.powf((most / f64::from(count)).log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|step| step * magnitude);
    let fits = |step: &f64| most / step <= f64::from(count);
    let step = steps.into_iter().find(fits).unwrap_or(10.0 * magnitude);
    (0..=count).map(move |number| f64::from(number) * step).take_while(move |tick| *tick <= most)
}

/// `1.50 M` as `1.5 M`.
fn short(text: &str) -> String {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let number = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    };
    format!("{number} {unit}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_numbers() {
        let of = |most, count| ticks(most, count).map(|tick| short(&format!("{tick:.2}")));
        assert_eq!(of(55.0, 8).collect::<Vec<_>>(), ["0", "10", "20", "30", "40", "50"]);
        assert_eq!(of(0.25, 6).collect::<Vec<_>>(), ["0", "0.05", "0.1", "0.15", "0.2", "0.25"]);
        assert_eq!(of(1_060.0, 6).collect::<Vec<_>>(), ["0", "200", "400", "600", "800", "1000"]);
    }
}
