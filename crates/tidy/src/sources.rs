//! Lists the files of the repository.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The root of the repository: two levels above this crate, where Cargo runs it. The place where it
/// was compiled may be another checkout, when two share their build output.
pub fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    Path::new(&here).join("../..")
}

/// The directories of the crates, sorted.
///
/// # Errors
/// When a directory cannot be read.
pub fn crates() -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join("crates"))? {
        let path = entry?.path();
        if path.join("Cargo.toml").is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Folders that tools create, and that hold no sources.
const MADE: [&str; 6] =
    [".git", "target", "tonnage-data", "tonnage-demo", "__pycache__", "node_modules"];

/// All files and folders of the repository, relative to its root, sorted.
///
/// # Errors
/// When a directory cannot be read.
pub fn tree() -> io::Result<Vec<PathBuf>> {
    let root = root();
    let (mut found, mut open) = (Vec::new(), vec![root.clone()]);
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.file_name().is_some_and(|name| MADE.iter().any(|made| name == *made)) {
                continue;
            }
            found.extend(path.strip_prefix(&root).map(Path::to_path_buf));
            // A link to a folder may lead back up.
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// All Rust files below a directory, sorted.
///
/// # Errors
/// When a directory cannot be read.
pub fn rust_files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
