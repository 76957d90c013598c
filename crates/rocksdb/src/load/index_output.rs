//! Stores one range of a shard-prefixed space as one file that RocksDB takes in.
//!
//! Such entries are stored whatever is there, so this is one pass over them: no lookups, no
//! conflict check, no outcome per entry.

use rocksdb::Options;
use tonnage_engine::{Result, SpaceId};

use super::conflict::EntryOutcome;
use super::context::LoadContext;
use super::file::{BYTES_PER_SYNC, FileWriter, FinishedFile, ingest};
use super::lane::SpaceKind;
use super::output::CHECK_EVERY;
use super::range::KeyBounds;
use super::sources::Sources;
use super::tally::StreamTally;
use crate::settings::prefixed_options;
use crate::shard::Shard;

/// One range of a shard-prefixed space on its way into a shard.
pub(super) struct IndexOutput<'a> {
    pub(super) context: &'a LoadContext<'a>,
    pub(super) shard: &'a Shard,
    pub(super) sources: &'a Sources,
    pub(super) space: SpaceId,
    pub(super) range: &'a KeyBounds,
}

impl IndexOutput<'_> {
    /// Writes, ingests and reports the range.
    pub(super) fn store(&self) -> Result<()> {
        let mut tally = StreamTally::default();
        if let Some(file) = self.write(&mut tally)? {
            self.ingest(&file)?;
            self.shard.db().note_manifest();
            self.shard.indexes.check_size();
        }
        self.context.report_stored(tally);
        Ok(())
    }

    fn write(&self, tally: &mut StreamTally) -> Result<Option<FinishedFile>> {
        let options = self.file_options();
        let mut file = FileWriter::new(&options, self.shard);
        let mut merge = self.sources.merge(self.range, self.context.precedence())?;
        let mut last_key = Vec::new();
        let mut entries = 0_usize;
        while let Some(record) = merge.next()? {
            entries += 1;
            if entries.is_multiple_of(CHECK_EVERY) {
                self.context.check()?;
            }
            if last_key == record.key {
                tally.add(&record, EntryOutcome::Superseded);
                continue;
            }
            last_key.clear();
            last_key.extend_from_slice(record.key);
            file.put(record.key, record.value)?;
            tally.add(&record, EntryOutcome::Inserted);
        }
        file.finish()
    }

    fn file_options(&self) -> Options {
        let mut options =
            prefixed_options(self.context.engine.settings(), self.shard.indexes.current());
        options.set_bytes_per_sync(BYTES_PER_SYNC);
        options
    }

    /// Has the file ingested, unless the space was dropped meanwhile: no space is dropped while the
    /// gate is shut.
    fn ingest(&self, file: &FinishedFile) -> Result<()> {
        let _no_writer = self.shard.gate_alone_by(self.context.deadline)?;
        if self.context.takes_entries(self.space, SpaceKind::ShardPrefixed)? {
            ingest(&[file], self.shard)
        } else {
            Ok(())
        }
    }
}
