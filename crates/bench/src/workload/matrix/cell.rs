//! One cell of the matrix, and the order of cells.

use std::collections::BTreeMap;

use super::options::MatrixOptions;
use crate::measure::DataDirectory;
use crate::report::{Run, labels};
use crate::workload::ycsb::CoreOptions;

/// One cell with one count of threads.
#[derive(Clone, Debug)]
pub(super) struct MatrixCell {
    /// `a / zipfian / 0.33x / ssd`.
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    /// What is done in it: as long as the time allows.
    pub(super) core: CoreOptions,
    pub(super) threads: usize,
}

impl MatrixCell {
    /// The part of the operations that write, and so leave something to tidy up.
    pub(super) fn writes(&self) -> f64 {
        let mix = &self.core.mix;
        (mix.update + mix.insert + mix.read_modify_write) / mix.total()
    }

    /// Whether a run is of this cell.
    pub(super) fn is_of(&self, run: &Run) -> bool {
        run.name == self.name && run.threads == self.threads
    }
}

/// The data that cells share.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellData<'a> {
    pub(super) place: &'a DataDirectory,
    /// As a multiple of the memory.
    pub(super) size: f64,
}

impl<'a> CellData<'a> {
    /// All data sets, place by place.
    pub(super) fn all(options: &'a MatrixOptions) -> impl Iterator<Item = CellData<'a>> {
        let of = |place| options.sizes.iter().map(move |&size| CellData { place, size });
        options.run.directories.iter().flat_map(of)
    }

    /// The cells on it, those that write most last: the data that earlier ones read is still as it
    /// was loaded.
    pub(super) fn cells(&self, options: &MatrixOptions) -> Vec<MatrixCell> {
        let mut cells = Vec::new();
        for workload in &options.workloads {
            for distribution in &options.distributions {
                for threads in &options.threads {
                    let mut labels = labels([
                        ("workload", &workload.name),
                        ("distribution", distribution),
                        ("threads", threads),
                    ]);
                    labels.extend(self.labels());
                    let core = CoreOptions {
                        mix: workload.core.mix,
                        requests: *distribution,
                        read_all_fields: workload.core.read_all_fields,
                        ..options.core_of_size(self.size)
                    };
                    let name = format!("{workload} / {distribution} / {}", self.name());
                    cells.push(MatrixCell { name, labels, core, threads: *threads });
                }
            }
        }
        cells.sort_by(|a, b| a.writes().total_cmp(&b.writes()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_write_most_come_last() {
        let options = MatrixOptions { threads: vec![1, 2], ..MatrixOptions::default() };
        let data = CellData::all(&options).next().unwrap();
        let cells = data.cells(&options);
        let order: Vec<_> = cells.iter().map(|cell| cell.labels["workload"].as_str()).collect();
        assert_eq!(order, ["c", "c", "c", "c", "b", "b", "b", "b", "a", "a", "a", "a"]);
    }
}
