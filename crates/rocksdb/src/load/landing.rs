//! The moment when a file lands: what others wrote while it was in the making is put right.
//!
//! 1. With writers at work, gather the entries whose keys were touched since the window was opened:
//!    the suspects.
//! 2. Shut the gate: nobody writes now. If keys of the file were touched that are no suspects, open
//!    it and begin again, up to [`ROUNDS_MAX`] times; then all entries are gone through while the
//!    gate is shut.
//! 3. Look again at what is stored under the suspects' keys. Where an entry is overtaken, or is to
//!    have a new version, the right row goes into a second file, the patch.
//! 4. Have RocksDB take in both files in one step, the patch over the other, and open the gate.

use rocksdb::Options;
use tonnage_engine::Result;
use tonnage_engine::header::Header;

use super::conflict::{EntryOutcome, Rules};
use super::file::{FileWriter, ingest};
use super::output::{Draft, Output};
use super::record::{Record, RecordSpan};
use super::tally::Tally;
use super::zone::Zone;
use crate::error::translate;
use crate::open_window::OpenWindow;
use crate::shard::Shard;
use crate::window::LoadWindows;

/// How often the suspects are gathered before writers have to wait for it.
const ROUNDS_MAX: usize = 3;
/// With more suspects than this they are not gathered.
const SUSPECT_BYTES_MAX: usize = 8 << 20;

/// A file on its way through the gate.
struct Landing<'a> {
    output: &'a Output<'a>,
    window: &'a OpenWindow<'a>,
}

/// What is known of the entries of a draft, up to one moment.
struct Survey {
    /// Whatever was noted up to this count was looked at.
    mark: u64,
    /// The hashes of all keys in the file, ascending.
    ours: Vec<u64>,
    /// The hashes of those that were touched, ascending.
    touched: Vec<u64>,
    /// The touched entries, and those that repeat their keys.
    suspects: Vec<(usize, RecordSpan)>,
    arena: Vec<u8>,
    /// Whether there was room for all suspects.
    is_whole: bool,
}

impl Output<'_> {
    /// Judges the range, writes its file and has it land.
    pub(super) fn store_draft(&self) -> Result<Draft> {
        let (lower, upper) = (self.range.lower.as_deref(), self.range.upper.as_deref());
        let locked = self.shard.loading.lock_by(lower, upper, self.context.deadline);
        let _range = locked.map_err(|error| error.at(self.shard.place()))?;
        let window = OpenWindow::open_by(self.shard, self.context.deadline)?;
        let mut draft = self.write_draft()?;
        if !draft.is_refused {
            Landing { output: self, window: &window }.land(&mut draft)?;
        }
        Ok(draft)
    }
}

impl Landing<'_> {
    /// Has the file of a draft ingested while nobody writes.
    fn land(&self, draft: &mut Draft) -> Result<()> {
        let shard = self.output.shard;
        let Some(file) = draft.file.take() else { return Ok(()) };
        let options = self.output.file_options();
        let mut survey: Option<Survey> = None;
        for round in 0.. {
            // Gathered while others write: with the gate shut only the check is left to do.
            if self.window.is_touched_since(survey.as_ref().map(|survey| survey.mark)) {
                survey = Some(self.survey(&draft.fates)?);
            }
            let _no_writer = shard.gate_alone_by(self.output.context.deadline)?;
            let knows_all = self.knows_all(survey.as_ref());
            if !knows_all
                && round < ROUNDS_MAX
                && survey.as_ref().is_none_or(|survey| survey.is_whole)
            {
                continue;
            }
            // No space is dropped while the gate is shut: rows of one that is gone stay out.
            draft
                .spaces
                .iter()
                .try_for_each(|space| self.output.context.engine.space(*space).map(drop))?;
            let mut patch = Patch::new(self.output, &options);
            match &survey {
                Some(survey) if knows_all => patch.settle_suspects(survey, draft)?,
                None if knows_all => {}
                _ => self.settle_all(&mut patch, draft)?,
            }
            let patch = patch.file.finish()?;
            // Counted before the rows can be read: windows of other loads do not tell of them.
            self.output.context.lands(shard);
            return ingest(
                &[Some(&file), patch.as_ref()].into_iter().flatten().collect::<Vec<_>>(),
                shard,
            );
        }
        Ok(())
    }

    /// Walks over the entries that are in the file.
    fn survey(&self, fates: &[EntryOutcome]) -> Result<Survey> {
        let mut survey = Survey {
            // Before the walk: whatever is touched during it is news to the check under the gate.
            mark: self.window.count(),
            ours: Vec::with_capacity(fates.len()),
            touched: Vec::new(),
            suspects: Vec::new(),
            arena: Vec::new(),
            is_whole: true,
        };
        let mut merge = self.output.merge()?;
        let mut is_suspect = false;
        for (index, fate) in fates.iter().enumerate() {
            let Some(record) = merge.next()? else { break };
            if fate.is_stored() {
                let hash = LoadWindows::key_hash(record.key);
                survey.ours.push(hash);
                is_suspect = self.window.is_touched_at(hash);
                survey.touched.extend(is_suspect.then_some(hash));
            } else {
                // Entries that repeat the key of a suspect share its fate: they are suspects too.
                is_suspect &= *fate == EntryOutcome::Superseded;
            }
            if is_suspect {
                survey.suspect(index, &record);
            }
        }
        survey.ours.sort_unstable();
        survey.touched.sort_unstable();
        Ok(survey)
    }

    /// Whether every entry whose key was touched is a suspect. The caller holds the gate
    /// exclusively.
    fn knows_all(&self, survey: Option<&Survey>) -> bool {
        let Some(survey) = survey else { return !self.window.is_touched_since(None) };
        let is_news = |hash: u64| {
            survey.ours.binary_search(&hash).is_ok() && survey.touched.binary_search(&hash).is_err()
        };
        survey.is_whole && !self.window.is_touched_by(survey.mark, is_news)
    }

    /// Looks at every touched key, where the suspects are not known. The caller holds the gate
    /// exclusively.
    fn settle_all(&self, patch: &mut Patch<'_>, draft: &mut Draft) -> Result<()> {
        let mut merge = self.output.merge()?;
        for fate in &mut draft.fates {
            let Some(record) = merge.next()? else { break };
            let is_suspect = match fate.is_stored() {
                true => self.window.is_touched_at(LoadWindows::key_hash(record.key)),
                false => *fate == EntryOutcome::Superseded && patch.was_overtaken,
            };
            if is_suspect {
                patch.settle(&record, fate, &mut draft.tally)?;
            } else {
                patch.was_overtaken = false;
            }
        }
        draft.has_losers |= patch.has_losers;
        draft.has_existing |= patch.has_existing;
        Ok(())
    }
}

