//! The directories of a store: finds them, makes them, and keeps others out while the store is
//! open.

pub(crate) mod database_id;
mod locks;
pub(crate) mod manifest;
mod owner;
pub(crate) mod restore;
mod restore_note;
pub(crate) mod synced;
pub(crate) mod synced_manifest;
pub(crate) mod version_edits;

use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use tonnage_engine::{Error, Result};

use crate::settings::Settings;
use locks::{DirectoryLocks, LOCK_NAME, lock};
use manifest::{Manifest, StoreState, sync_directory, unavailable};
use restore_note::remove_note;

/// The directories of an open store, and the locks that keep others out until it is dropped.
pub(crate) struct StoreDirectories {
    pub(crate) root: PathBuf,
    manifest: Manifest,
    locks: DirectoryLocks,
}

impl StoreDirectories {
    /// Finds the store in `root`, or begins to make it. [`StoreDirectories::is_fresh`] then says
    /// whether databases may be created; [`StoreDirectories::finish`] must follow once they are.
    pub(crate) fn open(root: &Path, settings: &Settings) -> Result<Self> {
        if !root.join(manifest::NAME).exists() {
            if !settings.create_if_missing {
                return Err(Error::not_found(format!("{}: there is no store", root.display())));
            }
            make_directory(root)?;
            match check_empty(root, &[LOCK_NAME, manifest::NAME, manifest::NAME_NEW]) {
                // The lock shows that another process is creating a store here.
                Err(_) if root.join(manifest::NAME).exists() => {}
                checked => checked?,
            }
        }
        let mut locks = DirectoryLocks::default();
        locks.add(root)?;
        let root = fs::canonicalize(root).map_err(|error| unavailable(root, error))?;
        // Read under the lock: before that another process may be creating the store.
        let manifest = match Manifest::read(&root)? {
            Some(manifest) => manifest,
            None => begin(&root, settings)?,
        };
        let mut directories = Self { root, manifest, locks };
        // Before data directories are created or locked: a wrong list touches none of them.
        directories.check_list(settings)?;
        match directories.manifest.state {
            StoreState::Making => directories.make_directories()?,
            StoreState::Ready => {
                directories.check_directories()?;
                directories.end_restore()?;
            }
        }
        Ok(directories)
    }

    /// Whether the store is still being created, so that its databases may be missing.
    pub(crate) fn is_fresh(&self) -> bool {
        self.manifest.state == StoreState::Making
    }

    /// Notes that the store is complete.
    pub(crate) fn finish(&mut self) -> Result<()> {
        if self.is_fresh() {
            self.manifest.state = StoreState::Ready;
            self.manifest.write(&self.root)?;
        }
        Ok(())
    }

    /// The data directories, in the order of their shards.
    pub(crate) fn directories(&self) -> impl ExactSizeIterator<Item = PathBuf> {
        // The store's own directory is remembered as a dot, which people need not see.
        self.manifest.shards.iter().map(|shard| self.root.join(shard).components().collect())
    }

    fn make_directories(&mut self) -> Result<()> {
        let directories: Vec<_> = self.directories().collect();
        for (index, directory) in directories.iter().enumerate() {
            make_directory(directory)?;
            self.keep_others_out(directory)?;
            let (id, count) = (&self.manifest.id, directories.len());
            if directory.join(manifest::MARKER_NAME).exists() {
                manifest::check_marker(directory, id, index, count)?;
            } else {
                manifest::write_marker(directory, id, index, count)?;
            }
        }
        Ok(())
    }

    fn check_directories(&mut self) -> Result<()> {
        let directories: Vec<_> = self.directories().collect();
        for (index, directory) in directories.iter().enumerate() {
            manifest::check_marker(directory, &self.manifest.id, index, directories.len())?;
            self.keep_others_out(directory)?;
        }
        Ok(())
    }

    /// Locks a data directory too: a restore that fills it for another store has no lock of this
    /// store's own directory.
    fn keep_others_out(&mut self, directory: &Path) -> Result<()> {
        if directory == self.root { Ok(()) } else { self.locks.add(directory) }
    }

    /// A restore that created the store may have been cut short before it removed its notes. As
    /// long as they are there a restore into the same data directory would empty it.
    fn end_restore(&self) -> Result<()> {
        let root = std::iter::once(self.root.clone());
        self.directories().chain(root).try_for_each(|directory| remove_note(&directory))
    }

    /// The list of directories is fixed when the store is created; an empty list accepts any.
    fn check_list(&self, settings: &Settings) -> Result<()> {
        let given: Vec<PathBuf> =
            settings.data_directories.iter().map(|given| absolute(given)).collect::<Result<_>>()?;
        let has: Vec<PathBuf> =
            self.directories().map(|directory| absolute(&directory)).collect::<Result<_>>()?;
        if given.is_empty() || given == has {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "{}: the store was made with the data directories {}: give the same or none",
            self.root.display(),
            has.iter()
                .map(|directory| directory.display().to_string())
                .collect::<Vec<_>>()
                .join(", ")
        )))
    }
}

