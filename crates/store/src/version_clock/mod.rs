//! The clock of versions: when a row was written, by its version.
//!
//! 1. A writer looks at the time of the newest note first. Where that is older than [`STEP_MS`],
//!    one writer adds a note, and the others wait for it.
//! 2. A note is an empty row whose key is the time. The engine gives it a version, as any row. So
//!    each version that comes after it belongs to a later time.
//! 3. A row was written at the time of the last note whose version is not greater than its own, or
//!    up to [`STEP_MS`] later.
//! 4. Where there are too many notes, those are removed without which no time is wrong by more than
//!    an 8,000th of its age.
//!
//! Rows take no byte more. Each shard has versions, and so notes, of its own. An engine whose
//! versions are times needs none ([`Engine::version_time_ms`]).

mod notes;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, RwLock};
use std::time::Duration;

use tonnage_engine::sync::{lock, read, write};
use tonnage_engine::{
    Clock, Condition, Deadline, Durability, Engine, ErrorKind, KeyShape, NEVER_MS, Projection,
    Ranges, Result, Rows, ScanOptions, ShardId, SpaceId, WriteBatch,
};

use notes::{Note, Notes};

/// The name of the space of the notes.
const SPACE_NAME: &str = "version times";
/// How far the times of two notes are apart, at least.
const STEP_MS: u64 = 100;
/// How long a writer waits for its note. Without it the row has the time of the note before.
const NOTE_PATIENCE: Duration = Duration::from_millis(100);
/// How many notes one batch removes.
const REMOVED_TOGETHER: usize = 1_000;

/// The notes of a store, where it keeps them.
#[derive(Debug, Default)]
pub(crate) struct VersionClock {
    /// Nothing while the store keeps no times.
    space: OnceLock<SpaceId>,
    /// The notes of each shard, read from the store when they are first needed.
    shards: OnceLock<Vec<RwLock<Notes>>>,
    /// The time of the newest note of this process.
    noted_ms: AtomicU64,
    noting: Mutex<()>,
}

impl VersionClock {
    /// The clock of a store. It continues if the store has kept times before.
    pub(crate) fn open(engine: &dyn Engine) -> Result<Self> {
        let clock = Self::default();
        if let Some(space) = find_space(engine)? {
            clock.space.get_or_init(|| space);
        }
        Ok(clock)
    }

    /// Keeps times from now on, and in all later openings.
    pub(crate) fn keep(&self, engine: &dyn Engine) -> Result<()> {
        let capability = engine.capability();
        let is_needless = engine.version_time_ms(1).is_some() || self.space.get().is_some();
        // Notes must be in the shard whose versions they are about.
        if is_needless || !capability.shard_prefixed_spaces || capability.shared {
            return Ok(());
        }
        let space = match engine.create_space(SPACE_NAME, &KeyShape::shard_prefixed()) {
            Err(error) if error.kind() == ErrorKind::Conflict => {
                find_space(engine)?.ok_or(error)?
            }
            made => made?,
        };
        self.space.get_or_init(|| space);
        Ok(())
    }

    /// Adds a note if the newest one is too old. Called before each write.
    #[inline]
    pub(crate) fn tick(&self, engine: &dyn Engine, clock: &dyn Clock) {
        let Some(space) = self.space.get() else { return };
        let now_ms = clock.now_ms();
        if self.is_due(now_ms) {
            self.note(engine, *space, now_ms);
        }
    }

    /// Whether there is no note of that time, by a clock that may have been set back.
    fn is_due(&self, now_ms: u64) -> bool {
        self.noted_ms.load(Ordering::Acquire).abs_diff(now_ms) >= STEP_MS
    }

