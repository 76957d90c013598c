//! Writes that return the row that was there before.
//!
//! 1. The stored row is read, and the condition of the caller is checked against it.
//! 2. The write is sent on condition that the row is unchanged.
//! 3. If it has changed, the engine refuses the write and all begins anew. Each refused attempt
//!    means that another write went through.

use tonnage_engine::{Condition, Deadline, Engine, Result, Rows, Slices, WriteBatch, WriteOutcome};

use super::Table;
use crate::read::read_by;
use crate::row::Row;
use crate::single_calls::{StoredRow, WriteOptions, WriteResult};
use crate::value::Value;

/// What became of a write, and the row that it found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExchangeResult {
    /// What became of the write.
    pub result: WriteResult,
    /// The row that was stored before, if there was one.
    pub previous: Option<StoredRow>,
    /// The value that the store generated for the row, if it was stored and brought none: the
    /// number in the identity column of its table, else the UUID in the column with `DEFAULT
    /// uuid()`.
    pub generated: Option<Value>,
}

impl Table {
    /// Stores a row if a condition holds of the one with its key, and says which row that was.
    ///
    /// ```
    /// # fn main() -> tonnage::Result<()> {
    /// use tonnage::{Condition, Row, Store, WriteOptions};
    ///
    /// let store = Store::open("memory:")?;
    /// store.execute("CREATE TABLE ships (name STRING, speed DOUBLE, PRIMARY KEY (name))")?;
    /// let ships = store.table("ships")?;
    /// let ship = |speed: f64| Row::new().with("name", "ARGO").with("speed", speed);
    /// ships.put(&ship(7.5), &WriteOptions::default())?;
    /// let put = ships.put_returning(&ship(8.0), Condition::Always, &WriteOptions::default())?;
    /// assert_eq!(put.previous.map(|before| before.row), Some(ship(7.5)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::put`].
    pub fn put_returning(
        &self,
        row: &Row,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<ExchangeResult> {
        options.check(self.store.engine.capability())?;
        let (mut key, mut value) = (Vec::new(), Vec::new());
        let (row, number) = self.store.with_generated_values(&self.entry, row, condition)?;
        self.entry.codec.encode_row(&row, &mut key, &mut value)?;
        let exchanged = self.exchange(&key, Some(&value), condition, options)?;
        let generated = number.filter(|_| exchanged.result.is_stored());
        Ok(ExchangeResult { generated, ..exchanged })
    }

    /// Deletes the row with this key if a condition holds of it, and says which row that was.
    ///
    /// # Errors
    /// As [`Table::delete`].
    pub fn delete_returning(
        &self,
        key: &Row,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<ExchangeResult> {
        options.check(self.store.engine.capability())?;
        let mut bytes = Vec::new();
        if !self.entry.codec.lookup_key(key, &mut bytes)? {
            let result = WriteResult::ConditionFailed { operation: 0, current: None };
            return Ok(ExchangeResult { result, previous: None, generated: None });
        }
        self.exchange(&bytes, None, condition, options)
    }

    /// Writes a value, or deletes the row where there is none.
    pub(super) fn exchange(
        &self,
        key: &[u8],
        value: Option<&[u8]>,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<ExchangeResult> {
        let keys: Slices = [key].into_iter().collect();
        let (mut rows, mut batch) = (Rows::new(), WriteBatch::new(self.entry.space));
        // Once for all attempts, since the time of the deadline begins here.
        let terms = options.terms();
        loop {
            let previous = self.stored(&*self.store.engine, &keys, terms.deadline, &mut rows)?;
            let current = previous.as_ref().map(|row| row.version);
            if !condition.holds(current) {
                let result = WriteResult::ConditionFailed { operation: 0, current };
                return Ok(ExchangeResult { result, previous, generated: None });
            }
            let unchanged = current.map_or(Condition::IfAbsent, Condition::IfVersion);
            batch.clear();
            match value {
                None => batch.delete(key, unchanged),
                Some(value) => {
                    // The expiry read is that of the row replaced: the condition lets no other
                    // version be replaced.
                    let kept = previous.as_ref().filter(|_| options.keep_ttl);
                    let expires_at_ms = kept.map_or_else(
                        || self.store.write_expiry_ms(&self.entry, options),
                        |row| row.expires_at_ms,
                    );
                    batch.put(key, value, expires_at_ms, unchanged);
                }
            }
            let tables = std::slice::from_ref(&self.entry);
            let outcome = self.store.write_rows(&batch, tables, terms)?;
            if let WriteOutcome::Applied { .. } = outcome {
                return Ok(ExchangeResult { result: outcome.into(), previous, generated: None });
            }
        }
    }

    /// The row of the only key.
    pub(super) fn stored(
        &self,
        engine: &dyn Engine,
        keys: &Slices,
        deadline: Deadline,
        rows: &mut Rows,
    ) -> Result<Option<StoredRow>> {
        read_by(engine, self.entry.space, keys, deadline, rows)?;
        if rows.is_empty() {
            return Ok(None);
        }
        let row = self.entry.codec.decode_row(rows.keys.get(0), rows.values.get(0))?;
        Ok(Some(StoredRow { row, version: rows.versions[0], expires_at_ms: rows.expiries_ms[0] }))
    }
}
