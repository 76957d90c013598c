//! The page of a comparison.

use super::escape::escaped;
use super::page::{document, notes, section as titled};
use super::table::{HtmlCell, HtmlTable};
use crate::report::{Comparison, Match, Verdict, format};

impl Comparison {
    /// The page to look at: everything on it, nothing from elsewhere.
    pub fn html(&self) -> String {
        document("bench compare", &body(self))
    }
}

/// Heading, how many are faster and slower, the table, and what differs.
fn body(comparison: &Comparison) -> String {
    let [a, b] = comparison.sides.each_ref().map(|side| escaped(side));
    let header = format!(
        "<header>\n<p class=\"eyebrow\">Tonnage bench compare</p>\n<h1>b against a</h1>\n\
         <p class=\"lead\"><b>a</b> {a}<br><b>b</b> {b}</p>\n</header>\n"
    );
    let results = cards(&comparison.matches) + &table(&comparison.matches);
    [header, notes(&comparison.notes()), titled("Results", &results)].concat()
}

fn cards(matches: &[Match]) -> String {
    let verdicts =
        [Verdict::Faster, Verdict::Slower, Verdict::WithinNoise, Verdict::TooFewReadings];
    let card = |verdict: Verdict| {
        let count = matches.iter().filter(|run| run.verdict == verdict).count();
        format!(
            "<div class=\"card\"><p>{}</p><strong>{count}</strong><p>of {}</p></div>\n",
            verdict.words(),
            matches.len()
        )
    };
    format!("<div class=\"cards\">\n{}</div>\n", verdicts.map(card).concat())
}

fn table(matches: &[Match]) -> String {
    let columns =
        ["a per second", "b per second", "b / a", "noise", "p50 b / a", "p99 b / a", "b is"]
            .map(HtmlCell::number);
    let mut table = HtmlTable::new(
        [HtmlCell::text("run"), HtmlCell::text("target")].into_iter().chain(columns).collect(),
    );
    for run in matches {
        table.row(&row(run));
    }
    table.html()
}

fn row(run: &Match) -> Vec<HtmlCell> {
    let [a, b] = run.throughputs.map(|rate| HtmlCell::number(format::whole(rate)));
    let noise = run.noise.map(|(share, _)| format!("±{}", format::percent(share)));
    let class = match run.verdict {
        Verdict::Faster => "good",
        Verdict::Slower => "bad",
        Verdict::WithinNoise | Verdict::TooFewReadings => "even",
    };
    vec![
        HtmlCell::text(&run.name),
        HtmlCell::text(&run.target),
        a,
        b,
        HtmlCell::number(if run.ratio.is_finite() {
            format::ratio(run.ratio)
        } else {
            "–".to_owned()
        }),
        HtmlCell::optional(noise),
        HtmlCell::optional(run.p50_ratio.map(format::ratio)),
        HtmlCell::optional(run.p99_ratio.map(format::ratio)),
        HtmlCell::Html(format!("<span class=\"chip {class}\">{}</span>", run.verdict.words())),
    ]
}
