//! Reads Avro object container files.
//!
//! 1. [`AvroBlocks`] splits the container into its header and its blocks, and unpacks them. No
//!    length in a damaged file makes the reader allocate more than the file has, and the unpacked
//!    size is limited.
//! 2. Arrow's decoder gets a container of one plain block. A block must hold exactly as many
//!    records as it declares.
//! 3. Batches of small blocks are concatenated. Damage loses no record of a block before it.
//!
//! A container cut between two blocks looks complete: the format has no end mark.

use std::fmt;
use std::io::{self, Cursor, Read};

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow_avro::reader::{Reader, ReaderBuilder};

use crate::avro_number::{broken, long, long_or_end, put_bytes, put_long, read_sized};
use crate::avro_types::{as_text, recursive_record, text_column};

/// How a container begins.
pub(crate) const MAGIC: &[u8] = b"Obj\x01";
/// The entries of the header that tell the schema and name the codec.
const SCHEMA_KEY: &[u8] = b"avro.schema";
const CODEC_KEY: &[u8] = b"avro.codec";
const SYNC_BYTES: usize = 16;
/// The longest schema, and any other entry of the header.
const ENTRY_BYTES_MAX: u64 = 16 << 20;
const ENTRIES_MAX: i64 = 1_000;
/// All entries together: they are held in memory.
const HEADER_BYTES_MAX: u64 = 64 << 20;
/// The longest block, packed and unpacked. Writers make blocks of some 64 KiB.
const PACKED_BYTES_MAX: u64 = 256 << 20;
const BLOCK_BYTES_MAX: u64 = 512 << 20;
/// How many bytes of blocks become one batch, if no block is larger.
const GATHERED_BYTES: usize = 256 << 10;

/// The batches of a container.
pub(crate) struct AvroBatches {
    blocks: AvroBlocks,
    schema: SchemaRef,
    /// How many bytes of blocks become one batch: of what comes slowly no block waits for the next.
    gathered_bytes: usize,
    /// What follows the blocks that were read.
    failure: Option<ArrowError>,
}

impl AvroBatches {
    /// Reads as far as the schema.
    pub(crate) fn open(
        reader: Box<dyn Read + Send>,
        comes_slowly: bool,
    ) -> Result<(Self, SchemaRef), ArrowError> {
        let blocks = AvroBlocks::open(reader)?;
        let schema = as_text(&decoder(blocks.header.clone(), 1)?.schema())?;
        let gathered_bytes = if comes_slowly { 1 } else { GATHERED_BYTES };
        let own = schema.clone();
        Ok((Self { blocks, schema: own, gathered_bytes, failure: None }, schema))
    }

    fn read(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let (mut batches, mut bytes) = (Vec::new(), 0);
        while bytes < self.gathered_bytes {
            match self.blocks.next_batch() {
                Ok(None) => break,
                Ok(Some((batch, block_bytes))) => {
                    batches.push(batch);
                    bytes += block_bytes;
                }
                Err(error) if batches.is_empty() => return Err(error),
                // The records before it are given first.
                Err(error) => {
                    self.failure = Some(error);
                    break;
                }
            }
        }
        let Some(first) = batches.first() else { return Ok(None) };
        let batch = concat_batches(&first.schema(), &batches)?;
        let columns = batch.columns().iter().zip(self.schema.fields());
        let columns = columns.map(|(column, field)| text_column(column, field));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        // A record may have no fields, and counts all the same.
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options).map(Some)
    }
}

impl Iterator for AvroBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

fn decoder(container: Vec<u8>, rows: usize) -> Result<Reader<Cursor<Vec<u8>>>, ArrowError> {
    ReaderBuilder::new().with_batch_size(rows).build(Cursor::new(container))
}

/// How the blocks of a container are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AvroCodec {
    Null,
    Deflate,
    Snappy,
    Zstd,
}

