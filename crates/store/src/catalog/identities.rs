//! The numbers of identity columns.
//!
//! 1. A writer takes numbers from a block in memory.
//! 2. When a block is used up, the next one is reserved with a synced write, before its first
//!    number is given.
//! 3. A crash loses the rest of a block. These numbers are never assigned.
//!
//! The reservations have a space of their own: one row for each column holds the first number of
//! the next block.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use tonnage_engine::sync::lock;
use tonnage_engine::{
    Condition, Durability, Engine, Error, ErrorKind, KeyPart, KeyShape, Projection, Result, Rows,
    Slices, SpaceId, WriteBatch,
};

use crate::identity_used_up::IdentityUsedUp;
use crate::schema::Identity;

/// The name of the space of the notes.
const SPACE_NAME: &str = "identities";

/// Which column of which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct IdentityColumn {
    /// The space of the table.
    pub(crate) space: SpaceId,
    /// The number of the table in it.
    pub(crate) table: u32,
    /// The number of the column.
    pub(crate) column: u16,
}

impl IdentityColumn {
    const KEY_LEN: u16 = 10;

    fn key(&self) -> Vec<u8> {
        let mut key = self.space.0.to_be_bytes().to_vec();
        key.extend_from_slice(&self.table.to_be_bytes());
        key.extend_from_slice(&self.column.to_be_bytes());
        key
    }
}

/// Numbers that were noted as taken and not given yet.
#[derive(Default)]
struct NumberBlock {
    next: i128,
    left: u64,
}

/// The blocks of all identity columns.
#[derive(Default)]
pub(super) struct Identities {
    space: OnceLock<SpaceId>,
    blocks: Mutex<HashMap<IdentityColumn, Arc<Mutex<NumberBlock>>>>,
}

impl Identities {
    /// So many unassigned numbers.
    ///
    /// # Errors
    /// `Invalid`, caused by [`IdentityUsedUp`], when there are no more; `Unavailable` when the disk
    /// refuses.
    pub(super) fn draw(
        &self,
        engine: &dyn Engine,
        column: IdentityColumn,
        identity: &Identity,
        count: usize,
    ) -> Result<Vec<i64>> {
        // The map is locked only briefly: other columns do not wait for the synced write of this
        // one.
        let block = {
            let mut blocks = lock(&self.blocks);
            blocks.entry(column).or_default().clone()
        };
        // The block stays locked while the next one is reserved: no other thread reserves one
        // beside it.
        let mut block = lock(&block);
        let mut numbers = Vec::with_capacity(count);
        while numbers.len() < count {
            if block.left == 0 {
                let wanted = (count - numbers.len()) as u64;
                *block = self.reserve_block(engine, column, identity, wanted)?;
            }
            let number = i64::try_from(block.next).map_err(|_| none_left())?;
            numbers.push(number);
            block.next += i128::from(identity.increment);
            block.left -= 1;
        }
        Ok(numbers)
    }

    /// Notes the next block as taken: of as many numbers as the column keeps ready, or are wanted.
    fn reserve_block(
        &self,
        engine: &dyn Engine,
        column: IdentityColumn,
        identity: &Identity,
        wanted: u64,
    ) -> Result<NumberBlock> {
        let space = self.ensure_space(engine)?;
        let size = wanted.max(identity.cache.into());
        let key = column.key();
        let keys: Slices = [&key[..]].into_iter().collect();
        let mut rows = Rows::new();
        // Another process may reserve at the same time: a refused one reads again, and continues
        // after the block that the other noted.
        loop {
            engine.read(space, &keys, Projection::KeysAndValues, &mut rows)?;
            let (next, unchanged) = match rows.is_empty() {
                true => (identity.start.into(), Condition::IfAbsent),
                false => {
                    let noted = rows.values.get(0).try_into().map_err(|_| damaged())?;
                    (i128::from_le_bytes(noted), Condition::IfVersion(rows.versions[0]))
                }
            };
            // A block ends where the numbers end: the next one begins anew, or there is none.
            let next = match (identity.count_from(next), identity.first_again()) {
                (0, None) => return Err(none_left()),
                (0, Some(again)) => again.into(),
                _ => next,
            };
            let left = size.min(identity.count_from(next));
            let after = i128::from(identity.increment)
                .checked_mul(left.into())
                .and_then(|taken| taken.checked_add(next))
                .ok_or_else(damaged)?;
            let mut batch = WriteBatch::new(space);
            batch.put(&key, &after.to_le_bytes(), 0, unchanged);
            // Synced before the first number is given: after a crash no number is given twice.
            if engine.write(&batch, Durability::Fsync)?.version().is_some() {
                return Ok(NumberBlock { next, left });
            }
        }
    }

    /// Forgets a column that was dropped. A note that stays is never read again.
    pub(super) fn remove(&self, engine: &dyn Engine, column: IdentityColumn) -> Result<()> {
        let mut blocks = lock(&self.blocks);
        blocks.remove(&column);
        drop(blocks);
        let Some(space) = self.find_space(engine)? else { return Ok(()) };
        let mut batch = WriteBatch::new(space);
        batch.delete(&column.key(), Condition::Always);
        engine.write(&batch, Durability::default()).map(drop)
    }

    fn find_space(&self, engine: &dyn Engine) -> Result<Option<SpaceId>> {
        if let Some(space) = self.space.get() {
            return Ok(Some(*space));
        }
        let found = engine.spaces()?.into_iter().find(|space| space.name == SPACE_NAME);
        Ok(found.map(|space| *self.space.get_or_init(|| space.id)))
    }

    fn ensure_space(&self, engine: &dyn Engine) -> Result<SpaceId> {
        if let Some(space) = self.find_space(engine)? {
            return Ok(space);
        }
        let shape = KeyShape::new([KeyPart::Fixed(IdentityColumn::KEY_LEN)]);
        match engine.create_space(SPACE_NAME, &shape) {
            Err(error) if error.kind() == ErrorKind::Conflict => {
                self.find_space(engine)?.ok_or(error)
            }
            made => made.map(|made| *self.space.get_or_init(|| made)),
        }
    }
}

#[cold]
fn none_left() -> Error {
    IdentityUsedUp::error("the IDENTITY has no numbers left")
}

#[cold]
fn damaged() -> Error {
    Error::corruption(
        "the note of the numbers that an IDENTITY has given is damaged: run `check`, then restore from a copy",
    )
}
