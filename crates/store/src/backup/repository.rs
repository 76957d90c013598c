//! The directory that holds backups.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tonnage_engine::{Error, Result};

use super::copy::{file_error, sync_directory, write_whole};
use super::entry::FileEntry;
use super::manifest::{BackupInfo, BackupManifest, FORMAT};

const MARKER: &str = "TONNAGE-BACKUPS";
const MARKER_LINE: &str = "tonnage backups";
const LOCK: &str = "LOCK";
const FILES: &str = "files";
const BACKUPS: &str = "backups";

/// What a file is called that is not whole.
pub(super) const PARTIAL: &str = ".partial";

/// A directory with backups of one store, which refuses those of another.
///
/// ```
/// # fn main() -> tonnage::Result<()> {
/// # let place = tempfile::tempdir().unwrap();
/// # let at = |name: &str| place.path().join(name);
/// use tonnage::{BackupOptions, BackupRepository, Key, RestoreOptions, Store, WriteOptions};
///
/// let store = Store::open(at("store").to_str().unwrap())?;
/// store.kv().put(&Key::of_major(["a"]), b"1", &WriteOptions::default())?;
/// let backups = BackupRepository::open_or_create(&at("backups"))?;
/// let made = store.backup(&backups, &BackupOptions::default())?;
///
/// backups.restore(Some(made.info.number), &at("restored"), &RestoreOptions::default())?;
/// let restored = Store::open(at("restored").to_str().unwrap())?;
/// assert!(restored.kv().get(&Key::of_major(["a"]))?.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct BackupRepository {
    root: PathBuf,
}

/// What a prune removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PruneReport {
    /// The numbers of the backups that were removed.
    pub removed: Vec<u64>,
    /// How many files no backup needed any more.
    pub files: u64,
    /// How many bytes these had. Those that are linked elsewhere stay on the disk.
    pub bytes: u64,
}

