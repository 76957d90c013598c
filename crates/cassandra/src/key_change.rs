//! The rows that a write finds, and what it changes of them.

use std::collections::HashMap;
use std::fmt::Display;

use tonnage_engine::{Condition, Error, WriteBatch};

use crate::header::RowHeader;
use crate::stamp::Stamp;
use crate::table::SpaceTable;

/// A row as it was read.
pub(crate) struct ExistingRow {
    pub(crate) bytes: Vec<u8>,
    pub(crate) header: RowHeader,
    pub(crate) stamp: Stamp,
}

/// The rows that are stored, by key.
pub(crate) type StoredRows<'a> = HashMap<&'a [u8], ExistingRow>;

impl ExistingRow {
    /// Whether the row is as the try of a write with this mark has left it.
    pub(crate) fn is_of(&self, mark: u64) -> bool {
        self.bytes.ends_with(&mark.to_be_bytes())
    }
}

/// What a batch does to one of its keys: the last operation on it.
pub(crate) struct KeyChange<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) operation: usize,
    pub(crate) is_conditional: bool,
}

/// The last of these operations on each key, by ascending key.
pub(crate) fn changes<'a>(batch: &'a WriteBatch, operations: &[usize]) -> Vec<KeyChange<'a>> {
    let mut changes: Vec<KeyChange<'_>> = Vec::with_capacity(operations.len());
    let mut order = operations.to_vec();
    order.sort_by_key(|operation| batch.key(*operation));
    for operation in order {
        let key = batch.key(operation);
        let is_conditional = batch.condition(operation) != Condition::Always;
        match changes.last_mut() {
            Some(last) if last.key == key => {
                last.operation = operation;
                last.is_conditional |= is_conditional;
            }
            _ => changes.push(KeyChange { key, operation, is_conditional }),
        }
    }
    changes
}

/// Why it cannot be found out what became of a write.
pub(crate) const WRITTEN_SINCE: &str = "the rows were written again since";

/// Why it is not known yet.
pub(crate) const STILL_UNDER_WAY: &str =
    "an earlier try got no answer, and may still be carried out";

/// That the outcome of a write is unknown.
#[cold]
pub(crate) fn in_doubt(table: &SpaceTable, error: &Error, why: &dyn Display) -> Error {
    Error::unavailable(format!(
        "a write to {} may or may not be stored: {error} ({why}): read the rows, then decide",
        table.display_name(),
    ))
}
