//! Copies of a store that is in use.
//!
//! A copy is of one point in time, over all shards: a row that is there came after everything that
//! was acknowledged before it, in whatever shard.
//!
//! 1. Memtables are flushed, while writes continue, so that little is left in the logs.
//! 2. The gates of all shards are held exclusively. Of each shard the data files are linked, and
//!    what is left of the log is copied, into a directory for it below the shard's own: on the same
//!    disk, so that no caller waits for data to be copied. That the log and the MANIFEST are on the
//!    disk is noted beside them.
//! 3. The gates are given up, and these directories moved to where the copy is wanted; to another
//!    disk their files are copied.
//! 4. The manifest is written, and the copy gets its name.
//!
//! A backup takes the files from the directories of step 2 itself.
//!
//! The list of spaces does not change meanwhile, so no space is created or dropped.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rocksdb::FlushOptions;
use rocksdb::checkpoint::Checkpoint;
use tonnage_engine::{CheckpointFile, Error, Result, StagedCheckpoint};

use crate::directory::manifest::{sync_directory, unavailable};
use crate::directory::{
    COPIED_SHARD, begin_copy, make_directory, synced, synced_manifest, write_copy,
};
use crate::error::translate;
use crate::open_store::OpenStore;
use crate::shard::Shard;

/// The prefix of the directory of an unfinished copy; it is in the directory for files of loads,
/// which the next opening empties.
const STAGE: &str = "copy";

/// The database in a data directory.
const DATABASE: &str = "db";

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
        let mut shards = Vec::new();
        for (index, stage) in self.stage()?.into_iter().enumerate() {
            let name = PathBuf::from(format!("{COPIED_SHARD}{index}"));
            let target = root.join(&name);
            stage.move_to(&target)?;
            shards.push(name);
        }
        write_copy(root, shards)
    }

    /// Steps 1 and 2.
    fn stage(&self) -> Result<Vec<Stage>> {
        let _held = self.spaces_list().lock_changes();
        self.shards().iter().try_for_each(flush)?;
        let staged = self.shards().iter().map(Stage::make).collect::<Result<Vec<_>>>()?;
        self.link_all(&staged)?;
        staged.iter().try_for_each(Stage::note_synced)?;
        Ok(staged)
    }

    /// The files of a copy, in place; no caller waits for data to be copied.
    pub(crate) fn stage_files(&self) -> Result<StagedCheckpoint> {
        let staged = self.stage()?;
        let mut files = Vec::new();
        for (index, stage) in staged.iter().enumerate() {
            stage.list(Path::new(""), &format!("{COPIED_SHARD}{index}"), &mut files)?;
        }
        let shards = staged.len();
        Ok(StagedCheckpoint::new(files, shards, staged))
    }

    /// The one point in time.
    fn link_all(&self, staged: &[Stage]) -> Result<()> {
        let shards = self.shards().iter();
        let _alone: Vec<_> = shards.map(|shard| shard.gate.write()).collect();
        staged.iter().zip(self.shards()).try_for_each(|(stage, shard)| stage.link(shard))
    }
}

/// Writes memtables to files, so that little is left in the log.
fn flush(shard: &Shard) -> Result<()> {
    let metadata = shard.db().cf_handle("default").expect("every database has it");
    let flushed = shard.db().flush_cfs_opt(&[metadata, shard.rows()], &FlushOptions::default());
    flushed.map_err(|error| translate(shard.display_name(), error))
}

/// The directory for the copy of a shard; removed when this is dropped.
struct Stage {
    directory: PathBuf,
}

impl Stage {
    /// Each copy has directories of its own: several may be under way.
    fn make(shard: &Shard) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("{STAGE}-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let directory = shard.load_directory().join(name);
        fs::create_dir(&directory).map_err(|error| unavailable(&directory, error))?;
        Ok(Self { directory })
    }

    /// Links data files and copies the log as it is, however large.
    fn link(&self, shard: &Shard) -> Result<()> {
        let linked = Checkpoint::new(shard.db()).and_then(|checkpoint| {
            checkpoint.create_checkpoint_with_log_size(self.directory.join(DATABASE), u64::MAX)
        });
        linked.map_err(|error| translate(self.directory.display(), error))
    }

    /// Has the copied log and MANIFEST on the disk, and says so.
    fn note_synced(&self) -> Result<()> {
        let database = self.directory.join(DATABASE);
        let noted = synced_manifest::note_closed(&self.directory, &database)
            .and_then(|()| synced::write_for_copy(&self.directory, &database));
        noted.map_err(|error| unavailable(&self.directory, error))
    }

    /// Adds the files of a directory below this one.
    fn list(&self, below: &Path, name: &str, files: &mut Vec<CheckpointFile>) -> Result<()> {
        let directory = self.directory.join(below);
        let failed = |error| unavailable(&directory, error);
        let mut entries = fs::read_dir(&directory)
            .and_then(|entries| entries.collect::<io::Result<Vec<_>>>())
            .map_err(failed)?;
        entries.sort_by_key(|entry| entry.file_name());
        for entry in entries {
            let file = entry.file_name().to_string_lossy().into_owned();
            let name = format!("{name}/{file}");
            if entry.file_type().map_err(failed)?.is_dir() {
                self.list(&below.join(&file), &name, files)?;
                continue;
            }
            let is_immutable = file.ends_with(".sst");
            files.push(CheckpointFile { name, path: entry.path(), is_immutable });
        }
        Ok(())
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

impl Drop for Stage {
    /// What is left of it does no harm, and the next opening removes it.
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Copies a directory to a new one, durably.
fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let copied = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_files(&entry.path(), &copied)?;
            continue;
        }
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
        fs::create_dir(from.join("below")).unwrap();
        fs::write(from.join("below/b"), b"").unwrap();
        copy_files(&from, &to).unwrap();
        assert_eq!(fs::read(to.join("a")).unwrap(), b"first");
        assert_eq!(fs::read(to.join("below/b")).unwrap(), b"");
    }
}
