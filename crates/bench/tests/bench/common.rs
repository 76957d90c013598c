//! What the tests of workloads share.

use std::sync::Mutex;

use tonnage_bench::measure::{DataDirectory, Watcher};
use tonnage_bench::report::Report;
use tonnage_bench::system::{SystemKind, Target};
use tonnage_bench::workload::RunOptions;

/// Runs something on tiny data in a directory of its own, in which nothing may remain.
pub(crate) fn on_tiny<T>(systems: &[SystemKind], run: impl FnOnce(RunOptions) -> T) -> T {
    let directory = tempfile::tempdir().unwrap();
    let done = run(RunOptions {
        systems: systems.iter().copied().map(Target::from).collect(),
        directories: vec![DataDirectory::new("test", directory.path())],
        memory_bytes: Some(32 << 20),
        ..RunOptions::default()
    });
    let left = std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(left, 0, "data was left behind");
    done
}

pub(crate) fn assert_all_worked(report: &Report) {
    for run in &report.runs {
        assert_eq!(run.failures, 0, "{}: {:?}", run.title(), run.failure_messages);
    }
}

/// Remembers the phases, and gives up when it has seen so many.
pub(crate) struct PhaseWatcher {
    seen: Mutex<Vec<String>>,
    phases_max: usize,
}

impl PhaseWatcher {
    pub(crate) fn until(phases_max: usize) -> Self {
        PhaseWatcher { seen: Default::default(), phases_max }
    }

    /// How many began with a prefix.
    pub(crate) fn seen(&self, prefix: &str) -> usize {
        self.seen.lock().unwrap().iter().filter(|phase| phase.starts_with(prefix)).count()
    }
}

impl Watcher for PhaseWatcher {
    fn begin(&self, phase: &str, _total: Option<u64>) {
        self.seen.lock().unwrap().push(phase.to_owned());
    }

    fn is_cancelled(&self) -> bool {
        self.seen("") >= self.phases_max
    }
}