impl BackupRepository {
    /// Opens a repository.
    ///
    /// # Errors
    /// `NotFound` when there is none, `Unsupported` when a newer Tonnage wrote it.
    pub fn open(root: &Path) -> Result<Self> {
        let path = root.join(MARKER);
        // The marker is written last when a repository is created: without it there is no backup
        // yet.
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let what = format!("{}: there are no backups", root.display());
                return Err(Error::not_found(what));
            }
            Err(error) => return Err(file_error(&path, error)),
        };
        // A marker that cannot be read is damage. Backups are looked at only once their format is
        // known.
        let format = text
            .strip_prefix(MARKER_LINE)
            .and_then(|rest| rest.trim().strip_prefix("format ")?.parse::<u32>().ok());
        match format {
            Some(format) if format <= FORMAT => Ok(Self { root: root.to_path_buf() }),
            Some(format) => Err(Error::unsupported(format!(
                "{}: the backups have format {format}, this Tonnage reads formats up to {FORMAT}: use a newer Tonnage",
                root.display()
            ))),
            None => Err(Error::corruption(format!(
                "{}: it should say '{MARKER_LINE}' and 'format {FORMAT}': write that into it if the \
                 directory holds backups",
                path.display()
            ))),
        }
    }

    /// Opens a repository, making it in a directory that is empty or does not exist.
    ///
    /// # Errors
    /// As [`BackupRepository::open`]; `Invalid` when the directory holds anything else, or is a file.
    pub fn open_or_create(root: &Path) -> Result<Self> {
        if root.join(MARKER).exists() {
            return Self::open(root);
        }
        if root.is_file() {
            let what = format!("{} is a file, not a directory", root.display());
            return Err(Error::invalid(what));
        }
        fs::create_dir_all(root).map_err(|error| file_error(root, error))?;
        // What a run that was cut short has left is no reason to refuse, nor is a fresh file system.
        let ours = [FILES, BACKUPS, LOCK, &format!("{MARKER}{PARTIAL}"), "lost+found"];
        for entry in fs::read_dir(root).map_err(|error| file_error(root, error))? {
            let name = entry.map_err(|error| file_error(root, error))?.file_name();
            if !ours.iter().any(|ours| name == **ours) {
                return Err(Error::invalid(format!(
                    "{}: the directory is not empty (it holds '{}') and has no backups: give an empty or a new one",
                    root.display(),
                    name.display()
                )));
            }
        }
        for below in [FILES, BACKUPS] {
            let below = root.join(below);
            fs::create_dir_all(&below).map_err(|error| file_error(&below, error))?;
        }
        write_whole(root, MARKER, &format!("{MARKER_LINE}\nformat {FORMAT}\n"))?;
        if let Some(above) = root.parent().filter(|above| !above.as_os_str().is_empty()) {
            // One that this user may not read belongs to another user.
            let _ = sync_directory(above);
        }
        Ok(Self { root: root.to_path_buf() })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.root
    }

    pub(super) fn files(&self) -> PathBuf {
        self.root.join(FILES)
    }

    /// The backups that are there, the oldest first.
    ///
    /// # Errors
    /// `Corruption` naming a manifest that is damaged.
    pub fn list(&self) -> Result<Vec<BackupInfo>> {
        self.numbers()?.into_iter().map(|number| Ok(self.manifest(number)?.info())).collect()
    }

    /// Removes all backups but the latest `keep`, and the files that no backup needs any more,
    /// among them those that a backup which was cut short has left.
    ///
    /// # Errors
    /// `Invalid` for none to keep; `Corruption` naming a manifest of those to keep that is damaged:
    /// nothing is removed then, as the files that it needs are unknown.
    pub fn prune(&self, keep: usize) -> Result<PruneReport> {
        if keep == 0 {
            return Err(Error::invalid("keep at least one backup, or remove the directory"));
        }
        let _lock = self.lock(LockMode::Alone)?;
        let numbers = self.numbers()?;
        let (removed, kept) = numbers.split_at(numbers.len().saturating_sub(keep));
        // All manifests to keep are read before anything is removed: one may be damaged.
        let mut needed = HashSet::new();
        for number in kept {
            let files = self.manifest(*number)?.files;
            needed.extend(files.iter().map(FileEntry::stored_name));
        }
        for number in removed {
            let path = self.manifest_path(*number);
            fs::remove_file(&path).map_err(|error| file_error(&path, error))?;
        }
        // Manifests go before files, durably: a crash must not leave a backup without its files.
        sync_directory(&self.root.join(BACKUPS))?;
        let mut report = PruneReport { removed: removed.to_vec(), ..PruneReport::default() };
        for name in names(&self.files())? {
            if !needed.contains(&name) {
                let path = self.files().join(name);
                report.files += 1;
                report.bytes += fs::metadata(&path).map_or(0, |metadata| metadata.len());
                fs::remove_file(&path).map_err(|error| file_error(&path, error))?;
            }
        }
        sync_directory(&self.files())?;
        Ok(report)
    }

    /// The numbers of the backups, ascending.
    pub(super) fn numbers(&self) -> Result<Vec<u64>> {
        let names = names(&self.root.join(BACKUPS))?;
        let mut numbers: Vec<u64> = names.iter().filter_map(|name| name.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    pub(super) fn find(&self, number: Option<u64>) -> Result<u64> {
        let numbers = self.numbers()?;
        let found = match number {
            Some(number) => numbers.iter().find(|there| **there == number),
            None => numbers.last(),
        };
        found.copied().ok_or_else(|| {
            let what = match number {
                Some(number) => format!("there is no backup {number}"),
                None => "there is no backup".to_owned(),
            };
            let there: Vec<String> = numbers.iter().map(u64::to_string).collect();
            let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
            Error::not_found(format!("{}: {what} (there are: {there})", self.root.display()))
        })
    }

    fn manifest_path(&self, number: u64) -> PathBuf {
        self.root.join(BACKUPS).join(format!("{number:06}"))
    }

    pub(super) fn manifest(&self, number: u64) -> Result<BackupManifest> {
        BackupManifest::read(&self.manifest_path(number))
    }

    pub(super) fn write_manifest(&self, manifest: &BackupManifest) -> Result<()> {
        let name = format!("{:06}", manifest.number);
        write_whole(&self.root.join(BACKUPS), &name, &manifest.to_text())
    }

    /// The files that are there, whole: their names by what is known of a file before it is read.
    pub(super) fn stored(&self) -> Result<HashMap<String, String>> {
        let names = names(&self.files())?;
        let split = |name: &String| {
            let (identity, checksum) = FileEntry::split_stored_name(name)?;
            Some((identity.to_owned(), checksum.to_owned()))
        };
        Ok(names.iter().filter_map(split).collect())
    }

    /// Removes what was not written to its end. The caller has the repository alone.
    pub(super) fn remove_partial(&self) -> Result<()> {
        for directory in [self.files(), self.root.join(BACKUPS)] {
            for name in names(&directory)?.iter().filter(|name| name.ends_with(PARTIAL)) {
                let path = directory.join(name);
                fs::remove_file(&path).map_err(|error| file_error(&path, error))?;
            }
        }
        Ok(())
    }

    /// Keeps others out as long as the answer is held.
    pub(super) fn lock(&self, lock: LockMode) -> Result<Option<RepositoryGuard>> {
        let path = self.root.join(LOCK);
        let opened = match lock {
            LockMode::Alone => File::options().create(true).truncate(false).write(true).open(&path),
            LockMode::Shared => File::open(&path),
        };
        let file = match opened {
            Ok(file) => file,
            // No process can be writing where none has ever locked, or on a read-only disk.
            Err(error) if lock == LockMode::Shared && error.kind() == io::ErrorKind::NotFound => {
                return Ok(None);
            }
            Err(error) => return Err(file_error(&path, error)),
        };
        let locked = match lock {
            LockMode::Alone => file.try_lock(),
            LockMode::Shared => file.try_lock_shared(),
        };
        match locked {
            Ok(()) => Ok(Some(RepositoryGuard(file))),
            Err(TryLockError::WouldBlock) => Err(Error::unavailable(format!(
                "{}: the backups are in use by another process: wait for it to end",
                self.root.display()
            ))),
            Err(TryLockError::Error(error)) => Err(file_error(&path, error)),
        }
    }
}

/// Who may be there at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockMode {
    /// No process.
    Alone,
    /// Others who only read.
    Shared,
}

/// A lock of the repository.
pub(super) struct RepositoryGuard(File);

impl Drop for RepositoryGuard {
    /// Closing the file is not enough: a process that this one is just forking holds it too, up to
    /// its exec.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

fn names(directory: &Path) -> Result<Vec<String>> {
    let read = || -> io::Result<Vec<String>> {
        let entries = fs::read_dir(directory)?;
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    };
    read().map_err(|error| file_error(directory, error))
}
