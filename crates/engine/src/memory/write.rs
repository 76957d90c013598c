//! Atomic writes of the memory engine, over one space or several.

use std::sync::Arc;

use crate::header::Header;
use crate::{
    Capability, Condition, Error, Operation, Result, SpaceId, TicketBook, WriteBatch, WriteOutcome,
};

use super::space::{MemoryRow, MemorySpace, put};
use super::versions::MemoryVersions;

/// The spaces of a batch, each once, by ascending number: the order in which everybody locks them.
pub(super) struct BatchSpaces(Vec<Arc<MemorySpace>>);

impl BatchSpaces {
    pub(super) fn find(
        batch: &WriteBatch,
        find: impl Fn(SpaceId) -> Result<Arc<MemorySpace>>,
    ) -> Result<Self> {
        let mut spaces = batch.runs().map(|(space, _)| find(space)).collect::<Result<Vec<_>>>()?;
        spaces.sort_by_key(|space| space.info().id);
        spaces.dedup_by_key(|space| space.info().id);
        Ok(Self(spaces))
    }

    fn index_of(&self, space: SpaceId) -> usize {
        self.0
            .binary_search_by_key(&space, |space| space.info().id)
            .expect("every space of the batch was found")
    }

    /// Checks every key and value, and that all keys are of one shard key. There is one shard, so
    /// what a shard-prefixed key names is always right where it is sound.
    pub(super) fn check(&self, batch: &WriteBatch, capability: &Capability) -> Result<()> {
        let mut shard_key: Option<&[u8]> = None;
        for (space, run) in batch.runs() {
            let space = &self.0[self.index_of(space)];
            let is_shard_prefixed = space.info().shape.is_shard_prefixed();
            for index in run {
                let key = batch.key(index);
                let named = |error: Error| error.at(format_args!("operation {index}"));
                let len = space.shard_key_len(key, capability).map_err(named)?;
                space.check_value(batch.value(index), capability).map_err(named)?;
                if !is_shard_prefixed && *shard_key.get_or_insert(&key[..len]) != &key[..len] {
                    return Err(many_shard_keys(space, index));
                }
            }
        }
        Ok(())
    }

    /// Carries out a checked batch if its conditions hold.
    pub(super) fn write(
        &self,
        batch: &WriteBatch,
        now_ms: u64,
        versions: &MemoryVersions,
    ) -> WriteOutcome {
        // All spaces stay locked until the end: no reader sees one half of the batch.
        let mut maps: Vec<_> = self.0.iter().map(|space| space.rows_mut()).collect();
        for (space, run) in batch.runs() {
            let rows = &maps[self.index_of(space)];
            for operation in run {
                let current = rows
                    .get(batch.key(operation))
                    .filter(|row| row.is_live(now_ms))
                    .map(|row| row.header.version);
                if !batch.condition(operation).holds(current) {
                    return WriteOutcome::Refused { operation, current };
                }
            }
        }
        // Taken under the locks, so that the version of a row never decreases.
        let version = versions.next();
        for (space, run) in batch.runs() {
            let rows = &mut maps[self.index_of(space)];
            for index in run {
                match batch.operation(index) {
                    Operation::Put => {
                        let header = Header { version, expires_at_ms: batch.expires_at_ms(index) };
                        put(rows, batch.key(index), MemoryRow::new(header, batch.value(index)));
                    }
                    Operation::Delete => {
                        rows.remove(batch.key(index));
                    }
                }
            }
        }
        self.note(batch);
        // In a pass of its own: a later operation on the same row would put it without the mark.
        for (space, run) in batch.runs() {
            let rows = &mut maps[self.index_of(space)];
            for index in run.filter(|index| batch.condition(*index) != Condition::Always) {
                if let Some(row) = rows.get_mut(batch.key(index)) {
                    row.is_conditional = true;
                }
            }
        }
        WriteOutcome::Applied { version }
    }

    fn note(&self, batch: &WriteBatch) {
        for (space, run) in batch.runs() {
            let keys = |book: &mut TicketBook, ticket| {
                run.for_each(|index| book.note_key(ticket, batch.key(index)));
            };
            self.0[self.index_of(space)].note(keys);
        }
    }
}

#[cold]
fn many_shard_keys(space: &MemorySpace, operation: usize) -> Error {
    let place = space.label();
    Error::invalid(format!(
        "{place}: operation {operation} is of another shard key than those before it: write one batch each"
    ))
}
