//! Writes single rows together with their entries.
//!
//! 1. The stored rows are read, about 4 MiB at a time, and their entries are encoded. The
//!    conditions of the caller are checked against these rows.
//! 2. One batch holds the rows, each on condition that it is unchanged. After them it removes the
//!    entries of the old rows and stores those of the new ones.
//! 3. If a row has changed, the engine refuses the batch and all begins anew. After four attempts
//!    no other write is let in: one row that changes all the time cannot hold up a batch of
//!    thousands.
//!
//! Entries are not removed while a load holds rows of the table (see [`super::write_gate`]), and
//! never on an engine that several processes use. Then nothing need be read, and the batch is sent
//! under the conditions of the caller. Its entries live for ever, since the load may store a row
//! over the new one that does.
//!
//! If the table is altered meanwhile, a row may be newer than the codec that was taken before. Then
//! all begins anew with the newest codec.

use std::sync::Arc;

use tonnage_engine::{
    Condition, Deadline, Error, NEVER_MS, Operation, Projection, ReadOptions, Result, Rows, Slices,
    WriteBatch, WriteOutcome,
};

use super::list::IndexSet;
use crate::catalog::{LeasedWrite, TableEntry};
use crate::inner::Inner;
use crate::terms::WriteTerms;

/// After so many lost races, no other write is let in.
const ATTEMPTS_MAX: usize = 4;
/// About how many bytes of rows are read together.
const READ_BYTES: usize = 4 << 20;

impl Inner {
    /// Carries out a batch on rows of one space, with the entries of their indexes. `tables` holds
    /// the table of each operation, or one for all.
    ///
    /// # Errors
    /// `NotFound` when a table was dropped.
    pub(crate) fn write_rows(
        &self,
        batch: &WriteBatch,
        tables: &[Arc<TableEntry>],
        terms: WriteTerms,
    ) -> Result<WriteOutcome> {
        let WriteTerms { durability, acks, deadline } = terms;
        for attempt in 0.. {
            let pass =
                if attempt < ATTEMPTS_MAX { self.gate.enter() } else { self.gate.enter_alone() };
            // Under the pass: who drops the table or changes its indexes waits until this write is
            // over.
            self.catalog.check_member()?;
            tables.iter().try_for_each(|table| check_exists(table))?;
            if !tables.iter().any(|table| table.indexes.any()) {
                let engine = self.writer(acks);
                let sent = self.catalog.write_within_lease(&**engine, batch, durability, deadline);
                return self.finish_write(sent, batch);
            }
            let sets = tables.iter().map(|table| table.indexes.set()).collect();
            let attempt = WriteAttempt {
                store: self,
                batch,
                sets,
                deadline,
                keeps_entries: self.keeps_entries() || pass.sees_loads(batch.space(0)),
            };
            // Noted before the write: a reader must not trust an index that holds a stale entry by
            // then.
            if attempt.keeps_entries {
                tables.iter().for_each(|table| table.indexes.clean.note());
            }
            match attempt.prepare() {
                Ok(PreparedWrite::Refused(outcome)) => return Ok(outcome),
                Ok(PreparedWrite::Ready(batch)) => {
                    let engine = self.writer(acks);
                    let sent =
                        self.catalog.write_within_lease(&**engine, &batch, durability, deadline);
                    let outcome = self.finish_write(sent, attempt.batch)?;
                    let is_overtaken = !attempt.keeps_entries && outcome.version().is_none();
                    if !is_overtaken {
                        if attempt.keeps_entries {
                            // Entries of the rows that were there stay.
                            tables.iter().for_each(|table| self.cleaner.note(table, 1));
                        }
                        return Ok(outcome);
                    }
                }
                Err(_) if attempt.is_outdated(tables) => {}
                Err(error) => return Err(error),
            }
        }
        unreachable!("the attempts are not counted to an end")
    }
}

impl Inner {
    /// Carries out batches on rows of one table, each by itself, with the entries of their indexes.
    pub(crate) fn write_many_rows(
        &self,
        batches: &[WriteBatch],
        table: &Arc<TableEntry>,
        terms: WriteTerms,
    ) -> Vec<Result<WriteOutcome>> {
        let tables = std::slice::from_ref(table);
        let pass = self.gate.enter();
        let is_alone = self.catalog.check_member().is_ok()
            && check_exists(table).is_ok()
            && !table.indexes.any();
        if is_alone {
            let WriteTerms { durability, acks, deadline } = terms;
            let engine = self.writer(acks);
            let sent =
                self.catalog.write_many_within_lease(&**engine, batches, durability, deadline);
            // They may have come after others continued without this process and created an index.
            let late = sent.iter().zip(batches).filter(|(sent, _)| sent.is_late);
            let indexed = self.index_late_batches(late.map(|(_, batch)| batch));
            let settled = |sent: LeasedWrite| match &indexed {
                Err(error) if sent.is_late => Err(error.restated()),
                _ => sent.outcome,
            };
            return sent.into_iter().map(settled).collect();
        }
        // `write_rows` takes a pass of its own, and an exclusive attempt would wait for this one.
        drop(pass);
        batches.iter().map(|batch| self.write_rows(batch, tables, terms)).collect()
    }
}

