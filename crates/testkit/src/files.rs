//! Copies of directories, pipes with a name, and files of real data.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::not_run::not_run;

/// Copies a directory with everything below it, as of one point in time, as after a crash. A copy
/// during which files appeared or vanished is none that a crash leaves, and is repeated.
///
/// # Panics
/// When a file cannot be copied, but for one that has just gone.
pub fn copy_tree(from: &Path, to: &Path) {
    try_copy_tree(from, to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
}

/// The same for a program that reports what it could not copy.
///
/// # Errors
/// When a file cannot be copied, but for one that has just gone.
pub fn try_copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    loop {
        let before = names(from);
        copy_once(from, to)?;
        if names(from) == before {
            return Ok(());
        }
        fs::remove_dir_all(to)?;
    }
}

fn copy_once(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_once(&path, &target)?;
        } else if let Err(error) = fs::copy(&path, &target)
            && error.kind() != ErrorKind::NotFound
        {
            return Err(error);
        }
    }
    Ok(())
}

/// All files below a directory.
fn names(directory: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let below = |path: PathBuf| if path.is_dir() { names(&path) } else { [path].into() };
    entries.flat_map(|entry| below(entry.path())).collect()
}

/// Makes a pipe that has a name, with the program `mkfifo`.
///
/// # Panics
/// When the copy fails.
pub fn make_fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("a program mkfifo").success(), "{} is not a pipe", path.display());
}

/// A file or folder of real data, as an absolute path: in the folder that `TONNAGE_TEST_DATA`
/// names, else in `../shared/data` beside the repository. Nothing, and a word about it, where it is
/// missing.
///
/// Cargo runs tests in the directory of their crate, two below the root of the repository.
///
/// # Panics
/// When the system does not tell the working directory.
pub fn test_data(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("TONNAGE_TEST_DATA");
    let folder = folder.map_or_else(|| PathBuf::from("../../../shared/data"), PathBuf::from);
    let path = std::path::absolute(folder.join(name)).expect("a working directory");
    if path.exists() {
        return Some(path);
    }
    not_run(&format!("real data: {name} is missing; TONNAGE_TEST_DATA names its folder"));
    None
}
