//! A staged checkpoint: its files are still where the engine wrote them.

use std::any::Any;
use std::fmt;
use std::path::PathBuf;

/// One file of a staged checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointFile {
    /// Its name in a copy of the store: relative, its parts separated by `/`. The first part is
    /// `shard-N`, the data directory that it belongs to.
    pub name: String,
    /// Where it is now.
    pub path: PathBuf,
    /// Whether nothing ever writes to it, so that a hard link to it is as good as a copy.
    pub is_immutable: bool,
}

/// A copy of the store, of one point in time, whose files are on the disks of the store itself. So
/// nothing was copied yet: its holder copies the missing files. Dropping it removes its files.
pub struct StagedCheckpoint {
    /// The files, by shard. The names are unique.
    pub files: Vec<CheckpointFile>,
    /// How many shards there are, counted from 0.
    pub shards: usize,
    _guard: Box<dyn Any + Send>,
}

impl StagedCheckpoint {
    /// A checkpoint of these files, which are there as long as the guard is.
    pub fn new(files: Vec<CheckpointFile>, shards: usize, guard: impl Any + Send) -> Self {
        Self { files, shards, _guard: Box::new(guard) }
    }
}

impl fmt::Debug for StagedCheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (files, shards) = (&self.files, self.shards);
        f.debug_struct("StagedCheckpoint")
            .field("files", files)
            .field("shards", &shards)
            .finish_non_exhaustive()
    }
}
