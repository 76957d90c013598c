//! Small atomic writes.
//!
//! 1. The batch is checked. It waits at the [throttle](crate::write_throttle) while compaction lags
//!    far or writes are stopped.
//! 2. The stripe of its shard key is taken: from here on no other writer changes these rows.
//! 3. The gate is held shared; the spaces are looked up again, since one may have been dropped
//!    meanwhile.
//! 4. Conditions are judged against the rows that are stored now.
//! 5. A version is drawn, the keys are recorded in open load windows, and everything is committed
//!    as one RocksDB batch. Where RocksDB takes no writes now, all locks are released, and the
//!    batch returns to the throttle.
//! 6. The locks are given up. With `Durability::Fsync` the log is then synced up to this batch, one
//!    sync for all who wait for one ([`group_sync`](crate::group_sync)). So the rows of one shard
//!    key are written as fast as others. What a condition was refused by is synced likewise: the
//!    answer holds after a power failure.
//!
//! So others may read a row that is not on the disk yet, as they may with the other durabilities.
//! What is written to the same shard because of it follows it in the log, so it never outlives it.
//!
//! There is one deadline for the way to 5, so that no writer waits out the stalls of those before
//! it. A sync under way is waited for: what is in the log cannot be taken back.
//!
//! RocksDB applies a batch to memory only after it is in the log. After a failed write or sync of
//! the log RocksDB refuses every further write: for a full disk until there is space again, which
//! it looks for every few seconds; for any other failure until it is opened again. All writers that
//! waited for a failed sync get its error: their rows can be read, and may or may not be there
//! after the next opening.

use std::sync::Arc;

use rocksdb::{ColumnFamily, ReadOptions};
use tonnage_engine::{
    Condition, Deadline, Durability, Error, Header, Operation, Result, SpaceId, SpaceInfo,
    WriteBatch, WriteOutcome, prefixed_shard,
};

use crate::attempt_outcome::AttemptOutcome;
use crate::batch_effects::BatchEffects;
use crate::error::translate;
use crate::open_store::OpenStore;
use crate::settings::read_options;
use crate::shard::{Shard, physical_key};
use crate::stall::StallDeadline;
use crate::tracking::notes::ChangeNotes;

/// The destination of a batch.
pub(crate) struct Destination<'b> {
    /// The index of the shard.
    pub(crate) shard: usize,
    /// The shard key whose stripe is taken; for a batch of shard-prefixed rows alone, the number of the
    /// shard.
    pub(crate) shard_key: &'b [u8],
    /// About how many bytes it is in the log.
    pub(crate) bytes: usize,
}

/// What an operation adds to its key and value in the log, about.
const OPERATION_BYTES: usize = 32;

impl OpenStore {
    /// Carries out a batch by a deadline, or within the time that a stall may last.
    pub(crate) fn write_batch(
        &self,
        batch: &WriteBatch,
        durability: Durability,
        deadline: Deadline,
    ) -> Result<WriteOutcome> {
        deadline.check("its turn")?;
        let destination = self.check_batch(batch, &mut None)?;
        let shard = &self.shards()[destination.shard];
        let stall_deadline = StallDeadline::until(deadline);
        let (outcome, written) = shard.throttle.write(destination.bytes, stall_deadline, || {
            let stripe = Shard::stripe_of(destination.shard_key);
            let _stripe = shard.stripe_by(stripe, deadline)?;
            let _gate = shard.gate_by(deadline)?;
            // Again, under the gate: a space dropped since the check would get rows that are never
            // removed.
            self.check_spaces(batch, &mut None)?;
            if let Some(refused) = self.failed_condition(shard, batch, &BatchEffects::default())? {
                // A refusal is synced too: the row that it depends on may not be on the disk yet.
                return Ok(AttemptOutcome::Done((refused, shard.written())));
            }
            let version = shard.versions.next_until(stall_deadline.end)?;
            let mut rows = BatchEncoder::new(shard);
            rows.add(batch, version);
            Ok(match shard.attempt(false, &rows.notes, rows.batch)? {
                AttemptOutcome::Done(()) => {
                    AttemptOutcome::Done((WriteOutcome::Applied { version }, shard.written()))
                }
                AttemptOutcome::Stopped(refusal) => AttemptOutcome::Stopped(refusal),
            })
        })?;
        // Stripe and gate are given up by now, so that writers of one shard key share syncs.
        if durability == Durability::Fsync {
            shard.sync_log_to(written)?;
        }
        Ok(outcome)
    }

