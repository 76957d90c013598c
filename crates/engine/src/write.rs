//! Atomic writes under one shard key.

use crate::header::NEVER_MS;
use crate::{Slices, SpaceId};

/// When a write is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// Once the process has it: lost when the process dies.
    None,
    /// Once the operating system has it: survives the process, not the machine. The default.
    #[default]
    Write,
    /// Once it is on the disk.
    Fsync,
}

/// What must hold of the stored row for an operation to be carried out. Expired rows count as absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// Nothing.
    #[default]
    Always,
    /// There is no such row.
    IfAbsent,
    /// There is such a row.
    IfPresent,
    /// There is such a row, of this version.
    IfVersion(u64),
}

impl Condition {
    /// Whether the condition holds where the stored row has the version `current`, or there is none.
    pub fn holds(self, current: Option<u64>) -> bool {
        match self {
            Condition::Always => true,
            Condition::IfAbsent => current.is_none(),
            Condition::IfPresent => current.is_some(),
            Condition::IfVersion(version) => current == Some(version),
        }
    }
}

/// One operation of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Stores a row.
    Put,
    /// Removes a row; removing a missing one succeeds.
    Delete,
}

/// Operations on rows of one space and one shard key, carried out together or not at all.
///
/// Conditions are judged against what was stored before the batch. Of two operations on one key the later one decides
/// what is stored.
#[derive(Clone, Debug)]
pub struct WriteBatch {
    space: SpaceId,
    operations: Vec<(Operation, Condition, u64)>,
    keys: Slices,
    values: Slices,
}

impl WriteBatch {
    /// An empty batch for a space.
    pub fn new(space: SpaceId) -> Self {
        Self { space, operations: Vec::new(), keys: Slices::new(), values: Slices::new() }
    }

    /// Adds a row to store. `expires_at_ms` is 0 for a row that lives for ever.
    pub fn put(&mut self, key: &[u8], value: &[u8], expires_at_ms: u64, condition: Condition) {
        self.operations.push((Operation::Put, condition, expires_at_ms));
        self.keys.push(key);
        self.values.push(value);
    }

    /// Adds a row to remove.
    pub fn delete(&mut self, key: &[u8], condition: Condition) {
        self.operations.push((Operation::Delete, condition, NEVER_MS));
        self.keys.push(key);
        self.values.push(&[]);
    }

    /// The space that the batch writes to.
    pub fn space(&self) -> SpaceId {
        self.space
    }

    /// How many operations there are.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// What to do at `index`.
    pub fn operation(&self, index: usize) -> Operation {
        self.operations[index].0
    }

    /// What must hold for the operation at `index`.
    pub fn condition(&self, index: usize) -> Condition {
        self.operations[index].1
    }

    /// When the row put at `index` expires; 0 for never.
    pub fn expires_at_ms(&self, index: usize) -> u64 {
        self.operations[index].2
    }

    /// The key of the operation at `index`.
    pub fn key(&self, index: usize) -> &[u8] {
        self.keys.get(index)
    }

    /// The value of the operation at `index`, without header; empty for a delete.
    pub fn value(&self, index: usize) -> &[u8] {
        self.values.get(index)
    }

    /// Forgets all operations but keeps the memory.
    pub fn clear(&mut self) {
        self.operations.clear();
        self.keys.clear();
        self.values.clear();
    }
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// Everything was carried out; every row put has this version.
    Applied {
        /// The version of the rows put.
        version: u64,
    },
    /// A condition did not hold, and nothing was carried out.
    Refused {
        /// The first operation whose condition did not hold.
        operation: usize,
        /// The version of the row stored there, if there is one.
        current: Option<u64>,
    },
}

impl WriteOutcome {
    /// The version given to the rows put, when the batch was applied.
    pub fn version(self) -> Option<u64> {
        match self {
            WriteOutcome::Applied { version } => Some(version),
            WriteOutcome::Refused { .. } => None,
        }
    }
}
