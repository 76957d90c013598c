//! Ingests a file, and corrects it by what others wrote while it was being built.
//!
//! 1. While others write, gather the entries whose keys were touched since the window was opened:
//!    the suspects.
//! 2. Shut the gate: no write is in flight now. If keys of the file were touched that are no
//!    suspects, open the gate and begin again, up to [`ROUNDS_MAX`] times. After that, look at all
//!    entries while the gate is shut.
//! 3. Look up the keys of the suspects once more. If an entry is overtaken, or gets a new version,
//!    the right row is written to a second file, the patch.
//! 4. Have RocksDB ingest both files in one step, the patch over the other, and open the gate.

use rocksdb::Options;
use tonnage_engine::{Header, Result};

use super::conflict::{ConflictRules, EntryOutcome};
use super::file::{FileWriter, ingest};
use super::lane::SpaceKind;
use super::output::{PendingOutput, RangeOutput};
use super::record::{LoadRecord, RecordSpan};
use super::tally::StreamTally;
use crate::error::translate;
use crate::open_window::OpenWindow;
use crate::shard::Shard;
use crate::window::LoadWindows;

/// How often the suspects are gathered before writers have to wait for it.
const ROUNDS_MAX: usize = 3;
/// With more suspects than this they are not gathered.
const SUSPECT_BYTES_MAX: usize = 8 << 20;

/// A file on its way through the gate.
struct GatedIngest<'a> {
    output: &'a RangeOutput<'a>,
    window: &'a OpenWindow<'a>,
}

/// What is known of the entries of a pending output, up to one point in time.
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

impl RangeOutput<'_> {
    /// Judges the range, writes its file and has it ingested.
    pub(super) fn ingest_file(&self) -> Result<PendingOutput> {
        let (lower, upper) = (self.range.lower.as_deref(), self.range.upper.as_deref());
        let locked = self.shard.loading.lock_by(lower, upper, self.context.deadline);
        let _range = locked.map_err(|error| error.at(self.shard.display_name()))?;
        let window = OpenWindow::open_by(self.shard, self.context.deadline)?;
        let mut pending = self.write_file()?;
        if !pending.is_refused {
            GatedIngest { output: self, window: &window }.ingest(&mut pending)?;
        }
        Ok(pending)
    }
}

