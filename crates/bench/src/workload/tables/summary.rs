//! What the runs are called, and what they say together.

use std::collections::BTreeMap;

use super::{Size, Subject, TablesOptions};
use crate::report::format::whole;
use crate::report::{Chart, ChartKind, ChartSeries, Report, Run};
use crate::workload::options::lower;

/// The figure that says how long a round of queries takes, milliseconds.
pub(super) const ROUND_MS: &str = "round_ms";

/// The options as names and values.
pub(super) fn settings(options: &TablesOptions) -> BTreeMap<String, String> {
    options.run.settings([
        (
            "subjects",
            options.subjects.iter().map(|subject| subject.name()).collect::<Vec<_>>().join(","),
        ),
        ("containers", options.tables.to_string()),
        ("containers_many", options.tables_many.to_string()),
        ("rows", options.rows.to_string()),
        ("rows_large", options.rows_large.to_string()),
        ("queries", options.queries.to_string()),
        ("table_rows", options.table_rows.to_string()),
        ("list_keys", options.list_keys.to_string()),
        ("key", lower(options.key)),
        ("window_ms", options.window.as_millis().to_string()),
    ])
}

/// What rows going in or out are called.
pub(super) fn case_name(subject: Subject, size: Size) -> String {
    format!("{subject}: {} × {} rows", whole(size.tables as f64), whole(size.rows as f64))
}

/// What one way of doing something is called.
pub(super) fn run_name(case: &str, way: &str) -> String {
    format!("{case} / {way}")
}

/// What sets a run apart.
pub(super) fn labels(
    subject: Subject,
    case: &str,
    way: &str,
    size: Option<Size>,
) -> BTreeMap<String, String> {
    let size = size.into_iter().flat_map(|size| {
        [("containers", size.tables.to_string()), ("rows", size.rows.to_string())]
    });
    let labels = [
        ("subject", subject.name().to_owned()),
        ("case", case.to_owned()),
        ("way", way.to_owned()),
    ]
    .into_iter()
    .chain(size);
    labels.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Adds figures, notes and charts that compare the runs of a report.
pub(super) fn add_to(report: &mut Report) {
    for place in 0..report.runs.len() {
        compare_with_first(report, place);
    }
    let charts = Subject::ALL.map(|subject| chart(report, subject));
    report.charts.extend(charts.into_iter().flatten());
}

/// How many times the rate of the first way of the same case a run reaches.
fn compare_with_first(report: &mut Report, place: usize) {
    let run = &report.runs[place];
    let is_same =
        |other: &&Run| other.target == run.target && other.labels["case"] == run.labels["case"];
    let Some(first) =
        report.runs[..place].iter().find(is_same).filter(|first| first.throughput() > 0.0)
    else {
        return;
    };
    let times = run.throughput() / first.throughput();
    let (way, first_way) = (&run.labels["way"], &first.labels["way"]);
    let note = format!(
        "{}, {}: {way} does {times:.2} times the rate of {first_way}.",
        run.target, run.labels["case"]
    );
    let figure = format!("times_{}", first_way.replace([' ', ','], "_"));
    report.notes.push(note);
    report.runs[place].figures.insert(figure, times);
}

/// The runs of a subject: rows a second of what goes in and out, milliseconds of queries.
fn chart(report: &Report, subject: Subject) -> Option<Chart> {
    let runs = || report.runs.iter().filter(|run| run.labels["subject"] == subject.name());
    let is_query = !matches!(subject, Subject::Put | Subject::Get);
    let cases = distinct(runs().map(|run| run.labels["case"].as_str()));
    let many_targets = distinct(runs().map(|run| run.target.as_str())).len() > 1;
    let series_of = |run: &Run| {
        if many_targets {
            format!("{}, {}", run.labels["way"], run.target)
        } else {
            run.labels["way"].clone()
        }
    };
    let mut series: Vec<ChartSeries> = Vec::new();
    for run in runs() {
        let height =
            if is_query { run.figures.get(ROUND_MS).copied() } else { Some(run.throughput()) };
        let case = cases.iter().position(|case| *case == run.labels["case"]);
        let (Some(height), Some(case)) = (height, case) else { continue };
        let name = series_of(run);
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push((case as f64, height)),
            None => series.push(ChartSeries { name, points: vec![(case as f64, height)] }),
        }
    }
    (!series.is_empty()).then(|| Chart {
        title: title(subject).to_owned(),
        kind: ChartKind::Bars,
        x_label: String::new(),
        y_label: if is_query { "milliseconds, the fewer the better" } else { "rows/s" }.to_owned(),
        // The subject stands above already.
        categories: cases
            .iter()
            .map(|case| case.split_once(": ").map_or(*case, |(_, rest)| rest).to_owned())
            .collect(),
        series,
    })
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

fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct = Vec::new();
    texts.for_each(|text| {
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    });
    distinct
}
