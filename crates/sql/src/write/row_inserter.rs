//! Inserts rows one by one: for RETURNING, ON CONFLICT DO UPDATE, MERGE, and in transactions.
//!
//! All rows are read before the first is written, so that a statement that reads the table that it
//! writes does not meet its own rows. Each is stored on condition that its key is free; then what
//! RETURNING gives is what was written. A key that is given twice meets the row that was stored
//! before.

use std::collections::HashSet;

use arrow::array::{Array, RecordBatch};
use datafusion::sql::sqlparser::tokenizer::Location;
use tonnage::{Condition, Error, OnExisting, Result, Row, Table, Value, WriteResult};

use super::change::write_updated;
use super::conflict::ConflictUpdate;
use super::keys::{exists, key_text};
use super::partial_changes::with_partial_changes;
use super::returning_rows::WrittenRows;
use super::row_change::{ROWS_PER_LOOK, RowChange, TRIES_MAX};
use crate::planner::Planner;
use crate::session::{Changes, Guard, Parameters, Transaction, key_of};

/// Rows on their way into a table.
pub(super) struct RowInserter<'a> {
    pub(super) planner: &'a Planner,
    pub(super) table: &'a Table,
    pub(super) alias: Option<String>,
    pub(super) on_existing: OnExisting,
    /// What becomes of rows that exist.
    pub(super) conflict: Option<&'a ConflictUpdate>,
    pub(super) parameters: &'a Parameters,
    pub(super) guard: &'a Guard,
    pub(super) end: Location,
    pub(super) changes: Changes,
    /// Rows whose keys exist, with the versions that they met.
    pub(super) met: Vec<(Row, Option<u64>)>,
    pub(super) keys_met: HashSet<String>,
}

impl<'a> RowInserter<'a> {
    /// Writes rows, given as they came and as they fit the table.
    pub(super) fn run(
        mut self,
        batches: &[(RecordBatch, RecordBatch)],
        written: &mut WrittenRows,
    ) -> Result<Changes> {
        match self.write_all(batches, written) {
            Ok(()) => Ok(self.changes),
            Err(error) => Err(with_partial_changes(self.planner, error, self.changes)),
        }
    }

    fn write_all(
        &mut self,
        batches: &[(RecordBatch, RecordBatch)],
        written: &mut WrittenRows,
    ) -> Result<()> {
        for (given, fitting) in batches {
            for row in 0..fitting.num_rows() {
                if row % ROWS_PER_LOOK == 0 {
                    self.guard.check()?;
                }
                let row = self.row(given, fitting, row)?;
                if self.keys_met.contains(&key_text(&row, self.table.schema())) {
                    self.update(written)?;
                }
                self.put(row, written)?;
            }
        }
        self.update(written)
    }

    /// A row; its number is left out where the store gives it.
    fn row(&self, given: &RecordBatch, fitting: &RecordBatch, index: usize) -> Result<Row> {
        let row = Row::from_batch(fitting, index)?;
        let Some(identity) = self.table.schema().identity_column() else { return Ok(row) };
        let name = &self.table.schema().columns[identity].name;
        let is_own = |field: &arrow::datatypes::FieldRef| field.name().eq_ignore_ascii_case(name);
        let column = given.schema_ref().fields().iter().position(is_own);
        let value = match column {
            Some(column) if !given.column(column).is_null(index) => return Ok(row),
            Some(_) => Some(Value::Null),
            None => None,
        };
        let mut bare = Row::with_capacity(row.len());
        for (column, cell) in row.iter() {
            match (column == name, &value) {
                (false, _) => bare.set(column, cell.clone()),
                (true, Some(value)) => bare.set(column, value.clone()),
                (true, None) => {}
            }
        }
        Ok(bare)
    }

    /// Leaves a row with the transaction.
    fn put_in_transaction(
        &mut self,
        transaction: &Transaction,
        row: Row,
        written: &mut WrittenRows,
    ) -> Result<()> {
        let schema = self.table.schema();
        // The store numbers rows when it writes them, and a transaction writes them at COMMIT.
        if let Some(identity) = schema.identity_column()
            && row.get(&schema.columns[identity].name).is_none()
        {
            return Err(Error::unsupported(format!(
                "a transaction does not number rows: give column '{}' of {} a value, or INSERT by itself",
                schema.columns[identity].name, schema.path
            )));
        }
        // Read now: the store checks conditions at COMMIT, too late for this statement's counts.
        let (exists_now, version) = match self.key_state(&key_of(self.table, &row))? {
            KeyState::None => (false, None),
            KeyState::InTransaction => (true, None),
            KeyState::Stored(version) => (true, Some(version)),
        };
        if exists_now && self.conflict.is_some() {
            self.keys_met.insert(key_text(&row, schema));
            self.met.push((row, version));
            return Ok(());
        }
        match (exists_now, self.on_existing) {
            (true, OnExisting::Replace) => self.changes.updated += 1,
            (true, OnExisting::Keep) => {
                self.changes.skipped += 1;
                return Ok(());
            }
            (true, _) => {
                return Err(exists(schema, &key_of(self.table, &row), "exists already"));
            }
            (false, _) => self.changes.inserted += 1,
        }
        // For a row that the transaction has written before, it keeps the condition of that time.
        let condition = version.map_or(Condition::IfAbsent, Condition::IfVersion);
        transaction.put(self.table, row.clone(), condition)?;
        written.note(row)
    }

