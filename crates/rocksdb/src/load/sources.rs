//! Everything that a flush stores in one shard.

use tonnage_engine::Result;

use super::cursor::Cursor;
use super::merge::Merge;
use super::range::{KeyRange, Samples};
use super::record::{Precedence, common_len};
use super::run::SortedRun;
use super::spill::SpillFile;

/// The sorted runs of one shard, in memory and on disk.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) runs: Vec<SortedRun>,
    pub(super) files: Vec<SpillFile>,
}

impl Sources {
    /// The bytes of all records, about.
    pub(super) fn bytes(&self) -> u64 {
        let runs: u64 = self.runs.iter().map(SortedRun::bytes).sum();
        runs + self.files.iter().map(SpillFile::bytes).sum::<u64>()
    }

    /// Whether there is nothing to store.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.files.is_empty()
    }

    /// Merges what lies in a range.
    pub(super) fn merge(&self, range: &KeyRange, precedence: Precedence) -> Result<Merge<'_>> {
        let runs = self.runs.iter().map(|run| Cursor::over_run(run, range));
        let files = self.files.iter().map(|file| Cursor::over_file(file, range));
        Merge::new(runs.chain(files).collect(), shared_len(range), precedence)
    }

    /// Cuts the keys into ranges of about `range_bytes`.
    pub(super) fn cut(&self, range_bytes: u64, ranges_min: u64) -> Vec<KeyRange> {
        let mut samples = Samples::default();
        self.runs.iter().for_each(|run| samples.add_run(run));
        self.files.iter().for_each(|file| samples.add_file(file));
        samples.cut(range_bytes, ranges_min)
    }
}

/// How many leading bytes all keys of a range are sure to share.
fn shared_len(range: &KeyRange) -> usize {
    match (&range.lower, &range.upper) {
        (Some(lower), Some(upper)) => common_len(lower, upper),
        _ => 0,
    }
}
