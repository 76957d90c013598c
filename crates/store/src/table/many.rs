//! Stores many single rows in one call.

use tonnage_engine::{Condition, Error, Result, WriteBatch};

use super::Table;
use crate::row::Row;
use crate::single_calls::{WriteOptions, WriteResult};

impl Table {
    /// Stores many rows, each by itself, as if one after another, and says what became of each, in
    /// the order given: one that does not fit leaves the others alone. Rows of a table without
    /// indexes share a write to the log, and with [`Durability::Fsync`] a sync, for each data
    /// directory. For thousands of rows and more [`Store::bulk_put`] is faster.
    ///
    /// [`Durability::Fsync`]: crate::Durability::Fsync
    /// [`Store::bulk_put`]: crate::Store::bulk_put
    pub fn put_many(
        &self,
        rows: &[Row],
        condition: Condition,
        options: &WriteOptions,
    ) -> Vec<Result<WriteResult>> {
        let (mut key, mut value) = (Vec::new(), Vec::new());
        let mut batches = Vec::with_capacity(rows.len());
        let mut encode = |row: &Row| {
            options.check_blind(self.store.engine.capability())?;
            let (row, _) = self.store.with_generated_values(&self.entry, row, condition)?;
            self.entry.codec.encode_row(&row, &mut key, &mut value)?;
            let mut batch = WriteBatch::new(self.entry.space);
            let expires_at_ms = self.store.write_expiry_ms(&self.entry, options);
            batch.put(&key, &value, expires_at_ms, condition);
            batches.push(batch);
            Ok(())
        };
        let encoded: Vec<Result<()>> = rows.iter().map(&mut encode).collect();
        let written = self.store.write_many_rows(&batches, &self.entry, options.terms());
        let mut written = written.into_iter();
        let lost = || Err(Error::internal("a row has no outcome"));
        let mut outcome = |()| written.next().unwrap_or_else(lost).map(WriteResult::from);
        encoded.into_iter().map(|row| row.and_then(&mut outcome)).collect()
    }
}