    /// Checks that the spaces of a batch exist. `known` is one that does while the gate is held.
    pub(crate) fn check_spaces(
        &self,
        batch: &WriteBatch,
        known: &mut Option<SpaceId>,
    ) -> Result<()> {
        batch.runs().try_for_each(|(space, _)| {
            if *known != Some(space) {
                self.space(space)?;
                *known = Some(space);
            }
            Ok(())
        })
    }

    /// The first condition that does not hold of what is stored, or `left` by batches that will be
    /// committed before this one. The caller holds stripe and gate.
    pub(crate) fn failed_condition(
        &self,
        shard: &Shard,
        batch: &WriteBatch,
        left: &BatchEffects<'_>,
    ) -> Result<Option<WriteOutcome>> {
        // Read options cost as much as the look-up of a cached row: without conditions none are
        // created.
        if !has_conditions(batch) {
            return Ok(None);
        }
        let now_ms = self.clock().now_ms();
        let (options, mut physical) = (read_options(), Vec::new());
        for (space, run) in batch.runs() {
            for operation in run {
                let condition = batch.condition(operation);
                if condition == Condition::Always {
                    continue;
                }
                physical_key(space, batch.key(operation), &mut physical);
                // What batches before this one leave will be there first: it counts for more than
                // what is stored.
                let header = match left.get(space, batch.key(operation)) {
                    Some(left) => left,
                    None => stored_header(shard, &physical, &options)?,
                };
                let current =
                    header.filter(|header| header.is_live(now_ms)).map(|header| header.version);
                if !condition.holds(current) {
                    return Ok(Some(WriteOutcome::Refused { operation, current }));
                }
            }
        }
        Ok(None)
    }

    /// Checks keys, values and sizes, and that everything belongs together; the answer is where it
    /// belongs. `known_space` is the one looked up last.
    pub(crate) fn check_batch<'b>(
        &self,
        batch: &'b WriteBatch,
        known_space: &mut Option<Arc<SpaceInfo>>,
    ) -> Result<Destination<'b>> {
        let mut shard_key: Option<&[u8]> = None;
        let mut prefixed: Option<(usize, &[u8])> = None;
        let mut bytes = 0;
        for (space, run) in batch.runs() {
            // Batches of one space in a row spare the look-up in the list, which is under a lock.
            let known = known_space.take().filter(|known| known.id == space);
            let space: &SpaceInfo = known_space.insert(match known {
                Some(known) => known,
                None => self.space(space)?,
            });
            for index in run {
                let (key, value) = (batch.key(index), batch.value(index));
                let len = self
                    .check_key(space, key)
                    .map_err(|error| error.at(format_args!("operation {index}")))?;
                self.check_value(space, value)
                    .map_err(|error| error.at(format_args!("operation {index}")))?;
                bytes += key.len() + value.len();
                let own = &key[..len];
                // Some keys name their shard, others hash to one: each kind agrees in itself first,
                // then with the other.
                let first = if space.shape.is_shard_prefixed() {
                    &mut prefixed.get_or_insert((index, own)).1
                } else {
                    shard_key.get_or_insert(own)
                };
                if *first != own {
                    return Err(not_together(space, index));
                }
            }
        }
        let bytes_max = self.limits().batch_bytes_max;
        if bytes > bytes_max {
            return Err(Error::invalid(format!(
                "a write batch of {bytes} bytes is over the limit of {bytes_max}: use a load"
            )));
        }
        self.destination(batch, shard_key, prefixed, bytes + batch.len() * OPERATION_BYTES)
    }

    fn destination<'b>(
        &self,
        batch: &WriteBatch,
        shard_key: Option<&'b [u8]>,
        prefixed: Option<(usize, &'b [u8])>,
        bytes: usize,
    ) -> Result<Destination<'b>> {
        let Some((index, number)) = prefixed else {
            let shard_key = shard_key.unwrap_or_default();
            return Ok(Destination { shard: self.shard_index(shard_key), shard_key, bytes });
        };
        let space = self.space(batch.space(index))?;
        let shard = self.shard_index_in(&space, number)?;
        match shard_key {
            Some(shard_key) if self.shard_index(shard_key) != shard => {
                Err(not_together(&space, index))
            }
            shard_key => Ok(Destination { shard, shard_key: shard_key.unwrap_or(number), bytes }),
        }
    }

    /// Checks one key; the answer is how many bytes of it are its shard key.
    #[inline]
    pub(crate) fn check_key(&self, space: &SpaceInfo, key: &[u8]) -> Result<usize> {
        if key.len() > self.limits().key_bytes_max {
            return Err(over_limit(space, "key", key.len(), self.limits().key_bytes_max));
        }
        let len =
            space.shape.shard_key_len(key).and_then(|len| match space.shape.is_shard_prefixed() {
                true => prefixed_shard(key, self.limits().shards).map(|_| len),
                false => Ok(len),
            });
        len.map_err(|error| error.at(format_args!("space '{}'", space.name)))
    }

    /// Checks one value.
    #[inline]
    pub(crate) fn check_value(&self, space: &SpaceInfo, value: &[u8]) -> Result<()> {
        if value.len() > self.limits().value_bytes_max {
            return Err(over_limit(space, "value", value.len(), self.limits().value_bytes_max));
        }
        Ok(())
    }
}

