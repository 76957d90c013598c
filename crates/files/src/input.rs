//! The bytes of a source: counted, decompressed, and looked at before they are read.

use std::io::{self, BufReader, Cursor, Read};

use tonnage_engine::{Error, Result};

use crate::format::{Compression, Format};
use crate::gzip::GzipMembers;
use crate::kind;
use crate::progress::{Counted, Progress};
use crate::readahead::{ReadAhead, Waiting};
use crate::source::Source;
use crate::stop::Stop;

/// How many decompressed bytes the detection of a format may look at.
const HEAD_BYTES: usize = 4096;

/// What is read at once.
const BUFFER_BYTES: usize = 256 << 10;

/// The decompressed bytes of a source, of which the first are known already.
pub(crate) struct Input {
    /// The first bytes, at most [`HEAD_BYTES`]; they will be read again from `reader`.
    pub(crate) head: Vec<u8>,
    /// All bytes from the first. Where `comes_slowly`, a read may say that nothing has come
    /// ([`WouldBlock`](io::ErrorKind::WouldBlock)).
    pub(crate) reader: Box<dyn Read + Send>,
    /// Whether somebody may be writing the source just now, so that what came is not to wait for
    /// more.
    pub(crate) comes_slowly: bool,
    /// How the source is compressed, by its magic bytes.
    pub(crate) compression: Compression,
    /// Counts the bytes of the source as it lies on the disk.
    pub(crate) progress: Progress,
}

impl Input {
    /// Opens a source for its last reader. The compression is told by its first bytes; the name is
    /// not asked.
    pub(crate) fn open(source: &Source, stop: &Stop) -> Result<Input> {
        Self::of(source, source.open(stop)?)
    }

    /// Opens a source whose bytes somebody else reads later.
    pub(crate) fn look(source: &Source) -> Result<Input> {
        Self::of(source, source.look()?)
    }

    fn of(
        source: &Source,
        (raw, bytes_total): (Box<dyn Read + Send>, Option<u64>),
    ) -> Result<Input> {
        let progress = Progress::new(bytes_total);
        let mut raw = Counted::new(raw, progress.clone());
        let (magic, error) = peek(&mut Waiting(&mut raw), 4);
        if let Some(error) = error {
            return Err(source.io_error("cannot be read", error));
        }
        let compression = Compression::of_magic(&magic);
        let comes_slowly = source.reads_once() && compression == Compression::None;
        let raw = Cursor::new(magic).chain(raw);
        let mut reader = decompress(raw, compression)
            .map_err(|error| source.io_error("cannot be decompressed", error))?;
        let (head, error) = match comes_slowly {
            true => peek_line(&mut reader, HEAD_BYTES),
            false => peek(&mut reader, HEAD_BYTES),
        };
        let reader: Box<dyn Read + Send> = match error {
            None => Box::new(Cursor::new(head.clone()).chain(reader)),
            Some(error) => Box::new(Cursor::new(head.clone()).chain(Failing(Some(error)))),
        };
        Ok(Input { head, reader, comes_slowly, compression, progress })
    }

    /// Refuses what is known to be neither text nor any other format that is read.
    pub(crate) fn check(&self, source: &Source) -> Result<()> {
        kind::foreign(&self.head)
            .map_or(Ok(()), |what| Err(Error::invalid(format!("{}: {what}", source.name()))))
    }

    /// The format: as told, or by name, or by the first bytes. The two kinds of Arrow IPC are
    /// always told apart by content, because they share their names.
    pub(crate) fn format(&self, source: &Source, told: Option<Format>) -> Format {
        match told.or_else(|| Format::of_name(source.name())) {
            Some(Format::ArrowFile | Format::ArrowStream) if !self.head.starts_with(b"ARROW1") => {
                Format::ArrowStream
            }
            Some(Format::ArrowFile | Format::ArrowStream) => Format::ArrowFile,
            Some(format) => format,
            None => Format::of_content(&self.head),
        }
    }
}

impl Format {
    /// The format of a source: by its name, or, when that says nothing, by its first bytes. The two
    /// kinds of Arrow IPC share their names and are told apart by content. A pipe keeps its bytes
    /// for who reads it.
    pub fn detect(source: &Source) -> Result<Format> {
        Ok(Input::look(source)?.format(source, None))
    }
}

/// Reads up to `bytes_max` bytes, less only at the end of the input or before an error.
fn peek(reader: &mut impl Read, bytes_max: usize) -> (Vec<u8>, Option<io::Error>) {
    let mut head = Vec::with_capacity(bytes_max);
    let error = reader.take(bytes_max as u64).read_to_end(&mut head).err();
    (head, error)
}

/// The same, but a line is enough where nothing more has come.
fn peek_line(reader: &mut impl Read, bytes_max: usize) -> (Vec<u8>, Option<io::Error>) {
    let (mut head, mut buffer) = (Vec::with_capacity(bytes_max), vec![0; bytes_max]);
    while head.len() < bytes_max {
        match reader.read(&mut buffer[..bytes_max - head.len()]) {
            Ok(0) => break,
            Ok(bytes) => head.extend_from_slice(&buffer[..bytes]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if head.contains(&b'\n') {
                    break;
                }
            }
            Err(error) => return (head, Some(error)),
        }
    }
    (head, None)
}

fn decompress(
    raw: impl Read + Send + 'static,
    compression: Compression,
) -> io::Result<Box<dyn Read + Send>> {
    Ok(match compression {
        Compression::None => Box::new(buffered(raw)),
        Compression::Gzip => Box::new(ReadAhead::start(GzipMembers::new(buffered(Waiting(raw))))?),
        Compression::Zstd => {
            let packed = buffered(Waiting(raw));
            Box::new(ReadAhead::start(zstd::stream::read::Decoder::with_buffer(packed)?)?)
        }
    })
}

fn buffered<R: Read>(raw: R) -> BufReader<R> {
    BufReader::with_capacity(BUFFER_BYTES, raw)
}

/// Gives its error once; then the input is at its end.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}
