//! Stores one range of rows of a shard as one file that RocksDB takes in.
//!
//! 1. Open a load window, then judge every entry of the merge by what is stored, and write those that win to the file.
//! 2. Shut the gate: nobody writes now. Whoever wrote since 1 is in the window; entries that such a write came after lose,
//!    and the file is written again without them (which is rare).
//! 3. Ingest the file, open the gate, and report. An entry whose key was stored before the load is reported at once; one
//!    that repeats a key of the load only now, when that key is durable.
//!
//! The fate of each entry is remembered as one byte, so that the merge can be walked again with the same outcome.

use std::sync::PoisonError;

use rocksdb::Options;
use tonnage_engine::header::Header;
use tonnage_engine::{Durability, Result, SpaceId};

use super::context::Context;
use super::file::{BYTES_PER_SYNC, FileWriter, FinishedFile};
use super::judge::Fate;
use super::merge::Merge;
use super::range::KeyRange;
use super::record::Record;
use super::sources::Sources;
use super::tally::Tally;
use super::zone::Zone;
use crate::error::translate;
use crate::settings::row_options;
use crate::shard::Shard;
use crate::window::{LoadWindows, OpenWindow};

/// After how many entries a step looks whether the load was stopped.
pub(super) const CHECK_EVERY: usize = 1024;

/// One range on its way into a shard.
pub(super) struct Output<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) shard: &'a Shard,
    pub(super) sources: &'a Sources,
    pub(super) range: &'a KeyRange,
}

/// What the first pass found out.
#[derive(Default)]
struct Draft {
    file: Option<FinishedFile>,
    /// One for each entry of the merge.
    fates: Vec<Fate>,
    tally: Tally,
    spaces: Vec<SpaceId>,
    /// Whether entries were left out.
    has_losers: bool,
    /// Whether entries wait for the ingestion to be reported as existing.
    reports_left: bool,
}

