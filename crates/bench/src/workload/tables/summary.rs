//! What the runs are called, and what they say together.

use super::options::{Size, Subject};
use crate::measure::Measured;
use crate::report::format::whole;
use crate::report::{self, Chart, Report, Run, distinct};
use crate::system::System;

/// The figure that says how long a round of queries takes, milliseconds.
pub(super) const ROUND_MS: &str = "round_ms";

/// What is measured in several ways.
pub(super) struct TableCase {
    pub(super) subject: Subject,
    pub(super) name: String,
    pub(super) size: Option<Size>,
}

impl TableCase {
    /// Rows going in or out.
    pub(super) fn of_rows(subject: Subject, size: Size) -> Self {
        let (tables, rows) = (whole(size.tables as f64), whole(size.rows as f64));
        let name = format!("{subject}: {tables} × {rows} rows");
        TableCase { subject, name, size: Some(size) }
    }

    pub(super) fn run_name(&self, way: &str) -> String {
        format!("{} / {way}", self.name)
    }

    /// Makes a run of the repeats of one way.
    pub(super) fn run(&self, way: &str, system: &dyn System, repeats: Vec<Measured>) -> Run {
        let mut labels =
            report::labels([("subject", &self.subject), ("case", &self.name), ("way", &way)]);
        if let Some(Size { tables, rows }) = self.size {
            labels.extend(report::labels([("containers", &tables), ("rows", &rows)]));
        }
        Run::from_repeats(&self.run_name(way), labels, system, 1, repeats)
    }
}

/// Adds figures, notes and charts that compare the runs of a report.
pub(super) fn add_to(report: &mut Report) {
    for place in 0..report.runs.len() {
        compare_with_first(report, place);
    }
    let charts = Subject::ALL.map(|subject| chart(report, subject));
    report.charts.extend(charts.into_iter().filter(Chart::is_drawn));
}

/// How many times the rate of the first way of the same case a run reaches.
fn compare_with_first(report: &mut Report, place: usize) {
    let run = &report.runs[place];
    let case = &run.labels["case"];
    let is_same = |other: &&Run| other.target == run.target && other.labels["case"] == *case;
    let first = report.runs[..place].iter().find(is_same);
    let Some(first) = first.filter(|first| first.throughput() > 0.0) else { return };
    let times = run.throughput() / first.throughput();
    let (way, first_way) = (&run.labels["way"], &first.labels["way"]);
    let does = format!("{way} does {times:.2} times the rate of {first_way}.");
    let note = format!("{}, {case}: {does}", run.target);
    let figure = format!("times_{}", first_way.replace([' ', ','], "_"));
    report.notes.push(note);
    report.runs[place].figures.insert(figure, times);
}

/// The runs of a subject: rows a second that are written and read, milliseconds of queries.
fn chart(report: &Report, subject: Subject) -> Chart {
    let runs = || report.runs.iter().filter(|run| run.label("subject") == subject.name());
    let is_query = !matches!(subject, Subject::Put | Subject::Get);
    let many_targets = distinct(runs().map(|run| &run.target)).len() > 1;
    let unit = if is_query { "milliseconds, the fewer the better" } else { "rows/s" };
    let mut chart = Chart::bars(title(subject), "", unit);
    for run in runs() {
        let (way, case) = (run.label("way"), run.label("case"));
        let name = if many_targets { format!("{way}, {}", run.target) } else { way.to_owned() };
        let round_ms = || run.figures.get(ROUND_MS).copied();
        let height = if is_query { round_ms() } else { Some(run.throughput()) };
        // The title names the subject already.
        chart.add_bar(case.split_once(": ").map_or(case, |(_, rest)| rest), &name, height);
    }
    chart
}

fn title(subject: Subject) -> &'static str {
    match subject {
        Subject::Put => "Rows in",
        Subject::Get => "Rows out by their keys",
        Subject::OneRow => "Queries of one row each",
        Subject::Select => "Queries of all rows",
        Subject::Aggregates => "Five aggregates of each table",
        Subject::List => "Many keys: a bulk get, and a list in a query",
        Subject::Scan => "Aggregates over a large table",
        Subject::Index => "One row of a hundred by a condition",
    }
}