    /// The row that there is under a key.
    fn key_state(&self, key: &Row) -> Result<KeyState> {
        let transaction = self.planner.context.transaction.as_deref();
        let changed = transaction.map(|open| open.has(self.table, key)).transpose()?.flatten();
        Ok(match changed {
            Some(true) => KeyState::InTransaction,
            Some(false) => KeyState::None,
            None => self
                .table
                .get(key)?
                .map_or(KeyState::None, |stored| KeyState::Stored(stored.version)),
        })
    }

    fn put(&mut self, mut row: Row, written: &mut WrittenRows) -> Result<()> {
        if let Some(transaction) = self.planner.context.transaction.as_deref() {
            return self.put_in_transaction(transaction, row, written);
        }
        // The store checks the condition while it writes: a look before would let another write
        // pass between.
        let condition = match self.on_existing {
            OnExisting::Replace => Condition::Always,
            _ => Condition::IfAbsent,
        };
        let options = self.guard.write_options();
        let put = self.table.put_returning(&row, condition, &options)?;
        match put.result {
            WriteResult::Stored { .. } => {
                match put.previous {
                    Some(_) => self.changes.updated += 1,
                    None => self.changes.inserted += 1,
                }
                if let (Some(number), Some(identity)) =
                    (put.generated, self.table.schema().identity_column())
                {
                    // RETURNING gives the number that the store has chosen.
                    row.set(&self.table.schema().columns[identity].name, number);
                }
                written.note(row)
            }
            WriteResult::ConditionFailed { current, .. } if self.conflict.is_some() => {
                // Gathered, so that one UPDATE changes all rows that exist.
                self.keys_met.insert(key_text(&row, self.table.schema()));
                self.met.push((row, current));
                Ok(())
            }
            WriteResult::ConditionFailed { .. } if self.on_existing == OnExisting::Keep => {
                self.changes.skipped += 1;
                Ok(())
            }
            WriteResult::ConditionFailed { .. } => {
                Err(exists(self.table.schema(), &key_of(self.table, &row), "exists already"))
            }
        }
    }

    fn change(&self) -> RowChange<'a> {
        let alias = self.alias.clone();
        let Self { planner, table, parameters, guard, end, .. } = *self;
        RowChange::new(planner, table, alias, parameters, guard, end)
    }

    /// Plans what becomes of rows that exist, for what is wrong with it.
    pub(super) fn check(&self) -> Result<()> {
        let Some(conflict) = self.conflict else { return Ok(()) };
        let none = WrittenRows::with_gaps(self.planner, self.table).into_batch()?;
        conflict.of_rows(self.change(), &none)?.check()
    }

    /// Changes the rows that were met. One that is gone meanwhile is inserted after all.
    fn update(&mut self, written: &mut WrittenRows) -> Result<()> {
        for _ in 0..TRIES_MAX {
            // Taken out first: `put` below gathers rows that meet others again for the next try.
            let met = std::mem::take(&mut self.met);
            self.keys_met.clear();
            let Some(conflict) = self.conflict.filter(|_| !met.is_empty()) else { return Ok(()) };
            self.guard.check()?;
            let mut excluded = WrittenRows::with_gaps(self.planner, self.table);
            met.iter().try_for_each(|(row, _)| excluded.note(row.clone()))?;
            let change = conflict.of_rows(self.change(), &excluded.into_batch()?)?;
            written.note_keys(self.table.schema());
            let done = change.write_all(&mut self.changes.updated, &write_updated, written);
            let changed = written.take_keys();
            // After `take_keys`, so that `written` notes no more keys after an error either.
            done?;
            for (row, version) in met {
                if changed.contains(&key_text(&row, self.table.schema())) {
                    continue;
                }
                // It was there all the time, and the condition did not hold.
                let is_as_it_was = match self.key_state(&key_of(self.table, &row))? {
                    KeyState::None => false,
                    KeyState::InTransaction => true,
                    KeyState::Stored(now) => Some(now) == version,
                };
                if is_as_it_was {
                    self.changes.skipped += 1;
                } else {
                    self.put(row, written)?;
                }
            }
        }
        Err(Error::unavailable(format!(
            "too many write conflicts on rows of {}: try again",
            self.table.path()
        )))
    }
}

/// What there is under a key.
enum KeyState {
    None,
    /// A row that the transaction has written.
    InTransaction,
    /// A stored row of this version.
    Stored(u64),
}
