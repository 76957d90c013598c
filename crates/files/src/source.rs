//! The sources of records: files, standard input, bytes in memory, and servers.

use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glob::{MatchOptions, Pattern};
use tonnage_engine::{Error, Result};

use crate::archive::{self, Archive};
use crate::options::ReadOptions;
use crate::pipe::Pipe;
use crate::readahead::{BlockingReader, ReadAhead};
use crate::remote::{self, RemoteFile, StorageObject};

/// What makes a name a pattern.
const WILD: [char; 3] = ['*', '?', '['];

/// So many folders, one in another, are looked into for a remedy.
const FOLDERS_BELOW_MAX: usize = 8;

/// One place that records are read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    name: String,
    kind: SourceKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum SourceKind {
    File(PathBuf),
    Pipe(Pipe),
    Memory(Arc<[u8]>),
    /// A file of a zip archive, or a sheet of a workbook.
    Member(PathBuf, String),
    Remote(RemoteFile),
}

/// A source that is open from its first byte.
pub(crate) struct OpenedSource {
    pub(crate) reader: Box<dyn Read + Send>,
    /// Its size, where that is known.
    pub(crate) bytes: Option<u64>,
    /// Whether it is a sheet of a workbook, written as CSV.
    pub(crate) is_sheet: bool,
    /// Whether the source may be being written now. A read may then say that nothing has come
    /// ([`WouldBlock`](io::ErrorKind::WouldBlock)).
    pub(crate) comes_slowly: bool,
}

impl OpenedSource {
    fn new(reader: impl Read + Send + 'static, bytes: Option<u64>) -> Self {
        Self { reader: Box::new(reader), bytes, is_sheet: false, comes_slowly: false }
    }

    fn coming_slowly(self) -> Self {
        Self { comes_slowly: true, ..self }
    }
}

