//! The spaces of a store, as they stand in the metadata of shard 0.
//!
//! | key | value |
//! |---|---|
//! | `space/` and the number, four bytes big-endian | format 1 (a byte); 1 for live, 2 for dropping (a byte); length of the name (four bytes little-endian); name; shape |
//! | `next space` | the number of the next space, four bytes little-endian |

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, RwLock};

use parking_lot::{Mutex, MutexGuard};
use rocksdb::{Direction, IteratorMode, WriteBatch};
use tonnage_engine::sync::{read, write};
use tonnage_engine::{Deadline, Error, KeyShape, Result, SpaceId, SpaceInfo};

use crate::database::Database;
use crate::error::translate;
use crate::stall::{self, StallDeadline};

const PREFIX: &[u8] = b"space/";
const NEXT: &[u8] = b"next space";
const PLACE: &str = "the list of spaces";

const FORMAT: u8 = 1;
const LIVE: u8 = 1;
const DROPPING: u8 = 2;

/// All spaces that exist.
#[derive(Debug, Default)]
pub(crate) struct Spaces {
    live: RwLock<Live>,
    /// Held while the list changes, and by a checkpoint, whose shards must agree on it.
    changing: Mutex<()>,
}

/// The spaces that are not being dropped.
#[derive(Debug, Default)]
struct Live {
    by_id: BTreeMap<SpaceId, Arc<SpaceInfo>>,
    /// The names in use, so that making a space costs the same however many there are.
    names: HashSet<String>,
}

impl Live {
    fn insert(&mut self, info: SpaceInfo) {
        self.names.insert(info.name.clone());
        self.by_id.insert(info.id, Arc::new(info));
    }

    fn remove(&mut self, id: SpaceId) {
        if let Some(info) = self.by_id.remove(&id) {
            self.names.remove(&info.name);
        }
    }
}

impl Spaces {
    /// Reads the list. The second answer are spaces whose drop was cut short.
    pub(crate) fn open(db: &Database) -> Result<(Self, Vec<SpaceId>)> {
        let (mut live, mut dropping) = (Live::default(), Vec::new());
        for entry in db.iterator(IteratorMode::From(PREFIX, Direction::Forward)) {
            let (key, value) = entry.map_err(|error| translate(PLACE, error))?;
            let Some(id) = key.strip_prefix(PREFIX) else { break };
            let id = SpaceId(u32::from_be_bytes(id.try_into().map_err(|_| damaged())?));
            match parse(id, &value)? {
                (LIVE, info) => live.insert(info),
                (DROPPING, _) => dropping.push(id),
                _ => return Err(damaged()),
            }
        }
        Ok((Self { live: RwLock::new(live), changing: Mutex::new(()) }, dropping))
    }

    /// A space that exists.
    pub(crate) fn get(&self, id: SpaceId) -> Result<Arc<SpaceInfo>> {
        read(&self.live).by_id.get(&id).cloned().ok_or_else(|| no_such_space(id))
    }

    /// All of them, by ascending number.
    pub(crate) fn list(&self) -> Vec<SpaceInfo> {
        let live = read(&self.live);
        live.by_id.values().map(|space| SpaceInfo::clone(space)).collect()
    }

