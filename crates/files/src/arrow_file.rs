//! Reads Arrow IPC files by the directory at their end.
//!
//! A file may be a stream between two marks, but need not: some writers leave out the schema before
//! the first batch or the mark after the last one, and put messages in any order. The directory
//! says where each message is. It is checked before anything is allocated: a damaged length cannot
//! ask for more than the file has, or unpacks to.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, root_as_footer, root_as_message};

use crate::ipc_guard::{check_endianness, check_ipc_message};
use crate::progress::Progress;

/// The mark at both ends of an Arrow file.
const FILE_MARK: &[u8] = b"ARROW1";

/// The length of the directory and the mark after it.
const TAIL_BYTES: usize = 4 + FILE_MARK.len();

/// The batches of an Arrow file.
pub(crate) struct ArrowFile {
    file: File,
    bytes: u64,
    decoder: FileDecoder,
    /// Where the batches are that are still to be read.
    blocks: VecDeque<Block>,
    unpacked_bytes_max: u64,
    progress: Progress,
}

impl ArrowFile {
    /// Reads the directory and the dictionaries.
    pub(crate) fn open(
        mut file: File,
        unpacked_bytes_max: u64,
        progress: Progress,
    ) -> Result<(Self, SchemaRef), ArrowError> {
        let bytes = file.seek(SeekFrom::End(0))?;
        let directory = read_directory(&mut file, bytes)?;
        let footer = root_as_footer(&directory)
            .map_err(|_| damaged("the directory at its end is damaged"))?;
        let schema = footer.schema().ok_or_else(|| damaged("it has no schema"))?;
        // Before its types are looked at: the decoder takes numbers as they come.
        check_endianness(schema)?;
        let schema = Arc::new(fb_to_schema(schema));
        let mut opened = Self {
            file,
            bytes,
            decoder: FileDecoder::new(Arc::clone(&schema), footer.version()),
            blocks: footer.recordBatches().iter().flatten().copied().collect(),
            unpacked_bytes_max,
            progress,
        };
        // Before all batches: one may use a dictionary that follows it.
        for block in footer.dictionaries().iter().flatten() {
            let message = opened.read_block(block)?;
            opened.decoder.read_dictionary(block, &message)?;
        }
        Ok((opened, schema))
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        while let Some(block) = self.blocks.pop_front() {
            let message = self.read_block(&block)?;
            if let Some(batch) = self.decoder.read_record_batch(&block, &message)? {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    /// Reads a message, and checks what it declares.
    fn read_block(&mut self, block: &Block) -> Result<Buffer, ArrowError> {
        let wrong = || damaged("its directory names a place that it does not have");
        let at = u64::try_from(block.offset()).map_err(|_| wrong())?;
        let head = usize::try_from(block.metaDataLength()).map_err(|_| wrong())?;
        let body = usize::try_from(block.bodyLength()).map_err(|_| wrong())?;
        let length = head.checked_add(body).ok_or_else(wrong)?;
        let end = at.checked_add(length as u64).ok_or_else(wrong)?;
        if end > self.bytes {
            return Err(wrong());
        }
        let mut message = vec![0; length];
        self.file.seek(SeekFrom::Start(at))?;
        self.file.read_exact(&mut message)?;
        // The length precedes the head, after a mark or, in old files, alone.
        let prefix = if message.starts_with(&[0xff; 4]) { 8 } else { 4 };
        let told = message.get(prefix..head).ok_or_else(wrong)?;
        let told = root_as_message(told).map_err(|_| damaged("a message in it is damaged"))?;
        check_ipc_message(told, &message[head..], self.unpacked_bytes_max)?;
        self.progress.set(end);
        Ok(Buffer::from_vec(message))
    }
}

impl Iterator for ArrowFile {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}

fn read_directory(file: &mut File, bytes: u64) -> Result<Vec<u8>, ArrowError> {
    let cut_short = || damaged("the directory at its end is missing: the file is cut short");
    let mut tail = [0; TAIL_BYTES];
    let tail_at = bytes.checked_sub(TAIL_BYTES as u64).ok_or_else(cut_short)?;
    file.seek(SeekFrom::Start(tail_at))?;
    file.read_exact(&mut tail)?;
    let length = tail.first_chunk().map_or(0, |length| u32::from_le_bytes(*length));
    let at = tail_at.checked_sub(u64::from(length)).filter(|_| tail.ends_with(FILE_MARK));
    file.seek(SeekFrom::Start(at.ok_or_else(cut_short)?))?;
    let mut directory = vec![0; length as usize];
    file.read_exact(&mut directory)?;
    Ok(directory)
}

fn damaged(what: &str) -> ArrowError {
    ArrowError::IpcError(what.to_owned())
}
