//! Indexes rows that may have been stored late.
//!
//! A process may pause between its last check of its lease and the time at which a row leaves it,
//! for instance while the row waits in a queue of the driver. After 60 seconds others continue
//! without the process, and an index that they make meanwhile misses the row.
//!
//! So a process that finds its lease over after a write updates the indexes before it acknowledges
//! the write:
//!
//! 1. It renews its row among the members. A process that changes tables from now on waits for it.
//! 2. It reads the catalog.
//! 3. It stores the entries of the rows for the indexes that there are now. If a row was not stored
//!    after all, its entries are stale, which costs a lookup.

use std::collections::BTreeMap;

use tonnage_engine::{
    Durability, Entries, Error, ErrorKind, LoadOptions, NEVER_MS, OnExisting, Operation, Result,
    Slices, SpaceId, WriteBatch,
};

use crate::inner::Inner;

impl Inner {
    /// Stores the entries of batches of rows of one space, which may have been stored late.
    ///
    /// # Errors
    /// As [`index_late`](Self::index_late).
    pub(crate) fn index_late_batches<'b>(
        &self,
        batches: impl Iterator<Item = &'b WriteBatch>,
    ) -> Result<()> {
        let mut batches = batches.peekable();
        let Some(space) = batches.peek().map(|batch| batch.space(0)) else { return Ok(()) };
        let is_put = |(batch, at): &(&WriteBatch, usize)| batch.operation(*at) == Operation::Put;
        let operations = batches.flat_map(|batch| (0..batch.len()).map(move |at| (batch, at)));
        let puts = operations.filter(is_put);
        self.index_late(space, puts.map(|(batch, at)| (batch.key(at), batch.value(at))))
    }

    /// Stores the entries of rows of one space, which may have been stored late.
    ///
    /// # Errors
    /// `Unavailable`: indexes may miss rows.
    pub(crate) fn index_late<'r>(
        &self,
        space: SpaceId,
        rows: impl Iterator<Item = (&'r [u8], &'r [u8])>,
    ) -> Result<()> {
        if space == self.pairs {
            return Ok(());
        }
        let entries = self.catalog.catch_up().and_then(|()| self.entries_now(space, rows));
        let stored = entries.and_then(|entries| self.store_entries(entries));
        stored.map_err(|error| {
            Error::unavailable(format!(
                "this process was stopped while it sent rows, and indexes that others made meanwhile may miss them: write them again, or let `tonnage check` look ({error})"
            ))
            .with_source(error)
        })
    }

    /// By index the entries that rows have now.
    fn entries_now<'r>(
        &self,
        space: SpaceId,
        rows: impl Iterator<Item = (&'r [u8], &'r [u8])>,
    ) -> Result<BTreeMap<SpaceId, Entries>> {
        let (mut entries, mut made) = (BTreeMap::<SpaceId, Entries>::new(), Slices::new());
        for (key, value) in rows {
            let table = match self.owner_of(space, key) {
                // The rows of a table that was dropped go with it.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                table => table?,
            };
            let set = table.indexes.set();
            for index in &set.indexes {
                made.clear();
                index.codec.push_entries(&*self.engine, &set.table, key, value, &mut made)?;
                let of_index = entries.entry(index.space()).or_default();
                for entry in made.iter() {
                    of_index.push(entry, &[], of_index.len() as u64, NEVER_MS);
                }
            }
        }
        Ok(entries)
    }

    fn store_entries(&self, entries: BTreeMap<SpaceId, Entries>) -> Result<()> {
        for (index, entries) in entries {
            let session = self.engine.load(LoadOptions {
                on_existing: OnExisting::BlindReplace,
                durability: Durability::Fsync,
                ..LoadOptions::default()
            })?;
            match session.push(index, 0, &entries).and_then(|()| session.finish()) {
                // The index was dropped meanwhile: its entries go with it.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                stored => stored?,
            }
        }
        Ok(())
    }
}
