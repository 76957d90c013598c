//! Readings over time: one chart a figure, one line a target.

use super::group::RunGroup;
use super::palette::Palette;
use super::svg::{LineStyle, lines};
use crate::report::{Chart, ChartSeries, Run, Second, format};

/// Points that a line has at most: more than a screen shows help nobody.
const POINTS_MAX: usize = 600;

/// Fewer readings, or points of progress, than these are no curve.
const POINTS_MIN: usize = 3;

/// A figure that is read every second: its title, its unit, how it is written (bytes get a unit
/// that fits the whole axis), and how it is read.
type Gauge = (&'static str, &'static str, Option<fn(f64) -> String>, fn(&Second) -> Option<f64>);

const GAUGES: [Gauge; 8] = [
    ("Throughput", "per second", Some(format::count), |at| Some(at.throughput)),
    ("99th percentile", "service time", Some(format::micros), |at| at.p99_us),
    ("Compaction debt", "still to rewrite", None, |at| Some(at.compaction_pending_bytes as f64)),
    ("Cores in use", "of this process", Some(format::count), |at| Some(at.cpu_cores)),
    ("Memory", "of this process", None, |at| Some(at.memory_bytes as f64)),
    ("Read from disk", "per second", None, |at| Some(at.disk_read_bytes_per_second)),
    ("Written to disk", "per second", None, |at| Some(at.disk_write_bytes_per_second)),
    ("Data on disk", "of the target", None, |at| Some(at.disk_bytes as f64)),
];

/// The charts of a group, with the race to 100 per cent.
pub(super) fn charts(group: &RunGroup<'_>, palette: &Palette<'_>) -> String {
    let mut figures = race(group, palette);
    if group.runs.iter().any(|run| run.series.len() >= POINTS_MIN) {
        figures.extend(GAUGES.iter().map(|gauge| figure(gauge, group, palette)));
    }
    if figures.is_empty() {
        return figures;
    }
    let stalled = group.runs.iter().any(|run| run.series.iter().any(|second| second.stalled));
    let note = match stalled {
        true => "<p class=\"legend-note\">Marks at the top edge: the target held writes up.</p>\n",
        false => "",
    };
    format!("<div class=\"charts\">\n{figures}</div>\n{note}")
}

/// The rate against the share of the work that is done; nothing where no run has progress.
fn race(group: &RunGroup<'_>, palette: &Palette<'_>) -> String {
    let unit = "per second, by share of the work done";
    let mut chart = Chart::lines("Race to 100 %", "% done", unit);
    for run in group.runs.iter().filter(|run| run.progress.len() >= POINTS_MIN) {
        let points = run.progress.iter().map(|point| (point.percent, point.throughput));
        points.for_each(|point| chart.add(&run.target, point));
    }
    lines(&chart, palette, &LineStyle::default())
}

/// Nothing where there is nothing to see: all readings are zero or missing.
fn figure(gauge: &Gauge, group: &RunGroup<'_>, palette: &Palette<'_>) -> String {
    let (title, unit, text, read) = *gauge;
    let seconds = || group.runs.iter().flat_map(|run| &run.series);
    let most = seconds().filter_map(read).fold(0.0, f64::max);
    if most == 0.0 {
        return String::new();
    }
    let fits = |(size, _): &(f64, &str)| most >= *size;
    let (scale, prefix) = match text {
        None => format::BYTE_UNITS.into_iter().find(fits).unwrap_or((1.0, "bytes")),
        Some(_) => (1.0, ""),
    };
    let unit = format!("{prefix} {unit}");
    let mut chart = Chart::lines(title, "seconds", unit.trim_start());
    for run in &group.runs {
        let points = points(run, read, scale);
        chart.series.push(ChartSeries { name: run.target.clone(), points });
    }
    let warm_up = seconds().filter(|second| second.warm_up).map(|second| second.at_seconds);
    let style = LineStyle {
        marks: group.runs.iter().map(|run| stalls(run)).collect(),
        shaded_to: warm_up.fold(0.0, f64::max),
        y_text: text.unwrap_or(format::count),
    };
    lines(&chart, palette, &style)
}

/// Neighbours become one point where there are too many: the highest of them, so that no peak is
/// lost.
fn points(run: &Run, read: fn(&Second) -> Option<f64>, scale: f64) -> Vec<(f64, f64)> {
    let chunk = run.series.len().div_ceil(POINTS_MAX).max(1);
    let highest = |seconds: &[Second]| {
        let readings =
            seconds.iter().filter_map(|second| Some((second.at_seconds, read(second)? / scale)));
        readings.max_by(|a, b| a.1.total_cmp(&b.1))
    };
    run.series.chunks(chunk).filter_map(highest).collect()
}

/// When writes were held up, readings side by side as one stretch.
fn stalls(run: &Run) -> Vec<(f64, f64)> {
    let (mut stalls, mut from) = (Vec::new(), 0.0);
    for stretch in run.series.chunk_by(|a, b| a.stalled == b.stalled) {
        let to = stretch[stretch.len() - 1].at_seconds;
        if stretch[0].stalled {
            stalls.push((from, to));
        }
        from = to;
    }
    stalls
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name of a type stood in a title once, after it was renamed all over the code.
    #[test]
    fn titles_are_plain_words() {
        for (title, ..) in GAUGES {
            assert!(!title.chars().skip(1).any(char::is_uppercase), "{title}");
        }
    }
}