impl AvroCodec {
    fn of_name(name: &[u8]) -> io::Result<Self> {
        match name {
            b"null" | b"" => Ok(AvroCodec::Null),
            b"deflate" => Ok(AvroCodec::Deflate),
            b"snappy" => Ok(AvroCodec::Snappy),
            b"zstandard" => Ok(AvroCodec::Zstd),
            other => Err(broken(&format!(
                "its blocks are packed with {}, which is not read: write it with deflate, snappy or zstandard",
                String::from_utf8_lossy(&other[..other.len().min(20)])
            ))),
        }
    }

    fn decompress(self, block: Vec<u8>) -> io::Result<Vec<u8>> {
        match self {
            AvroCodec::Null => Ok(block),
            AvroCodec::Deflate => read_bounded(flate2::read::DeflateDecoder::new(&block[..])),
            AvroCodec::Zstd => read_bounded(zstd::stream::read::Decoder::with_buffer(&block[..])?),
            AvroCodec::Snappy => from_snappy(&block),
        }
    }
}

/// All that a decoder gives, if it is not too much.
fn read_bounded(decoder: impl Read) -> io::Result<Vec<u8>> {
    let mut unpacked = Vec::new();
    decoder.take(BLOCK_BYTES_MAX + 1).read_to_end(&mut unpacked)?;
    match unpacked.len() as u64 > BLOCK_BYTES_MAX {
        true => Err(broken("a block unpacks to more than 512 MiB")),
        false => Ok(unpacked),
    }
}

/// A block of Snappy, followed by the checksum of the unpacked bytes.
fn from_snappy(block: &[u8]) -> io::Result<Vec<u8>> {
    let Some((packed, checksum)) = block.split_last_chunk::<4>() else {
        return Err(broken("a block of Snappy lacks its checksum"));
    };
    if snap::raw::decompress_len(packed)? as u64 > BLOCK_BYTES_MAX {
        return Err(broken("a block unpacks to more than 512 MiB"));
    }
    let unpacked = snap::raw::Decoder::new().decompress_vec(packed)?;
    match crc32fast::hash(&unpacked) == u32::from_be_bytes(*checksum) {
        true => Ok(unpacked),
        false => Err(broken("the checksum of a block is wrong")),
    }
}

/// The blocks of a container, unpacked.
struct AvroBlocks {
    reader: Box<dyn Read + Send>,
    codec: AvroCodec,
    /// The header of a container of the same schema whose blocks are plain.
    header: Vec<u8>,
    sync: [u8; SYNC_BYTES],
    blocks: u64,
}

impl AvroBlocks {
    /// Reads the header.
    fn open(mut reader: Box<dyn Read + Send>) -> io::Result<Self> {
        let mut magic = [0; MAGIC.len()];
        reader.read_exact(&mut magic)?;
        if magic != MAGIC {
            return Err(broken("it does not begin as an Avro container"));
        }
        let entries = entries(&mut reader)?;
        let entry = |name: &[u8]| entries.iter().find(|(key, _)| key == name);
        let codec = AvroCodec::of_name(entry(CODEC_KEY).map_or(b"null", |(_, name)| name))?;
        if let Some(name) = entry(SCHEMA_KEY).and_then(|(_, schema)| recursive_record(schema)) {
            return Err(broken(&format!(
                "its record {name} contains itself, which no column can hold: convert it to JSON lines, for instance with avro-tools tojson"
            )));
        }
        let mut sync = [0; SYNC_BYTES];
        reader.read_exact(&mut sync)?;
        let mut header = MAGIC.to_vec();
        put_long(entries.len() as i64, &mut header);
        for (key, value) in &entries {
            put_bytes(key, &mut header);
            put_bytes(if key == CODEC_KEY { b"null" } else { value }, &mut header);
        }
        put_long(0, &mut header);
        header.extend_from_slice(&sync);
        Ok(Self { reader, codec, header, sync, blocks: 0 })
    }

