//! The writer of a large object.

use std::io;
use std::sync::Arc;

use tonnage_engine::{Condition, Deadline, Error, Result, Rows, SpaceId, WriteBatch, WriteOutcome};

use super::head::{LobDraft, LobHead, LobSegment, append_base};
use super::keys::LobKeys;
use super::options::{LobInfo, LobOptions};
use super::reader::read_chunk;
use crate::inner::Inner;

const TAKEN: &str = "another writer has begun on it";

/// Writes a large object, chunk by chunk, in memory for one of them.
///
/// The object is there when [`LobWriter::finish`] returns, and not at all before. A writer that is
/// dropped leaves what it has stored, for [`KeyValue::resume_lob`](crate::KeyValue::resume_lob).
pub struct LobWriter {
    store: Arc<Inner>,
    space: SpaceId,
    keys: LobKeys,
    options: LobOptions,
    draft: LobDraft,
    buffer: Vec<u8>,
}

impl LobWriter {
    pub(super) fn begin(
        store: Arc<Inner>,
        space: SpaceId,
        keys: LobKeys,
        options: LobOptions,
        appends: bool,
    ) -> Result<Self> {
        let deadline = options.deadline();
        loop {
            let (head, before) = keys.state(&*store.engine, space, deadline)?;
            let head = head.filter(|_| appends);
            let chunk_bytes = head.as_ref().map_or(options.chunk_bytes, |head| head.chunk_bytes);
            let base = append_base(head.as_ref());
            // The generation is the version of this very write, so its row cannot hold it: 0 means
            // it.
            let (claim, generation, chunks) = (0, 0, 0);
            let mut draft = LobDraft { claim, generation, chunk_bytes, appends, base, chunks };
            // Whose draft is replaced can never finish, nor store another chunk.
            let unchanged = condition(before.map(|before| before.claim));
            let mut batch = WriteBatch::new(space);
            batch.put(&keys.draft_key(), &draft.to_bytes(), 0, unchanged);
            let written = store.engine.write_by(&batch, options.durability, deadline)?;
            let Some(claim) = written.version() else { continue };
            (draft.claim, draft.generation) = (claim, claim);
            if let Some(before) = before {
                keys.delete_generation(&*store.engine, space, before.generation, deadline)?;
            }
            let mut writer = Self { store, space, keys, options, draft, buffer: Vec::new() };
            if let Some(head) = head {
                writer.load_last_chunk(&head)?;
            }
            return Ok(writer);
        }
    }

    pub(super) fn resume(
        store: Arc<Inner>,
        space: SpaceId,
        keys: LobKeys,
        options: LobOptions,
    ) -> Result<Option<Self>> {
        let state = keys.state(&*store.engine, space, options.deadline())?;
        let (head, Some(draft)) = state else { return Ok(None) };
        let mut writer = Self { store, space, keys, options, draft, buffer: Vec::new() };
        if draft.appends && head.as_ref().map_or(0, |head| head.version) != draft.base.version {
            return Err(writer.conflict("it has changed since the append began"));
        }
        // The writer that was cut short, if it lives after all, can do nothing from here on.
        writer.write(WriteBatch::new(space))?;
        if let Some(head) = head.filter(|_| draft.appends && draft.chunks == 0) {
            writer.load_last_chunk(&head)?;
        }
        Ok(Some(writer))
    }

    /// Carries out a batch together with the draft as it is now, as long as the draft is ours.
    fn write(&mut self, mut batch: WriteBatch) -> Result<()> {
        let ours = Condition::IfVersion(self.draft.claim);
        batch.put(&self.keys.draft_key(), &self.draft.to_bytes(), 0, ours);
        let LobOptions { durability, .. } = self.options;
        let written = self.store.engine.write_by(&batch, durability, self.options.deadline())?;
        match written.version() {
            Some(claim) => {
                self.draft.claim = claim;
                Ok(())
            }
            None => Err(self.conflict(TAKEN)),
        }
    }

    /// An append begins with the last chunk of the object when that is not full.
    fn load_last_chunk(&mut self, head: &LobHead) -> Result<()> {
        let len = (head.bytes() - self.draft.base.bytes) as usize;
        if len > 0 {
            let (last, number) = match head.segments.last() {
                Some(last) => (last, last.bytes / head.chunk_bytes as u64),
                None => return Ok(()),
            };
            let mut rows = Rows::new();
            let chunk = read_chunk(
                &self.store,
                self.space,
                &self.keys,
                (last.generation, number),
                self.options.deadline(),
                &mut rows,
            )?;
            let end = chunk.and_then(|chunk| chunk.get(..len));
            let end = end.ok_or_else(|| self.conflict("it was replaced meanwhile"))?;
            self.buffer.extend_from_slice(end);
        }
        Ok(())
    }

    /// How many bytes of the object come before what is written next: what a writer that resumes
    /// has to pass over. For an append those that were there count.
    pub fn position(&self) -> u64 {
        let stored = self.draft.chunks * self.draft.chunk_bytes as u64;
        self.draft.base.bytes + stored + self.buffer.len() as u64
    }