impl Inner {
    /// The outcome of a write, once no index misses a row of it.
    fn finish_write(&self, sent: LeasedWrite, batch: &WriteBatch) -> Result<WriteOutcome> {
        if sent.is_late {
            self.index_late_batches(std::iter::once(batch))?;
        }
        sent.outcome
    }

    /// Whether entries of indexes are never removed: writes of other processes are unknown here,
    /// and entries are not part of their atomic steps.
    pub(crate) fn keeps_entries(&self) -> bool {
        let capability = self.engine.capability();
        capability.shared || !capability.shard_prefixed_atomic
    }
}

fn check_exists(table: &TableEntry) -> Result<()> {
    if table.indexes.is_dropped() {
        return Err(table_dropped(&table.schema.path));
    }
    Ok(())
}

#[cold]
fn table_dropped(path: &str) -> Error {
    Error::not_found(format!(
        "table {path} was dropped: open the table anew if there is one of that name again"
    ))
    .in_table(path)
}

/// One try of a write.
struct WriteAttempt<'a> {
    store: &'a Inner,
    batch: &'a WriteBatch,
    sets: Vec<Arc<IndexSet>>,
    deadline: Deadline,
    keeps_entries: bool,
}

/// What is to be done.
enum PreparedWrite {
    /// Nothing: a condition of the caller does not hold.
    Refused(WriteOutcome),
    /// To write this.
    Ready(WriteBatch),
}

/// What is stored under the keys of a batch.
struct StoredEntries {
    /// For each operation the version of its row, if there is one.
    versions: Vec<Option<u64>>,
    /// The entries of the rows, those of one row and one index side by side and in order.
    entries: Slices,
    /// Where the entries end of each row that was found in each index, one after another.
    ends: Vec<usize>,
    /// For each operation where its ends begin, and one more: where the last end. None where no
    /// row was found.
    starts: Vec<usize>,
}

impl StoredEntries {
    /// The entries of the row of an operation in one of its indexes.
    fn of(&self, operation: usize, index: usize) -> impl Iterator<Item = &[u8]> {
        let place = self.starts[operation] + index;
        let places = match place < self.starts[operation + 1] {
            true => place.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[place],
            false => 0..0,
        };
        places.map(|place| self.entries.get(place))
    }
}

