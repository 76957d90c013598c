//! What became of the entries of each stream.

use tonnage_engine::StoredRun;

use super::judge::Fate;
use super::record::Record;

/// Counts entries by stream until they may be reported.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// By ascending stream.
    runs: Vec<StoredRun>,
    /// The run counted last: the next entry is often of the same stream.
    last: usize,
}

impl Tally {
    /// Counts an entry.
    #[inline]
    pub(super) fn add(&mut self, record: &Record<'_>, fate: Fate) {
        match fate {
            Fate::Inserted => {
                let run = self.run(record.stream);
                run.inserted += 1;
                run.bytes += record.logical_bytes();
            }
            Fate::Replaced | Fate::Renewed => {
                let run = self.run(record.stream);
                run.replaced += 1;
                run.bytes += record.logical_bytes();
            }
            Fate::Displaced => self.run(record.stream).replaced += 1,
            Fate::Overtaken => self.run(record.stream).overtaken += 1,
            Fate::Existed | Fate::Repeated => {}
        }
    }

    #[inline]
    fn run(&mut self, stream: u32) -> &mut StoredRun {
        if self.runs.get(self.last).is_none_or(|run| run.stream != stream) {
            self.last = self.runs.binary_search_by_key(&stream, |run| run.stream).unwrap_or_else(|index| {
                self.runs.insert(index, StoredRun::none_of(stream));
                index
            });
        }
        &mut self.runs[self.last]
    }

    /// Everything counted, by stream.
    pub(super) fn into_runs(self) -> Vec<StoredRun> {
        self.runs
    }
}
