//! The [`Maintenance`] trait: what an operator asks of a store.

use std::path::Path;

use crate::{Deadline, Error, Result, StagedCheckpoint, Statistics, VerifyReport};

/// What keeps a store in order: making it durable, waiting for background work, copies, checks and
/// readings.
pub trait Maintenance {
    /// Makes every write acknowledged so far durable, `Durability::None` included.
    fn sync(&self) -> Result<()>;

    /// Waits until background work has nothing left to do: what is in memory alone is written to
    /// data files, and these are compacted.
    ///
    /// # Errors
    /// `Unsupported` where the capability says that the engine cannot wait for it.
    fn settle(&self) -> Result<()> {
        self.settle_by(Deadline::NONE)
    }

    /// The same by a deadline.
    ///
    /// # Errors
    /// `TimedOut`: background work continues, and may be waited for again.
    fn settle_by(&self, deadline: Deadline) -> Result<()>;

    /// Writes a copy of the store to a directory that does not exist yet, to be opened as a store.
    /// The copy is of one point in time of the whole store, while writes continue: it has
    /// everything acknowledged before the call, and every write in it comes with all that were
    /// acknowledged before that write.
    fn checkpoint(&self, directory: &Path) -> Result<()>;

    /// Takes the same copy, and leaves its files where they are: what an incremental backup reads.
    ///
    /// # Errors
    /// `Unsupported` where the capability says that there are no checkpoints.
    fn stage_checkpoint(&self) -> Result<StagedCheckpoint> {
        Err(Error::unsupported("this engine makes no checkpoints, so it has no backups"))
    }

    /// Reads everything and verifies every checksum. Damage is part of the report, not an error.
    fn verify(&self) -> Result<VerifyReport> {
        self.verify_by(Deadline::NONE)
    }

    /// The same by a deadline.
    ///
    /// # Errors
    /// `TimedOut`, without a report.
    fn verify_by(&self, deadline: Deadline) -> Result<VerifyReport>;

    /// A reading of the engine's state.
    fn statistics(&self) -> Result<Statistics>;
}
