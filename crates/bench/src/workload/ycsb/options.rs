//! What `bench ycsb` is asked to do.

use tonnage::{Error, Result};

use super::{CoreOptions, Mix, Requests};
use crate::choice::{choice, options};
use crate::system::SystemKind;
use crate::workload::RunOptions;

options! {
    /// What `bench ycsb` is asked to do: each workload on each system, loaded afresh, with each
    /// count of threads.
    pub struct YcsbOptions {
        /// The options of every workload.
        run: RunOptions =
            RunOptions { systems: vec![SystemKind::TonnageRocksDb.into()], ..RunOptions::default() },
        /// Which workloads.
        workloads: Vec<Workload> = Vec::new(),
        /// Which of their phases are measured.
        phase: Phase = Phase::Both => "phase",
        /// Counts of threads: one run of the run phase for each. When empty, the workload's own
        /// `threadcount`, else 1.
        threads: Vec<usize> = Vec::new(),
        /// Whether the load phase puts records in bulk instead of one by one.
        bulk_load: bool = false,
    }
}

impl YcsbOptions {
    /// Says what does not fit together.
    ///
    /// # Errors
    /// `Invalid`, naming the remedy.
    pub fn check(&self) -> Result<()> {
        self.run.check()?;
        let names: Vec<_> = self.workloads.iter().map(|workload| &workload.name).collect();
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

choice! {
    /// Which phases are measured.
    pub enum Phase {
        /// Inserting the records into an empty store.
        Load = "load",
        /// The mix of operations; the records are loaded in bulk before, which is not reported.
        Run = "run",
        /// One after the other.
        Both = "both",
    }
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

impl std::fmt::Display for Workload {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(&self.name)
    }
}

impl Workload {
    /// One of the core workloads, by the names `a` or `workloada` to `f` or `workloadf`. They have
    /// a million records and operations each: YCSB's own thousand, meant to be changed, are over
    /// before anything is measured.
    pub fn builtin(name: &str) -> Option<Workload> {
        let letter = name.strip_prefix("workload").unwrap_or(name).to_ascii_lowercase();
        let none = Mix::default();
        let (requests, mix) = match letter.as_str() {
            "a" => (Requests::Zipfian, Mix { read: 0.5, update: 0.5, ..none }),
            "b" => (Requests::Zipfian, Mix { read: 0.95, update: 0.05, ..none }),
            "c" => (Requests::Zipfian, Mix { read: 1.0, ..none }),
            "d" => (Requests::Latest, Mix { read: 0.95, insert: 0.05, ..none }),
            "e" => (Requests::Zipfian, Mix { scan: 0.95, insert: 0.05, ..none }),
            "f" => (Requests::Zipfian, Mix { read: 0.5, read_modify_write: 0.5, ..none }),
            _ => return None,
        };
        let (record_count, operation_count) = (1_000_000, 1_000_000);
        let mut core =
            CoreOptions { record_count, operation_count, requests, mix, ..CoreOptions::default() };
        if letter == "e" {
            core.scan_length_max = 100;
        }
        Some(Workload { name: letter, core, ignored: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_six_and_their_proportions_add_up() {
        for name in ["a", "b", "c", "d", "e", "f"] {
            let workload = Workload::builtin(name).unwrap();
            assert_eq!(workload.core.mix.total(), 1.0, "{name}");
            workload.core.check().unwrap();
        }
        assert_eq!(Workload::builtin("workloadA"), Workload::builtin("a"));
        assert_eq!(Workload::builtin("g"), None);
    }
}