impl Source {
    /// One file. Something that is not a plain file, such as a FIFO or `/dev/stdin`, can be read
    /// once.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let is_pipe =
            path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
        let kind = match is_pipe {
            // Another handle on standard input would share its bytes with the first.
            true if path == Path::new("/dev/stdin") => SourceKind::Pipe(Pipe::stdin()),
            true => SourceKind::Pipe(Pipe::at(&path)),
            false => SourceKind::File(path.clone()),
        };
        Self { name: path.display().to_string(), kind }
    }

    /// Standard input; it can be read once.
    pub fn stdin() -> Self {
        Self { name: "-".into(), kind: SourceKind::Pipe(Pipe::stdin()) }
    }

    /// Bytes in memory; the name serves messages and the detection of the format.
    pub fn memory(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { name: name.into(), kind: SourceKind::Memory(bytes.into()) }
    }

    /// A member of this file, which is an archive or a workbook.
    fn member(&self, member: String) -> Self {
        let path = self.path().unwrap_or(Path::new(&self.name)).to_owned();
        Self { name: format!("{}/{member}", self.name), kind: SourceKind::Member(path, member) }
    }

    /// A file at `http://` or `https://`. Its name is without credentials.
    pub fn url(url: &str) -> Self {
        let file = RemoteFile::at(url);
        Self { name: file.name(), kind: SourceKind::Remote(file) }
    }

    /// The sources that the patterns mean, in the order of the patterns, the files of one pattern
    /// sorted by name.
    ///
    /// `-` is standard input. `http://` and `https://` begin the URL of one file, `s3://`, `gs://`
    /// and `az://` the address of an object in a bucket, or a pattern for several. A pattern that
    /// names an existing file is that file, whatever characters are in it. Zip archives and
    /// workbooks are like folders: `data.zip/*.csv`, `book.xlsx/Sheet1`; an archive with a single
    /// file or sheet means that one. A pattern that matches nothing is
    /// [`NotFound`](tonnage_engine::ErrorKind::NotFound); one that names a directory is
    /// [`Invalid`](tonnage_engine::ErrorKind::Invalid). Directories that a glob happens to match
    /// are passed over, and so are hidden files, unless the pattern has the point of their names.
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

    /// The path, if this is a file, or in one.
    pub fn path(&self) -> Option<&Path> {
        match &self.kind {
            SourceKind::File(path) | SourceKind::Member(path, _) => Some(path),
            _ => None,
        }
    }

    /// Whether this is standard input.
    pub fn is_stdin(&self) -> bool {
        matches!(&self.kind, SourceKind::Pipe(pipe) if pipe.is_stdin())
    }

    /// Whether this is a file over HTTP or in object storage.
    pub fn is_remote(&self) -> bool {
        matches!(self.kind, SourceKind::Remote(_))
    }

    /// Whether this is a file of an archive, or a sheet of a workbook.
    pub(crate) fn is_member(&self) -> bool {
        matches!(self.kind, SourceKind::Member(..))
    }

    /// Whether [`RecordReader::open`](crate::RecordReader::open) can be called only once, because
    /// the bytes of a pipe are gone then. What only looks at a source, as
    /// [`infer_schema`](crate::infer_schema) does, leaves all bytes for the reader.
    pub fn reads_once(&self) -> bool {
        matches!(&self.kind, SourceKind::Pipe(_))
    }

    /// Opens the source from its first byte.
    pub(crate) fn open(&self, options: &ReadOptions) -> Result<OpenedSource> {
        match &self.kind {
            SourceKind::Pipe(pipe) => {
                let taken = pipe
                    .take(&options.stop)
                    .map_err(|error| self.io_error("cannot be opened", error))?;
                Ok(OpenedSource::new(taken, None).coming_slowly())
            }
            SourceKind::Remote(file) => {
                let (reader, bytes) = self.connect(file, options)?;
                Ok(OpenedSource::new(reader, bytes).coming_slowly())
            }
            _ => self.bytes(options),
        }
    }

    /// Open the source, and leave all bytes for a later reader.
    pub(crate) fn peek(&self, options: &ReadOptions) -> Result<OpenedSource> {
        self.bytes(options)
    }

    fn bytes(&self, options: &ReadOptions) -> Result<OpenedSource> {
        match &self.kind {
            SourceKind::File(path) => {
                let (file, bytes) =
                    open_file(path).map_err(|error| self.io_error("cannot be opened", error))?;
                Ok(OpenedSource::new(file, bytes))
            }
            SourceKind::Pipe(pipe) => {
                // A pipe comes here only to be looked at: `open` takes it without this.
                let looked = pipe
                    .peek(&options.stop)
                    .map_err(|error| self.io_error("cannot be opened", error))?;
                Ok(OpenedSource::new(looked, None).coming_slowly())
            }
            SourceKind::Remote(file) => {
                // The types of a table must not depend on how fast the server is.
                let (reader, bytes) = self.connect(file, options)?;
                Ok(OpenedSource::new(BlockingReader(reader), bytes))
            }
            SourceKind::Memory(bytes) => {
                Ok(OpenedSource::new(Cursor::new(Arc::clone(bytes)), Some(bytes.len() as u64)))
            }
            SourceKind::Member(path, name) => {
                let skipped = options.csv.skip_lines;
                let member =
                    File::open(path).and_then(|file| archive::open(file, Some(name), skipped));
                let member = member.map_err(|error| self.io_error("cannot be read", error))?;
                // A sheet comes as CSV whatever its name is: the reader must know that.
                let archive::ArchiveMember { reader, bytes, is_sheet, .. } = member;
                Ok(OpenedSource { reader, bytes, is_sheet, comes_slowly: false })
            }
        }
    }

    /// A file over HTTP, with its size where the server gives it.
    fn connect(
        &self,
        file: &RemoteFile,
        options: &ReadOptions,
    ) -> Result<(ReadAhead, Option<u64>)> {
        remote::open(file, &options.stop).map_err(|error| self.io_error("cannot be read", error))
    }

    /// An error of the operating system, with the name of the source.
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

/// A pattern of the files of a folder: of those below it, where it has folders alone.
fn pattern_of_files(folder: &Path) -> String {
    let mut pattern = format!("{}/*", folder.display());
    let mut folder = folder.to_owned();
    for _ in 0..FOLDERS_BELOW_MAX {
        let entries = folder.read_dir().into_iter().flatten().flatten();
        let entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        match entries.iter().find(|entry| entry.is_dir()) {
            Some(below) if entries.iter().all(|entry| entry.is_dir()) => folder = below.clone(),
            _ => break,
        }
        pattern.push_str("/*");
    }
    pattern
}