    /// The records of the next block, and how many bytes they took; none at the end of the file.
    fn next_batch(&mut self) -> Result<Option<(RecordBatch, usize)>, ArrowError> {
        while let Some(records) = long_or_end(&mut self.reader)? {
            self.blocks += 1;
            let block = self.block().map_err(|error| self.at_block(error))?;
            let has_room = u64::try_from(records).is_ok_and(|count| count <= block.len() as u64);
            if !has_room {
                let few = format!("its {} bytes cannot hold {records} records", block.len());
                return Err(self.at_block(few));
            }
            if !block.is_empty() {
                return Ok(Some((self.decode_block(records, &block)?, block.len())));
            }
        }
        Ok(None)
    }

    /// The records of a block, if it holds as many and nothing else.
    fn decode_block(&self, records: i64, block: &[u8]) -> Result<RecordBatch, ArrowError> {
        let more = || self.at_block(format!("it holds more than its {records} records"));
        if records == 0 {
            return Err(more());
        }
        let mut container = self.header.clone();
        // The decoder does not stand a wrong number of records. So it is promised more of them than
        // there can be: it looks for them where bytes are left, and else for a block.
        put_long(records + block.len() as i64, &mut container);
        put_bytes(block, &mut container);
        container.extend_from_slice(&self.sync);
        let mut batches = decoder(container, records as usize)?;
        let batch = batches.next().transpose().map_err(|error| self.at_block(error))?;
        match (batch, batches.next()) {
            (Some(batch), None) => Ok(batch),
            _ => Err(more()),
        }
    }

    fn at_block(&self, error: impl fmt::Display) -> ArrowError {
        ArrowError::AvroError(format!("block {}: {error}", self.blocks))
    }

    fn block(&mut self) -> io::Result<Vec<u8>> {
        let packed = read_sized(&mut self.reader, PACKED_BYTES_MAX)?;
        let mut sync = [0; SYNC_BYTES];
        self.reader.read_exact(&mut sync)?;
        match sync == self.sync {
            true => self.codec.decompress(packed),
            false => Err(broken("it does not end with the mark of the file")),
        }
    }
}

type AvroHeaderEntry = (Vec<u8>, Vec<u8>);

/// The entries of a header, which come in groups: of a group with a negative count the size follows.
fn entries(reader: &mut impl Read) -> io::Result<Vec<AvroHeaderEntry>> {
    let (mut entries, mut bytes) = (Vec::new(), 0);
    loop {
        let count = long(reader)?;
        if count == 0 {
            return Ok(entries);
        }
        if count < 0 {
            long(reader)?;
        }
        if count.checked_abs().is_none_or(|count| count > ENTRIES_MAX - entries.len() as i64) {
            return Err(broken("its header has too many entries"));
        }
        for _ in 0..count.abs() {
            let entry =
                (read_sized(reader, ENTRY_BYTES_MAX)?, read_sized(reader, ENTRY_BYTES_MAX)?);
            bytes += (entry.0.len() + entry.1.len()) as u64;
            if bytes > HEADER_BYTES_MAX {
                return Err(broken("its header takes more than 64 MiB"));
            }
            entries.push(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A container of whole numbers, as far as its header.
    fn container() -> AvroBlocks {
        let schema = br#"{"type":"record","name":"r","fields":[{"name":"n","type":"long"}]}"#;
        let mut bytes = MAGIC.to_vec();
        put_long(1, &mut bytes);
        put_bytes(b"avro.schema", &mut bytes);
        put_bytes(schema, &mut bytes);
        put_long(0, &mut bytes);
        bytes.extend_from_slice(&[7; SYNC_BYTES]);
        AvroBlocks::open(Box::new(Cursor::new(bytes))).unwrap()
    }

    /// The decoder by itself does not bear every wrong number.
    #[test]
    fn a_block_holds_no_more_records_than_it_is_told_to() {
        let mut block = Vec::new();
        (0..8).for_each(|number| put_long(number, &mut block));
        assert_eq!(container().decode_block(8, &block).unwrap().num_rows(), 8);
        for told in [0, 1, 4, 7] {
            let error = container().decode_block(told, &block).unwrap_err().to_string();
            assert!(error.contains(&format!("more than its {told} records")), "{error}");
        }
        assert!(container().decode_block(9, &block).is_err());
    }
}