impl Survey {
    fn suspect(&mut self, index: usize, record: &Record<'_>) {
        if self.arena.len() + record.encoded.len() > SUSPECT_BYTES_MAX {
            self.is_whole = false;
        } else {
            let start = self.arena.len();
            self.arena.extend_from_slice(record.encoded);
            self.suspects.extend(RecordSpan::read(&self.arena, start).map(|span| (index, span)));
        }
    }
}

/// The rows that are right where those of the file are not.
struct Patch<'a> {
    shard: &'a Shard,
    output: &'a Output<'a>,
    rules: Rules<'a>,
    now_ms: u64,
    file: FileWriter<'a>,
    /// Whether the entry settled last was overtaken: those that repeat its key were then, too.
    was_overtaken: bool,
    has_losers: bool,
    has_existing: bool,
}

impl<'a> Patch<'a> {
    fn new(output: &'a Output<'a>, options: &'a Options) -> Self {
        Self {
            shard: output.shard,
            output,
            rules: output.context.rules(output.shard, Zone::Ordinary),
            now_ms: output.context.engine.clock().now_ms(),
            file: FileWriter::new(options, output.shard),
            was_overtaken: false,
            has_losers: false,
            has_existing: false,
        }
    }

    fn settle_suspects(&mut self, survey: &Survey, draft: &mut Draft) -> Result<()> {
        for (index, span) in &survey.suspects {
            self.settle(&span.of(&survey.arena), &mut draft.fates[*index], &mut draft.tally)?;
        }
        draft.has_losers |= self.has_losers;
        draft.has_existing |= self.has_existing;
        Ok(())
    }

    /// Decides again about an entry, by what is stored now.
    fn settle(
        &mut self,
        record: &Record<'_>,
        fate: &mut EntryOutcome,
        tally: &mut Tally,
    ) -> Result<()> {
        let now = match *fate {
            EntryOutcome::Superseded if self.was_overtaken => EntryOutcome::Overtaken,
            EntryOutcome::Superseded => EntryOutcome::Superseded,
            before => self.judge(record, before)?,
        };
        self.was_overtaken = now == EntryOutcome::Overtaken;
        self.has_losers |= !now.is_stored();
        self.has_existing |= now.is_reported();
        tally.change(record, *fate, now);
        *fate = now;
        Ok(())
    }

    fn judge(&mut self, record: &Record<'_>, before: EntryOutcome) -> Result<EntryOutcome> {
        let stored = self.shard.db().get_pinned_cf(self.shard.rows(), record.key);
        let stored = stored.map_err(|error| translate(self.shard.directory.display(), error))?;
        let header = stored
            .as_deref()
            .map(|value| Header::split(value).map(|(header, _)| header))
            .transpose()?;
        let now = self.rules.fate(record, header, self.now_ms);
        match (now, &stored) {
            (EntryOutcome::Existed | EntryOutcome::Overtaken, Some(stored)) => {
                self.file.put(record.key, stored)?
            }
            (EntryOutcome::Renewed, _) => {
                self.file.put(record.key, &self.output.context.renew(self.shard, record)?)?
            }
            (EntryOutcome::Inserted | EntryOutcome::Replaced, _)
                if before == EntryOutcome::Renewed =>
            {
                return Ok(before);
            }
            _ => {}
        }
        Ok(now)
    }
}
