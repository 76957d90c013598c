//! Atomic writes under one shard key.

use std::ops::Range;

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

/// What must hold of the stored row for an operation to be carried out. Expired rows count as
/// absent.
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
    /// Whether the condition holds where the stored row has the version `current`, or there is
    /// none.
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

/// Operations on rows of one shard key, carried out together or not at all.
///
/// The rows may be of several spaces. Rows of [shard-prefixed spaces](crate::KeyShape::shard_prefixed) have no
/// shard key: they go along when they lie in the shard of the others, and a batch of nothing else
/// keeps to one shard.
///
/// Conditions are judged against what was stored before the batch. Of two operations on one key the
/// later one decides what is stored.
#[derive(Clone, Debug)]
pub struct WriteBatch {
    space: SpaceId,
    /// From which operation on another space is written to. Empty for most batches, which then cost
    /// nothing for it.
    switches: Vec<(usize, SpaceId)>,
    operations: Vec<(Operation, Condition, u64)>,
    keys: Slices,
    values: Slices,
}

impl WriteBatch {
    /// An empty batch for a space.
    pub fn new(space: SpaceId) -> Self {
        Self {
            space,
            switches: Vec::new(),
            operations: Vec::new(),
            keys: Slices::new(),
            values: Slices::new(),
        }
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

    /// Operations added from now on are of this space.
    pub fn switch_to(&mut self, space: SpaceId) {
        let last = self.switches.last().map_or(self.space, |(_, space)| *space);
        if last != space {
            self.switches.push((self.len(), space));
        }
    }

    /// The space of the operation at `index`.
    pub fn space(&self, index: usize) -> SpaceId {
        match self.switches.partition_point(|(first, _)| *first <= index) {
            0 => self.space,
            after => self.switches[after - 1].1,
        }
    }

    /// The spaces that the batch writes to, each with a run of operations on it. A space may come
    /// more than once. A batch always has its first space, if only with an empty run.
    pub fn runs(&self) -> impl Iterator<Item = (SpaceId, Range<usize>)> + '_ {
        let starts = std::iter::once((0, self.space)).chain(self.switches.iter().copied());
        let ends = self.switches.iter().map(|(first, _)| *first).chain([self.len()]);
        starts.zip(ends).map(|((first, space), end)| (space, first..end))
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

    /// Forgets all operations but keeps the memory. The next operations are of the first space of
    /// the batch.
    pub fn clear(&mut self) {
        self.switches.clear();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_knows_the_space_of_each_operation() {
        let [rows, index] = [SpaceId(1), SpaceId(7)];
        let mut batch = WriteBatch::new(rows);
        batch.switch_to(rows);
        batch.delete(b"a", Condition::Always);
        batch.switch_to(index);
        batch.delete(b"b", Condition::Always);
        batch.delete(b"c", Condition::Always);
        batch.switch_to(rows);
        batch.delete(b"d", Condition::Always);
        assert_eq!(
            (0..4).map(|operation| batch.space(operation)).collect::<Vec<_>>(),
            [rows, index, index, rows]
        );
        assert_eq!(batch.runs().collect::<Vec<_>>(), [(rows, 0..1), (index, 1..3), (rows, 3..4)]);
        batch.clear();
        assert_eq!(batch.runs().collect::<Vec<_>>(), [(rows, 0..0)]);
    }
}
