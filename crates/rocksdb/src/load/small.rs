//! Stores a small load through the write-ahead log, where files of their own would cost more than they save.
//!
//! Chunk by chunk: shut the gate, judge the entries by what is stored, commit the winners in one batch, open the gate. At
//! the end, sync once if that was asked for, and only then report what was stored.

use std::sync::PoisonError;

use rocksdb::WriteBatch;
use tonnage_engine::{Durability, Result, Slices, SpaceId};

use super::context::Context;
use super::judge::{Fate, Judge};
use super::merge::Merge;
use super::range::KeyRange;
use super::record::space_of;
use super::sources::Sources;
use super::tally::Tally;
use super::zone::Zone;
use crate::error::translate;
use crate::patience;
use crate::shard::Shard;

/// How many bytes of entries are judged and committed while the gate is shut.
const CHUNK_BYTES: usize = 1 << 20;

/// Stores what lies in a range of `sources`.
pub(super) fn store(context: &Context<'_>, shard: &Shard, sources: &Sources, zone: Zone, range: &KeyRange) -> Result<()> {
    let mut small = Small {
        context,
        shard,
        zone,
        judge: context.judge(shard, zone),
        tally: Tally::default(),
        existing: Existing::default(),
        repeated: Existing::default(),
    };
    let mut merge = sources.merge(range, context.precedence())?;
    while small.store_chunk(&mut merge)? {
        small.existing.report(context)?;
    }
    small.existing.report(context)?;
    small.sync()?;
    context.report_stored(small.tally);
    small.repeated.report(context)
}

struct Small<'a> {
    context: &'a Context<'a>,
    shard: &'a Shard,
    zone: Zone,
    judge: Judge<'a>,
    tally: Tally,
    /// Entries whose key was stored before the load.
    existing: Existing,
    /// Entries whose key this load stores: reported when that is durable.
    repeated: Existing,
}

impl Small<'_> {
    /// Judges and commits about [`CHUNK_BYTES`]; says whether there may be more.
    fn store_chunk(&mut self, merge: &mut Merge<'_>) -> Result<bool> {
        let _no_writer = self.shard.gate.write().unwrap_or_else(PoisonError::into_inner);
        let rules = self.context.rules(self.shard, self.zone);
        self.judge.refresh(self.shard, rules, self.context.engine.clock().now_ms());
        let mut batch = WriteBatch::default();
        let mut space = None;
        let mut is_taken = true;
        let mut bytes = 0;
        let mut more = false;
        while let Some(record) = merge.next()? {
            if space != Some(record.space()) {
                space = Some(record.space());
                is_taken = self.context.takes_entries(record.space(), self.zone)?;
            }
            let fate = if is_taken { self.judge.judge(&record)? } else { Fate::Displaced };
            self.tally.add(&record, fate);
            match fate {
                Fate::Inserted | Fate::Replaced => batch.put_cf(self.shard.rows(), record.key, record.value),
                Fate::Existed => self.existing.push(record.stream, record.position, record.key),
                Fate::Repeated => self.repeated.push(record.stream, record.position, record.key),
                Fate::Renewed => batch.put_cf(self.shard.rows(), record.key, self.context.renew(self.shard, &record)?),
                Fate::Displaced | Fate::Overtaken => {}
            }
            bytes += record.encoded.len();
            if bytes >= CHUNK_BYTES {
                more = true;
                break;
            }
        }
        self.commit(&batch)?;
        Ok(more)
    }

    fn commit(&self, batch: &WriteBatch) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let written = patience::write_batch(self.shard.db(), false, batch);
        written.map_err(|error| translate(self.shard.directory.display(), error))
    }

    /// Makes what was committed as durable as was asked for.
    fn sync(&self) -> Result<()> {
        match self.context.options.durability {
            Durability::None => Ok(()),
            Durability::Write => {
                let written = self.shard.db().flush_wal(false);
                written.map_err(|error| translate(self.shard.directory.display(), error))
            }
            Durability::Fsync => self.shard.sync_log(),
        }
    }
}

/// Entries to be reported as existing.
#[derive(Default)]
struct Existing {
    keys: Slices,
    origins: Vec<(u32, u64)>,
}

impl Existing {
    fn push(&mut self, stream: u32, position: u64, physical_key: &[u8]) {
        self.keys.push(physical_key);
        self.origins.push((stream, position));
    }

    fn report(&mut self, context: &Context<'_>) -> Result<()> {
        for (key, (stream, position)) in self.keys.iter().zip(&self.origins) {
            let space: SpaceId = space_of(key);
            context.report_existed_key(*stream, *position, space, &key[4..])?;
        }
        self.keys.clear();
        self.origins.clear();
        Ok(())
    }
}
