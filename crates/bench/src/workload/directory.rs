//! Where a benchmark keeps its data.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use tonnage::{Error, Result};

/// A directory with a label: `ssd=/mnt/fast`, or a bare path, which is labelled by its last part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDirectory {
    /// What reports call it.
    pub label: String,
    /// The directory.
    pub path: PathBuf,
}

impl FromStr for DataDirectory {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let last = Path::new(text).file_name().unwrap_or("data".as_ref()).to_string_lossy();
        let (label, directory) = text.split_once('=').unwrap_or((&last, text));
        if label.is_empty() || directory.is_empty() {
            return Err(Error::invalid(format!(
                "{text:?} is no directory: give LABEL=DIRECTORY, as in ssd=/mnt/fast, or a directory"
            )));
        }
        Ok(DataDirectory { label: label.to_owned(), path: directory.into() })
    }
}

impl DataDirectory {
    /// Makes a directory of a name not used yet in it. It is deleted with all that is in it when
    /// the answer is dropped.
    pub(super) fn scratch(&self, name: &str) -> Result<ScratchDirectory> {
        let path = self.path.join(format!("tonnage-bench-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| {
            Error::invalid(format!("{} cannot be made: {error}", path.display())).with_source(error)
        })?;
        Ok(ScratchDirectory(path))
    }
}

/// A directory that goes away with this.
#[derive(Debug)]
pub(super) struct ScratchDirectory(PathBuf);

impl ScratchDirectory {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ScratchDirectory {
    fn drop(&mut self) {
        // What is left behind after a failure here is a directory with a telling name.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
