//! What became of the entries of each stream.

use tonnage_engine::StoredRun;

use super::conflict::EntryOutcome;
use super::record::LoadRecord;

/// Counts entries by stream until they may be reported.
#[derive(Debug, Default)]
pub(super) struct StreamTally {
    /// By ascending stream.
    runs: Vec<StoredRun>,
    /// The run counted last: the next entry is often of the same stream.
    last: usize,
}

impl StreamTally {
    /// Counts an entry.
    #[inline]
    pub(super) fn add(&mut self, record: &LoadRecord<'_>, outcome: EntryOutcome) {
        if let Some(count) = self.count(record, outcome) {
            *count += 1;
        }
        if outcome.is_stored() {
            self.run(record.stream).bytes += record.logical_bytes();
        }
    }

    /// Counts an entry that was counted already: another outcome has come over it.
    pub(super) fn change(
        &mut self,
        record: &LoadRecord<'_>,
        before: EntryOutcome,
        now: EntryOutcome,
    ) {
        if let Some(count) = self.count(record, before) {
            *count -= 1;
        }
        if before.is_stored() {
            self.run(record.stream).bytes -= record.logical_bytes();
        }
        self.add(record, now);
    }

    /// What an entry is counted in; nothing where it is reported by itself.
    #[inline]
    fn count(&mut self, record: &LoadRecord<'_>, outcome: EntryOutcome) -> Option<&mut u64> {
        if outcome.is_reported() {
            return None;
        }
        let run = self.run(record.stream);
        Some(match outcome {
            EntryOutcome::Inserted => &mut run.inserted,
            EntryOutcome::Overtaken => &mut run.overtaken,
            _ => &mut run.replaced,
        })
    }

    #[inline]
    fn run(&mut self, stream: u32) -> &mut StoredRun {
        if self.runs.get(self.last).is_none_or(|run| run.stream != stream) {
            self.last =
                self.runs.binary_search_by_key(&stream, |run| run.stream).unwrap_or_else(|index| {
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
