//! Copies of a store that is in use.
//!
//! A copy is of one moment, over all shards: a row that is there came after everything that was
//! acknowledged before it, in whatever shard.
//!
//! 1. Memtables are flushed, while writing goes on, so that little is left in the logs.
//! 2. The gates of all shards are held exclusively. Of each shard the data files are linked, and
//!    what is left of the log is copied, into a directory for it below the shard's own: on the same
//!    disk, so that nobody waits for data to be copied.
//! 3. The gates are given up, and these directories moved to where the copy is wanted; to another
//!    disk their files are copied.
//! 4. The manifest is written, and the copy gets its name.
//!
//! The list of spaces stands still meanwhile, so no space is made or begins to go.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use rocksdb::FlushOptions;
use rocksdb::checkpoint::Checkpoint;
use tonnage_engine::{Error, Result};

use crate::directory::manifest::{sync_directory, unavailable};
use crate::directory::synced_manifest;
use crate::directory::{COPIED_SHARD, begin_copy, make_directory, write_copy};
use crate::error::translate;
use crate::open_store::OpenStore;
use crate::shard::Shard;

/// The directory of a copy in the making, in that for files of loads, which the next opening
/// empties.
const STAGE: &str = "copy";

impl OpenStore {
    /// Copies into a directory beside the one asked for, which gets its name only when the copy is
    /// whole.
    pub(crate) fn copy_to(&self, directory: &Path) -> Result<()> {
        if directory.exists() {
            return Err(Error::invalid(format!(
                "{}: it exists: a copy needs a directory of its own",
                directory.display()
            )));
        }
        let partial = with_suffix(directory, ".partial");
        let parent = directory
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        make_directory(parent)?;
        let _copying = begin_copy(&partial)?;
        let copied = self.copy_shards(&partial).and_then(|()| {
            fs::rename(&partial, directory).map_err(|error| unavailable(directory, error))?;
            sync_directory(parent).map_err(|error| unavailable(parent, error))
        });
        if copied.is_err() {
            let _ = fs::remove_dir_all(&partial);
        }
        copied
    }

    fn copy_shards(&self, root: &Path) -> Result<()> {
        let _held = self.spaces_list().hold();
        self.shards().iter().try_for_each(flush)?;
        let staged = self.shards().iter().map(Stage::make).collect::<Result<Vec<_>>>()?;
        self.link_all(&staged)?;
        let mut shards = Vec::new();
        for stage in staged {
            let name = PathBuf::from(format!("{COPIED_SHARD}{}", stage.shard.id.0));
            let target = root.join(&name);
            fs::create_dir(&target).map_err(|error| unavailable(&target, error))?;
            stage.move_to(&target.join("db"))?;
            sync_directory(&target)
                .and_then(|()| synced_manifest::note_closed(&target, &target.join("db")))
                .map_err(|error| unavailable(&target, error))?;
            shards.push(name);
        }
        write_copy(root, shards)
    }

    /// The one moment.
    fn link_all(&self, staged: &[Stage<'_>]) -> Result<()> {
        let shards = self.shards().iter();
        let _alone: Vec<_> = shards
            .map(|shard| shard.gate.write().unwrap_or_else(PoisonError::into_inner))
            .collect();
        staged.iter().try_for_each(Stage::link)
    }
}

/// Writes memtables to files, so that little is left in the log.
fn flush(shard: &Shard) -> Result<()> {
    let metadata = shard.db().cf_handle("default").expect("every database has it");
    let flushed = shard.db().flush_cfs_opt(&[metadata, shard.rows()], &FlushOptions::default());
    flushed.map_err(|error| translate(shard.place(), error))
}

/// Where the copy of a shard is made; removed when it goes out of scope.
struct Stage<'a> {
    shard: &'a Shard,
    directory: PathBuf,
}

impl<'a> Stage<'a> {
    fn make(shard: &'a Shard) -> Result<Self> {
        let directory = shard.load_directory().join(STAGE);
        match fs::remove_dir_all(&directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(unavailable(&directory, error))
            }
            _ => Ok(Self { shard, directory }),
        }
    }

    /// Links data files and copies the log as it is, however large.
    fn link(&self) -> Result<()> {
        let linked = Checkpoint::new(self.shard.db()).and_then(|checkpoint| {
            checkpoint.create_checkpoint_with_log_size(&self.directory, u64::MAX)
        });
        linked.map_err(|error| translate(self.directory.display(), error))
    }

    fn move_to(&self, target: &Path) -> Result<()> {
        let moved = match fs::rename(&self.directory, target) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                copy_files(&self.directory, target)
            }
            moved => moved,
        };
        moved.map_err(|error| unavailable(target, error))
    }
}

impl Drop for Stage<'_> {
    /// What is left of it is in nobody's way, and gone with the next opening.
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Copies the files of a directory to a new one, durably.
fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let copied = to.join(entry.file_name());
        fs::copy(entry.path(), &copied)?;
        File::open(&copied)?.sync_all()?;
    }
    sync_directory(to)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_copied_to_another_disk() {
        let place = tempfile::tempdir().unwrap();
        let (from, to) = (place.path().join("from"), place.path().join("to"));
        fs::create_dir(&from).unwrap();
        fs::write(from.join("a"), b"first").unwrap();
        fs::write(from.join("b"), b"").unwrap();
        copy_files(&from, &to).unwrap();
        assert_eq!(fs::read(to.join("a")).unwrap(), b"first");
        assert_eq!(fs::read(to.join("b")).unwrap(), b"");
    }
}
