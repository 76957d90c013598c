//! Where records come from: a file, standard input, or bytes in memory.

use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tonnage_engine::{Error, Result};

use crate::pipe::Pipe;
use crate::stop::Stop;

/// One place that records are read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    name: String,
    place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    File(PathBuf),
    Pipe(Pipe),
    Memory(Arc<[u8]>),
}

impl Source {
    /// One file. Something that is no plain file, such as a FIFO or `/dev/stdin`, can be read once.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let is_pipe =
            path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
        let place = match is_pipe {
            // Another handle on standard input would share its bytes with the first.
            true if path == Path::new("/dev/stdin") => Place::Pipe(Pipe::stdin()),
            true => Place::Pipe(Pipe::at(&path)),
            false => Place::File(path.clone()),
        };
        Self { name: path.display().to_string(), place }
    }

    /// Standard input; it can be read once.
    pub fn stdin() -> Self {
        Self { name: "-".into(), place: Place::Pipe(Pipe::stdin()) }
    }

    /// Bytes in memory; the name serves messages and the detection of the format.
    pub fn memory(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { name: name.into(), place: Place::Memory(bytes.into()) }
    }

    /// The sources that the patterns stand for, in the order of the patterns, the files of one
    /// pattern sorted by name.
    ///
    /// `-` is standard input. A pattern that names an existing file is that file, whatever
    /// characters are in it. A pattern that matches nothing is
    /// [`NotFound`](tonnage_engine::ErrorKind::NotFound); one that names a directory is
    /// [`Invalid`](tonnage_engine::ErrorKind::Invalid). Directories that a glob happens to match
    /// are passed over.
    pub fn expand(patterns: &[String]) -> Result<Vec<Source>> {
        let mut sources = Vec::new();
        for pattern in patterns {
            expand_one(pattern, &mut sources)?;
        }
        Ok(sources)
    }

    /// The name for messages: the path, `-`, or what the caller called it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The path, if this is a file.
    pub fn path(&self) -> Option<&Path> {
        match &self.place {
            Place::File(path) => Some(path),
            _ => None,
        }
    }

    /// Whether this is standard input.
    pub fn is_stdin(&self) -> bool {
        matches!(&self.place, Place::Pipe(pipe) if pipe.is_stdin())
    }

    /// Whether [`RecordReader::open`](crate::RecordReader::open) can be called only once, because
    /// the bytes of a pipe are gone then. What only looks at a source, as
    /// [`infer_schema`](crate::infer_schema) does, leaves all bytes for the reader.
    pub fn reads_once(&self) -> bool {
        matches!(&self.place, Place::Pipe(_))
    }

    /// Opens the source from its first byte, with its size where that is known.
    pub(crate) fn open(&self, stop: &Stop) -> Result<(Box<dyn Read + Send>, Option<u64>)> {
        match &self.place {
            Place::Pipe(pipe) => {
                let taken =
                    pipe.take(stop).map_err(|error| self.io_error("cannot be opened", error))?;
                Ok((Box::new(taken), None))
            }
            _ => self.look(),
        }
    }

    /// The same without taking anything away from who opens it later.
    pub(crate) fn look(&self) -> Result<(Box<dyn Read + Send>, Option<u64>)> {
        match &self.place {
            Place::File(path) => {
                let (file, bytes) =
                    open_file(path).map_err(|error| self.io_error("cannot be opened", error))?;
                Ok((Box::new(file), bytes))
            }
            Place::Pipe(pipe) => {
                let looked =
                    pipe.look().map_err(|error| self.io_error("cannot be opened", error))?;
                Ok((Box::new(looked), None))
            }
            Place::Memory(bytes) => {
                Ok((Box::new(Cursor::new(Arc::clone(bytes))), Some(bytes.len() as u64)))
            }
        }
    }

    /// An error of the operating system, told with the name of the source.
    pub(crate) fn io_error(&self, what: impl fmt::Display, error: io::Error) -> Error {
        let remedy = match error.kind() {
            io::ErrorKind::UnexpectedEof => "; the file is cut short: get it again",
            _ => "",
        };
        let message = format!("{}: {what}: {error}{remedy}", self.name);
        match error.kind() {
            io::ErrorKind::NotFound => Error::not_found(message),
            io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::UnexpectedEof => Error::corruption(message),
            io::ErrorKind::PermissionDenied
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::Unsupported => Error::invalid(message),
            _ => Error::unavailable(message),
        }
        .with_source(error)
    }
}

/// Opens a plain file; a directory is refused here, because reading it would fail only later and
/// less clearly.
fn open_file(path: &Path) -> io::Result<(File, Option<u64>)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::IsADirectory,
            "it is a directory; name its files, for instance with DIR/*",
        ));
    }
    Ok((file, metadata.is_file().then_some(metadata.len())))
}

fn expand_one(pattern: &str, sources: &mut Vec<Source>) -> Result<()> {
    if pattern == "-" {
        sources.push(Source::stdin());
        return Ok(());
    }
    let path = Path::new(pattern);
    if path.is_dir() {
        return Err(Error::invalid(format!(
            "{pattern}: is a directory; name its files, for instance {pattern}/*"
        )));
    }
    if path.exists() {
        sources.push(Source::file(path));
        return Ok(());
    }
    let before = sources.len();
    let paths = glob::glob(pattern).map_err(|error| {
        Error::invalid(format!("{pattern}: not a file, and not a pattern: {error}"))
            .with_source(error)
    })?;
    for entry in paths {
        let path = entry
            .map_err(|error| Error::invalid(format!("{pattern}: {error}")).with_source(error))?;
        if !path.is_dir() {
            sources.push(Source::file(path));
        }
    }
    if sources.len() == before {
        return Err(Error::not_found(format!("{pattern}: no such file, and no file matches it")));
    }
    Ok(())
}
