//! What `bench ycsb` is asked to do.

use std::time::Duration;

use tonnage::Durability;

use super::CoreOptions;
use crate::target::TargetKind;
use crate::workload::Place;

/// What `bench ycsb` is asked to do: each workload on each target, loaded afresh, with each count of threads.
#[derive(Clone, Debug)]
pub struct YcsbOptions {
    /// Which workloads.
    pub workloads: Vec<Workload>,
    /// Which of their phases are measured.
    pub phase: Phase,
    /// Which systems.
    pub targets: Vec<TargetKind>,
    /// Where their data goes.
    pub place: Place,
    /// Memory for a target's cache and memtables, enforced; the target's own default when none.
    pub memory_bytes: Option<usize>,
    /// Whether data files are read and written past the operating system's cache.
    pub direct_io: bool,
    /// What an acknowledged write survives.
    pub durability: Durability,
    /// Counts of threads: one run of the run phase for each. When empty, the workload's own `threadcount`, else 1.
    pub threads: Vec<usize>,
    /// How often each run is repeated; the median counts.
    pub repeats: usize,
    /// What is done in the beginning of a run counts only for its series.
    pub warm_up: Duration,
    /// A run ends after so long; the workload's own `maxexecutiontime` when none.
    pub seconds_max: Option<Duration>,
    /// Whether the load phase puts records in bulk instead of one by one.
    pub bulk_load: bool,
    /// The command line, for the report.
    pub command: String,
}

impl Default for YcsbOptions {
    fn default() -> Self {
        YcsbOptions {
            workloads: Vec::new(),
            phase: Phase::Both,
            targets: vec![TargetKind::TonnageRocksDb],
            place: Place { label: "data".to_owned(), directory: std::env::temp_dir() },
            memory_bytes: None,
            direct_io: false,
            durability: Durability::Write,
            threads: Vec::new(),
            repeats: 1,
            warm_up: Duration::ZERO,
            seconds_max: None,
            bulk_load: false,
            command: String::new(),
        }
    }
}

/// Which phases are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Inserting the records.
    Load,
    /// The mix of operations, on records that were loaded without being measured.
    Run,
    /// Both, one after the other.
    Both,
}

/// A workload with its name in reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// `a` to `f`, or the file's name.
    pub name: String,
    /// What is done.
    pub core: CoreOptions,
    /// Properties that were given and mean nothing here, for the report's notes.
    pub ignored: Vec<String>,
}
