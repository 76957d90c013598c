//! Disks that fill up.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::not_run::not_run;

/// A disk of a few MiB, unmounted in the end. It is a tmpfs, which takes root and the program
/// `mount`.
pub struct SmallDisk {
    path: PathBuf,
    _place: Option<TempDir>,
}

impl SmallDisk {
    /// Mounts a disk at a position of its own. Nothing, and a word about it, where that is not
    /// allowed.
    ///
    /// # Panics
    /// When no directory can be created for it.
    pub fn mount(bytes: u64) -> Option<Self> {
        let place = tempfile::tempdir().expect("a temporary directory");
        let mut disk = Self::mount_at(place.path(), bytes)?;
        disk._place = Some(place);
        Some(disk)
    }

    /// The same at a directory that is there.
    pub fn mount_at(path: &Path, bytes: u64) -> Option<Self> {
        let size = format!("size={bytes}");
        let mut mount = Command::new("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(path).output();
        let why = match mounted {
            Ok(output) if output.status.success() => {
                return Some(Self { path: path.to_owned(), _place: None });
            }
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => error.to_string(),
        };
        not_run(&format!("a full disk: no tmpfs can be mounted here: {why}"));
        None
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes so many of its bytes, until the answer is dropped.
    ///
    /// # Panics
    /// When there are not so many left.
    pub fn take(&self, bytes: usize) -> Ballast {
        let ballast = Ballast(self.path.join("ballast"));
        fs::write(&ballast.0, vec![1; bytes]).expect("room for the ballast");
        ballast
    }

    /// Takes all of its bytes but so many, until the answer is dropped.
    ///
    /// # Panics
    /// When there are not so many left.
    pub fn take_all_but(&self, bytes: usize) -> Ballast {
        let reserve = self.path.join("reserve");
        fs::write(&reserve, vec![1; bytes]).expect("room for the reserve");
        let ballast = Ballast(self.path.join("ballast"));
        let mut file = File::create(&ballast.0).expect("room for a name");
        while file.write_all(&[1; 4_096]).is_ok() {}
        fs::remove_file(&reserve).expect("the reserve is there");
        ballast
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.path).status();
    }
}

/// What takes room on a [`SmallDisk`]. Dropping it frees the room.
pub struct Ballast(PathBuf);

impl Drop for Ballast {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
