//! Readings over time: one chart a figure, one line a target.

use tonnage::Result;

use super::group::RunGroup;
use super::lines::{ChartLine, LineChart};
use super::palette::Palette;
use super::race;
use crate::report::{Run, Second, format};

/// Points that a line has at most: more than a screen shows help nobody.
const POINTS_MAX: usize = 600;

/// Fewer readings than these are no curve.
const READINGS_MIN: usize = 3;

/// A figure that is read every second.
struct Gauge {
    title: &'static str,
    unit: &'static str,
    read: fn(&Second) -> Option<f64>,
    y_text: fn(f64) -> String,
    /// Whether it is in bytes, whose axis gets a unit that fits.
    is_bytes: bool,
}

const RATE: Gauge = Gauge {
    title: "Throughput",
    unit: "per second",
    read: |at| Some(at.throughput),
    y_text: format::count,
    is_bytes: false,
};
const P99: Gauge = Gauge {
    title: "99th percentile",
    unit: "service time",
    read: |at| at.p99_us,
    y_text: format::micros,
    is_bytes: false,
};
const DEBT: Gauge = Gauge {
    title: "Compaction debt",
    unit: "still to rewrite",
    read: |at| Some(at.compaction_pending_bytes as f64),
    y_text: format::count,
    is_bytes: true,
};
const CPU: Gauge = Gauge {
    title: "Cores in use",
    unit: "of this process",
    read: |at| Some(at.cpu_cores),
    y_text: format::count,
    is_bytes: false,
};
const MEMORY: Gauge = Gauge {
    title: "Memory",
    unit: "of this process",
    read: |at| Some(at.memory_bytes as f64),
    y_text: format::count,
    is_bytes: true,
};
const READS: Gauge = Gauge {
    title: "Read from disk",
    unit: "per second",
    read: |at| Some(at.disk_read_bytes_per_second),
    y_text: format::count,
    is_bytes: true,
};
const WRITES: Gauge = Gauge {
    title: "Written to disk",
    unit: "per second",
    read: |at| Some(at.disk_write_bytes_per_second),
    y_text: format::count,
    is_bytes: true,
};
const DISK: Gauge = Gauge {
    title: "Data on disk",
    unit: "of the target",
    read: |at| Some(at.disk_bytes as f64),
    y_text: format::count,
    is_bytes: true,
};

/// The charts of a group, with the race to 100 per cent.
pub(super) fn charts(group: &RunGroup<'_>, palette: &Palette) -> Result<String> {
    let mut figures = race::figure(group, palette)?;
    if group.runs.iter().any(|run| run.series.len() >= READINGS_MIN) {
        for gauge in [RATE, P99, DEBT, CPU, MEMORY, READS, WRITES, DISK] {
            figures += &figure(&gauge, group, palette)?;
        }
    }
    let stalls = group.runs.iter().any(|run| run.series.iter().any(|second| second.stalled));
    let legend = if stalls {
        "<p class=\"legend-note\">Marks at the top edge: the target held writes up.</p>\n"
    } else {
        ""
    };
    Ok(if figures.is_empty() {
        figures
    } else {
        format!("<div class=\"charts\">\n{figures}</div>\n{legend}")
    })
}

/// Nothing where there is nothing to see: all readings are zero or missing.
fn figure(gauge: &Gauge, group: &RunGroup<'_>, palette: &Palette) -> Result<String> {
    let readings = |run: &Run| run.series.iter().filter_map(gauge.read).fold(0.0, f64::max);
    let most = group.runs.iter().map(|run| readings(run)).fold(0.0, f64::max);
    if most == 0.0 {
        return Ok(String::new());
    }
    let (scale, prefix) = if gauge.is_bytes { byte_unit(most) } else { (1.0, "") };
    let unit =
        if prefix.is_empty() { gauge.unit.to_owned() } else { format!("{prefix} {}", gauge.unit) };
    let line = |run: &&Run| ChartLine {
        name: run.target.clone(),
        colour: palette.colour(&run.target),
        points: points(run, gauge.read, scale),
        marked: stalls(run),
    };
    let shaded_to = group.runs.iter().flat_map(|run| &run.series).filter(|second| second.warm_up);
    LineChart {
        title: gauge.title,
        unit: &unit,
        x_label: "seconds",
        lines: group.runs.iter().map(line).collect(),
        shaded_to: shaded_to.map(|second| second.at_seconds).fold(0.0, f64::max),
        y_text: gauge.y_text,
    }
    .figure()
}

fn byte_unit(most: f64) -> (f64, &'static str) {
    const UNITS: [(f64, &str); 4] =
        [(1099511627776.0, "TiB"), (1073741824.0, "GiB"), (1048576.0, "MiB"), (1024.0, "KiB")];
    UNITS.into_iter().find(|(size, _)| most >= *size).unwrap_or((1.0, "bytes"))
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
    let mut stalls: Vec<(f64, f64)> = Vec::new();
    let mut from = 0.0;
    for second in &run.series {
        if second.stalled {
            match stalls.last_mut() {
                Some(last) if last.1 == from => last.1 = second.at_seconds,
                _ => stalls.push((from, second.at_seconds)),
            }
        }
        from = second.at_seconds;
    }
    stalls
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name of a type stood in a title once, after it was renamed all over the code.
    #[test]
    fn titles_are_plain_words() {
        for gauge in [RATE, P99, DEBT, CPU, MEMORY, READS, WRITES, DISK] {
            let inside = gauge.title.chars().skip(1);
            assert!(!inside.clone().any(char::is_uppercase), "{}", gauge.title);
        }
    }
}
