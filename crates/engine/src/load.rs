//! Load sessions: bulk writes of millions of rows.

use std::path::PathBuf;
use std::sync::Arc;

use crate::{Deadline, Durability, Entries, Result, SpaceId};

/// What a load does with an entry whose key is stored already, or came earlier in the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnExisting {
    /// The stored row stays; the entry is reported as existing. Of equal keys in one stream the
    /// first is stored.
    #[default]
    Keep,
    /// The entry is stored over it. Of equal keys in one stream the last is stored.
    Replace,
    /// Like `Replace`, without distinguishing new rows from replaced ones: that spares the engine
    /// the look-up of what is stored, which in a large store takes longer than all the rest.
    BlindReplace,
    /// The load stops with `Conflict`.
    Fail,
}

/// How to load.
#[derive(Clone)]
pub struct LoadOptions {
    /// What happens to entries whose key exists.
    pub on_existing: OnExisting,
    /// When entries count as stored.
    pub durability: Durability,
    /// The memory that the session may use for its entries and buffers, whatever their number and
    /// size. A single entry larger than that still passes.
    pub memory_bytes_max: usize,
    /// How many threads sort and write for the session, in all.
    pub parallelism: usize,
    /// Where sorted runs go that do not fit into memory; the engine's own place without it.
    pub spill_directory: Option<PathBuf>,
    /// Receives the outcomes of the entries.
    pub observer: Arc<dyn LoadObserver>,
}

/// A count of entries of one stream that are now stored, or that a later write of the same key has
/// displaced.
///
/// With [`OnExisting::Replace`] and [`OnExisting::BlindReplace`] every entry pushed is counted exactly
/// once, so that `inserted + replaced + overtaken` over all runs is the number of entries pushed.
/// With the others `replaced` and `overtaken` are 0 and the entries that are not counted here are
/// reported as existing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredRun {
    /// The stream they came from.
    pub stream: u32,
    /// How many added a row whose key was absent before the load. Where several entries bring one
    /// such key, exactly one of them counts here, of whichever stream. With
    /// [`OnExisting::BlindReplace`] all that are not overtaken.
    pub inserted: u64,
    /// Those that took the place of a stored row, or were displaced themselves by another entry of
    /// the load ([`OnExisting::Replace`] only).
    pub replaced: u64,
    /// Those that were not stored because someone else wrote the row after they were pushed: see
    /// [`LoadSession`] ([`OnExisting::Replace`] and [`OnExisting::BlindReplace`] only).
    pub overtaken: u64,
    /// The bytes of keys and values that were stored. Whether displaced entries are among them is
    /// up to the engine.
    pub bytes: u64,
}

impl StoredRun {
    /// Nothing of a stream.
    #[must_use]
    pub fn none_of(stream: u32) -> Self {
        Self { stream, inserted: 0, replaced: 0, overtaken: 0, bytes: 0 }
    }

    /// The same, with new rows and replaced ones as one number: what [`OnExisting::BlindReplace`]
    /// reports.
    #[must_use]
    pub fn without_replaced(self) -> Self {
        Self { inserted: self.inserted + self.replaced, replaced: 0, ..self }
    }
}

/// Receives the outcomes of the entries of a load, from the session's own threads, several at a
/// time.
///
/// Every entry pushed is reported exactly once by the time [`LoadSession::flush`] or
/// [`LoadSession::finish`] returns without an error: as part of a [`StoredRun`], or as existing.
pub trait LoadObserver: Send + Sync {
    /// Entries are stored, as durable as was asked for, and can be read.
    fn stored(&self, run: StoredRun);

    /// An entry was not stored because its key exists ([`OnExisting::Keep`] and
    /// [`OnExisting::Fail`]). An error stops the load with that error. May read from the engine and
    /// write to it, also by a load of its own, but not use the session.
    ///
    /// Calls for entries of one stream with one key come in the order of the stream.
    fn existed(&self, stream: u32, position: u64, space: SpaceId, key: &[u8]) -> Result<()>;

    /// The same with the value of the entry, as it was pushed: what engines call.
    fn existed_entry(
        &self,
        stream: u32,
        position: u64,
        space: SpaceId,
        key: &[u8],
        value: &[u8],
    ) -> Result<()> {
        let _ = value;
        self.existed(stream, position, space, key)
    }

    /// Whether rows may still be sent: asked right before, by engines that several processes use. A
    /// process may have paused since they were pushed. An error ends the load with it, and what was
    /// not sent yet is not stored.
    fn check_may_send(&self) -> Result<()> {
        Ok(())
    }

    /// Rows of a space that `check_may_send` objected to when they had been sent: the process
    /// paused after the check, and they may have been stored at any time since. Called before they
    /// are reported as stored; its error ends the load.
    fn sent_late(&self, space: SpaceId, rows: &Entries) -> Result<()> {
        let _ = (space, rows);
        Ok(())
    }
}

