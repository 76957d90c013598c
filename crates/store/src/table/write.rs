//! Atomic writes: several operations on one shard key, of a table and its relatives.

use std::sync::Arc;

use tonnage_engine::{Condition, Error, Result, WriteBatch};

use crate::catalog::TableEntry;
use crate::inner::Inner;
use crate::row::Row;
use crate::single_calls::{WriteOptions, WriteResult};
use crate::value::Value;

/// One operation of an atomic write.
#[derive(Clone, Debug, PartialEq)]
pub enum RowOperation {
    /// Stores a row.
    Put {
        /// The path of its table.
        table: Arc<str>,
        /// The row.
        row: Row,
        /// What must hold of the stored row.
        condition: Condition,
    },
    /// Deletes a row.
    Delete {
        /// The path of its table.
        table: Arc<str>,
        /// Its key columns.
        key: Row,
        /// What must hold of the stored row.
        condition: Condition,
    },
}

impl RowOperation {
    /// Stores a row, whatever is there.
    pub fn put(table: impl Into<Arc<str>>, row: Row) -> Self {
        RowOperation::Put { table: table.into(), row, condition: Condition::Always }
    }

    /// Deletes a row, if there is one.
    pub fn delete(table: impl Into<Arc<str>>, key: Row) -> Self {
        RowOperation::Delete { table: table.into(), key, condition: Condition::Always }
    }

    /// The same operation under a condition.
    pub fn when(mut self, required: Condition) -> Self {
        match &mut self {
            RowOperation::Put { condition, .. } | RowOperation::Delete { condition, .. } => {
                *condition = required
            }
        }
        self
    }

    fn table(&self) -> &str {
        match self {
            RowOperation::Put { table, .. } | RowOperation::Delete { table, .. } => table,
        }
    }
}

pub(crate) fn atomic_write(
    store: &Inner,
    operations: &[RowOperation],
    options: &WriteOptions,
) -> Result<WriteResult> {
    let EncodedWrite { batch, tables, .. } = encode(store, operations, options)?;
    Ok(store.write_rows(&batch, &tables, options.terms())?.into())
}

/// The operations as a batch.
pub(super) struct EncodedWrite {
    pub(super) batch: WriteBatch,
    /// The table of each.
    pub(super) tables: Vec<Arc<TableEntry>>,
    /// What the store generated for each row: its number in an identity column, else its UUID.
    pub(super) numbers: Vec<Option<Value>>,
}

pub(super) fn encode(
    store: &Inner,
    operations: &[RowOperation],
    options: &WriteOptions,
) -> Result<EncodedWrite> {
    let Some(first) = operations.first() else {
        return Err(Error::invalid("an atomic write needs at least one operation"));
    };
    options.check_blind(store.engine.capability())?;
    // The first operation decides the space: one batch is written to one space, which only
    // relatives share.
    let family = store.catalog.table(first.table())?;
    let mut batch = WriteBatch::new(family.space);
    let mut tables = Vec::with_capacity(operations.len());
    let mut numbers = vec![None; operations.len()];
    let (mut key, mut value) = (Vec::new(), Vec::new());
    for (number, operation) in operations.iter().enumerate() {
        let entry = store.catalog.table(operation.table())?;
        check_family(&family, &entry)?;
        match operation {
            RowOperation::Put { row, condition, .. } => {
                // An error carries the number of the operation, so that a caller of many knows
                // which to fix.
                let encoded = store.with_generated_values(&entry, row, *condition).and_then(
                    |(row, given)| {
                        numbers[number] = given;
                        entry.codec.encode_row(&row, &mut key, &mut value)
                    },
                );
                encoded.map_err(|error| {
                    error.at(format!("operation {number}")).at_position(number as u64)
                })?;
                batch.put(&key, &value, store.write_expiry_ms(&entry, options), *condition);
            }
            RowOperation::Delete { key: row, condition, .. } => {
                let encoded = entry.codec.encode_key(row, &mut key);
                encoded.map_err(|error| {
                    error.at(format!("operation {number}")).at_position(number as u64)
                })?;
                batch.delete(&key, *condition);
            }
        }
        tables.push(entry);
    }
    Ok(EncodedWrite { batch, tables, numbers })
}

fn check_family(first: &TableEntry, other: &TableEntry) -> Result<()> {
    if first.space == other.space {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{} and {} are not relatives: an atomic write holds rows of one shard key, of a table and its parents and children",
        first.schema.path, other.schema.path
    )))
}
