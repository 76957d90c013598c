//! The bytes of a source, counted and decompressed, with a look at the first of them.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::time::{Duration, Instant};

use lzma_rust2::XzReader;
use tonnage_engine::{Error, Result};

use crate::archive;
use crate::encoding::Encoding;
use crate::foreign_format;
use crate::format::{Compression, Format};
use crate::gzip::GzipMembers;
use crate::options::{CsvOptions, ReadOptions};
use crate::progress::{CountingReader, Progress};
use crate::readahead::{BlockingReader, ReadAhead};
use crate::source::{OpenedSource, Source};
use crate::stop_token::StopToken;

/// How many decompressed bytes the detection of a format may look at.
const HEAD_BYTES: usize = 4096;

/// How long the first bytes that come slowly wait for more.
const WAIT_MAX: Duration = Duration::from_millis(200);

/// How often a file may be packed: a workbook in a zip archive in gzip.
const LAYERS_MAX: usize = 3;

/// The memory that unpacking xz may take: `xz -9` asks for 64 MiB.
const XZ_KIB_MAX: u32 = 512 << 10;

/// What is read at once.
const BUFFER_BYTES: usize = 256 << 10;

/// The decompressed bytes of a source, of which the first are known already.
pub(crate) struct Input {
    /// The first bytes, at most [`HEAD_BYTES`]; they will be read again from `reader`.
    pub(crate) head: Vec<u8>,
    /// All bytes from the first. Where `comes_slowly`, a read may say that nothing has come
    /// ([`WouldBlock`](io::ErrorKind::WouldBlock)).
    pub(crate) reader: Box<dyn Read + Send>,
    /// Whether the source may be being written now, so that what came is not to wait for more.
    pub(crate) comes_slowly: bool,
    /// Whether the bytes are a sheet of a workbook, written as CSV.
    is_sheet: bool,
    /// The name of the member of an archive that the bytes are.
    member: Option<String>,
    /// How the source is compressed, by its magic bytes.
    pub(crate) compression: Compression,
    /// Counts the bytes of the source as stored on disk.
    pub(crate) progress: Progress,
}

impl Input {
    /// Open a source for its last reader. The first bytes decide the compression, not the name.
    pub(crate) fn open(source: &Source, options: &ReadOptions) -> Result<Input> {
        Self::of(source, source.open(options)?, options.csv.skip_lines)
    }

    /// Opens a source whose bytes another reader takes later.
    pub(crate) fn peek(source: &Source, options: &ReadOptions) -> Result<Input> {
        Self::of(source, source.peek(options)?, options.csv.skip_lines)
    }

    fn of(source: &Source, opened: OpenedSource, skipped_rows: u32) -> Result<Input> {
        let OpenedSource { reader, bytes, mut is_sheet, comes_slowly } = opened;
        let mut member = None;
        let mut compression = match source.is_member() {
            true => Compression::Zip,
            false => Compression::None,
        };
        // The members of an archive lie in a file.
        let comes_slowly = |outermost: Compression| comes_slowly && outermost != Compression::Zip;
        let mut progress = Progress::new(bytes);
        let mut reader: Box<dyn Read + Send> =
            Box::new(CountingReader::new(reader, progress.clone()));
        for layer in 0..LAYERS_MAX {
            let (magic, error) = peek(&mut BlockingReader(&mut reader), archive::MAGIC_BYTES);
            match error {
                Some(error) if layer == 0 => return Err(source.io_error("cannot be read", error)),
                // Damage is reported after what precedes it.
                Some(error) => {
                    reader = Box::new(Cursor::new(magic).chain(FailingReader(Some(error))));
                    break;
                }
                None => {}
            }
            let (is_archive, packed) = (archive::is_archive(&magic), Compression::of_magic(&magic));
            reader = Box::new(Cursor::new(magic).chain(reader));
            if is_archive {
                let file = match source.path().filter(|_| compression == Compression::None) {
                    Some(path) => File::open(path),
                    None => copy_to_temp_file(BlockingReader(reader)),
                };
                let opened = file.and_then(|file| archive::open(file, None, skipped_rows));
                let opened = opened.map_err(|error| source.io_error("cannot be read", error))?;
                (is_sheet, member) = (opened.is_sheet, Some(opened.name));
                progress = Progress::new(opened.bytes);
                reader = Box::new(CountingReader::new(opened.reader, progress.clone()));
            } else if packed != Compression::None {
                reader = decompressed(reader, packed, comes_slowly(compression))
                    .map_err(|error| source.io_error("cannot be decompressed", error))?;
            } else {
                break;
            }
            // The outermost layer is what the source is.
            compression = match compression {
                Compression::None if is_archive => Compression::Zip,
                Compression::None => packed,
                outer => outer,
            };
        }
        let comes_slowly = comes_slowly(compression);
        let mut reader: Box<dyn Read + Send> = Box::new(buffered(reader));
        let (head, error) = match comes_slowly {
            true => peek_line(&mut reader, HEAD_BYTES),
            false => peek(&mut reader, HEAD_BYTES),
        };
        let reader: Box<dyn Read + Send> = match error {
            None => Box::new(Cursor::new(head.clone()).chain(reader)),
            Some(error) => Box::new(Cursor::new(head.clone()).chain(FailingReader(Some(error)))),
        };
        Ok(Input { head, reader, comes_slowly, is_sheet, member, compression, progress })
    }

    /// Refuses what is known to be neither text nor any other format that is read.
    pub(crate) fn check(&self, source: &Source) -> Result<()> {
        foreign_format::describe_foreign(&self.head)
            .map_or(Ok(()), |what| Err(Error::invalid(format!("{}: {what}", source.name()))))
    }