/// An observer that looks away.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NoObserver;

impl LoadObserver for NoObserver {
    fn stored(&self, _run: StoredRun) {}

    fn existed(&self, _stream: u32, _position: u64, _space: SpaceId, _key: &[u8]) -> Result<()> {
        Ok(())
    }
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            on_existing: OnExisting::Keep,
            durability: Durability::Write,
            memory_bytes_max: 256 << 20,
            parallelism: crate::cores(),
            spill_directory: None,
            observer: Arc::new(NoObserver),
        }
    }
}

/// A load under way.
///
/// Entries may be pushed from several threads; what each push brings is copied before it returns.
/// Nothing need be visible or durable before the next [`LoadSession::flush`] or
/// [`LoadSession::finish`] returns, though it may be. Dropping a session without finishing it
/// abandons what was not flushed; what was flushed stays.
///
/// Two entries with the same key from one stream are ordered by their positions, which therefore
/// must ascend from push to push. Of two entries with the same key from different streams either
/// may win; the other is reported.
///
/// # Beside the writes of others
///
/// An entry takes its position among the writes of others when it is pushed, whenever it is stored.
///
/// - To replace or overwrite, it is stored over what was written before it was pushed. It gives way
///   to what was written after: as if it had come just before that write. Such an entry is
///   *overtaken*, and counted so ([`StoredRun::overtaken`]).
/// - A write on a [condition](crate::Condition) was judged without the entries that were not stored
///   yet, and so was an entry to keep. So an entry that such a write overtook comes after it: it is
///   stored over it, with a new version. An engine keeps in mind which writes those were as far as
///   its memory allows. Past that such entries are overtaken, and counted so.
/// - To keep, an entry existed where there is a row when it is stored, whenever that was written.
/// - A row that was written after the push and has expired since counts as written after, as long
///   as the engine has it.
/// - A delete leaves nothing that an entry could give way to: the entry comes after it.
///
/// # Shard-prefixed spaces
///
/// Entries of [shard-prefixed spaces](crate::KeyShape::shard_prefixed) follow from rows, and the session serves
/// them so:
///
/// - One of them is stored no later than any entry of another space that was pushed after it, also
///   as a crash sees it. So a caller who pushes what a row needs before the row itself never has
///   the row without.
/// - They are stored over whatever is there, whatever [`OnExisting`] says, and each is counted as
///   inserted or replaced: as which is up to the engine.
/// - Those of a space that is dropped meanwhile are left out, and the load continues.
pub trait LoadSession: Send + Sync {
    /// Takes entries of one stream. Waits while the session's memory is full.
    ///
    /// # Errors
    /// `Invalid` for a key or value over the engine's limits, naming the entry, and for columns
    /// that differ in length (nothing of the batch is taken); `NotFound` when the space does not
    /// exist; otherwise what stopped the load: after that, every further call fails.
    fn push(&self, space: SpaceId, stream: u32, entries: &Entries) -> Result<()> {
        self.push_by(space, stream, entries, Deadline::NONE)
    }

    /// The same by a deadline.
    ///
    /// # Errors
    /// `TimedOut`, naming what was waited for. Where nothing of the batch was taken the load
    /// continues, and the same push may be tried again. Where a part was taken the load is stopped:
    /// nothing of the batch is acknowledged, though the part may be stored.
    fn push_by(
        &self,
        space: SpaceId,
        stream: u32,
        entries: &Entries,
        deadline: Deadline,
    ) -> Result<()>;

    /// The bytes pushed since the last flush.
    fn pending_bytes(&self) -> u64;

    /// Stores everything whose push returned before this call. When it returns, those entries are
    /// durable and reported.
    fn flush(&self) -> Result<()> {
        self.flush_by(Deadline::NONE)
    }

    /// The same by a deadline.
    ///
    /// # Errors
    /// `TimedOut`, naming what was waited for. Where nothing was stored yet the load continues, and
    /// may be flushed again. Otherwise it is stopped: what the observer received is stored, of the
    /// rest any part may be.
    fn flush_by(&self, deadline: Deadline) -> Result<()>;

    /// Flushes and ends the session.
    fn finish(self: Box<Self>) -> Result<()> {
        self.finish_by(Deadline::NONE)
    }

    /// The same by a deadline.
    ///
    /// # Errors
    /// As [`LoadSession::flush_by`]; the load is ended in any case.
    fn finish_by(self: Box<Self>, deadline: Deadline) -> Result<()>;
}

impl std::fmt::Debug for LoadOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadOptions")
            .field("on_existing", &self.on_existing)
            .field("durability", &self.durability)
            .field("memory_bytes_max", &self.memory_bytes_max)
            .field("parallelism", &self.parallelism)
            .field("spill_directory", &self.spill_directory)
            .finish_non_exhaustive()
    }
}
