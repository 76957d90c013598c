//! Lines over a numeric axis, drawn by plotters.
//!
//! The style sheet gives the colours, so that they follow light and dark: what is drawn here has
//! code colours, `#000000` to `#000007` for the series, `#000010` for text, `#000011` for the grid
//! and `#000012` for the warm-up, which it replaces. Everything is drawn at twice the size it is
//! shown at, because plotters places points at whole pixels.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use tonnage::{Error, Result};

use super::bars::legend;
use super::escape::escaped;

const WIDTH: u32 = 1120;
const HEIGHT: u32 = 500;
/// The height of a row of marks, as a share of the chart.
const MARK: f64 = 0.035;
/// Lines of few points show each.
const DOTS_MAX: usize = 20;
const TEXT: RGBColor = RGBColor(0, 0, 0x10);
const GRID: RGBColor = RGBColor(0, 0, 0x11);
const WARM_UP: RGBColor = RGBColor(0, 0, 0x12);

/// One line.
pub(super) struct ChartLine {
    pub(super) name: String,
    pub(super) colour: usize,
    pub(super) points: Vec<(f64, f64)>,
    /// Stretches that are marked at the top, in the line's colour.
    pub(super) marked: Vec<(f64, f64)>,
}

/// A chart of lines. Both axes begin at zero.
pub(super) struct LineChart<'a> {
    pub(super) title: &'a str,
    /// What stands behind the title, such as the unit.
    pub(super) unit: &'a str,
    pub(super) x_label: &'a str,
    pub(super) lines: Vec<ChartLine>,
    /// Up to where the ground is shaded.
    pub(super) shaded_to: f64,
    /// How the marks on the vertical axis are written.
    pub(super) y_text: fn(f64) -> String,
}

impl LineChart<'_> {
    /// The chart as a figure; nothing when no line has two points.
    pub(super) fn figure(&self) -> Result<String> {
        if self.lines.iter().all(|line| line.points.len() < 2) {
            return Ok(String::new());
        }
        let names: Vec<&str> = self.lines.iter().map(|line| line.name.as_str()).collect();
        let colours: Vec<usize> = self.lines.iter().map(|line| line.colour).collect();
        let svg = self.svg().map_err(|error| {
            Error::internal(format!("the chart {:?} cannot be drawn: {error}", self.title))
        })?;
        Ok(format!(
            "<figure>\n<figcaption><strong>{}</strong><span class=\"unit\">{}</span>{}</figcaption>\n<div class=\"scroll\">{svg}</div>\n</figure>\n",
            escaped(self.title),
            escaped(self.unit),
            legend(&names, &colours),
        ))
    }

    fn svg(&self) -> std::result::Result<String, Box<dyn std::error::Error + '_>> {
        let mut svg = String::new();
        let area = SVGBackend::with_string(&mut svg, (WIDTH, HEIGHT)).into_drawing_area();
        let (x_max, y_max) = (self.x_max(), self.y_max());
        let mut chart = ChartBuilder::on(&area)
            .margin(16)
            .margin_right(36)
            .x_label_area_size(104)
            .y_label_area_size(150)
            .build_cartesian_2d(0.0..x_max, 0.0..y_max)?;
        let shade =
            Rectangle::new([(0.0, 0.0), (self.shaded_to.min(x_max), y_max)], WARM_UP.filled());
        chart.draw_series((self.shaded_to > 0.0).then_some(shade))?;
        self.draw_axes(&mut chart)?;
        for (row, line) in self.lines.iter().enumerate() {
            let colour = RGBColor(0, 0, line.colour as u8);
            chart.draw_series(LineSeries::new(
                line.points.iter().copied(),
                colour.stroke_width(4),
            ))?;
            let dots = line.points.iter().filter(|_| line.points.len() <= DOTS_MAX);
            chart.draw_series(dots.map(|point| Circle::new(*point, 7, colour.filled())))?;
            let top = y_max * (1.0 - MARK * row as f64);
            let mark = |&(from, to): &(f64, f64)| {
                Rectangle::new([(from, top), (to, top - y_max * MARK * 0.8)], colour.filled())
            };
            chart.draw_series(line.marked.iter().map(mark))?;
        }
        area.present()?;
        drop((chart, area));
        Ok(inline(&svg))
    }

    fn draw_axes<DB: DrawingBackend>(
        &self,
        chart: &mut ChartContext<
            '_,
            DB,
            Cartesian2d<
                plotters::coord::types::RangedCoordf64,
                plotters::coord::types::RangedCoordf64,
            >,
        >,
    ) -> std::result::Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
        let text =
            TextStyle::from(("sans-serif", 32)).color(&TEXT).pos(Pos::new(HPos::Center, VPos::Top));
        chart
            .configure_mesh()
            .disable_x_mesh()
            .y_max_light_lines(0)
            .bold_line_style(GRID.stroke_width(2))
            .axis_style(GRID.stroke_width(2))
            .set_all_tick_mark_size(8)
            .x_labels(8)
            .y_labels(6)
            .label_style(text.clone())
            .axis_desc_style(text)
            .x_desc(self.x_label)
            .x_label_formatter(&|x| short(&format!("{x:.2}")))
            .y_label_formatter(&|y| short(&(self.y_text)(*y)))
            .draw()
    }

    fn x_max(&self) -> f64 {
        let most = self.points().map(|point| point.0).fold(0.0, f64::max);
        if most > 0.0 { most } else { 1.0 }
    }

    /// With room above the highest point, and for marks where there are some.
    fn y_max(&self) -> f64 {
        let most = self.points().map(|point| point.1).fold(0.0, f64::max);
        let has_marks = self.lines.iter().any(|line| !line.marked.is_empty());
        let marks = if has_marks { MARK * self.lines.len() as f64 } else { 0.0 };
        if most > 0.0 { most * (1.06 + marks) } else { 1.0 }
    }

    fn points(&self) -> impl Iterator<Item = &(f64, f64)> {
        self.lines
            .iter()
            .flat_map(|line| &line.points)
            .filter(|(x, y)| x.is_finite() && y.is_finite())
    }
}

/// Without the size, which the style sheet gives, and the name space, which HTML has.
fn inline(svg: &str) -> String {
    match svg.split_once('>') {
        Some((_, drawing)) => {
            format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">{drawing}")
        }
        None => String::new(),
    }
}

/// `1.50 M` as `1.5 M`.
fn short(text: &str) -> String {
    let (number, unit) = text.split_once(' ').map_or((text, ""), |(number, unit)| (number, unit));
    let number = if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    };
    if unit.is_empty() { number.to_owned() } else { format!("{number} {unit}") }
}