    /// Locks the list: it stays as it is while the guard lives.
    pub(crate) fn lock_changes(&self) -> MutexGuard<'_, ()> {
        self.changing.lock()
    }

    fn lock_changes_by(&self, deadline: Deadline) -> Result<MutexGuard<'_, ()>> {
        match deadline.moment() {
            None => Ok(self.lock_changes()),
            Some(moment) => self.changing.try_lock_until(moment).ok_or_else(|| {
                Deadline::passed("another change of the list of spaces, or a copy of the store")
            }),
        }
    }

    /// Makes a space, durably.
    pub(crate) fn create(
        &self,
        db: &Database,
        name: &str,
        shape: &KeyShape,
        deadline: Deadline,
    ) -> Result<SpaceId> {
        deadline.check("its turn")?;
        let _held = self.lock_changes_by(deadline)?;
        let is_taken = read(&self.live).names.contains(name);
        if is_taken {
            return Err(Error::conflict(format!(
                "a space named '{name}' exists: drop it first or choose another name"
            )));
        }
        let id = next_id(db)?;
        // The end of a space is the number after it, so the last number stays unused.
        let next = id.0.checked_add(1).filter(|next| *next < u32::MAX);
        let next =
            next.ok_or_else(|| Error::exhausted("all space numbers of this store are used up"))?;
        let info = SpaceInfo { id, name: name.to_owned(), shape: shape.clone() };
        let mut batch = WriteBatch::default();
        batch.put(key_of(id), value_of(LIVE, &info));
        // In one step with the space: a number whose counter fell back would be given twice.
        batch.put(NEXT, next.to_le_bytes());
        write_synced(db, batch, deadline)?;
        // Last: a space that can be found is on the disk.
        write(&self.live).insert(info);
        Ok(id)
    }

    /// Takes a space off the list, durably. Its rows are still there; [`Spaces::forget`] follows
    /// once they are gone.
    pub(crate) fn begin_drop(&self, db: &Database, id: SpaceId, deadline: Deadline) -> Result<()> {
        deadline.check("its turn")?;
        let _held = self.lock_changes_by(deadline)?;
        let info = self.get(id)?;
        let mut batch = WriteBatch::default();
        batch.put(key_of(id), value_of(DROPPING, &info));
        write_synced(db, batch, deadline)?;
        write(&self.live).remove(id);
        Ok(())
    }

    /// Notes that nothing is left of a dropped space.
    pub(crate) fn forget(db: &Database, id: SpaceId) -> Result<()> {
        let mut batch = WriteBatch::default();
        batch.delete(key_of(id));
        stall::write_batch(db, false, &batch).map_err(|error| translate(PLACE, error))
    }
}

fn next_id(db: &Database) -> Result<SpaceId> {
    match db.get(NEXT).map_err(|error| translate(PLACE, error))? {
        Some(bytes) => Ok(SpaceId(u32::from_le_bytes(bytes.try_into().map_err(|_| damaged())?))),
        None => Ok(SpaceId(0)),
    }
}

fn write_synced(db: &Database, batch: WriteBatch, deadline: Deadline) -> Result<()> {
    stall::write_batch_by(db, true, &batch, StallDeadline::until(deadline), PLACE)
}

fn key_of(id: SpaceId) -> Vec<u8> {
    [PREFIX, &id.0.to_be_bytes()].concat()
}

fn value_of(state: u8, info: &SpaceInfo) -> Vec<u8> {
    let name_len = (info.name.len() as u32).to_le_bytes();
    [&[FORMAT, state], &name_len[..], info.name.as_bytes(), &info.shape.to_bytes()].concat()
}

fn parse(id: SpaceId, value: &[u8]) -> Result<(u8, SpaceInfo)> {
    let (&[format, state, a, b, c, d], rest) = value.split_first_chunk().ok_or_else(damaged)?;
    if format != FORMAT {
        return Err(Error::unsupported(format!(
            "space {} is noted in format {format}, this Tonnage reads format {FORMAT}: use a newer Tonnage",
            id.0
        )));
    }
    let name_len = u32::from_le_bytes([a, b, c, d]) as usize;
    let (name, shape) = rest.split_at_checked(name_len).ok_or_else(damaged)?;
    let name = std::str::from_utf8(name).map_err(|_| damaged())?.to_owned();
    Ok((state, SpaceInfo { id, name, shape: KeyShape::from_bytes(shape)? }))
}

#[cold]
fn no_such_space(id: SpaceId) -> Error {
    Error::not_found(format!(
        "there is no space with the number {}: it was dropped, or is of another store",
        id.0
    ))
}

fn damaged() -> Error {
    Error::corruption(format!("{PLACE} cannot be read: restore the store from a copy"))
}