impl GatedIngest<'_> {
    /// Has the file of a pending output ingested while no write is in flight.
    fn ingest(&self, pending: &mut PendingOutput) -> Result<()> {
        let shard = self.output.shard;
        let Some(file) = pending.file.take() else { return Ok(()) };
        let options = self.output.file_options();
        let mut survey: Option<Survey> = None;
        for round in 0.. {
            // Gathered while others write: with the gate shut only the check is left to do.
            if self.window.is_touched_since(survey.as_ref().map(|survey| survey.mark)) {
                survey = Some(self.survey(&pending.outcomes)?);
            }
            let _no_writer = shard.gate_alone_by(self.output.context.deadline)?;
            let knows_all = self.knows_all(survey.as_ref());
            if !knows_all
                && round < ROUNDS_MAX
                && survey.as_ref().is_none_or(|survey| survey.is_whole)
            {
                continue;
            }
            // Rows of a space that is gone stay out. One that is dropped after this look loses its
            // rows when the gate is open again.
            pending
                .spaces
                .iter()
                .try_for_each(|space| self.output.context.engine.space(*space).map(drop))?;
            let mut patch = PatchFile::new(self.output, &options);
            match &survey {
                Some(survey) if knows_all => patch.settle_suspects(survey, pending)?,
                None if knows_all => {}
                _ => self.settle_all(&mut patch, pending)?,
            }
            let patch = patch.file.finish()?;
            // Counted before the rows can be read: windows of other loads do not tell of them.
            self.output.context.count_ingestion(shard);
            return ingest(
                &[Some(&file), patch.as_ref()].into_iter().flatten().collect::<Vec<_>>(),
                shard,
            );
        }
        Ok(())
    }

    /// Walks over the entries that are in the file.
    fn survey(&self, outcomes: &[EntryOutcome]) -> Result<Survey> {
        let mut survey = Survey {
            // Before the walk: whatever is touched during it is news to the check under the gate.
            mark: self.window.count(),
            ours: Vec::with_capacity(outcomes.len()),
            touched: Vec::new(),
            suspects: Vec::new(),
            arena: Vec::new(),
            is_whole: true,
        };
        let mut merge = self.output.merge()?;
        let mut is_suspect = false;
        for (index, outcome) in outcomes.iter().enumerate() {
            let Some(record) = merge.next()? else { break };
            if outcome.is_stored() {
                let hash = LoadWindows::key_hash(record.key);
                survey.ours.push(hash);
                is_suspect = self.window.is_touched_at(hash);
                survey.touched.extend(is_suspect.then_some(hash));
            } else {
                // Entries that repeat the key of a suspect share its outcome, so they are suspects.
                is_suspect &= *outcome == EntryOutcome::Superseded;
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
    fn settle_all(&self, patch: &mut PatchFile<'_>, pending: &mut PendingOutput) -> Result<()> {
        let mut merge = self.output.merge()?;
        for outcome in &mut pending.outcomes {
            let Some(record) = merge.next()? else { break };
            let is_suspect = match outcome.is_stored() {
                true => self.window.is_touched_at(LoadWindows::key_hash(record.key)),
                false => *outcome == EntryOutcome::Superseded && patch.was_overtaken,
            };
            if is_suspect {
                patch.settle(&record, outcome, &mut pending.tally)?;
            } else {
                patch.was_overtaken = false;
            }
        }
        pending.has_losers |= patch.has_losers;
        pending.has_existing |= patch.has_existing;
        Ok(())
    }
}

impl Survey {
    fn suspect(&mut self, index: usize, record: &LoadRecord<'_>) {
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
struct PatchFile<'a> {
    shard: &'a Shard,
    output: &'a RangeOutput<'a>,
    rules: ConflictRules<'a>,
    now_ms: u64,
    file: FileWriter<'a>,
    /// Whether the entry settled last was overtaken: those that repeat its key were then, too.
    was_overtaken: bool,
    has_losers: bool,
    has_existing: bool,
}

impl<'a> PatchFile<'a> {
    fn new(output: &'a RangeOutput<'a>, options: &'a Options) -> Self {
        Self {
            shard: output.shard,
            output,
            rules: output.context.rules(output.shard, SpaceKind::Ordinary),
            now_ms: output.context.engine.clock().now_ms(),
            file: FileWriter::new(options, output.shard),
            was_overtaken: false,
            has_losers: false,
            has_existing: false,
        }
    }

    fn settle_suspects(&mut self, survey: &Survey, pending: &mut PendingOutput) -> Result<()> {
        for (index, span) in &survey.suspects {
            self.settle(
                &span.of(&survey.arena),
                &mut pending.outcomes[*index],
                &mut pending.tally,
            )?;
        }
        pending.has_losers |= self.has_losers;
        pending.has_existing |= self.has_existing;
        Ok(())
    }

    /// Decides again about an entry, by what is stored now.
    fn settle(
        &mut self,
        record: &LoadRecord<'_>,
        outcome: &mut EntryOutcome,
        tally: &mut StreamTally,
    ) -> Result<()> {
        let now = match *outcome {
            EntryOutcome::Superseded if self.was_overtaken => EntryOutcome::Overtaken,
            EntryOutcome::Superseded => EntryOutcome::Superseded,
            before => self.resolve(record, before)?,
        };
        self.was_overtaken = now == EntryOutcome::Overtaken;
        self.has_losers |= !now.is_stored();
        self.has_existing |= now.is_reported();
        tally.change(record, *outcome, now);
        *outcome = now;
        Ok(())
    }

    fn resolve(&mut self, record: &LoadRecord<'_>, before: EntryOutcome) -> Result<EntryOutcome> {
        let stored = self.shard.db().get_pinned_cf(self.shard.rows(), record.key);
        let stored = stored.map_err(|error| translate(self.shard.directory.display(), error))?;
        let header = stored
            .as_deref()
            .map(|value| Header::split(value).map(|(header, _)| header))
            .transpose()?;
        let now = self.rules.outcome(record, header, self.now_ms);
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