/// Writes the first manifest of a new store, once everything asked for is seen to be possible.
fn begin(root: &Path, settings: &Settings) -> Result<Manifest> {
    let mut shards = Vec::new();
    for directory in &settings.data_directories {
        make_directory(directory)?;
        let directory =
            fs::canonicalize(directory).map_err(|error| unavailable(directory, error))?;
        check_empty(&directory, &[LOCK_NAME, manifest::NAME_NEW])?;
        let shard = relative(root, &directory);
        if shards.contains(&shard) {
            return Err(Error::invalid(format!(
                "{}: the data directory is given twice",
                directory.display()
            )));
        }
        shards.push(shard);
    }
    if shards.is_empty() {
        shards.push(PathBuf::from("."));
    }
    let manifest = Manifest { id: random_id(), state: StoreState::Making, shards };
    manifest.write(root)?;
    Ok(manifest)
}

/// Makes the directory of a copy under way, in place of what a copy that was cut short has left
/// there: its links would keep old data files on the disk. Who holds the answer is at it.
pub(crate) fn begin_copy(partial: &Path) -> Result<File> {
    if partial.exists() {
        remove_leftover(partial)?;
    }
    fs::create_dir(partial).map_err(|error| unavailable(partial, error))?;
    lock(partial)
}

fn remove_leftover(partial: &Path) -> Result<()> {
    let failed = |error| unavailable(partial, error);
    for entry in fs::read_dir(partial).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let is_ours =
            [LOCK_NAME, manifest::NAME, manifest::NAME_NEW].iter().any(|ours| name == **ours);
        if !is_ours && !name.to_string_lossy().starts_with(COPIED_SHARD) {
            return Err(Error::invalid(format!(
                "{}: a copy would be made here first, but there is '{}': remove it",
                partial.display(),
                name.display()
            )));
        }
    }
    let _alone = lock(partial).map_err(|error| error.at("another copy is under way"))?;
    fs::remove_dir_all(partial).map_err(failed)
}

/// What the names of the data directories of a copy begin with.
pub(crate) const COPIED_SHARD: &str = "shard-";

/// Writes a manifest and markers for a copy of a store, whose shards lie in directories below its
/// root.
pub(crate) fn write_copy(root: &Path, shards: Vec<PathBuf>) -> Result<()> {
    let id = random_id();
    for (index, shard) in shards.iter().enumerate() {
        manifest::write_marker(&root.join(shard), &id, index, shards.len())?;
    }
    Manifest { id, state: StoreState::Ready, shards }.write(root)
}

/// Makes a directory and those above it that are missing, and has all of them on the disk. Those
/// that are there already may have been created by a process that was cut short, so they are synced
/// as well.
pub(crate) fn make_directory(directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).map_err(|error| unavailable(directory, error))?;
    let directory = fs::canonicalize(directory).map_err(|error| unavailable(directory, error))?;
    directory.ancestors().skip(1).try_for_each(|above| match sync_directory(above) {
        Err(error) if is_not_ours(&error) => Ok(()),
        synced => synced.map_err(|error| unavailable(above, error)),
    })
}

/// A directory that cannot be opened or synced by this user was not created by it.
fn is_not_ours(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, PermissionDenied, ReadOnlyFilesystem, Unsupported};
    matches!(error.kind(), InvalidInput | PermissionDenied | ReadOnlyFilesystem | Unsupported)
}

fn relative(root: &Path, directory: &Path) -> PathBuf {
    match directory.strip_prefix(root) {
        Ok(below) if below.as_os_str().is_empty() => PathBuf::from("."),
        Ok(below) => below.to_path_buf(),
        Err(_) => directory.to_path_buf(),
    }
}

/// The one name of a directory, as far as it exists.
fn absolute(directory: &Path) -> Result<PathBuf> {
    match fs::canonicalize(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            std::path::absolute(directory).map_err(|error| unavailable(directory, error))
        }
        other => other.map_err(|error| unavailable(directory, error)),
    }
}

/// A directory that holds anything else is someone else's. Fresh disks come with `lost+found`.
fn check_empty(directory: &Path, allowed: &[&str]) -> Result<()> {
    for entry in fs::read_dir(directory).map_err(|error| unavailable(directory, error))? {
        let name = entry.map_err(|error| unavailable(directory, error))?.file_name();
        if name != "lost+found" && !allowed.iter().any(|allowed| name == **allowed) {
            return Err(Error::invalid(format!(
                "{}: the directory is not empty (it holds '{}') and is no store: give an empty or a new one",
                directory.display(),
                name.display()
            )));
        }
    }
    Ok(())
}

/// 128 bits from the seeds that the standard library draws from the operating system.
fn random_id() -> String {
    let draw = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", draw(), draw())
}
