//! The page of a comparison.

use super::overview::{boxes, large};
use super::page::{Cell, document, escaped, notes, section as titled, table};
use crate::report::{Comparison, Match, Verdict, format};

impl Comparison {
    /// The page to look at: everything on it, nothing from elsewhere.
    pub fn html(&self) -> String {
        let [a, b] = self.sides.each_ref().map(|side| escaped(side));
        let header = format!(
            "<header>\n<p class=\"eyebrow\">Tonnage bench compare</p>\n<h1>b against a</h1>\n\
             <p class=\"lead\"><b>a</b> {a}<br><b>b</b> {b}</p>\n</header>\n"
        );
        let results = cards(&self.matches) + &results(&self.matches);
        let body = [header, notes(&self.notes()), titled("Results", &results)].concat();
        document("bench compare", &body)
    }
}

fn cards(matches: &[Match]) -> String {
    let card = |verdict: Verdict| {
        let count = matches.iter().filter(|run| run.verdict == verdict).count();
        large(verdict.name(), &count.to_string(), &format!("of {}", matches.len()))
    };
    boxes(Verdict::ALL.map(card).concat())
}

fn results(matches: &[Match]) -> String {
    let columns =
        ["a per second", "b per second", "b / a", "noise", "p50 b / a", "p99 b / a", "b is"];
    let names = ["run", "target"].map(Cell::text);
    let head = names.into_iter().chain(columns.map(Cell::number)).collect();
    table(head, matches.iter().map(row))
}

fn row(run: &Match) -> Vec<Cell> {
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
