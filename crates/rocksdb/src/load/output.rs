//! Stores one range of rows of a shard as one file that RocksDB ingests.
//!
//! 1. Lock the range: no other load makes a file of it meanwhile. Open a load window, judge every
//!    entry of the merge by what is stored, and write the winners to the file.
//! 2. Have the file ingested ([`super::gated_ingest`]). That corrects entries that small writes or
//!    small loads overtook since step 1.
//! 3. Unlock the range, and report. No lock is held any more, so an observer may do what it likes.
//!
//! The outcome of each entry is kept as one byte, so that a second walk over the merge need not
//! judge again.

use rocksdb::Options;
use tonnage_engine::{Durability, OnExisting, Result, SpaceId};

use super::conflict::EntryOutcome;
use super::context::LoadContext;
use super::file::{BYTES_PER_SYNC, FileWriter, FinishedFile};
use super::lane::SpaceKind;
use super::merge::SourceMerge;
use super::range::KeyBounds;
use super::sources::Sources;
use super::tally::StreamTally;
use crate::settings::row_options;
use crate::shard::Shard;

/// After how many entries a step looks whether the load was stopped.
pub(super) const CHECK_EVERY: usize = 1024;

/// One range of rows on its way into a shard.
pub(super) struct RangeOutput<'a> {
    pub(super) context: &'a LoadContext<'a>,
    pub(super) shard: &'a Shard,
    pub(super) sources: &'a Sources,
    pub(super) range: &'a KeyBounds,
}

/// What is known of a range once its file is written, before it is ingested.
#[derive(Default)]
pub(super) struct PendingOutput {
    pub(super) file: Option<FinishedFile>,
    /// One for each entry of the merge.
    pub(super) outcomes: Vec<EntryOutcome>,
    pub(super) tally: StreamTally,
    pub(super) spaces: Vec<SpaceId>,
    /// Whether entries were left out.
    pub(super) has_losers: bool,
    /// Whether entries are to be reported as existing.
    pub(super) has_existing: bool,
    /// Whether an entry exists where nothing may: the walk ends with it, and nothing is stored.
    pub(super) is_refused: bool,
}

impl RangeOutput<'_> {
    /// Judges, writes, ingests and reports the range.
    pub(super) fn store(&self) -> Result<()> {
        let pending = self.ingest_file()?;
        self.sync_kept_rows(&pending)?;
        self.shard.db().note_manifest();
        self.shard.indexes.check_size();
        let PendingOutput { outcomes, tally, has_existing, is_refused, .. } = pending;
        if !is_refused {
            self.context.report_stored(tally);
        }
        if has_existing { self.report_existing(&outcomes) } else { Ok(()) }
    }

    /// An entry that yields is as durable as the row that it yields to, which may stand in the log
    /// alone.
    fn sync_kept_rows(&self, pending: &PendingOutput) -> Result<()> {
        let is_needed = self.context.options.durability == Durability::Fsync && pending.has_losers;
        if is_needed { self.shard.sync_log() } else { Ok(()) }
    }

    pub(super) fn merge(&self) -> Result<SourceMerge<'_>> {
        self.sources.merge(self.range, self.context.precedence())
    }

    pub(super) fn write_file(&self) -> Result<PendingOutput> {
        let options = self.file_options();
        let mut file = FileWriter::new(&options, self.shard);
        let mut resolver = self.context.resolver(self.shard, SpaceKind::Ordinary);
        let mut pending = PendingOutput::default();
        let mut merge = self.merge()?;
        while let Some(record) = merge.next()? {
            let outcome = resolver.resolve(&record)?;
            match outcome {
                EntryOutcome::Inserted | EntryOutcome::Replaced => {
                    file.put(record.key, record.value)?
                }
                EntryOutcome::Renewed => {
                    file.put(record.key, &self.context.renew(self.shard, &record)?)?
                }
                EntryOutcome::Existed
                | EntryOutcome::Duplicate
                | EntryOutcome::Superseded
                | EntryOutcome::Overtaken => {}
            }
            if outcome.is_stored() {
                pending.note_space(record.space());
            }
            pending.has_losers |= !outcome.is_stored();
            pending.has_existing |= outcome.is_reported();
            pending.tally.add(&record, outcome);
            // One for every entry, stored or not: later walks over the same merge find outcomes by
            // their positions.
            pending.outcomes.push(outcome);
            // What is refused returns without its file, so that nothing of it can be ingested.
            if outcome == EntryOutcome::Existed
                && self.context.options.on_existing == OnExisting::Fail
            {
                pending.is_refused = true;
                return Ok(pending);
            }
            if pending.outcomes.len().is_multiple_of(CHECK_EVERY) {
                self.context.check()?;
            }
        }
        pending.file = file.finish()?;
        Ok(pending)
    }

    pub(super) fn file_options(&self) -> Options {
        let mut options = row_options(self.context.engine.settings(), self.shard.indexes.current());
        options.set_bytes_per_sync(BYTES_PER_SYNC);
        options
    }

    /// Reports the entries that exist, those of one key in the order of their streams.
    fn report_existing(&self, outcomes: &[EntryOutcome]) -> Result<()> {
        let mut merge = self.merge()?;
        for outcome in outcomes {
            let Some(record) = merge.next()? else { break };
            if outcome.is_reported() {
                self.context.check()?;
                self.context.report_existed(&record)?;
            }
        }
        Ok(())
    }
}

impl PendingOutput {
    #[inline]
    fn note_space(&mut self, space: SpaceId) {
        if self.spaces.last() != Some(&space) {
            self.spaces.push(space);
        }
    }
}
