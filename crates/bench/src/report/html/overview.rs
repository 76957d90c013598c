//! All runs in one table, targets side by side.

use super::escape::escaped;
use super::group::RunGroup;
use super::page::section as titled;
use super::palette::{Palette, swatch};
use super::table::{HtmlCell, HtmlTable};
use crate::report::summary::YARDSTICK;
use crate::report::{Report, Run, format};

/// How each target does against the yardstick in all, and the table.
pub(super) fn section(report: &Report, groups: &[RunGroup<'_>], palette: &Palette) -> String {
    let targets = targets(report);
    let content = cards(report, &targets, palette) + &table(report, groups, &targets, palette);
    if report.runs.is_empty() { String::new() } else { titled("Results", &content) }
}

/// The yardstick at the end, where one looks for what stands beside.
fn targets(report: &Report) -> Vec<&str> {
    let mut targets: Vec<&str> = Vec::new();
    for run in &report.runs {
        if !targets.contains(&run.target.as_str()) {
            targets.push(&run.target);
        }
    }
    targets.sort_by_key(|target| *target == YARDSTICK);
    targets
}

fn cards(report: &Report, targets: &[&str], palette: &Palette) -> String {
    let cards: String = targets.iter().filter_map(|target| card(report, target, palette)).collect();
    if cards.is_empty() { cards } else { format!("<div class=\"cards\">\n{cards}</div>\n") }
}

/// The geometric mean of a target's ratios to the yardstick, the least and the greatest of them.
fn card(report: &Report, target: &str, palette: &Palette) -> Option<String> {
    let of_target = report.runs.iter().filter(|run| run.target == target);
    let ratios: Vec<f64> = of_target
        .filter_map(|run| report.against_yardstick(run))
        .filter(|ratio| *ratio > 0.0)
        .collect();
    let least = ratios.iter().copied().reduce(f64::min)?;
    let most = ratios.iter().copied().reduce(f64::max)?;
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let runs = if ratios.len() == 1 {
        "one run".to_owned()
    } else {
        format!("{} runs, from {} to {}", ratios.len(), format::ratio(least), format::ratio(most))
    };
    Some(format!(
        "<div class=\"card\"><p>{}{} against {YARDSTICK}</p><strong>{}</strong><p>{runs}</p></div>\n",
        swatch(palette.colour(target)),
        escaped(target),
        format::ratio(mean),
    ))
}

fn table(report: &Report, groups: &[RunGroup<'_>], targets: &[&str], palette: &Palette) -> String {
    let names = targets.iter().map(|target| {
        HtmlCell::Html(format!(
            "{}{}<small>per second</small>",
            swatch(palette.colour(target)),
            escaped(target)
        ))
    });
    let mut table = HtmlTable::new(
        [HtmlCell::text("run"), HtmlCell::number("threads")].into_iter().chain(names).collect(),
    );
    let fastest = report.runs.iter().map(Run::throughput).fold(0.0, f64::max);
    for group in groups {
        let runs = targets.iter().map(|target| match group.run_of(target) {
            Some(run) => HtmlCell::Html(run_cell(report, run, fastest, palette)),
            None => HtmlCell::optional(None),
        });
        let name = [HtmlCell::text(group.name), HtmlCell::number(group.threads.to_string())];
        table.row(&name.into_iter().chain(runs).collect::<Vec<_>>());
    }
    table.html()
}

/// The rate with its ratio to the yardstick; below it a bar that shows it as a share of the fastest
/// one, and the small print.
fn run_cell(report: &Report, run: &Run, fastest: f64, palette: &Palette) -> String {
    let width = if fastest > 0.0 { 100.0 * run.throughput() / fastest } else { 0.0 };
    let ratio = report.against_yardstick(run).map_or_else(String::new, ratio_chip);
    format!(
        "{ratio}<b>{}</b><span class=\"track\"><span class=\"c{}\" style=\"width:{width:.1}%\"></span></span><small>{}</small>",
        format::whole(run.throughput()),
        palette.colour(&run.target),
        small_print(run),
    )
}

fn small_print(run: &Run) -> String {
    let spread = run.spread().map(|spread| format!("±{}", format::percent(spread / 2.0)));
    let p99 = run.latency().map(|latency| format!("p99 {}", format::micros(latency.at(99.0))));
    let failed = (run.failures > 0).then(|| {
        format!("<span class=\"bad\">{} failed</span>", format::whole(run.failures as f64))
    });
    [spread, p99, failed].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// A ratio, coloured where it is clearly away from one.
fn ratio_chip(ratio: f64) -> String {
    let class = match ratio {
        ratio if ratio >= 1.05 => "good",
        ratio if ratio < 0.85 => "bad",
        _ => "even",
    };
    format!("<span class=\"chip {class}\">{}</span>", format::ratio(ratio))
}