impl Output<'_> {
    /// Judges, writes, ingests and reports the range.
    pub(super) fn store(&self) -> Result<()> {
        let window = OpenWindow::open(self.shard);
        let mut draft = self.write_draft()?;
        self.land(&window, &mut draft)?;
        drop(window);
        self.sync_what_stays(&draft)?;
        let Draft { fates, tally, reports_left, .. } = draft;
        self.context.report_stored(tally);
        if reports_left { self.report_repeated(&fates) } else { Ok(()) }
    }

    /// Has the file ingested while nobody writes. Writers wait meanwhile, so what takes long is done before: where somebody
    /// wrote at all, the hashes of our keys are gathered, to see at a glance whether any of those is ours.
    fn land(&self, window: &OpenWindow<'_>, draft: &mut Draft) -> Result<()> {
        let mut hashes = None;
        loop {
            if hashes.is_none() && window.is_touched() {
                hashes = Some(self.key_hashes(&draft.fates)?);
            }
            let _no_writer = self.shard.gate.write().unwrap_or_else(PoisonError::into_inner);
            if hashes.is_none() && window.is_touched() {
                continue;
            }
            let in_doubt = hashes.is_some_and(|ours| window.is_touched_by(&ours));
            for space in &draft.spaces {
                self.context.engine.space(*space)?;
            }
            if in_doubt && self.yield_to_later_writes(window, draft)? {
                self.rewrite(draft)?;
            }
            return draft.file.as_ref().map_or(Ok(()), |file| file.ingest(self.shard));
        }
    }

    /// An entry that yields is as durable as the row that it yields to, which may stand in the log alone.
    fn sync_what_stays(&self, draft: &Draft) -> Result<()> {
        let is_needed = self.context.options.durability == Durability::Fsync && draft.has_losers;
        if is_needed { self.shard.sync_log() } else { Ok(()) }
    }

    /// The hashes of all keys that are in the file, ascending.
    fn key_hashes(&self, fates: &[Fate]) -> Result<Vec<u64>> {
        let mut hashes = Vec::with_capacity(fates.len());
        let mut merge = self.merge()?;
        for fate in fates {
            let Some(record) = merge.next()? else { break };
            if fate.is_stored() {
                hashes.push(LoadWindows::key_hash(record.key));
            }
        }
        hashes.sort_unstable();
        Ok(hashes)
    }

    fn merge(&self) -> Result<Merge<'_>> {
        self.sources.merge(self.range, self.context.precedence())
    }

    fn write_draft(&self) -> Result<Draft> {
        let options = self.file_options();
        let mut file = FileWriter::new(&options, self.shard);
        let mut judge = self.context.judge(self.shard, Zone::Ordinary);
        let mut draft = Draft::default();
        let mut merge = self.merge()?;
        while let Some(record) = merge.next()? {
            let fate = judge.judge(&record)?;
            match fate {
                Fate::Inserted | Fate::Replaced => {
                    file.put(record.key, record.value)?;
                    draft.note_space(record.space());
                }
                Fate::Renewed => {
                    file.put(record.key, &self.context.renew(self.shard, &record)?)?;
                    draft.note_space(record.space());
                }
                Fate::Existed => self.context.report_existed(&record)?,
                Fate::Repeated => draft.reports_left = true,
                Fate::Displaced | Fate::Overtaken => {}
            }
            draft.has_losers |= !fate.is_stored();
            draft.tally.add(&record, fate);
            draft.fates.push(fate);
            if draft.fates.len().is_multiple_of(CHECK_EVERY) {
                self.context.check()?;
            }
        }
        draft.file = file.finish()?;
        Ok(draft)
    }

    fn file_options(&self) -> Options {
        let mut options = row_options(self.context.engine.settings());
        options.set_bytes_per_sync(BYTES_PER_SYNC);
        options
    }

    /// Takes the victory from entries whose row was written by someone else since the window was opened; says whether there
    /// were any. The caller holds the gate exclusively.
    fn yield_to_later_writes(&self, window: &OpenWindow<'_>, draft: &mut Draft) -> Result<bool> {
        let mut any = false;
        let mut merge = self.merge()?;
        let mut overtaken = Vec::new();
        for fate in &mut draft.fates {
            let Some(record) = merge.next()? else { break };
            if *fate == Fate::Displaced && overtaken == record.key {
                *fate = Fate::Overtaken;
            }
            if !fate.is_stored() || !window.is_touched_at(LoadWindows::key_hash(record.key)) {
                continue;
            }
            let now = self.fate_now(&record)?;
            if now == Fate::Overtaken {
                record.key.clone_into(&mut overtaken);
            }
            *fate = now;
            draft.reports_left |= now.is_reported();
            draft.has_losers |= !now.is_stored();
            any = true;
        }
        Ok(any)
    }

    /// What becomes of an entry by what is stored now.
    fn fate_now(&self, record: &Record<'_>) -> Result<Fate> {
        let stored = self.shard.db().get_pinned_cf(self.shard.rows(), record.key);
        let stored = stored.map_err(|error| translate(self.shard.directory.display(), error))?;
        let stored = stored.map(|value| Header::split(&value).map(|(header, _)| header)).transpose()?;
        let rules = self.context.rules(self.shard, Zone::Ordinary);
        Ok(match rules.fate(record, stored, self.context.engine.clock().now_ms()) {
            // Reported with the entries that repeat it, to keep the order of its stream.
            Fate::Existed => Fate::Repeated,
            fate => fate,
        })
    }

    /// Writes the file and the tally again, as the fates are now.
    fn rewrite(&self, draft: &mut Draft) -> Result<()> {
        let options = self.file_options();
        let mut file = FileWriter::new(&options, self.shard);
        let mut merge = self.merge()?;
        draft.tally = Tally::default();
        for fate in &draft.fates {
            let Some(record) = merge.next()? else { break };
            draft.tally.add(&record, *fate);
            match fate {
                Fate::Inserted | Fate::Replaced => file.put(record.key, record.value)?,
                Fate::Renewed => file.put(record.key, &self.context.renew(self.shard, &record)?)?,
                _ => {}
            }
        }
        draft.file = file.finish()?;
        Ok(())
    }

    fn report_repeated(&self, fates: &[Fate]) -> Result<()> {
        let mut merge = self.merge()?;
        for fate in fates {
            let Some(record) = merge.next()? else { break };
            if *fate == Fate::Repeated {
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
