//! Writes of single rows, with their entries.
//!
//! 1. The stored rows are read, and the caller's conditions judged by them.
//! 2. One batch holds the rows, each under the condition that its row is still the one that was read; then the entries of the
//!    old rows, to be removed, and those of the new ones, to be stored.
//! 3. Where someone was faster the batch is refused, and all begins anew.
//!
//! While a load is open entries are not removed (see [`super::gate`]), so nothing need be read, and the batch goes out under
//! the caller's own conditions. Entries then live for ever, since the load may lay a row that does under them.

use std::sync::Arc;

use tonnage_engine::header::NEVER_MS;
use tonnage_engine::{Condition, Durability, Operation, Projection, Result, Rows, Slices, WriteBatch, WriteOutcome};

use super::list::IndexSet;
use crate::catalog::TableEntry;
use crate::store::Inner;

impl Inner {
    /// Carries out a batch on rows of one space, with the entries of their indexes. `tables` holds the table of each operation, or
    /// one for all.
    pub(crate) fn write_rows(
        &self,
        batch: &WriteBatch,
        tables: &[Arc<TableEntry>],
        durability: Durability,
    ) -> Result<WriteOutcome> {
        let pass = self.gate.enter();
        if !tables.iter().any(|table| table.indexes.any()) {
            return self.engine.write(batch, durability);
        }
        loop {
            let sets = tables.iter().map(|table| table.indexes.set()).collect();
            let attempt = Attempt { store: self, batch, sets, keeps_entries: pass.sees_loads() };
            if let Some(outcome) = attempt.carry_out(durability)? {
                return Ok(outcome);
            }
        }
    }
}

/// One try of a write.
struct Attempt<'a> {
    store: &'a Inner,
    batch: &'a WriteBatch,
    sets: Vec<Arc<IndexSet>>,
    keeps_entries: bool,
}

impl Attempt<'_> {
    /// Nothing when someone else wrote one of the rows meanwhile.
    fn carry_out(&self, durability: Durability) -> Result<Option<WriteOutcome>> {
        let mut stored = Rows::new();
        if !self.keeps_entries {
            let keys: Slices = (0..self.batch.len()).map(|operation| self.batch.key(operation)).collect();
            self.store.engine.read(self.batch.space(0), &keys, Projection::KeysAndValues, &mut stored)?;
        }
        let mut old_rows = vec![None; self.batch.len()];
        stored.origins.iter().enumerate().for_each(|(row, operation)| old_rows[*operation as usize] = Some(row));
        if let Some(refused) = self.judge(&stored, &old_rows) {
            return Ok(Some(refused));
        }
        let batch = self.with_entries(&stored, &old_rows)?;
        let outcome = self.store.engine.write(&batch, durability)?;
        let is_overtaken = !self.keeps_entries && outcome.version().is_none();
        Ok((!is_overtaken).then_some(outcome))
    }

    /// What the caller is told when a condition does not hold of the rows read.
    fn judge(&self, stored: &Rows, old_rows: &[Option<usize>]) -> Option<WriteOutcome> {
        if self.keeps_entries {
            return None;
        }
        old_rows.iter().enumerate().find_map(|(operation, old_row)| {
            let current = old_row.map(|row| stored.versions[row]);
            let holds = self.batch.condition(operation).holds(current);
            (!holds).then_some(WriteOutcome::Refused { operation, current })
        })
    }

    /// The rows, then the entries: so the numbers of the operations on rows stay.
    fn with_entries(&self, stored: &Rows, old_rows: &[Option<usize>]) -> Result<WriteBatch> {
        let mut batch = WriteBatch::new(self.batch.space(0));
        for (operation, old_row) in old_rows.iter().enumerate() {
            let condition = match old_row {
                _ if self.keeps_entries => self.batch.condition(operation),
                Some(row) => Condition::IfVersion(stored.versions[*row]),
                None => Condition::IfAbsent,
            };
            let (key, value) = (self.batch.key(operation), self.batch.value(operation));
            match self.batch.operation(operation) {
                Operation::Put => batch.put(key, value, self.batch.expires_at_ms(operation), condition),
                Operation::Delete => batch.delete(key, condition),
            }
        }
        for (operation, old_row) in old_rows.iter().enumerate() {
            self.push_entries(operation, old_row.map(|row| stored.values.get(row)), &mut batch)?;
        }
        Ok(batch)
    }

    /// Of two operations on one key, the entries of the later one come later too.
    fn push_entries(&self, operation: usize, old_value: Option<&[u8]>, batch: &mut WriteBatch) -> Result<()> {
        let engine = &*self.store.engine;
        let set = &self.sets[operation.min(self.sets.len() - 1)];
        let key = self.batch.key(operation);
        let is_put = self.batch.operation(operation) == Operation::Put;
        let expires_at_ms = if self.keeps_entries { NEVER_MS } else { self.batch.expires_at_ms(operation) };
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for index in &set.indexes {
            old.clear();
            new.clear();
            if let Some(value) = old_value {
                index.codec.push_entry(engine, &set.table, key, value, &mut old)?;
            }
            if is_put {
                index.codec.push_entry(engine, &set.table, key, self.batch.value(operation), &mut new)?;
            }
            batch.switch_to(index.space());
            if !old.is_empty() && old != new {
                batch.delete(&old, Condition::Always);
            }
            if is_put {
                batch.put(&new, &[], expires_at_ms, Condition::Always);
            }
        }
        Ok(())
    }
}
