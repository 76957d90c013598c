//! Groups of horizontal bars. Names of categories are long and many, so bars lie: names stand
//! before them and values behind.

use super::escape::escaped;
use super::palette::{Palette, swatch};
use crate::report::{Chart, format};

/// The chart as a figure.
pub(super) fn figure(chart: &Chart, palette: &Palette) -> String {
    let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
    let colours = palette.colours(&names);
    let legend = if names.len() > 1 { legend(&names, &colours) } else { String::new() };
    let most = chart
        .series
        .iter()
        .flat_map(|series| &series.points)
        .map(|point| point.1)
        .fold(0.0, f64::max);
    let groups: String = (0..chart.categories.len())
        .map(|category| group(chart, category, &colours, most))
        .collect();
    let (title, unit) = (escaped(&chart.title), escaped(&chart.y_label));
    let by = if chart.x_label.is_empty() {
        String::new()
    } else {
        format!(" by {}", escaped(&chart.x_label))
    };
    format!(
        "<figure>\n<figcaption><strong>{title}</strong><span class=\"unit\">{unit}{by}</span>{legend}</figcaption>\n\
         <div class=\"bars\">\n{groups}</div>\n</figure>\n"
    )
}

/// Names with their colours.
pub(super) fn legend(names: &[&str], colours: &[usize]) -> String {
    let items: String = names
        .iter()
        .zip(colours)
        .map(|(name, colour)| format!("<span>{}{}</span>", swatch(*colour), escaped(name)))
        .collect();
    format!("<span class=\"legend\">{items}</span>")
}

fn group(chart: &Chart, category: usize, colours: &[usize], most: f64) -> String {
    let mut bars = String::new();
    for (series, colour) in chart.series.iter().zip(colours) {
        let value = series.points.iter().find(|(at, _)| *at == category as f64);
        bars +=
            &value.map_or_else(String::new, |(_, value)| bar(&series.name, *value, *colour, most));
    }
    format!(
        "<div class=\"category\"><p>{}</p><div>\n{bars}</div></div>\n",
        escaped(&chart.categories[category])
    )
}

fn bar(name: &str, value: f64, colour: usize, most: f64) -> String {
    let width = if most > 0.0 { (100.0 * value / most).clamp(0.0, 100.0) } else { 0.0 };
    let (name, text) = (escaped(name), format::count(value));
    format!(
        "<div class=\"value\" title=\"{name}: {text}\"><span class=\"track\"><span class=\"c{colour}\" style=\"width:{width:.1}%\"></span></span><b>{text}</b></div>\n"
    )
}
