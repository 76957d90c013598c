//! What `bench ycsb` is asked to do.

use tonnage::{Error, Result};

use super::CoreOptions;
use crate::system::SystemKind;
use crate::workload::RunOptions;

/// What `bench ycsb` is asked to do: each workload on each system, loaded afresh, with each count
/// of threads.
#[derive(Clone, Debug)]
pub struct YcsbOptions {
    /// What every workload is told.
    pub run: RunOptions,
    /// Which workloads.
    pub workloads: Vec<Workload>,
    /// Which of their phases are measured.
    pub phase: Phase,
    /// Counts of threads: one run of the run phase for each. When empty, the workload's own
    /// `threadcount`, else 1.
    pub threads: Vec<usize>,
    /// Whether the load phase puts records in bulk instead of one by one.
    pub bulk_load: bool,
}

impl Default for YcsbOptions {
    fn default() -> Self {
        YcsbOptions {
            run: RunOptions { systems: vec![SystemKind::TonnageRocksDb], ..RunOptions::default() },
            workloads: Vec::new(),
            phase: Phase::Both,
            threads: Vec::new(),
            bulk_load: false,
        }
    }
}

impl YcsbOptions {
    /// Says what does not fit together.
    ///
    /// # Errors
    /// `Invalid`, naming the remedy.
    pub fn check(&self) -> Result<()> {
        self.run.check()?;
        let names: Vec<&str> =
            self.workloads.iter().map(|workload| workload.name.as_str()).collect();
        let twice = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name));
        let problem = if names.is_empty() {
            "there is no workload: name one, as a to f".to_owned()
        } else if let Some((_, name)) = twice {
            format!("two workloads are called {name}: rename one of the files, or leave it out")
        } else if self.threads.contains(&0) {
            "0 threads measure nothing: give 1 or more".to_owned()
        } else {
            return self.workloads.iter().try_for_each(|workload| self.check_workload(workload));
        };
        Err(Error::invalid(problem))
    }

    fn check_workload(&self, workload: &Workload) -> Result<()> {
        let Workload { name, core, .. } = workload;
        let is_endless =
            core.operation_count == 0 && self.run.seconds_max.or(core.seconds_max).is_none();
        core.check().map_err(|error| error.at(format!("workload {name}")))?;
        match is_endless && self.phase != Phase::Load {
            true => Err(Error::invalid(format!(
                "workload {name} would never end: give operationcount, or maxexecutiontime"
            ))),
            false => Ok(()),
        }
    }

    /// Bytes of keys and values in a system at most, about: those loaded, and those that runs may
    /// insert.
    pub fn data_bytes_max(&self) -> u64 {
        let runs = self.run.repeats.saturating_mul(self.threads.len().max(1)) as f64;
        let bytes = |workload: &Workload| {
            let core = &workload.core;
            let inserted = core.operation_count as f64 * runs * core.mix.insert / core.mix.total();
            let record_bytes = core.loaded_bytes() as f64 / core.loaded_count() as f64;
            core.loaded_bytes().saturating_add((inserted * record_bytes) as u64)
        };
        self.workloads.iter().map(bytes).max().unwrap_or(0)
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
