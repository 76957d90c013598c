//! The file that makes a directory a store, and the one that makes a directory a shard of it.
//!
//! `TONNAGE` in the root, one fact a line, the shards in their order:
//!
//! ```text
//! tonnage store
//! format 1
//! id 6f1c7d0a2b934e58c0ffee0012345678
//! state ready
//! shard .
//! shard /mnt/second/data
//! ```
//!
//! `SHARD` in each data directory, so that a directory of another store, or in the wrong place, is
//! refused:
//!
//! ```text
//! tonnage shard
//! id 6f1c7d0a2b934e58c0ffee0012345678
//! shard 1 of 2
//! ```
//!
//! A store is created in this order: the manifest in state `making`, then the data directories with
//! their databases, then the manifest in state `ready`. An opening of a store in state `making`
//! finishes the work. Once it is `ready`, nothing missing is ever created again: a disk that is not
//! mounted must not look like an empty shard.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tonnage_engine::{Error, Result};

use crate::error::READ_ONLY_REMEDY;

/// The newest format that this library writes and reads.
pub(crate) const FORMAT: u32 = 1;

/// The name of the manifest in the root of a store.
pub(crate) const NAME: &str = "TONNAGE";

/// The name of the manifest while it is being written.
pub(crate) const NAME_NEW: &str = "TONNAGE.new";

/// The name of the marker in each data directory.
pub(crate) const MARKER_NAME: &str = "SHARD";

/// How far a store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreState {
    /// Its data directories may be missing.
    Making,
    /// Its data directories are there, each with its marker and its database.
    Ready,
}

/// What the manifest says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// Random, the same in all data directories.
    pub(crate) id: String,
    pub(crate) state: StoreState,
    /// The data directories; relative ones start at the root, so that a store can be moved.
    pub(crate) shards: Vec<PathBuf>,
}

impl Manifest {
    /// Reads the manifest of the store in `root`; nothing when there is none.
    pub(crate) fn read(root: &Path) -> Result<Option<Self>> {
        let path = root.join(NAME);
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text).map(Some).map_err(|error| error.at(path.display())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(damaged("it is not text").at(path.display()))
            }
            Err(error) => Err(unavailable(&path, error)),
        }
    }

    fn parse(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        if lines.next() != Some("tonnage store") {
            return Err(damaged("its first line is not 'tonnage store'"));
        }
        let format = field(lines.next(), "format")?;
        let format: u32 = format.parse().map_err(|_| damaged("its format is not a number"))?;
        // Before the other lines, which a newer format may have changed.
        if format > FORMAT {
            return Err(Error::unsupported(format!(
                "the store has format {format}, this Tonnage reads formats up to {FORMAT}: use a newer Tonnage"
            )));
        }
        let id = field(lines.next(), "id")?.to_owned();
        let state = match field(lines.next(), "state")? {
            "making" => StoreState::Making,
            "ready" => StoreState::Ready,
            _ => return Err(damaged("its state is unknown")),
        };
        let shards: Vec<PathBuf> = lines
            .map(|line| field(Some(line), "shard").map(PathBuf::from))
            .collect::<Result<_>>()?;
        if shards.is_empty() {
            return Err(damaged("it names no shard"));
        }
        Ok(Self { id, state, shards })
    }

    /// Puts the manifest in place of what is there, durably and at once.
    pub(crate) fn write(&self, root: &Path) -> Result<()> {
        let state = match self.state {
            StoreState::Making => "making",
            StoreState::Ready => "ready",
        };
        let mut text = format!("tonnage store\nformat {FORMAT}\nid {}\nstate {state}\n", self.id);
        for shard in &self.shards {
            text += &format!("shard {}\n", plain(shard)?);
        }
        replace_file(root, NAME, NAME_NEW, &text)
    }
}

/// Writes the marker of the data directory of shard `index`.
pub(crate) fn write_marker(directory: &Path, id: &str, index: usize, count: usize) -> Result<()> {
    replace_file(directory, MARKER_NAME, "SHARD.new", &marker(id, index, count))
}

/// Checks that a data directory is that of shard `index` of the store with this id.
pub(crate) fn check_marker(directory: &Path, id: &str, index: usize, count: usize) -> Result<()> {
    let path = directory.join(MARKER_NAME);
    let found = match fs::read_to_string(&path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Error::unavailable(format!(
                "{}: shard {index} of the store is not there: is its disk mounted?",
                directory.display()
            )));
        }
        Err(error) => return Err(unavailable(&path, error)),
    };
    if found == marker(id, index, count) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{}: the directory should be shard {index} of {count} of store {id}, but its marker says '{}': put the data \
         directories back in their places",
        directory.display(),
        found.lines().skip(1).collect::<Vec<_>>().join(", ")
    )))
}

fn marker(id: &str, index: usize, count: usize) -> String {
    format!("tonnage shard\nid {id}\nshard {index} of {count}\n")
}

fn replace_file(directory: &Path, name: &str, name_new: &str, text: &str) -> Result<()> {
    let (path, path_new) = (directory.join(name), directory.join(name_new));
    let replace = || {
        let mut file = File::create(&path_new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&path_new, &path)?;
        sync_directory(directory)
    };
    replace().map_err(|error| unavailable(&path, error))
}

/// Makes renamed and created entries of a directory durable.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

fn field<'t>(line: Option<&'t str>, name: &str) -> Result<&'t str> {
    line.and_then(|line| line.strip_prefix(name)?.strip_prefix(' '))
        .ok_or_else(|| damaged(&format!("it lacks '{name}'")))
}

fn plain(path: &Path) -> Result<&str> {
    let text = path.to_str().filter(|text| !text.contains(['\n', '\r']));
    text.ok_or_else(|| {
        Error::invalid(format!("{}: a data directory must have a plain UTF-8 name", path.display()))
    })
}

fn damaged(what: &str) -> Error {
    Error::corruption(format!(
        "the manifest of the store is damaged, {what}: restore it from a copy"
    ))
}

/// The error of a file or directory that cannot be used now.
pub(crate) fn unavailable(path: &Path, error: io::Error) -> Error {
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied => "give this user the right to write there",
        io::ErrorKind::ReadOnlyFilesystem => READ_ONLY_REMEDY,
        io::ErrorKind::StorageFull => "free some space",
        _ => "check the path and the disk",
    };
    Error::unavailable(format!("{}: {error} ({remedy})", path.display())).with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonnage_engine::ErrorKind;

    #[test]
    fn a_manifest_is_read_back() {
        let root = tempfile::tempdir().unwrap();
        let shards = vec![PathBuf::from("."), PathBuf::from("/mnt/with space")];
        let manifest = Manifest { id: "77".to_owned(), state: StoreState::Ready, shards };
        manifest.write(root.path()).unwrap();
        assert_eq!(Manifest::read(root.path()).unwrap(), Some(manifest));
    }

    #[test]
    fn a_newer_format_is_unsupported_and_says_both_numbers() {
        let error = Manifest::parse("tonnage store\nformat 7\nwhatever\n").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(
            error.message().contains("format 7") && error.message().contains("up to 1"),
            "{error}"
        );
    }

    #[test]
    fn a_damaged_manifest_is_corruption() {
        for text in [
            "",
            "tonnage",
            "tonnage store\nformat x\n",
            "tonnage store\nformat 1\nid 5\nstate ready\n",
        ] {
            assert_eq!(Manifest::parse(text).unwrap_err().kind(), ErrorKind::Corruption, "{text}");
        }
    }
}
