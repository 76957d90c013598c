//! Everything that a flush stores in one lane.

use tonnage_engine::Result;

use super::cursor::SourceCursor;
use super::merge::SourceMerge;
use super::range::{KeyBounds, Samples};
use super::record::{Precedence, common_len};
use super::run::SortedRun;
use super::spill::SpillFile;

/// The sorted runs of one lane, in memory and on disk.
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

    /// Merges the entries in a range.
    pub(super) fn merge(
        &self,
        range: &KeyBounds,
        precedence: Precedence,
    ) -> Result<SourceMerge<'_>> {
        let runs = self.runs.iter().map(|run| SourceCursor::over_run(run, range));
        let files = self.files.iter().map(|file| SourceCursor::over_file(file, range));
        SourceMerge::new(runs.chain(files).collect(), shared_len(range), precedence)
    }

    /// Keys from all over, to cut by.
    pub(super) fn samples(&self) -> Samples {
        let mut samples = Samples::default();
        self.runs.iter().for_each(|run| samples.add_run(run));
        self.files.iter().for_each(|file| samples.add_file(file));
        samples
    }
}

/// How many leading bytes all keys of a range are sure to share.
fn shared_len(range: &KeyBounds) -> usize {
    match (&range.lower, &range.upper) {
        (Some(lower), Some(upper)) => common_len(lower, upper),
        _ => 0,
    }
}
