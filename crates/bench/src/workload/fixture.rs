//! What the tests of workloads share.

use super::RunOptions;
use crate::measure::DataDirectory;
use crate::report::Report;
use crate::system::SystemKind;

/// Runs something on tiny data in a directory of its own, in which nothing may be left behind.
pub(super) fn on_tiny<T>(systems: &[SystemKind], run: impl FnOnce(RunOptions) -> T) -> T {
    let directory = tempfile::tempdir().unwrap();
    let done = run(RunOptions {
        systems: systems.to_vec(),
        directories: vec![DataDirectory::new("test", directory.path())],
        memory_bytes: Some(32 << 20),
        ..RunOptions::default()
    });
    let left = std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(left, 0, "data was left behind");
    done
}

pub(super) fn assert_all_worked(report: &Report) {
    for run in &report.runs {
        assert_eq!(run.failures, 0, "{}: {:?}", run.title(), run.failure_messages);
    }
}