fn stored_header(shard: &Shard, physical: &[u8], options: &ReadOptions) -> Result<Option<Header>> {
    let stored = shard.db().get_pinned_cf_opt(shard.rows(), physical, options);
    match stored.map_err(|error| translate(shard.display_name(), error))? {
        Some(value) => Ok(Some(Header::split(&value)?.0)),
        None => Ok(None),
    }
}

/// Whether any operation of a batch has a condition.
pub(crate) fn has_conditions(batch: &WriteBatch) -> bool {
    (0..batch.len()).any(|index| batch.condition(index) != Condition::Always)
}

/// Makes one batch of RocksDB's of batches. Its memory serves all of them.
pub(crate) struct BatchEncoder<'a> {
    shard: &'a Shard,
    family: &'a ColumnFamily,
    physical: Vec<u8>,
    stored: Vec<u8>,
    pub(crate) batch: rocksdb::WriteBatch,
    /// What its rows change.
    pub(crate) notes: ChangeNotes,
}

impl<'a> BatchEncoder<'a> {
    /// The caller holds the gate.
    pub(crate) fn new(shard: &'a Shard) -> Self {
        Self {
            shard,
            family: shard.rows(),
            physical: Vec::new(),
            stored: Vec::new(),
            batch: rocksdb::WriteBatch::default(),
            notes: shard.begin_notes(),
        }
    }

    /// Adds a batch; its keys are noted in the shard's load windows.
    pub(crate) fn add(&mut self, batch: &WriteBatch, version: u64) {
        let Self { shard, family, physical, stored, batch: rows, notes } = self;
        for (space, run) in batch.runs() {
            for index in run {
                physical_key(space, batch.key(index), physical);
                notes.add_key(physical);
                shard.windows.record(physical);
                if batch.condition(index) != Condition::Always {
                    shard.windows.record_judged(physical, version);
                }
                match batch.operation(index) {
                    Operation::Put => {
                        stored.clear();
                        Header { version, expires_at_ms: batch.expires_at_ms(index) }
                            .append_to(stored);
                        stored.extend_from_slice(batch.value(index));
                        rows.put_cf(&**family, &*physical, &*stored);
                    }
                    Operation::Delete => rows.delete_cf(&**family, &*physical),
                }
            }
        }
    }
}

#[cold]
fn not_together(space: &SpaceInfo, operation: usize) -> Error {
    Error::invalid(format!(
        "space '{}': operation {operation} is of another shard key than those before it: write one batch each",
        space.name
    ))
}

#[cold]
fn over_limit(space: &SpaceInfo, what: &str, bytes: usize, bytes_max: usize) -> Error {
    Error::invalid(format!(
        "space '{}': a {what} of {bytes} bytes is over the limit of {bytes_max}: make it shorter",
        space.name
    ))
}
