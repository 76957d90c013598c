//! Stores one range of rows of a shard as one file that RocksDB takes in.
//!
//! 1. Lock the range: no other load makes a file of it meanwhile. Open a load window, then judge
//!    every entry of the merge by what is stored, and write those that win to the file.
//! 2. Have the file ingested ([`super::landing`]): entries that small writes or small loads
//!    overtook since 1 are put right.
//! 3. Unlock the range, and report. Nothing is held any more, so an observer may do what it likes.
//!
//! The fate of each entry is remembered as one byte, so that the merge can be walked again with the
//! same outcome.

use rocksdb::Options;
use tonnage_engine::{Durability, OnExisting, Result, SpaceId};

use super::conflict::EntryOutcome;
use super::context::Context;
use super::file::{BYTES_PER_SYNC, FileWriter, FinishedFile};
use super::merge::SourceMerge;
use super::range::KeyBounds;
use super::sources::Sources;
use super::tally::Tally;
use super::zone::Zone;
use crate::settings::row_options;
use crate::shard::Shard;

/// After how many entries a step looks whether the load was stopped.
pub(super) const CHECK_EVERY: usize = 1024;

/// One range on its way into a shard.
pub(super) struct Output<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) shard: &'a Shard,
    pub(super) sources: &'a Sources,
    pub(super) range: &'a KeyBounds,
}

/// What the first pass found out.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) file: Option<FinishedFile>,
    /// One for each entry of the merge.
    pub(super) fates: Vec<EntryOutcome>,
    pub(super) tally: Tally,
    pub(super) spaces: Vec<SpaceId>,
    /// Whether entries were left out.
    pub(super) has_losers: bool,
    /// Whether entries are to be reported as existing.
    pub(super) has_existing: bool,
    /// Whether an entry exists where nothing may: the draft ends with it, and is not stored.
    pub(super) is_refused: bool,
}

impl Output<'_> {
    /// Judges, writes, ingests and reports the range.
    pub(super) fn store(&self) -> Result<()> {
        let draft = self.store_draft()?;
        self.sync_what_stays(&draft)?;
        self.shard.db().note_manifest();
        self.shard.indexes.weigh();
        let Draft { fates, tally, has_existing, is_refused, .. } = draft;
        if !is_refused {
            self.context.report_stored(tally);
        }
        if has_existing { self.report_existing(&fates) } else { Ok(()) }
    }

    /// An entry that yields is as durable as the row that it yields to, which may stand in the log
    /// alone.
    fn sync_what_stays(&self, draft: &Draft) -> Result<()> {
        let is_needed = self.context.options.durability == Durability::Fsync && draft.has_losers;
        if is_needed { self.shard.sync_log() } else { Ok(()) }
    }

    pub(super) fn merge(&self) -> Result<SourceMerge<'_>> {
        self.sources.merge(self.range, self.context.precedence())
    }

    pub(super) fn write_draft(&self) -> Result<Draft> {
        let options = self.file_options();
        let mut file = FileWriter::new(&options, self.shard);
        let mut judge = self.context.judge(self.shard, Zone::Ordinary);
        let mut draft = Draft::default();
        let mut merge = self.merge()?;
        while let Some(record) = merge.next()? {
            let fate = judge.judge(&record)?;
            match fate {
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
            if fate.is_stored() {
                draft.note_space(record.space());
            }
            draft.has_losers |= !fate.is_stored();
            draft.has_existing |= fate.is_reported();
            draft.tally.add(&record, fate);
            // One for every entry, stored or not: later walks over the same merge find fates by
            // their places.
            draft.fates.push(fate);
            // A refused draft returns without its file, so that nothing of it can be ingested.
            if fate == EntryOutcome::Existed && self.context.options.on_existing == OnExisting::Fail
            {
                draft.is_refused = true;
                return Ok(draft);
            }
            if draft.fates.len().is_multiple_of(CHECK_EVERY) {
                self.context.check()?;
            }
        }
        draft.file = file.finish()?;
        Ok(draft)
    }

    pub(super) fn file_options(&self) -> Options {
        let mut options = row_options(self.context.engine.settings(), self.shard.indexes.now());
        options.set_bytes_per_sync(BYTES_PER_SYNC);
        options
    }

    /// Reports the entries that exist, those of one key in the order of their streams.
    fn report_existing(&self, fates: &[EntryOutcome]) -> Result<()> {
        let mut merge = self.merge()?;
        for fate in fates {
            let Some(record) = merge.next()? else { break };
            if fate.is_reported() {
                self.context.check()?;
                self.context.report_existed(&record)?;
            }
        }
        Ok(())
    }
}

impl Draft {
    #[inline]
    fn note_space(&mut self, space: SpaceId) {
        if self.spaces.last() != Some(&space) {
            self.spaces.push(space);
        }
    }
}