fn expand_one(pattern: &str, sources: &mut Vec<Source>) -> Result<()> {
    if pattern == "-" {
        sources.push(Source::stdin());
        return Ok(());
    }
    if RemoteFile::is_url(pattern) {
        sources.push(Source::url(pattern));
        return Ok(());
    }
    if let Some(objects) = remote::objects(pattern) {
        let source = |StorageObject { name, file }| Source { name, kind: SourceKind::Remote(file) };
        sources.extend(objects?.into_iter().map(source));
        return Ok(());
    }
    // Else it would be taken for a path, and reported as a file that is not there.
    if let Some((scheme, _)) = pattern.split_once("://") {
        return Err(Error::invalid(format!(
            "{pattern}: {scheme}:// is not read: give a path, or https://, s3://, gs:// or az://"
        )));
    }
    let path = Path::new(pattern);
    if path.is_dir() {
        return Err(Error::invalid(format!(
            "{pattern}: is a directory; name its files, for instance {}",
            pattern_of_files(path)
        )));
    }
    if path.exists() {
        sources.push(file_or_member(path)?);
        return Ok(());
    }
    // Before the glob, for which an archive is a file and no folder.
    if let Some(members) = members_of(path)? {
        sources.extend(members);
        return Ok(());
    }
    let before = sources.len();
    // As in shells: `.part-0.parquet.crc` and what another program is just writing are not meant.
    let names_hidden = pattern.split('/').any(|part| part.starts_with('.') && part.contains(WILD));
    let options =
        MatchOptions { require_literal_leading_dot: !names_hidden, ..MatchOptions::new() };
    let paths = glob::glob_with(pattern, options).map_err(|error| {
        Error::invalid(format!("{pattern}: not a file, and not a pattern: {error}"))
            .with_source(error)
    })?;
    for entry in paths {
        let path = entry
            .map_err(|error| Error::invalid(format!("{pattern}: {error}")).with_source(error))?;
        if !path.is_dir() {
            sources.push(file_or_member(&path)?);
        }
    }
    if sources.len() == before {
        return Err(Error::not_found(format!("{pattern}: no such file, and no file matches it")));
    }
    Ok(())
}

/// A file, or the only file of an archive. Of workbooks the reader finds the only sheet.
fn file_or_member(path: &Path) -> Result<Source> {
    let source = Source::file(path);
    match archive_at(&source)? {
        Some(Archive::Zip(names)) if names.len() == 1 => Ok(source.member(names[0].clone())),
        // The reader tells why it reads none of several.
        _ => Ok(source),
    }
}

/// What a plain file holds, if it is an archive.
fn archive_at(source: &Source) -> Result<Option<Archive>> {
    match &source.kind {
        SourceKind::File(path) if path.is_file() => match archive::detect(path) {
            // The reader reports that, too.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
            held => held.map_err(|error| source.io_error("cannot be read", error)),
        },
        _ => Ok(None),
    }
}

/// The members that a path within an archive names: `data.zip/2022/*.csv`.
fn members_of(path: &Path) -> Result<Option<Vec<Source>>> {
    let Some(archive) = path.ancestors().skip(1).find(|above| above.is_file()) else {
        return Ok(None);
    };
    let wanted = path.strip_prefix(archive).unwrap_or(path).to_string_lossy().into_owned();
    let source = Source::file(archive);
    let names = match archive_at(&source)? {
        None => return Ok(None),
        Some(Archive::Zip(names)) => names,
        Some(Archive::Workbook) => {
            archive::sheets(archive).map_err(|error| source.io_error("cannot be read", error))?
        }
    };
    // Names go before patterns: a member may have brackets in its name.
    if names.contains(&wanted) {
        return Ok(Some(vec![source.member(wanted)]));
    }
    let pattern = Pattern::new(&wanted).map_err(|error| {
        Error::invalid(format!("{}: not a pattern: {error}", path.display())).with_source(error)
    })?;
    let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
    let found = names.iter().filter(|name| pattern.matches_with(name, options));
    let found: Vec<_> = found.map(|name| source.member(name.clone())).collect();
    match found.is_empty() {
        // A hidden sheet is read when it is named.
        true if !wanted.contains(WILD) => Ok(Some(vec![source.member(wanted)])),
        true => Err(Error::not_found(format!(
            "{}: nothing in the archive matches it; it holds {}",
            path.display(),
            archive::list_names(&names)
        ))),
        false => Ok(Some(found)),
    }
}