    /// Writes some bytes. After an error [`LobWriter::position`] says how many were taken.
    ///
    /// # Errors
    /// What the engine says; `TimedOut`: the writer may continue after that position.
    pub fn append(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            // A full chunk waits until there is more: the last one is written with the head.
            if self.buffer.len() == self.draft.chunk_bytes {
                self.store_chunk()?;
            }
            let taken = bytes.len().min(self.draft.chunk_bytes - self.buffer.len());
            self.buffer.extend_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
        }
        Ok(())
    }

    fn store_chunk(&mut self) -> Result<()> {
        let mut batch = WriteBatch::new(self.space);
        let key = self.keys.chunk_key(self.draft.generation, self.draft.chunks);
        batch.put(&key, &self.buffer, 0, Condition::Always);
        self.draft.chunks += 1;
        let written = self.write(batch);
        match written {
            Ok(()) => self.buffer.clear(),
            Err(_) => self.draft.chunks -= 1,
        }
        written
    }

    /// Makes the object what was written.
    ///
    /// # Errors
    /// `Conflict` when the condition of the options does not hold, or the object that was appended
    /// to has changed: then nothing is left of what was written. `Conflict` also when another
    /// writer has begun on the key since. After `Unavailable` it may or may not be stored. After
    /// `TimedOut` it is not: [`KeyValue::resume_lob`](crate::KeyValue::resume_lob) continues.
    pub fn finish(self) -> Result<LobInfo> {
        let deadline = self.options.deadline();
        loop {
            let (old, draft) = self.keys.state(&*self.store.engine, self.space, deadline)?;
            if draft.map(|draft| draft.claim) != Some(self.draft.claim) {
                return Err(self.conflict(TAKEN));
            }
            let current = old.as_ref().map(|head| head.version);
            if self.draft.appends && current.unwrap_or(0) != self.draft.base.version {
                return self.refuse("it has changed since the append began");
            }
            if !self.options.condition.holds(current) {
                return self.refuse("the condition of the write does not hold");
            }
            let mut head = self.new_head(old.as_ref());
            if let Some(version) = self.switch(&head, current, deadline)?.version() {
                head.version = version;
                if let Some(old) = old {
                    // What cannot be deleted now is of no use to anyone: the next cleaning has it.
                    let Self { store, space, keys, .. } = &self;
                    let _ = keys.delete_chunks(store, *space, &old, Some(&head), deadline);
                }
                return Ok(LobInfo { bytes: head.bytes(), version });
            }
        }
    }

    fn new_head(&self, old: Option<&LobHead>) -> LobHead {
        let kept = old.filter(|_| self.draft.appends);
        let mut segments =
            kept.map_or_else(Vec::new, |old| old.segments_before(self.draft.base.bytes));
        let bytes = self.position() - self.draft.base.bytes;
        if bytes > 0 {
            segments.push(LobSegment { generation: self.draft.generation, bytes });
        }
        LobHead { version: 0, chunk_bytes: self.draft.chunk_bytes, segments }
    }

    /// One point in time, unless head or draft have changed since they were read.
    fn switch(
        &self,
        head: &LobHead,
        current: Option<u64>,
        deadline: Deadline,
    ) -> Result<WriteOutcome> {
        let mut batch = WriteBatch::new(self.space);
        batch.delete(&self.keys.draft_key(), Condition::IfVersion(self.draft.claim));
        batch.put(&self.keys.head_key(), &head.to_bytes(), 0, condition(current));
        if !self.buffer.is_empty() {
            let key = self.keys.chunk_key(self.draft.generation, self.draft.chunks);
            batch.put(&key, &self.buffer, 0, Condition::Always);
        }
        self.store.engine.write_by(&batch, self.options.durability, deadline)
    }

    fn refuse(self, why: &str) -> Result<LobInfo> {
        let error = self.conflict(why);
        self.discard()?;
        Err(error)
    }

    /// Gives up what was written. Nothing where another writer has begun: that has done so.
    ///
    /// # Errors
    /// What the engine says.
    pub fn discard(self) -> Result<()> {
        let mut batch = WriteBatch::new(self.space);
        batch.delete(&self.keys.draft_key(), Condition::IfVersion(self.draft.claim));
        let (engine, deadline) = (&*self.store.engine, self.options.deadline());
        match engine.write_by(&batch, self.options.durability, deadline)? {
            WriteOutcome::Applied { .. } => {
                self.keys.delete_generation(engine, self.space, self.draft.generation, deadline)
            }
            WriteOutcome::Refused { .. } => Ok(()),
        }
    }

    fn conflict(&self, why: &str) -> Error {
        Error::conflict(format!("{}: the large object is not stored: {why}", self.keys.name()))
    }
}

/// The condition that nothing has changed.
fn condition(version: Option<u64>) -> Condition {
    version.map_or(Condition::IfAbsent, Condition::IfVersion)
}

impl io::Write for LobWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let part = &bytes[..bytes.len().min(self.draft.chunk_bytes)];
        self.append(part).map_err(io::Error::other)?;
        Ok(part.len())
    }

    /// Nothing: what is written becomes visible with [`LobWriter::finish`] alone.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl std::fmt::Debug for LobWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LobWriter").field("position", &self.position()).finish_non_exhaustive()
    }
}
