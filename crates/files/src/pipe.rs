//! Sources that can be read only once: standard input, FIFOs, process substitution.
//!
//! 1. A pipe is opened once. [`Pipe::peek`] keeps the bytes for later readers.
//! 2. [`Pipe::take`] gives all bytes from the first. After that the pipe cannot be opened.
//! 3. A thread reads the pipe, because a read may block for ever. A reader that waits for the
//!    thread gets `WouldBlock` now and then, and can be stopped.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use tempfile::SpooledTempFile;
use tonnage_engine::sync::lock;

use crate::readahead::ReadAhead;
use crate::stop_token::StopToken;

/// Bytes of a sampled pipe that stay in memory; the rest is written to a temporary file.
const KEPT_IN_MEMORY_BYTES: usize = 32 << 20;

/// Back-off after an empty read.
const LEFT_TO_OTHERS: Duration = Duration::from_millis(1);

/// A source that can be read only once. Its clones are the same pipe.
#[derive(Clone)]
pub(crate) struct Pipe {
    end: PipeSource,
    stream: Arc<Mutex<PipeState>>,
}

/// Where the bytes come out.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PipeSource {
    Stdin,
    Path(PathBuf),
}

/// The pipe itself, with the bytes that were looked at.
struct PipeState {
    /// None until it is opened.
    reader: Option<ReadAhead>,
    kept: SpooledTempFile,
    kept_bytes: u64,
    taken: bool,
}

impl Pipe {
    pub(crate) fn stdin() -> Self {
        Self::new(PipeSource::Stdin)
    }

    pub(crate) fn at(path: &Path) -> Self {
        Self::new(PipeSource::Path(path.to_owned()))
    }

    fn new(end: PipeSource) -> Self {
        let kept = SpooledTempFile::new(KEPT_IN_MEMORY_BYTES);
        Self {
            end,
            stream: Arc::new(Mutex::new(PipeState {
                reader: None,
                kept,
                kept_bytes: 0,
                taken: false,
            })),
        }
    }

    pub(crate) fn is_stdin(&self) -> bool {
        self.end == PipeSource::Stdin
    }

    /// All bytes from the first, which stay for those who open the pipe later.
    pub(crate) fn peek(&self, stop: &StopToken) -> io::Result<impl Read + Send + use<>> {
        drop(self.open()?);
        Ok(self.cursor(false, stop))
    }

    /// All bytes from the first, for the last time.
    pub(crate) fn take(&self, stop: &StopToken) -> io::Result<impl Read + Send + use<>> {
        self.open()?.taken = true;
        Ok(self.cursor(true, stop))
    }

    fn cursor(&self, takes: bool, stop: &StopToken) -> PipeCursor {
        PipeCursor { stream: self.stream.clone(), position: 0, takes, stop: stop.clone() }
    }

    fn open(&self) -> io::Result<MutexGuard<'_, PipeState>> {
        let mut stream = lock(&self.stream);
        if stream.taken {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "it is a pipe, which can be read only once",
            ));
        }
        if stream.reader.is_none() {
            let raw: Box<dyn Read + Send> = match &self.end {
                PipeSource::Stdin => Box::new(io::stdin()),
                PipeSource::Path(path) => Box::new(File::open(path)?),
            };
            stream.reader = Some(ReadAhead::start_stoppable(raw, StopToken::default())?);
        }
        Ok(stream)
    }
}

impl PartialEq for Pipe {
    /// Two names of one pipe are the same pipe.
    fn eq(&self, other: &Self) -> bool {
        self.end == other.end
    }
}

impl Eq for Pipe {}

impl fmt::Debug for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.end.fmt(f)
    }
}

/// One way through a pipe: the kept bytes first, then those that come. A read that got nothing for a
/// while answers [`WouldBlock`](io::ErrorKind::WouldBlock), and may be tried again.
struct PipeCursor {
    stream: Arc<Mutex<PipeState>>,
    position: u64,
    takes: bool,
    stop: StopToken,
}

impl Read for PipeCursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut stream = lock(&self.stream);
        if stream.taken && !self.takes {
            // A decompressor that reads ahead for a sample must not steal a byte.
            return Ok(0);
        }
        let read = match self.position < stream.kept_bytes {
            true => stream.read_kept(self.position, buffer),
            false => stream.read_new(buffer),
        };
        drop(stream);
        match read {
            Ok(bytes) => {
                self.position += bytes as u64;
                Ok(bytes)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if self.stop.is_asked() {
                    return Err(io::Error::other("the wait for more was stopped"));
                }
                thread::sleep(LEFT_TO_OTHERS);
                Err(error)
            }
            Err(error) => Err(error),
        }
    }
}

impl PipeState {
    fn read_kept(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.kept.seek(SeekFrom::Start(position))?;
        self.kept.read(buffer)
    }

    /// Reads what comes, and keeps it as long as it may be asked for again.
    fn read_new(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(reader) = &mut self.reader else { return Ok(0) };
        let bytes = reader.read(buffer)?;
        if !self.taken {
            self.kept.seek(SeekFrom::End(0))?;
            self.kept.write_all(&buffer[..bytes])?;
            self.kept_bytes += bytes as u64;
        }
        Ok(bytes)
    }
}
