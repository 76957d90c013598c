//! The reader of a large object.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::time::Duration;

use tonnage_engine::{Deadline, Error, Result, Rows, Slices, SpaceId};

use super::head::LobHead;
use super::keys::LobKeys;
use super::options::LobInfo;
use crate::inner::Inner;
use crate::read::read_by;
use crate::terms::deadline_after;

/// Reads a large object, from any place, in memory for one chunk.
pub struct LobReader {
    store: Arc<Inner>,
    space: SpaceId,
    keys: LobKeys,
    head: LobHead,
    /// The longest that the read of a chunk may take.
    timeout: Option<Duration>,
    position: u64,
    /// The generation and number of the chunk in `rows`.
    chunk: Option<(u64, u64)>,
    rows: Rows,
}

/// The position of a byte of the object.
struct ChunkPosition {
    generation: u64,
    number: u64,
    /// In the chunk.
    offset: usize,
    /// How many bytes of the object the chunk has.
    len: usize,
}

impl LobReader {
    pub(super) fn new(
        store: Arc<Inner>,
        space: SpaceId,
        keys: LobKeys,
        head: LobHead,
        timeout: Option<Duration>,
    ) -> Self {
        Self { store, space, keys, head, timeout, position: 0, chunk: None, rows: Rows::new() }
    }

    /// The length and the version of the object.
    pub fn info(&self) -> LobInfo {
        LobInfo { bytes: self.head.bytes(), version: self.head.version }
    }

    /// Reads what comes next, up to the end of a chunk; 0 bytes at the end of the object.
    ///
    /// # Errors
    /// `Conflict` when the object was replaced or deleted meanwhile, `Corruption` when a chunk is
    /// missing; what the engine says.
    pub fn read_some(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let Some(chunk_position) = self.chunk_position().filter(|_| !buffer.is_empty()) else {
            return Ok(0);
        };
        self.fetch(&chunk_position)?;
        let chunk = &self.rows.values.get(0)[chunk_position.offset..chunk_position.len];
        let taken = chunk.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&chunk[..taken]);
        self.position += taken as u64;
        Ok(taken)
    }

    fn chunk_position(&self) -> Option<ChunkPosition> {
        let chunk_bytes = self.head.chunk_bytes as u64;
        let mut before = self.position;
        for segment in &self.head.segments {
            if before < segment.bytes {
                let number = before / chunk_bytes;
                let len = (segment.bytes - number * chunk_bytes).min(chunk_bytes) as usize;
                let offset = (before % chunk_bytes) as usize;
                return Some(ChunkPosition { generation: segment.generation, number, offset, len });
            }
            before -= segment.bytes;
        }
        None
    }

    /// Has the chunk at hand.
    fn fetch(&mut self, chunk_position: &ChunkPosition) -> Result<()> {
        let wanted = (chunk_position.generation, chunk_position.number);
        if self.chunk == Some(wanted) {
            return Ok(());
        }
        self.chunk = None;
        let (store, space, keys) = (&self.store, self.space, &self.keys);
        let deadline = deadline_after(self.timeout);
        let chunk = read_chunk(store, space, keys, wanted, deadline, &mut self.rows)?;
        if chunk.is_some_and(|chunk| chunk.len() >= chunk_position.len) {
            self.chunk = Some(wanted);
            return Ok(());
        }
        let name = self.keys.name();
        match self.keys.head(&self.store, self.space, deadline)? {
            Some(head) if head.version == self.head.version => Err(Error::corruption(format!(
                "{name}: chunk {} of generation {} of the large object is missing: restore the store from a backup",
                chunk_position.number, chunk_position.generation
            ))),
            _ => Err(Error::conflict(format!(
                "{name}: the large object was replaced or deleted while it was read: read it again"
            ))),
        }
    }
}

impl Read for LobReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_some(buffer).map_err(io::Error::other)
    }
}

impl Seek for LobReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.head.bytes().checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "a place before the first byte")
        })?;
        Ok(self.position)
    }
}

/// The bytes of a chunk, by its generation and number, in `rows`; nothing when it is not there.
pub(super) fn read_chunk<'r>(
    store: &Inner,
    space: SpaceId,
    keys: &LobKeys,
    (generation, number): (u64, u64),
    deadline: Deadline,
    rows: &'r mut Rows,
) -> Result<Option<&'r [u8]>> {
    let mut wanted = Slices::new();
    wanted.push(&keys.chunk_key(generation, number));
    read_by(&*store.engine, space, &wanted, deadline, rows)?;
    Ok((!rows.is_empty()).then(|| rows.values.get(0)))
}

impl std::fmt::Debug for LobReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LobReader")
            .field("info", &self.info())
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}
