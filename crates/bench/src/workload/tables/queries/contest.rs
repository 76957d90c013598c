//! Several ways to the same answers.

use std::time::Instant;

use tonnage::Result;

use super::question::{Question, ask_at_once, ask_one_by_one};
use crate::measure::{MeasurePlan, Measured, Watcher, measure};
use crate::report::{Run, named};
use crate::system::{BulkOptions, System};
use crate::workload::tables::{Size, Subject, TableMethod, TablesOptions, summary};

/// All queries on one system.
#[derive(Clone, Copy)]
pub(super) struct Queries<'a> {
    pub(super) options: &'a TablesOptions,
    pub(super) system: &'a dyn System,
    pub(super) watcher: &'a dyn Watcher,
}

impl Queries<'_> {
    pub(super) fn bulk_options(&self) -> BulkOptions<'static> {
        BulkOptions::quiet(self.options.run.durability)
    }
}

/// Asks the questions of a round in one way, and checks the answers.
type Ask<'a> = Box<dyn FnMut(&[Question]) -> Result<()> + 'a>;

pub(super) struct QueryWay<'a> {
    pub(super) name: String,
    pub(super) ask: Ask<'a>,
}

/// Several ways to the same answers, which take turns.
pub(super) struct Contest<'a> {
    pub(super) subject: Subject,
    pub(super) name: String,
    pub(super) size: Option<Size>,
    /// What is asked, round by round; then it begins anew.
    pub(super) rounds: Vec<Vec<Question>>,
    /// How many rows a round counts for: those of the answers, or those that were gone through.
    pub(super) rows: u64,
    /// The ways, when they are others than one by one and all at once.
    pub(super) ways: Vec<QueryWay<'a>>,
}

impl<'a> QueryWay<'a> {
    pub(super) fn new(
        name: impl Into<String>,
        ask: impl FnMut(&[Question]) -> Result<()> + 'a,
    ) -> Self {
        QueryWay { name: name.into(), ask: Box::new(ask) }
    }

    pub(super) fn one_by_one(name: impl Into<String>, system: &'a dyn System) -> Self {
        QueryWay::new(name, |questions| ask_one_by_one(system, questions))
    }

    fn at_once(system: &'a dyn System) -> Self {
        QueryWay::new(TableMethod::Multi.name(), |questions| ask_at_once(system, questions))
    }
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
        Contest { subject, name, size: None, rounds: vec![vec![question]], rows, ways }
    }

    /// Measures each way in each repeat. Before that each goes one round that is not measured.
    pub(super) fn run(mut self, queries: &Queries<'a>) -> Result<Vec<Run>> {
        if self.ways.is_empty() {
            self.ways = vec![
                QueryWay::one_by_one(TableMethod::Single.name(), queries.system),
                QueryWay::at_once(queries.system),
            ];
        }
        let mut ways = std::mem::take(&mut self.ways);
        for way in &mut ways {
            // What is wrong with an answer is told when it is measured.
            let _ = (way.ask)(&self.rounds[0]);
        }
        let mut measured = vec![Vec::new(); ways.len()];
        for _ in 0..queries.options.run.repeats {
            for (way, repeats) in ways.iter_mut().zip(&mut measured) {
                repeats.push(self.repeat(way, queries)?);
            }
        }
        let ways = ways.iter().zip(measured);
        Ok(ways.map(|(way, repeats)| self.run_of(way, repeats, queries.system)).collect())
    }

    /// One repeat of one way: rounds until the time is over, one at least.
    fn repeat(&self, way: &mut QueryWay<'_>, queries: &Queries<'_>) -> Result<Measured> {
        let name = summary::run_name(&self.name, &way.name);
        let plan = MeasurePlan {
            phase: format!("{} {name}", queries.system.name()),
            operations: vec!["ROUND"],
            ..MeasurePlan::default()
        };
        measure(&plan, &|| queries.system.gauges(), queries.watcher, |meter| {
            let mut recorder = meter.recorder();
            for questions in self.rounds.iter().cycle() {
                let started = Instant::now();
                let outcome = (way.ask)(questions);
                recorder.record(0, started, None, outcome.map(|()| self.rows));
                if meter.is_over() || meter.started().elapsed() >= queries.options.window {
                    break;
                }
            }
            Ok(())
        })
    }

    fn run_of(&self, way: &QueryWay<'_>, repeats: Vec<Measured>, system: &dyn System) -> Run {
        let labels = summary::labels(self.subject, &self.name, &way.name, self.size);
        let name = summary::run_name(&self.name, &way.name);
        let mut run = Run::from_repeats(&name, labels, system, 1, repeats);
        let figures = [
            ("queries_per_round", self.rounds[0].len() as f64),
            ("rows_per_round", self.rows as f64),
            (summary::ROUND_MS, self.rows as f64 / run.throughput() * 1_000.0),
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
    use crate::system::{SystemKind, SystemSpec};
    use crate::workload::RunOptions;

    #[test]
    fn a_wrong_answer_is_a_failure_in_each_way() {
        let system = SystemSpec::new(SystemKind::TonnageMemory, "").open().unwrap();
        let options = TablesOptions {
            run: RunOptions { repeats: 2, ..RunOptions::default() },
            window: Duration::ZERO,
            ..TablesOptions::default()
        };
        let question = Question {
            statement: "SELECT 1 AS one".to_owned(),
            expected: Sums { rows: 1, numbers: 2.0 },
        };
        let contest = Contest::new(Subject::OneRow, "one".to_owned(), question, 1, Vec::new());
        let queries = Queries { options: &options, system: &*system, watcher: &NoWatcher };
        let runs = contest.run(&queries).unwrap();
        for run in &runs {
            assert_eq!((run.failures, run.operations_count), (2, 0), "{}", run.name);
            let message = &run.failure_messages[0];
            assert!(message.contains("SELECT 1 AS one"), "{message}");
        }
        assert_eq!(runs.len(), 2);
    }
}
