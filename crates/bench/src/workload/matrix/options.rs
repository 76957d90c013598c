//! What `bench matrix` is asked to do.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use tonnage::{Error, Result};

use crate::choice::options;
use crate::measure::DataDirectory;
use crate::report::named;
use crate::workload::RunOptions;
use crate::workload::options::{joined, seconds};
use crate::workload::ycsb::{CoreOptions, Requests, Workload};

options! {
    /// What `bench matrix` is asked to do: each workload with each distribution on data of each
    /// size in each place.
    pub struct MatrixOptions {
        /// The options of every workload.
        run: RunOptions = RunOptions {
            memory_bytes: Some(1 << 30),
            direct_io: true,
            warm_up: Duration::from_secs(5),
            repeats: 3,
            ..RunOptions::default()
        },
        /// Sizes of the data, as multiples of that memory.
        sizes: Vec<f64> = vec![0.33, 1.3] => "sizes" joined,
        /// YCSB's workloads.
        workloads: Vec<Workload> =
            ["a", "b", "c"].into_iter().filter_map(Workload::builtin).collect()
            => "workloads" joined,
        /// Which records are asked for; it takes the place of the workload's own distribution.
        distributions: Vec<Requests> = vec![Requests::Uniform, Requests::Zipfian]
            => "distributions" joined,
        /// Counts of threads. All are reported, the best one counts.
        threads: Vec<usize> = vec![tonnage::cores()] => "threads" joined,
        /// How long a cell is measured.
        cell: Duration = Duration::from_secs(30) => "cell_seconds" seconds,
        /// Where the report of what is there so far is written after each cell. Nowhere when none.
        report_directory: Option<PathBuf> = None,
        /// Whether the cells of the report that is there count as done.
        resume: bool = false,
    }
}

impl MatrixOptions {
    /// Memory for a system's cache and memtables: what sizes of the data are multiples of.
    pub(super) fn memory_bytes(&self) -> usize {
        self.run.memory_bytes.unwrap_or(1 << 30)
    }

    /// Bytes of keys and values of the largest data set.
    pub fn data_bytes_max(&self) -> u64 {
        let sizes = self.sizes.iter().map(|size| self.core_of_size(*size).loaded_bytes());
        sizes.max().unwrap_or(0)
    }

    /// Seconds that are measured in all, warm-ups included; loading comes on top.
    pub fn seconds(&self) -> f64 {
        let grid = self.run.directories.len()
            * self.sizes.len()
            * self.workloads.len()
            * self.distributions.len()
            * self.threads.len();
        (grid * self.run.systems.len() * self.run.repeats) as f64
            * (self.cell + self.run.warm_up).as_secs_f64()
    }

    /// Records for data of a size, as the load phase takes them: those of the first workload, which
    /// all others share.
    pub(super) fn core_of_size(&self, size: f64) -> CoreOptions {
        let one =
            CoreOptions { record_count: 1, insert_count: None, insert_start: 0, ..self.core() };
        let record_count = (size * self.memory_bytes() as f64 / one.loaded_bytes() as f64) as u64;
        CoreOptions { record_count: record_count.max(1), operation_count: 0, ..one }
    }

    fn core(&self) -> CoreOptions {
        self.workloads.first().map(|workload| workload.core.clone()).unwrap_or_default()
    }

    /// Says what does not fit together.
    ///
    /// # Errors
    /// `Invalid`, with the remedy.
    pub fn check(&self) -> Result<()> {
        self.run.check()?;
        let problem = if self.workloads.is_empty()
            || self.distributions.is_empty()
            || self.sizes.is_empty()
            || self.threads.is_empty()
        {
            "the matrix has no cells: name a workload, a distribution, a size and a count of \
             threads"
        } else if self.sizes.iter().any(|size| !size.is_finite() || *size <= 0.0) {
            "a size of the data is a multiple of the memory, such as 0.33 or 1.3"
        } else if self.threads.contains(&0) {
            "0 threads: there must be one at least"
        } else if self.run.memory_bytes.is_none() {
            "sizes of the data are multiples of the memory: name that"
        } else if self.cell.is_zero() {
            "a cell that is measured for 0 seconds tells nothing"
        } else {
            return Ok(());
        };
        Err(Error::invalid(problem))
    }

    /// Further settings of the report: what must be the same for a run to be taken up again.
    pub(super) fn all_settings(&self) -> BTreeMap<String, String> {
        let directory = |place: &DataDirectory| format!("{}={}", place.label, place.path.display());
        let directories: Vec<String> = self.run.directories.iter().map(directory).collect();
        let mut settings = self.settings();
        settings.extend(named([
            ("targets", joined(&self.run.systems)),
            ("directories", joined(&directories)),
            ("field_count", self.core().field_count.to_string()),
            ("field_bytes", self.core().field_bytes.to_string()),
            ("warm_up_seconds", seconds(&self.run.warm_up)),
        ]));
        settings
    }
}
