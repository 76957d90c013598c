//! Reads, writes and deletes large objects.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use tonnage::{Condition, Error, ErrorKind, Key, LobOptions, LobSource, Result, WriteOptions};
use tonnage_client::{AnyKeyValue, AnyLobWriter};

use crate::args::Globals;
use crate::exit::{CliResult, Exit, Failure};
use crate::output::LineOutput;
use crate::values::{self, Durability, grouped};
use crate::{interrupt, stderr, time_limit};

/// Bytes copied at once.
const COPY_BYTES: usize = 256 << 10;

/// How large objects are written.
#[derive(Args)]
struct LobWriteArgs {
    /// Size of a chunk, at most 64M, which one writer holds in memory
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = values::bytes)]
    chunk_bytes: usize,
    /// Store only if there is no object yet
    #[arg(long)]
    if_absent: bool,
    /// Durability: when an object counts as stored
    #[arg(long, value_enum, default_value_t)]
    durability: Durability,
}

impl LobWriteArgs {
    fn options(&self) -> LobOptions {
        LobOptions {
            chunk_bytes: self.chunk_bytes,
            durability: self.durability.into(),
            condition: if self.if_absent { Condition::IfAbsent } else { Condition::Always },
            timeout: time_limit::remaining(),
        }
    }
}

/// Store a large object in chunks; it becomes visible when it is whole
#[derive(Args)]
pub(crate) struct PutLobArgs {
    /// The key: /major/-/minor
    key: Key,
    /// Read the object from a file [default: standard input]
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Append to the object that is there
    #[arg(long, conflicts_with_all = ["resume", "if_absent"])]
    append: bool,
    /// Go on with a write that was cut short, and skip what is stored of the input
    #[arg(long, conflicts_with = "if_absent")]
    resume: bool,
    #[command(flatten)]
    write: LobWriteArgs,
}

impl PutLobArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        // The input is opened first: a file that cannot be read must not make a store.
        let input = LobInput::open(self.file.as_deref())?;
        let connection = globals.connection_or_create(true)?;
        let (mut writer, passed) = self.writer(&connection.kv())?;
        let mut input = input;
        input.skip_bytes(passed)?;
        let cancel = interrupt::cancel();
        let mut buffer = vec![0; COPY_BYTES];
        loop {
            // Whatever ends the loop early changes nothing that is seen: only `finish` makes the
            // bytes visible.
            interrupt::check(&cancel)?;
            match input.read(&mut buffer)? {
                0 => break,
                count => writer.append(&buffer[..count]).map_err(Failure::stopped)?,
            }
        }
        let info = match writer.finish() {
            Err(error) if error.kind() == ErrorKind::Conflict => {
                stderr::line(format_args!("tonnage: {error}"));
                return Ok(Exit::Rejected);
            }
            finished => finished.map_err(Failure::stopped)?,
        };
        globals.info(format_args!(
            "{}: stored {} bytes, version {}",
            self.key,
            grouped(info.bytes),
            info.version
        ));
        Ok(Exit::Success)
    }

    /// The writer, and how many bytes of the input it has already.
    fn writer(&self, pairs: &AnyKeyValue) -> Result<(AnyLobWriter, u64)> {
        let options = self.write.options();
        if self.resume
            && let Some(writer) = pairs.resume_lob(&self.key, &options)?
        {
            let passed = writer.position();
            return Ok((writer, passed));
        }
        let writer = match self.append {
            true => pairs.append_lob(&self.key, &options)?,
            false => pairs.put_lob(&self.key, &options)?,
        };
        Ok((writer, 0))
    }
}

/// Where an object comes from.
struct LobInput {
    name: String,
    bytes: Box<dyn Read>,
}

impl LobInput {
    fn open(file: Option<&Path>) -> Result<Self> {
        match file.filter(|path| path.as_os_str() != "-") {
            None => Ok(Self { name: "standard input".into(), bytes: Box::new(io::stdin()) }),
            Some(path) => {
                let name = path.display().to_string();
                let bytes = File::open(path).map_err(|error| unreadable(&name, error))?;
                Ok(Self { name, bytes: Box::new(bytes) })
            }
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match self.bytes.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.map_err(|error| unreadable(&self.name, error)),
            }
        }
    }

    fn skip_bytes(&mut self, bytes: u64) -> Result<()> {
        let passed = io::copy(&mut (&mut self.bytes).take(bytes), &mut io::sink());
        match passed.map_err(|error| unreadable(&self.name, error))? {
            passed if passed == bytes => Ok(()),
            passed => Err(Error::invalid(format!(
                "{}: it has {passed} bytes, but {bytes} are stored of the object: give the same input",
                self.name
            ))),
        }
    }
}

fn unreadable(name: &str, error: io::Error) -> Error {
    Error::invalid(format!("{name}: cannot be read: {error}")).with_source(error)
}

