//! One cell of the matrix, and the order of cells.

use std::collections::BTreeMap;

use super::options::MatrixOptions;
use crate::measure::DataDirectory;
use crate::report::{Run, labels};
use crate::workload::ycsb::{CoreOptions, Requests, Workload};

/// One cell with one count of threads.
#[derive(Clone, Debug)]
pub(super) struct MatrixCell {
    pub(super) workload: Workload,
    pub(super) distribution: Requests,
    pub(super) data: CellData,
    pub(super) threads: usize,
}

/// The data that cells share.
#[derive(Clone, Debug)]
pub(super) struct CellData {
    pub(super) place: DataDirectory,
    /// As a multiple of the memory.
    pub(super) size: f64,
}

impl CellData {
    /// All data sets, place by place.
    pub(super) fn all(options: &MatrixOptions) -> impl Iterator<Item = CellData> {
        let of = |place: &DataDirectory| {
            let place = place.clone();
            options.sizes.iter().map(move |size| CellData { place: place.clone(), size: *size })
        };
        options.run.directories.iter().flat_map(of)
    }

    /// The cells on it, those that write most last: the data that earlier ones read is still as it
    /// was loaded.
    pub(super) fn cells(&self, options: &MatrixOptions) -> Vec<MatrixCell> {
        let mut workloads = options.workloads.clone();
        workloads.sort_by(|a, b| writes(&a.core).total_cmp(&writes(&b.core)));
        let mut cells = Vec::new();
        for workload in workloads {
            for &distribution in &options.distributions {
                for &threads in &options.threads {
                    let (workload, data) = (workload.clone(), self.clone());
                    cells.push(MatrixCell { workload, distribution, data, threads });
                }
            }
        }
        cells
    }

    /// `0.33x / ssd`.
    pub(super) fn name(&self) -> String {
        format!("{}x / {}", self.size, self.place.label)
    }

    pub(super) fn labels(&self) -> BTreeMap<String, String> {
        labels([("size", &format!("{}x", self.size)), ("directory", &self.place.label)])
    }
}

impl MatrixCell {
    /// `a / zipfian / 0.33x / ssd`.
    pub(super) fn name(&self) -> String {
        format!("{} / {} / {}", self.workload.name, self.distribution.name(), self.data.name())
    }

    pub(super) fn labels(&self) -> BTreeMap<String, String> {
        let (workload, distribution) = (&self.workload.name, &self.distribution);
        let mut all = self.data.labels();
        all.extend(labels([
            ("workload", workload),
            ("distribution", distribution),
            ("threads", &self.threads),
        ]));
        all
    }

    /// What is done in it: as long as the time allows.
    pub(super) fn core(&self, options: &MatrixOptions) -> CoreOptions {
        let loaded = options.core_of_size(self.data.size);
        let core = self.workload.core.clone();
        CoreOptions {
            mix: core.mix,
            requests: self.distribution,
            read_all_fields: core.read_all_fields,
            ..loaded
        }
    }

    /// Whether it leaves something to tidy up.
    pub(super) fn writes(&self) -> bool {
        writes(&self.workload.core) > 0.0
    }

    /// Whether a run is of this cell.
    pub(super) fn is_of(&self, run: &Run) -> bool {
        run.name == self.name() && run.threads == self.threads
    }
}

/// The part of the operations that write.
fn writes(core: &CoreOptions) -> f64 {
    (core.mix.update + core.mix.insert + core.mix.read_modify_write) / core.mix.total()
}