    #[cold]
    fn note(&self, engine: &dyn Engine, space: SpaceId, now_ms: u64) {
        let _one_at_a_time = lock(&self.noting);
        if !self.is_due(now_ms) {
            return;
        }
        // A note that fails must not fail the write: its row then seems older than it is.
        if let Ok(shards) = self.notes(engine, space) {
            for (shard, notes) in shards.iter().enumerate() {
                let _ = note_in_shard(engine, space, shard, notes, now_ms);
            }
        }
        self.noted_ms.store(now_ms, Ordering::Release);
    }

    /// When a row of that shard was written; 0 where that is not known.
    pub(crate) fn written_ms(
        &self,
        engine: &dyn Engine,
        shard: impl FnOnce() -> ShardId,
        version: u64,
    ) -> u64 {
        if let Some(time_ms) = engine.version_time_ms(version) {
            return time_ms;
        }
        let Some(space) = self.space.get() else { return 0 };
        // Notes that cannot be read are as good as none: the row itself can be.
        let Ok(shards) = self.notes(engine, *space) else { return 0 };
        let shard = if shards.len() == 1 { 0 } else { shard().0 as usize };
        shards.get(shard).map_or(0, |notes| read(notes).time_ms(version))
    }

    fn notes(&self, engine: &dyn Engine, space: SpaceId) -> Result<&[RwLock<Notes>]> {
        if let Some(shards) = self.shards.get() {
            return Ok(shards);
        }
        let read = read_notes(engine, space)?;
        Ok(self.shards.get_or_init(|| read.into_iter().map(RwLock::new).collect()))
    }
}

fn find_space(engine: &dyn Engine) -> Result<Option<SpaceId>> {
    let found = engine.spaces()?.into_iter().find(|space| space.name == SPACE_NAME);
    Ok(found.map(|space| space.id))
}

fn note_in_shard(
    engine: &dyn Engine,
    space: SpaceId,
    shard: usize,
    notes: &RwLock<Notes>,
    now_ms: u64,
) -> Result<()> {
    let mut batch = WriteBatch::new(space);
    batch.put(&key(shard, now_ms), &[], NEVER_MS, Condition::Always);
    let deadline = Deadline::after(NOTE_PATIENCE);
    let written = engine.write_by(&batch, Durability::Write, deadline)?;
    let Some(version) = written.version() else { return Ok(()) };
    let removed = write(notes).add(Note { version, time_ms: now_ms });
    // Those that stay in the store after a failure come back with the next opening.
    for some in removed.chunks(REMOVED_TOGETHER) {
        let mut batch = WriteBatch::new(space);
        some.iter().for_each(|note| batch.delete(&key(shard, note.time_ms), Condition::Always));
        engine.write_by(&batch, Durability::Write, deadline)?;
    }
    Ok(())
}

fn read_notes(engine: &dyn Engine, space: SpaceId) -> Result<Vec<Notes>> {
    let mut found = vec![Vec::new(); engine.capability().shards as usize];
    let options = ScanOptions { projection: Projection::KeysAndValues, ..ScanOptions::default() };
    let mut scanner = engine.scan(space, Ranges::whole_space(), options)?;
    let mut rows = Rows::new();
    while scanner.next_batch(&mut rows)? {
        for index in 0..rows.len() {
            let Some((shard, time_ms)) = parts_of_key(rows.keys.get(index)) else { continue };
            let Some(of_shard) = found.get_mut(shard) else { continue };
            of_shard.push(Note { version: rows.versions[index], time_ms });
        }
    }
    Ok(found.into_iter().map(Notes::of).collect())
}

/// The shard and the time.
fn key(shard: usize, time_ms: u64) -> [u8; 10] {
    let mut key = [0; 10];
    key[..2].copy_from_slice(&(shard as u16).to_be_bytes());
    key[2..].copy_from_slice(&time_ms.to_be_bytes());
    key
}

fn parts_of_key(key: &[u8]) -> Option<(usize, u64)> {
    let (shard, time_ms) = key.split_first_chunk()?;
    let time_ms = time_ms.try_into().ok()?;
    Some((u16::from_be_bytes(*shard).into(), u64::from_be_bytes(time_ms)))
}