/// Write a large object to standard output or to a file, byte for byte
#[derive(Args)]
pub(crate) struct GetLobArgs {
    /// The key: /major/-/minor
    key: Key,
    /// Write the object to this file; it appears when it is complete, and
    /// replaces a file of that name. - is standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl GetLobArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        let Some(mut reader) = globals.connection()?.kv().get_lob(&self.key)? else {
            stderr::line(format_args!("tonnage: {}: there is no such large object", self.key));
            return Ok(Exit::Rejected);
        };
        let mut output = LineOutput::to(self.output.as_deref())?;
        let cancel = interrupt::cancel();
        let mut buffer = vec![0; COPY_BYTES];
        loop {
            interrupt::check(&cancel)?;
            let count = reader.read(&mut buffer).map_err(|error| {
                let what = format!("{}: {error}", self.key);
                Failure::stopped(Error::unavailable(what).with_source(error))
            })?;
            if count == 0 {
                break;
            }
            output.bytes(&buffer[..count])?;
        }
        output.finish()?;
        Ok(Exit::Success)
    }
}

/// Delete a large object
#[derive(Args)]
pub(crate) struct DeleteLobArgs {
    /// The key: /major/-/minor
    key: Key,
    /// Durability: when it counts as deleted
    #[arg(long, value_enum, default_value_t)]
    durability: Durability,
}

impl DeleteLobArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        let connection = globals.connection()?;
        let options = WriteOptions {
            durability: self.durability.into(),
            timeout: time_limit::remaining(),
            ..WriteOptions::default()
        };
        if !connection.kv().delete_lob_with(&self.key, &options)? {
            stderr::line(format_args!("tonnage: {}: there is no such large object", self.key));
            return Ok(Exit::Rejected);
        }
        globals.info(format_args!("{}: deleted", self.key));
        Ok(Exit::Success)
    }
}

/// Store each file of a directory, and of those below it, as a large object
#[derive(Args)]
pub(crate) struct LoadLobsArgs {
    /// The directory
    directory: PathBuf,
    /// Beginning of the keys, such as /films; the path of a file below the directory becomes the
    /// minor components after it
    #[arg(long, value_name = "KEY")]
    under: Key,
    /// Number of files to store at a time [default: the number of cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    #[command(flatten)]
    write: LobWriteArgs,
}

impl LoadLobsArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        let files = LobFiles::below(&self.directory)?;
        let connection = globals.connection_or_create(true)?;
        let objects = files.map(|file| {
            let path = file?;
            let key = self.key_of(&path)?;
            let bytes = File::open(&path)
                .map_err(|error| unreadable(&path.display().to_string(), error))?;
            Ok::<LobSource, Error>((key, Box::new(bytes)))
        });
        let threads = self.threads.unwrap_or_else(tonnage::cores);
        let cancel = interrupt::cancel();
        let report = connection.kv().put_lobs(objects, &self.write.options(), threads, &cancel)?;
        for (_, error) in &report.failures {
            stderr::line(format_args!("tonnage: {error}"));
        }
        globals.info(format_args!(
            "stored {} large objects, {} bytes; {} could not be stored",
            grouped(report.stored),
            grouped(report.bytes),
            grouped(report.failed)
        ));
        Ok(if report.failed == 0 { Exit::Success } else { Exit::Rejected })
    }

    fn key_of(&self, path: &Path) -> Result<Key> {
        let below = path.strip_prefix(&self.directory).unwrap_or(path);
        let minor = self.under.minor().iter().cloned();
        let parts = below.components().map(|part| part.as_os_str().as_encoded_bytes().to_vec());
        Ok(Key::new(self.under.major().to_vec(), minor.chain(parts)))
    }
}

/// The files of a directory and of those below it. Links to directories are not followed.
struct LobFiles {
    open: Vec<std::fs::ReadDir>,
}

impl LobFiles {
    fn below(directory: &Path) -> Result<Self> {
        Ok(Self { open: vec![Self::read(directory)?] })
    }

    fn read(directory: &Path) -> Result<std::fs::ReadDir> {
        std::fs::read_dir(directory)
            .map_err(|error| unreadable(&directory.display().to_string(), error))
    }

    fn next_file(&mut self) -> Result<Option<PathBuf>> {
        while let Some(directory) = self.open.last_mut() {
            let Some(entry) = directory.next() else {
                self.open.pop();
                continue;
            };
            let entry = entry.map_err(|error| unreadable("the directory", error))?;
            let path = entry.path();
            let kind = entry
                .file_type()
                .map_err(|error| unreadable(&path.display().to_string(), error))?;
            if kind.is_dir() {
                self.open.push(Self::read(&path)?);
            } else if path.is_file() {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }
}

impl Iterator for LobFiles {
    type Item = Result<PathBuf>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_file().transpose()
    }
}
