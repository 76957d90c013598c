//! Reading keys whose blocks are not in the cache.
//!
//! A thread that reads a block from a disk waits for it, and a disk serves many at a time. So:
//!
//! 1. What is left of the keys is cut into parts of equal numbers of keys, as far as the rows before
//!    say that they fit into the answer.
//! 2. The caller's thread reads the first part, a thread each of the others: all at the caller's
//!    snapshots, each with its part of the bytes that the answer has left.
//! 3. The parts are joined in the order of the keys. Where a part did not come to its end the
//!    answer ends; what follows is read again by the next call.
//!
//! Threads are started for each call: that costs some 0.2 ms, and one call takes the time of
//! hundreds of blocks. A store has a [bound](crate::read::helpers) for all of its calls; one that
//! finds no thread free reads alone.
//!
//! Measured with `benches/cold_read.rs` in docs/benchmarks.md.

use std::ops::Range;
use std::thread::{self, ScopedJoinHandle};

use tonnage_engine::{ReadOptions, Result, Rows, Slices};

use crate::read::walk::KeyDensity;
use crate::read::{Lookup, LookupChunk, View};

/// Threads that look keys up for one call, its own among them: most wait for the disk.
const LOOKUPS_OF_CALL: usize = 16;
/// Threads that walk for one call: each reads many blocks at once.
const WALKS_OF_CALL: usize = 8;
/// Fewer keys to be looked up are not worth a thread.
const PART_KEYS_MIN: usize = 32;
/// Fewer bytes of files to be walked through are not.
const PART_BYTES_MIN: u64 = 512 << 10;

/// What all parts have in common.
struct ParallelRead<'a> {
    lookup: &'a Lookup<'a>,
    keys: &'a Slices,
    density: KeyDensity,
    view: &'a View<'a>,
}

/// One part of the keys; it is sent to the thread that reads it.
struct ReadPart {
    options: ReadOptions,
    chunk_keys: usize,
}

impl Lookup<'_> {
    /// Reads the keys from `first` on with several threads, where the rows so far have shown that
    /// their blocks are not in the cache. Answers the number of the first key that it left.
    pub(super) fn read_cold(
        &self,
        keys: &Slices,
        first: usize,
        density: KeyDensity,
        view: &View<'_>,
        rows: &mut Rows,
    ) -> Result<usize> {
        let wanted = first..self.fitting_end(first, rows);
        let parallel = ParallelRead { lookup: self, keys, density, view };
        let helpers = self.engine.read_helpers.take(density.readers(wanted.len()) - 1);
        let count = helpers.count + 1;
        // Rows differ in size: a part may take twice what is its due.
        let bytes = self.options.bytes_max.saturating_sub(rows.bytes()) / count;
        let part = |number: usize| {
            let at = |number: usize| wanted.start + wanted.len() * number / count;
            self.part(at(number)..at(number + 1), bytes)
        };
        thread::scope(|scope| {
            let others: Vec<_> = (1..count)
                .map(|number| {
                    let (parallel, part) = (&parallel, part(number));
                    let name = "tonnage-read".to_owned();
                    let read = move || parallel.read_part(&part);
                    thread::Builder::new().name(name).spawn_scoped(scope, read)
                })
                .collect();
            let mut own = part(0);
            let end = own.options.keys.end;
            own.options.bytes_max = rows.bytes().saturating_add(bytes);
            let mut reached = parallel.read(&own, rows)?;
            if reached < end {
                return Ok(reached);
            }
            for (number, other) in (1..count).zip(others) {
                // A thread that the system refused: the rest is left to the next call.
                let Ok(thread) = other else { return Ok(reached) };
                let (next, read) = joined(thread)?;
                reached = self.append(&read, next, rows);
                if reached < part(number).options.keys.end {
                    return Ok(reached);
                }
            }
            Ok(reached)
        })
    }

    /// Up to which key the rows fit, with room for rows that are larger than those so far.
    fn fitting_end(&self, first: usize, rows: &Rows) -> usize {
        let left = self.options.bytes_max.saturating_sub(rows.bytes());
        let row_bytes = rows.bytes().div_ceil(rows.len().max(1)).max(1);
        let count = (left / 2 / row_bytes).max(1);
        self.options.keys.end.min(first.saturating_add(count))
    }

    fn part(&self, keys: Range<usize>, bytes_max: usize) -> ReadPart {
        ReadPart {
            options: ReadOptions { keys, bytes_max, ..self.options.clone() },
            chunk_keys: LookupChunk::keys_next(),
        }
    }

    /// Takes the rows of a part that ended before the key `end` into the answer. Answers the number
    /// of the first key that it left.
    fn append(&self, part: &Rows, end: usize, rows: &mut Rows) -> usize {
        for row in 0..part.len() {
            let (key, value) = (part.keys.get(row), part.values.get(row));
            let origin = part.origins[row];
            if self.options.is_full(rows.bytes(), key.len() + value.len()) {
                return origin as usize;
            }
            rows.push(key, value, part.versions[row], part.expiries_ms[row], origin);
        }
        end
    }
}

impl KeyDensity {
    /// How many threads so many keys are worth.
    fn readers(self, keys: usize) -> usize {
        let walkers = |bytes_per_key: u64| keys as u64 * bytes_per_key / PART_BYTES_MIN;
        match self {
            Self::Dense => 1,
            Self::Sparse { bytes_per_key, .. } => {
                walkers(bytes_per_key).clamp(1, WALKS_OF_CALL as u64) as usize
            }
            Self::Scattered => (keys / PART_KEYS_MIN).clamp(1, LOOKUPS_OF_CALL),
        }
    }
}

impl ParallelRead<'_> {
    fn read_part(&self, part: &ReadPart) -> Result<(usize, Rows)> {
        let mut rows = Rows::new();
        let end = self.read(part, &mut rows)?;
        Ok((end, rows))
    }

    fn read(&self, part: &ReadPart, rows: &mut Rows) -> Result<usize> {
        let Lookup { engine, space, snapshots, .. } = *self.lookup;
        let now_ms = self.lookup.now_ms.clone();
        let lookup = Lookup { engine, space, options: &part.options, snapshots, now_ms };
        let range = part.options.keys.clone();
        match self.density {
            KeyDensity::Scattered => {
                let shards = engine.shards().len();
                let mut chunk = LookupChunk::with_keys(space.id, shards, part.chunk_keys);
                lookup.look_up_keys(self.keys, range, self.density, self.view, &mut chunk, rows)
            }
            _ => lookup.walk(self.keys, range.start, self.density, self.view, rows),
        }
    }
}

fn joined<T>(thread: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
