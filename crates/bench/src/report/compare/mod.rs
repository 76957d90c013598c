//! Two reports side by side.

use std::collections::BTreeSet;
use std::sync::Arc;

use tonnage::arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray};

mod difference;
mod matched;

pub use difference::Difference;
pub use matched::{Match, Verdict};

use super::noise::NoiseSource;
use super::summary::rounded;
use super::{Report, Run};

/// Two reports side by side: `b` as seen from `a`.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Where the sides come from: workload, start, version.
    pub sides: [String; 2],
    /// Runs that both sides have.
    pub matches: Vec<Match>,
    /// Runs that one side alone has.
    pub only: [Vec<String>; 2],
    /// What is different about the machines, the programs and the settings.
    pub differences: Vec<Difference>,
}

/// Sets two reports side by side. Runs belong together when name, target and threads are the same.
/// Where each report has one target, runs of the same name do, too: then the targets are compared.
pub fn compare(a: &Report, b: &Report) -> Comparison {
    let (mut left, mut right): (Vec<&Run>, Vec<&Run>) =
        (a.runs.iter().collect(), b.runs.iter().collect());
    let mut pairs = pair(&mut left, &mut right, |a, b| {
        a.name == b.name && a.target == b.target && a.threads == b.threads
    });
    if has_one_target(a) && has_one_target(b) {
        pairs
            .extend(pair(&mut left, &mut right, |a, b| a.name == b.name && a.threads == b.threads));
        pairs.extend(pair(&mut left, &mut right, |a, b| a.name == b.name));
    }
    Comparison {
        sides: [side(a), side(b)],
        matches: pairs.into_iter().map(|(a, b)| Match::of(a, b)).collect(),
        only: [left, right].map(|runs| runs.into_iter().map(Run::title).collect()),
        differences: difference::all(a, b),
    }
}

impl Comparison {
    /// The table that a terminal shows: one line for each run that both sides have.
    pub fn table(&self) -> RecordBatch {
        let texts = |text: &dyn Fn(&Match) -> String| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(self.matches.iter().map(text)))
        };
        let numbers = |number: &dyn Fn(&Match) -> Option<f64>| -> ArrayRef {
            Arc::new(Float64Array::from_iter(self.matches.iter().map(number)))
        };
        let hundredths = |ratio: f64| (ratio * 100.0).round() / 100.0;
        let columns: [(&str, ArrayRef); 9] = [
            ("run", texts(&|run| run.name.clone())),
            ("target", texts(&|run| run.target.clone())),
            ("a_per_second", numbers(&|run| Some(rounded(run.throughputs[0])))),
            ("b_per_second", numbers(&|run| Some(rounded(run.throughputs[1])))),
            ("b_to_a", numbers(&|run| run.ratio.is_finite().then(|| hundredths(run.ratio)))),
            ("noise_percent", numbers(&|run| run.noise.map(|(share, _)| rounded(share * 100.0)))),
            ("p50_b_to_a", numbers(&|run| run.p50_ratio.map(hundredths))),
            ("p99_b_to_a", numbers(&|run| run.p99_ratio.map(hundredths))),
            ("b_is", texts(&|run| run.verdict.words().to_owned())),
        ];
        RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, column)| (name, column, true)),
        )
        .expect("every column has a line for each pair of runs")
    }

    /// What a reader must know beside the table, a sentence each: how the noise was read, what only
    /// one side has, and how the sides differ.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.matches.iter().any(|run| matches!(run.noise, Some((_, NoiseSource::Readings)))) {
            notes.push(
                "Runs with fewer than three repeats: their noise is read from the readings by second, and is at least 2 % a side. \
                 Three repeats or more tell more."
                    .to_owned(),
            );
        }
        for (side, runs) in ["a", "b"].into_iter().zip(&self.only) {
            notes.extend(runs.iter().map(|run| format!("Only {side} has {run}.")));
        }
        let difference = |Difference { what, sides: [a, b] }: &Difference| {
            format!("The {what} differs: {a} in a, {b} in b.")
        };
        notes.extend(self.differences.iter().map(difference));
        notes
    }
}

/// Takes the pairs that belong together out of both sides, in the order of the first.
fn pair<'a>(
    left: &mut Vec<&'a Run>,
    right: &mut Vec<&'a Run>,
    same: impl Fn(&Run, &Run) -> bool,
) -> Vec<(&'a Run, &'a Run)> {
    let mut pairs = Vec::new();
    left.retain(|a| match right.iter().position(|b| same(a, b)) {
        Some(place) => {
            pairs.push((*a, right.remove(place)));
            false
        }
        None => true,
    });
    pairs
}

fn has_one_target(report: &Report) -> bool {
    report.runs.iter().map(|run| &run.target).collect::<BTreeSet<_>>().len() == 1
}

fn side(report: &Report) -> String {
    format!("{}, {}, version {}", report.workload, report.started, report.environment.version)
}
