//! Reads a whole space with several threads.
//!
//! The engine cuts the space into parts of about the same size, 4 for each thread. A thread that is
//! done with one part takes the next. The first error ends the others.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tonnage_engine::sync::{into_inner, lock};
use tonnage_engine::{
    Cuts, Deadline, Engine, Error, Part, Projection, ReadOptions, Result, Rows, ScanOptions,
    Slices, SpaceId,
};

/// Parts are cut by estimates, so there are more of them than threads.
const PARTS_PER_THREAD: usize = 4;

/// What reads a part of a space.
pub(crate) trait PartReader {
    /// Takes in the next rows of the part.
    fn read(&mut self, rows: &mut Rows) -> Result<()>;

    /// The part is read to its end.
    fn end(self) -> Result<()>;
}

/// Reads a whole space by so many threads. `begin` makes the reader of each part from the number of
/// the part.
pub(crate) fn read_parts<R: PartReader>(
    threads: usize,
    engine: &dyn Engine,
    space: SpaceId,
    options: &ScanOptions,
    begin: impl Fn(u32) -> R + Sync,
) -> Result<()> {
    let parts = engine.split(space, PARTS_PER_THREAD * threads, Cuts::Anywhere)?;
    let next = AtomicUsize::new(0);
    let is_stopped = AtomicBool::new(false);
    let first_error: Mutex<Option<Error>> = Mutex::new(None);
    let work = || {
        while !is_stopped.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(number) else { return };
            let reader = begin(number as u32);
            let read = read_part(engine, space, options, part, reader, &is_stopped);
            if let Err(error) = read {
                // Seen late this costs a batch more: the error itself passes through the lock.
                is_stopped.store(true, Ordering::Relaxed);
                lock(&first_error).get_or_insert(error);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(parts.len()) {
            // Where no thread can be had, the others do its part.
            let _ =
                std::thread::Builder::new().name("tonnage-index".into()).spawn_scoped(scope, work);
        }
        work();
    });
    into_inner(first_error).map_or(Ok(()), Err)
}

fn read_part(
    engine: &dyn Engine,
    space: SpaceId,
    options: &ScanOptions,
    part: &Part,
    mut reader: impl PartReader,
    is_stopped: &AtomicBool,
) -> Result<()> {
    let mut scanner = engine.scan_part(space, part, options.clone())?;
    let mut rows = Rows::new();
    while !is_stopped.load(Ordering::Relaxed) && scanner.next_batch(&mut rows)? {
        reader.read(&mut rows)?;
    }
    drop(scanner);
    reader.end()
}

/// Bytes of rows that are looked up and looked at together.
const READ_BYTES: usize = 4 << 20;

/// Looks keys up, and hands their rows over some at a time.
pub(crate) fn read_all(
    engine: &dyn Engine,
    space: SpaceId,
    keys: &Slices,
    visit: impl FnMut(&Rows) -> Result<()>,
) -> Result<()> {
    let read =
        |options: &ReadOptions, rows: &mut Rows| engine.read_some(space, keys, options, rows);
    read_all_by(keys, read, visit)
}

/// The same with rows that are settled: see [`Engine::read_settled`].
pub(crate) fn read_all_settled(
    engine: &dyn Engine,
    space: SpaceId,
    keys: &Slices,
    visit: impl FnMut(&Rows) -> Result<()>,
) -> Result<()> {
    let read =
        |options: &ReadOptions, rows: &mut Rows| engine.read_settled(space, keys, options, rows);
    read_all_by(keys, read, visit)
}

fn read_all_by(
    keys: &Slices,
    read: impl Fn(&ReadOptions, &mut Rows) -> Result<usize>,
    mut visit: impl FnMut(&Rows) -> Result<()>,
) -> Result<()> {
    let (mut first, mut rows) = (0, Rows::new());
    while first < keys.len() {
        let options = ReadOptions {
            projection: Projection::KeysAndValues,
            keys: first..keys.len(),
            bytes_max: READ_BYTES,
            deadline: Deadline::NONE,
        };
        first += read(&options, &mut rows)?;
        visit(&rows)?;
    }
    Ok(())
}
