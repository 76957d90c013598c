//! Reads Arrow IPC front to back, as a stream or as a file.
//!
//! An Arrow file is a stream between two marks with a footer. Reading it as a stream needs no
//! seeking, so it may be compressed or come through a pipe. Every piece is checked before the
//! decoder gets it: a damaged length in the file cannot make the decoder allocate more than the
//! file has, or unpacks to.

use std::io::{self, Cursor, Read};

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow_ipc::reader::StreamDecoder;

use crate::catch_panic::catch_panic;
use crate::ipc_guard::IpcGuard;

/// What is read at once.
const CHUNK_BYTES: usize = 1 << 20;

/// The mark at the end of an Arrow file; at its beginning padding follows it.
const FILE_MARK: &[u8] = b"ARROW1";

/// The most words of eight bytes that are taken for padding.
const PADDING_WORDS_MAX: usize = 16;

/// The batches of an Arrow IPC stream that is there as a whole.
///
/// # Errors
/// For what is none, and for a batch that unpacks to more bytes than `unpacked_bytes_max`.
pub fn read_ipc_stream(
    bytes: Vec<u8>,
    unpacked_bytes_max: u64,
) -> Result<Vec<RecordBatch>, ArrowError> {
    let read = || -> Result<Vec<RecordBatch>, ArrowError> {
        let reader = Box::new(Cursor::new(bytes));
        let (batches, _) = ArrowBatches::open(reader, false, false, unpacked_bytes_max)?;
        batches.collect()
    };
    catch_panic(read, |panic| ArrowError::ExternalError(panic.into()))
}

/// The batches of an Arrow file or stream.
pub(crate) struct ArrowBatches {
    reader: Box<dyn Read + Send>,
    /// Whether what came is decoded before more is waited for.
    comes_slowly: bool,
    guard: IpcGuard,
    decoder: StreamDecoder,
    chunk: Buffer,
    /// A batch that was met while the schema was looked for.
    first: Option<RecordBatch>,
    is_file: bool,
    ended: bool,
}

impl ArrowBatches {
    /// Reads as far as the schema.
    pub(crate) fn open(
        reader: Box<dyn Read + Send>,
        comes_slowly: bool,
        is_file: bool,
        unpacked_bytes_max: u64,
    ) -> Result<(Self, SchemaRef), ArrowError> {
        let reader = if is_file { skip_mark(reader)? } else { reader };
        let mut batches = Self {
            reader,
            comes_slowly,
            guard: IpcGuard::new(unpacked_bytes_max),
            decoder: StreamDecoder::new(),
            chunk: Buffer::from_vec(Vec::<u8>::new()),
            first: None,
            is_file,
            ended: false,
        };
        batches.first = batches.next_batch(true)?;
        let schema = batches
            .decoder
            .schema()
            .ok_or_else(|| ArrowError::IpcError("it has no schema".into()))?;
        Ok((batches, schema))
    }

    /// The next batch; while the schema is looked for, none as soon as it is known.
    fn next_batch(&mut self, until_schema: bool) -> Result<Option<RecordBatch>, ArrowError> {
        while !(self.ended || until_schema && self.decoder.schema().is_some()) {
            if self.chunk.is_empty() && !self.read_chunk()? {
                self.ended = true;
                self.decoder.finish()?;
                return if self.is_file { Err(cut_short()) } else { Ok(None) };
            }
            match self.decoder.decode(&mut self.chunk) {
                Ok(None) => {}
                Ok(Some(batch)) => return Ok(Some(batch)),
                // Only a decoder that has met the end mark is content and refuses more bytes.
                Err(_) if self.decoder.finish().is_ok() => {
                    self.ended = true;
                    return self.check_end().map(|()| None);
                }
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            }
        }
        Ok(None)
    }

    /// Takes the next bytes from the reader; false at its end.
    fn read_chunk(&mut self) -> Result<bool, ArrowError> {
        let mut chunk = Vec::new();
        if self.comes_slowly {
            chunk.resize(CHUNK_BYTES, 0);
            let bytes = self.reader.read(&mut chunk)?;
            chunk.truncate(bytes);
        } else {
            self.reader.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut chunk)?;
        }
        self.guard.inspect(&chunk)?;
        self.chunk = Buffer::from_vec(chunk);
        Ok(!self.chunk.is_empty())
    }

    /// Checks what follows the end of the stream: in a file its directory and its mark, else
    /// nothing.
    fn check_end(&mut self) -> Result<(), ArrowError> {
        if !self.is_file {
            return Err(ArrowError::IpcError(
                "something follows the end of the stream; several streams have to be read one by one".into(),
            ));
        }
        let mut tail = self.chunk.to_vec();
        while self.read_chunk()? {
            tail.drain(..tail.len().saturating_sub(FILE_MARK.len()));
            tail.extend_from_slice(&self.chunk);
        }
        if tail.ends_with(FILE_MARK) { Ok(()) } else { Err(cut_short()) }
    }
}

/// Steps over the mark at the beginning of a file. Some writers pad it with zeros to 64 bytes, and
/// no message begins with eight zeros.
fn skip_mark(mut reader: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut word = [0; 8];
    reader.read_exact(&mut word)?;
    for _ in 0..PADDING_WORDS_MAX {
        reader.read_exact(&mut word)?;
        if word != [0; 8] {
            break;
        }
    }
    Ok(Box::new(Cursor::new(word).chain(reader)))
}

fn cut_short() -> ArrowError {
    ArrowError::IpcError("the directory at its end is missing: the file is cut short".into())
}

impl Iterator for ArrowBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.first.take() {
            Some(batch) => Some(Ok(batch)),
            None => self.next_batch(false).transpose(),
        }
    }
}