    /// The format: as given, or by name, or by the first bytes. The content always decides between
    /// the two kinds of Arrow IPC, because they share their names.
    pub(crate) fn format(&self, source: &Source, told: Option<Format>) -> Format {
        if self.is_sheet {
            return Format::Csv;
        }
        let of_member = || self.member.as_deref().and_then(Format::of_name);
        match told.or_else(|| Format::of_name(source.name())).or_else(of_member) {
            Some(Format::ArrowFile | Format::ArrowStream) if !self.head.starts_with(b"ARROW1") => {
                Format::ArrowStream
            }
            Some(Format::ArrowFile | Format::ArrowStream) => Format::ArrowFile,
            Some(Format::Tsv) => Format::Csv,
            Some(format) => format,
            None => Format::of_content(&self.head),
        }
    }

    /// How the bytes are to be read. A sheet is CSV as it is written here, whatever was asked for.
    /// A member of an archive may tell more by its name than the archive does.
    pub(crate) fn options<'a>(&self, asked: &'a ReadOptions) -> Cow<'a, ReadOptions> {
        if !self.is_sheet {
            let told = self.member.as_deref().and_then(Format::of_name);
            return match (asked.format, told) {
                (None, Some(Format::Tsv)) => {
                    Cow::Owned(ReadOptions { format: told, ..asked.clone() })
                }
                _ => Cow::Borrowed(asked),
            };
        }
        // The rows of a sheet are apart by their numbers: one without cells is not a record.
        let csv = CsvOptions {
            delimiter: Some(b','),
            quote: Some(b'"'),
            escape: None,
            blank_is_null: false,
            ..asked.csv.clone()
        };
        let encoding = Some(Encoding::default());
        Cow::Owned(ReadOptions { csv, encoding, ..asked.clone() })
    }
}

impl Format {
    /// The format of a source: by its name, or, when that says nothing, by its first bytes. The two
    /// kinds of Arrow IPC share their names, so the content decides. A pipe keeps its bytes
    /// for who reads it.
    pub fn detect(source: &Source) -> Result<Format> {
        Ok(Input::peek(source, &ReadOptions::default())?.format(source, None))
    }
}

/// Reads up to `bytes_max` bytes, less only at the end of the input or before an error.
fn peek(reader: &mut impl Read, bytes_max: usize) -> (Vec<u8>, Option<io::Error>) {
    let mut head = Vec::with_capacity(bytes_max);
    let error = reader.take(bytes_max as u64).read_to_end(&mut head).err();
    (head, error)
}

/// The same, but a line is enough where nothing more has come, or little for a while.
fn peek_line(reader: &mut impl Read, bytes_max: usize) -> (Vec<u8>, Option<io::Error>) {
    let (mut head, mut buffer) = (Vec::with_capacity(bytes_max), vec![0; bytes_max]);
    let mut began = None;
    while head.len() < bytes_max {
        match reader.read(&mut buffer[..bytes_max - head.len()]) {
            Ok(0) => break,
            Ok(bytes) => {
                head.extend_from_slice(&buffer[..bytes]);
                // Who writes a short record every few milliseconds never pauses.
                let began = began.get_or_insert_with(Instant::now);
                if head.contains(&b'\n') && began.elapsed() >= WAIT_MAX {
                    break;
                }
            }
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

/// Unpacks a stream on another thread. What comes slowly does not wait for more.
fn decompressed(
    raw: impl Read + Send + 'static,
    compression: Compression,
    comes_slowly: bool,
) -> io::Result<Box<dyn Read + Send>> {
    let packed = buffered(BlockingReader(raw));
    let unpacked: Box<dyn Read + Send> = match compression {
        Compression::Gzip => Box::new(GzipMembers::new(packed)),
        Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(packed)?),
        Compression::Xz => Box::new(XzReader::new_mem_limit(packed, true, XZ_KIB_MAX)),
        // Not packed as a stream.
        Compression::None | Compression::Zip => return Ok(Box::new(packed)),
    };
    Ok(Box::new(match comes_slowly {
        true => ReadAhead::start_stoppable(unpacked, StopToken::default())?,
        false => ReadAhead::start(unpacked)?,
    }))
}

fn buffered<R: Read>(raw: R) -> BufReader<R> {
    BufReader::with_capacity(BUFFER_BYTES, raw)
}

/// A copy in an unnamed file that vanishes with its reader: archives have their directory at the
/// end.
fn copy_to_temp_file(mut raw: impl Read) -> io::Result<File> {
    let mut copy = tempfile::tempfile()?;
    io::copy(&mut raw, &mut copy)?;
    copy.rewind()?;
    Ok(copy)
}

/// Gives its error once; then the input is at its end.
struct FailingReader(Option<io::Error>);

impl Read for FailingReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A writer that never pauses, and never sends much.
    struct Trickle;

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            std::thread::sleep(Duration::from_millis(10));
            buffer[..4].copy_from_slice(b"1,x\n");
            Ok(4)
        }
    }

    /// Nothing was read of it before it had sent 4096 bytes: what came until then was lost when the
    /// load ended.
    #[test]
    fn little_that_comes_without_a_pause_is_looked_at() {
        let (head, error) = peek_line(&mut Trickle, HEAD_BYTES);
        assert!(error.is_none() && head.starts_with(b"1,x\n"));
        assert!(head.len() < HEAD_BYTES, "{} bytes", head.len());
    }
}
