//! Reads Arrow IPC streams front to back.
//!
//! Every piece is checked before the decoder gets it: a damaged length cannot make the decoder
//! allocate more than the stream has, or unpacks to.

use std::io::{Cursor, Read};

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow_ipc::reader::StreamDecoder;

use crate::catch_panic::catch_panic;
use crate::ipc_guard::IpcGuard;

/// What is read at once.
const CHUNK_BYTES: usize = 1 << 20;

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
        let (batches, _) = ArrowBatches::open(reader, false, unpacked_bytes_max)?;
        batches.collect()
    };
    catch_panic(read, |panic| ArrowError::ExternalError(panic.into()))
}

/// The batches of an Arrow stream.
pub(crate) struct ArrowBatches {
    reader: Box<dyn Read + Send>,
    /// Whether what came is decoded before more is waited for.
    comes_slowly: bool,
    guard: IpcGuard,
    decoder: StreamDecoder,
    chunk: Buffer,
    /// A batch that was met while the schema was looked for.
    first: Option<RecordBatch>,
    ended: bool,
}

impl ArrowBatches {
    /// Reads as far as the schema.
    pub(crate) fn open(
        reader: Box<dyn Read + Send>,
        comes_slowly: bool,
        unpacked_bytes_max: u64,
    ) -> Result<(Self, SchemaRef), ArrowError> {
        let mut batches = Self {
            reader,
            comes_slowly,
            guard: IpcGuard::new(unpacked_bytes_max),
            decoder: StreamDecoder::new(),
            chunk: Buffer::from_vec(Vec::<u8>::new()),
            first: None,
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
                return Ok(None);
            }
            match self.decoder.decode(&mut self.chunk) {
                Ok(None) => {}
                Ok(Some(batch)) => return Ok(Some(batch)),
                // Only a decoder that has met the end mark is content and refuses more bytes.
                Err(_) if self.decoder.finish().is_ok() => {
                    self.ended = true;
                    return Err(something_behind());
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
}

fn something_behind() -> ArrowError {
    ArrowError::IpcError(
        "something follows the end of the stream; several streams have to be read one by one"
            .into(),
    )
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
