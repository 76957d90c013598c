//! Several ways to the same answers.

use std::time::Instant;

use tonnage::Result;

use super::call::{TableMethod, TableSession};
use super::options::Subject;
use super::question::{Question, ask_at_once, ask_one_by_one};
use super::summary::{ROUND_MS, TableCase};
use crate::measure::{MeasurePlan, Measured, measure};
use crate::report::{Report, Run, named};
use crate::system::System;

/// Asks the questions of a round in one way, and checks the answers.
type Ask<'a> = Box<dyn FnMut(&[Question]) -> Result<()> + 'a>;

/// A way to answers, by its name.
pub(super) type QueryWay<'a> = (&'static str, Ask<'a>);

/// Several ways to the same answers, which take turns.
pub(super) struct Contest<'a> {
    pub(super) case: TableCase,
    /// What is asked, round by round; then it begins anew.
    pub(super) rounds: Vec<Vec<Question>>,
    /// How many rows a round counts for: those of the answers, or those that were gone through.
    pub(super) rows: u64,
    pub(super) ways: Vec<QueryWay<'a>>,
}

/// Query after query.
pub(super) fn one_by_one<'a>(name: &'static str, system: &'a dyn System) -> QueryWay<'a> {
    (name, Box::new(move |questions| ask_one_by_one(system, questions)))
}

/// Query after query, and all in one call.
pub(super) fn both_ways(system: &dyn System) -> Vec<QueryWay<'_>> {
    let single = one_by_one(TableMethod::Single.name(), system);
    let at_once = move |questions: &[Question]| ask_at_once(system, questions);
    vec![single, (TableMethod::Multi.name(), Box::new(at_once))]
}

impl<'a> Contest<'a> {
    /// One question, in ways of its own.
    pub(super) fn new(
        subject: Subject,
        name: String,
        question: Question,
        rows: u64,
        ways: Vec<QueryWay<'a>>,
    ) -> Self {
        let case = TableCase { subject, name, size: None };
        Contest { case, rounds: vec![vec![question]], rows, ways }
    }

    /// Measures each way in each repeat, unless it is not wanted or there is no more time. Before
    /// that each runs one round that is not measured.
    pub(super) fn hold(mut self, session: &TableSession<'_>, report: &mut Report) -> Result<()> {
        if !session.options.wants(self.case.subject) || session.harness.is_over() {
            return Ok(());
        }
        let mut ways = std::mem::take(&mut self.ways);
        for (_, ask) in &mut ways {
            // A wrong answer is reported when it is measured.
            let _ = ask(&self.rounds[0]);
        }
        let mut measured = vec![Vec::new(); ways.len()];
        for _ in 0..session.options.run.repeats {
            for (way, repeats) in ways.iter_mut().zip(&mut measured) {
                repeats.push(self.repeat(way, session)?);
            }
        }
        for ((way, _), repeats) in ways.iter().zip(measured) {
            report.runs.push(self.run_of(way, repeats, session.system));
        }
        Ok(())
    }

    /// One repeat of one way: rounds until the time is over, one at least.
    fn repeat(&self, way: &mut QueryWay<'_>, session: &TableSession<'_>) -> Result<Measured> {
        let (name, ask) = way;
        let name = self.case.run_name(name);
        let plan = MeasurePlan {
            phase: format!("{} {name}", session.system.name()),
            operations: vec!["ROUND"],
            ..MeasurePlan::default()
        };
        measure(&plan, &|| session.system.gauges(), session.harness.watcher, |meter| {
            let mut recorder = meter.recorder();
            for questions in self.rounds.iter().cycle() {
                let started = Instant::now();
                let outcome = ask(questions);
                recorder.record(0, started, None, outcome.map(|()| self.rows));
                if meter.is_over() || meter.started().elapsed() >= session.options.window {
                    break;
                }
            }
            Ok(())
        })
    }

    fn run_of(&self, way: &str, repeats: Vec<Measured>, system: &dyn System) -> Run {
        let mut run = self.case.run(way, system, repeats);
        let figures = [
            ("queries_per_round", self.rounds[0].len() as f64),
            ("rows_per_round", self.rows as f64),
            (ROUND_MS, self.rows as f64 / run.throughput() * 1_000.0),
        ];
        run.figures.extend(named(figures.into_iter().filter(|(_, figure)| figure.is_finite())));
        run
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::question::Sums;
    use super::*;
    use crate::measure::NoWatcher;
    use crate::system::SystemKind;
    use crate::workload::RunOptions;
    use crate::workload::harness::BenchRun;
    use crate::workload::tables::TablesOptions;

    #[test]
    fn a_wrong_answer_is_a_failure_in_each_way() {
        let run = RunOptions { repeats: 2, ..RunOptions::default() };
        let options = TablesOptions { run, window: Duration::ZERO, ..TablesOptions::default() };
        let (workload, watcher) = ("tables", &NoWatcher);
        let harness = BenchRun { workload, options: &options.run, watcher };
        let mut report = harness.report(options.settings());
        let opened = harness.open(SystemKind::TonnageMemory).unwrap();
        let system = &*opened.system;
        let question = Question {
            statement: "SELECT 1 AS one".to_owned(),
            expected: Sums { rows: 1, numbers: 2.0 },
        };
        let ways = both_ways(system);
        let contest = Contest::new(Subject::OneRow, "one".to_owned(), question, 1, ways);
        let session = TableSession { options: &options, system, harness };
        contest.hold(&session, &mut report).unwrap();
        for run in &report.runs {
            assert_eq!((run.failures, run.operations_count), (2, 0), "{}", run.name);
            let message = &run.failure_messages[0];
            assert!(message.contains("SELECT 1 AS one"), "{message}");
        }
        assert_eq!(report.runs.len(), 2);
    }
}
