//! Results in a table, below cards with what they say in all: those of a report, targets side by
//! side, and those of a comparison.

use super::charts::track;
use super::page::{Cell, document, escaped, notes, section as titled, table, wrapped};
use super::targets::{Palette, RunGroup};
use crate::report::summary::YARDSTICK;
use crate::report::{Comparison, Match, Report, Run, Verdict, distinct, format};

/// How each target does against the yardstick in all, and all runs, targets side by side.
pub(super) fn section(report: &Report, groups: &[RunGroup<'_>], palette: &Palette<'_>) -> String {
    if report.runs.is_empty() {
        return String::new();
    }
    let mut targets = distinct(report.runs.iter().map(|run| run.target.as_str()));
    // The yardstick at the end, where readers look for the comparison.
    targets.sort_by_key(|target| *target == YARDSTICK);
    let cards: String = targets.iter().filter_map(|target| card(report, target, palette)).collect();
    let named = |target: &&str| Cell::html(palette.named(target) + "<small>per second</small>");
    let names = targets.iter().map(named);
    let head = [Cell::text("run"), Cell::number("threads")].into_iter().chain(names).collect();
    let fastest = report.runs.iter().map(Run::throughput).fold(0.0, f64::max);
    let rows = groups.iter().map(|group| {
        let runs = targets.iter().map(|target| match group.run_of(target) {
            Some(run) => Cell::html(run_cell(report, run, fastest, palette)),
            None => Cell::optional(None),
        });
        let name = [Cell::text(group.name), Cell::number(group.threads.to_string())];
        name.into_iter().chain(runs).collect()
    });
    titled("Results", &(boxes(&cards) + &table(head, rows)))
}

fn boxes(cards: &str) -> String {
    wrapped("<div class=\"cards\">\n", cards, "</div>\n")
}

/// A large number between two lines, the first of which is HTML.
fn large(above: &str, number: &str, below: &str) -> String {
    format!("<div class=\"card\"><p>{above}</p><strong>{number}</strong><p>{below}</p></div>\n")
}

/// The geometric mean of a target's ratios to the yardstick, the least and the greatest of them.
fn card(report: &Report, target: &str, palette: &Palette<'_>) -> Option<String> {
    let of_target = report.runs.iter().filter(|run| run.target == target);
    let ratios = of_target.filter_map(|run| report.against_yardstick(run));
    let ratios: Vec<f64> = ratios.filter(|ratio| *ratio > 0.0).collect();
    let least = ratios.iter().copied().reduce(f64::min)?;
    let most = ratios.iter().copied().reduce(f64::max)?;
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let [mean, least, most] = [mean, least, most].map(format::ratio);
    let runs = match ratios.len() {
        1 => "one run".to_owned(),
        count => format!("{count} runs, from {least} to {most}"),
    };
    Some(large(&format!("{} against {YARDSTICK}", palette.named(target)), &mean, &runs))
}

/// The rate with its ratio to the yardstick; below it a bar that shows it as a share of the fastest
/// one, and the small print.
fn run_cell(report: &Report, run: &Run, fastest: f64, palette: &Palette<'_>) -> String {
    let ratio = report.against_yardstick(run).map(ratio_chip).unwrap_or_default();
    let rate = format::whole(run.throughput());
    let bar = track(run.throughput(), fastest, palette.colour(&run.target));
    let spread = run.spread().map(|spread| format!("±{}", format::percent(spread / 2.0)));
    let p99 = run.latency().map(|latency| format!("p99 {}", format::micros(latency.at(99.0))));
    let failures = format::whole(run.failures as f64);
    let failed =
        (run.failures > 0).then(|| format!("<span class=\"bad\">{failures} failed</span>"));
    let small = [spread, p99, failed].into_iter().flatten().collect::<Vec<_>>().join(" · ");
    format!("{ratio}<b>{rate}</b>{bar}<small>{small}</small>")
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

impl Comparison {
    /// The page to look at: everything on it, nothing from elsewhere.
    pub fn html(&self) -> String {
        let [a, b] = self.sides.each_ref().map(|side| escaped(side));
        let header = format!(
            "<header>\n<p class=\"eyebrow\">Tonnage bench compare</p>\n<h1>b against a</h1>\n\
             <p class=\"lead\"><b>a</b> {a}<br><b>b</b> {b}</p>\n</header>\n"
        );
        let results = verdicts(&self.matches) + &compared(&self.matches);
        let body = [header, notes(&self.notes()), titled("Results", &results)].concat();
        document("bench compare", &body)
    }
}

fn verdicts(matches: &[Match]) -> String {
    let card = |verdict: Verdict| {
        let count = matches.iter().filter(|run| run.verdict == verdict).count();
        large(verdict.name(), &count.to_string(), &format!("of {}", matches.len()))
    };
    boxes(&Verdict::ALL.map(card).concat())
}

fn compared(matches: &[Match]) -> String {
    let columns =
        ["a per second", "b per second", "b / a", "noise", "p50 b / a", "p99 b / a", "b is"];
    let names = ["run", "target"].map(Cell::text);
    let head = names.into_iter().chain(columns.map(Cell::number)).collect();
    table(head, matches.iter().map(compared_row))
}

fn compared_row(run: &Match) -> Vec<Cell> {
    let [a, b] = run.throughputs.map(|rate| Cell::number(format::whole(rate)));
    let ratio = |ratio: Option<f64>| Cell::optional(ratio.map(format::ratio));
    let noise = run.noise.map(|(share, _)| format!("±{}", format::percent(share)));
    let class = match run.verdict {
        Verdict::Faster => "good",
        Verdict::Slower => "bad",
        Verdict::WithinNoise | Verdict::TooFewReadings => "even",
    };
    let verdict = format!("<span class=\"chip {class}\">{}</span>", run.verdict.name());
    vec![
        Cell::text(&run.name),
        Cell::text(&run.target),
        a,
        b,
        ratio(Some(run.ratio).filter(|ratio| ratio.is_finite())),
        Cell::optional(noise),
        ratio(run.p50_ratio),
        ratio(run.p99_ratio),
        Cell::html(verdict),
    ]
}