impl WriteAttempt<'_> {
    fn set(&self, operation: usize) -> &IndexSet {
        &self.sets[operation.min(self.sets.len() - 1)]
    }

    /// Whether one of the tables was altered, or one of its indexes created or dropped, since this
    /// attempt began.
    fn is_outdated(&self, tables: &[Arc<TableEntry>]) -> bool {
        tables.iter().zip(&self.sets).any(|(table, set)| !Arc::ptr_eq(&table.indexes.set(), set))
    }

    fn prepare(&self) -> Result<PreparedWrite> {
        let stored = self.read()?;
        Ok(match self.check_conditions(&stored) {
            Some(refused) => PreparedWrite::Refused(refused),
            None => PreparedWrite::Ready(self.with_entries(&stored)?),
        })
    }

    /// Reads the rows piece by piece and keeps their entries.
    fn read(&self) -> Result<StoredEntries> {
        let count = self.batch.len();
        let mut stored = StoredEntries {
            versions: vec![None; count],
            entries: Slices::new(),
            ends: Vec::new(),
            starts: vec![0; count + 1],
        };
        // No entry will be removed and the engine judges the conditions, so nothing need be known.
        if self.keeps_entries {
            return Ok(stored);
        }
        let keys: Slices = (0..count).map(|operation| self.batch.key(operation)).collect();
        let (mut rows, mut first) = (Rows::new(), 0);
        // In pieces: the rows of a large batch together could outgrow the memory.
        while first < count {
            let options = ReadOptions {
                projection: Projection::KeysAndValues,
                keys: first..count,
                bytes_max: READ_BYTES,
                deadline: self.deadline,
            };
            let taken =
                self.store.engine.read_some(self.batch.space(0), &keys, &options, &mut rows)?;
            self.record_rows(first..first + taken, &rows, &mut stored)?;
            first += taken;
        }
        Ok(stored)
    }

    /// Notes what was found of some operations.
    fn record_rows(
        &self,
        operations: std::ops::Range<usize>,
        rows: &Rows,
        stored: &mut StoredEntries,
    ) -> Result<()> {
        let mut row = 0;
        for operation in operations {
            // Rows come in the order of their keys, and missing ones are left out.
            if rows.origins.get(row).is_some_and(|origin| *origin as usize == operation) {
                stored.versions[operation] = Some(rows.versions[row]);
                let set = self.set(operation);
                for index in &set.indexes {
                    let (key, value) = (self.batch.key(operation), rows.values.get(row));
                    index.codec.push_entries(
                        &*self.store.engine,
                        &set.table,
                        key,
                        value,
                        &mut stored.entries,
                    )?;
                    stored.ends.push(stored.entries.len());
                }
                row += 1;
            }
            // Also where no row was found: its ends then begin and end at the same place.
            stored.starts[operation + 1] = stored.ends.len();
        }
        Ok(())
    }

    /// The caller's error when a condition does not hold for the rows read.
    fn check_conditions(&self, stored: &StoredEntries) -> Option<WriteOutcome> {
        if self.keeps_entries {
            return None;
        }
        stored.versions.iter().enumerate().find_map(|(operation, current)| {
            let holds = self.batch.condition(operation).holds(*current);
            (!holds).then_some(WriteOutcome::Refused { operation, current: *current })
        })
    }

    /// The rows, then the entries: so the numbers of the operations on rows stay.
    fn with_entries(&self, stored: &StoredEntries) -> Result<WriteBatch> {
        let mut batch = WriteBatch::new(self.batch.space(0));
        for (operation, version) in stored.versions.iter().enumerate() {
            let condition = match version {
                _ if self.keeps_entries => self.batch.condition(operation),
                Some(version) => Condition::IfVersion(*version),
                None => Condition::IfAbsent,
            };
            let (key, value) = (self.batch.key(operation), self.batch.value(operation));
            match self.batch.operation(operation) {
                Operation::Put => {
                    batch.put(key, value, self.batch.expires_at_ms(operation), condition)
                }
                Operation::Delete => batch.delete(key, condition),
            }
        }
        let is_overtaken = self.superseded();
        (0..self.batch.len())
            .filter(|operation| !is_overtaken[*operation])
            .try_for_each(|operation| self.push_entries(operation, stored, &mut batch))?;
        Ok(batch)
    }

    /// For each operation whether a later one is on the same row. No reader ever sees what it
    /// stores, and no writer would remove its entries.
    fn superseded(&self) -> Vec<bool> {
        let batch = self.batch;
        let mut order: Vec<usize> = (0..batch.len()).collect();
        // Stable, so the operations on one row stay in their order.
        order.sort_by_key(|operation| batch.key(*operation));
        let mut is_overtaken = vec![false; batch.len()];
        for pair in order.windows(2) {
            is_overtaken[pair[0]] = batch.key(pair[0]) == batch.key(pair[1]);
        }
        is_overtaken
    }

    fn push_entries(
        &self,
        operation: usize,
        stored: &StoredEntries,
        batch: &mut WriteBatch,
    ) -> Result<()> {
        let engine = &*self.store.engine;
        let set = self.set(operation);
        let key = self.batch.key(operation);
        let is_put = self.batch.operation(operation) == Operation::Put;
        let expires_at_ms =
            if self.keeps_entries { NEVER_MS } else { self.batch.expires_at_ms(operation) };
        let mut new = Slices::new();
        for (place, index) in set.indexes.iter().enumerate() {
            new.clear();
            if is_put {
                let value = self.batch.value(operation);
                index.codec.push_entries(engine, &set.table, key, value, &mut new)?;
            }
            batch.switch_to(index.space());
            // In the order of the set, as `record_rows` noted them.
            let mut kept = new.iter().peekable();
            for old in stored.of(operation, place) {
                // Both are in order.
                while kept.next_if(|new| *new < old).is_some() {}
                if kept.peek() != Some(&old) {
                    batch.delete(old, Condition::Always);
                }
            }
            // An entry that stays the same is put again, for it must live as long as the new row.
            for new in new.iter() {
                batch.put(new, &[], expires_at_ms, Condition::Always);
            }
        }
        Ok(())
    }
}
