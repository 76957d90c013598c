//! The rows that earlier batches of a call put or delete, as later batches of the call must see
//! them.

use std::collections::HashMap;

use tonnage_engine::{Header, Operation, SpaceId, WriteBatch};

/// What batches leave for those after them in the same call: the header of each row put, nothing
/// for each row deleted.
#[derive(Default)]
pub(crate) struct BatchEffects<'b> {
    rows: HashMap<(SpaceId, &'b [u8]), Option<Header>>,
    /// Whether anybody will ask.
    is_wanted: bool,
}

impl<'b> BatchEffects<'b> {
    /// What is left for batches after these; nothing is kept unless they ask.
    pub(crate) fn new(is_wanted: bool) -> Self {
        Self { rows: HashMap::new(), is_wanted }
    }

    pub(crate) fn add(&mut self, batch: &'b WriteBatch, version: u64) {
        if !self.is_wanted {
            return;
        }
        for (space, run) in batch.runs() {
            for index in run {
                let header = Header { version, expires_at_ms: batch.expires_at_ms(index) };
                let is_put = batch.operation(index) == Operation::Put;
                self.rows.insert((space, batch.key(index)), is_put.then_some(header));
            }
        }
    }

    /// Nothing where no batch wrote the row.
    pub(crate) fn get(&self, space: SpaceId, key: &[u8]) -> Option<Option<Header>> {
        self.rows.get(&(space, key)).copied()
    }
}
