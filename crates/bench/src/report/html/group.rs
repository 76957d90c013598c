//! One thing that was measured, with every target it was measured on.

use crate::report::format::threads;
use crate::report::{Report, Run};

/// Runs of the same name and as many threads: one thing that was measured, with every target it was
/// measured on.
pub(super) struct RunGroup<'a> {
    pub(super) name: &'a str,
    pub(super) threads: usize,
    pub(super) runs: Vec<&'a Run>,
}

impl<'a> RunGroup<'a> {
    /// The groups of a report, in the order of their first runs. A target that comes again begins a
    /// group of its own.
    pub(super) fn of(report: &'a Report) -> Vec<Self> {
        let mut groups: Vec<RunGroup<'a>> = Vec::new();
        for run in &report.runs {
            let is_of = |group: &&mut RunGroup<'_>| {
                (group.name, group.threads) == (run.name.as_str(), run.threads)
                    && group.run_of(&run.target).is_none()
            };
            match groups.iter_mut().find(is_of) {
                Some(group) => group.runs.push(run),
                None => {
                    groups.push(RunGroup { name: &run.name, threads: run.threads, runs: vec![run] })
                }
            }
        }
        groups
    }

    pub(super) fn run_of(&self, target: &str) -> Option<&'a Run> {
        self.runs.iter().copied().find(|run| run.target == target)
    }

    pub(super) fn title(&self) -> String {
        format!("{} · {}", self.name, threads(self.threads))
    }
}
