//! A chunk: one column of a segment, with a checksum over all that it says.
//!
//! ```text
//! format u8, layout u8, has NULLs u8, zero u8, checksum u32,
//! segment u128, column u32, rows u32, validity bits if it has NULLs, data
//! ```
//!
//! Numbers are little-endian. The checksum is a CRC-32 over all other bytes.

use std::ops::RangeInclusive;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow::datatypes::{DataType, Float64Type};
use tonnage_engine::{Error, Result};

use crate::batch::BATCH_ROWS;
use crate::cursor::{Cursor, damaged};
use crate::doubles::{self, EncodedDoubles};
use crate::integers::{BLOCK_ROWS, PackedIntegers, pack};
use crate::physical::{array_of_numbers, array_of_values, numbers_of, values_of};
use crate::texts::{EncodedDictionary, EncodedPieces, encode_dictionary, encode_pieces};

/// The most rows of a chunk.
pub const ROWS_MAX: usize = 131_072;

const FORMAT: u8 = 1;
/// The position of the checksum.
const CHECKSUM: std::ops::Range<usize> = 4..8;

const INTEGERS: u8 = 0;
const DOUBLES: u8 = 1;
const DICTIONARY: u8 = 2;
const PIECES: u8 = 3;

/// What a chunk belongs to. Bytes of another segment or column are not a chunk of this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkId {
    /// The random number of the segment.
    pub segment: u128,
    /// The number of the column, which is never given again.
    pub column: u32,
}

/// Encodes an array.
///
/// # Errors
/// `Invalid` for more than [`ROWS_MAX`] rows; `Unsupported` for types that are kept as the bytes of
/// their cells.
pub fn encode(array: &dyn Array, id: ChunkId) -> Result<Vec<u8>> {
    let rows = array.len();
    if rows > ROWS_MAX {
        return Err(Error::invalid(format!("a chunk has at most {ROWS_MAX} rows, not {rows}")));
    }
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
    let mut out = vec![FORMAT, 0, u8::from(nulls.is_some()), 0, 0, 0, 0, 0];
    out.extend_from_slice(&id.segment.to_le_bytes());
    out.extend_from_slice(&id.column.to_le_bytes());
    out.extend_from_slice(&(rows as u32).to_le_bytes());
    if let Some(nulls) = nulls {
        // Collected: a slice of an array does not begin at a byte.
        let bits = BooleanBuffer::collect_bool(rows, |row| nulls.is_valid(row));
        out.extend_from_slice(&bits.values()[..rows.div_ceil(8)]);
    }
    out[1] = encode_data(array, &mut out)?;
    seal(&mut out);
    Ok(out)
}

/// Appends the data, and tells its layout.
fn encode_data(array: &dyn Array, out: &mut Vec<u8>) -> Result<u8> {
    if let Some(doubles) = array.as_primitive_opt::<Float64Type>() {
        doubles::encode(doubles, out);
        return Ok(DOUBLES);
    }
    if let Some(numbers) = numbers_of(array)? {
        pack(&numbers, out);
        return Ok(INTEGERS);
    }
    let values = values_of(array)?;
    if encode_dictionary(&values, out) {
        return Ok(DICTIONARY);
    }
    encode_pieces(&values, out);
    Ok(PIECES)
}

/// Sets the checksum of bytes that were changed, for tests of what reads them.
pub fn seal(bytes: &mut [u8]) {
    let checksum = checksum(bytes).to_le_bytes();
    if let Some(place) = bytes.get_mut(CHECKSUM) {
        place.copy_from_slice(&checksum);
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..CHECKSUM.start.min(bytes.len())]);
    hasher.update(bytes.get(CHECKSUM.end..).unwrap_or_default());
    hasher.finalize()
}

/// A chunk whose checksum and lengths were checked. Its values are checked as they are decoded.
#[derive(Debug)]
pub struct Chunk<'a> {
    rows: usize,
    validity: Option<&'a [u8]>,
    data: EncodedData<'a>,
}

#[derive(Debug)]
enum EncodedData<'a> {
    Integers(PackedIntegers<'a>),
    Doubles(EncodedDoubles<'a>),
    Dictionary(EncodedDictionary<'a>),
    Pieces(EncodedPieces<'a>),
}

impl<'a> Chunk<'a> {
    /// Reads the head of a chunk, and checks all of it.
    ///
    /// # Errors
    /// `Corruption` for bytes that are not a chunk of this id.
    pub fn open(bytes: &'a [u8], id: ChunkId) -> Result<Self> {
        let mut cursor = Cursor::new(bytes);
        // The checksum comes first: nothing else of damaged bytes says anything.
        let [format, layout, has_nulls, zero] = cursor.array()?;
        if cursor.u32()? != checksum(bytes) {
            return Err(damaged("has a wrong checksum"));
        }
        let segment = u128::from_le_bytes(cursor.array()?);
        if (ChunkId { segment, column: cursor.u32()? }) != id {
            return Err(damaged("is of another segment or column"));
        }
        let rows = cursor.u32()? as usize;
        if format != FORMAT || has_nulls > 1 || zero != 0 || rows > ROWS_MAX {
            return Err(damaged("has a head that this version does not write"));
        }
        // From here on each part takes what it needs, and nothing may be left.
        let validity = match has_nulls {
            1 => Some(cursor.take(rows.div_ceil(8))?),
            _ => None,
        };
        let data = match layout {
            INTEGERS => EncodedData::Integers(PackedIntegers::read(rows, &mut cursor)?),
            DOUBLES => EncodedData::Doubles(EncodedDoubles::read(rows, &mut cursor)?),
            DICTIONARY => EncodedData::Dictionary(EncodedDictionary::read(rows, &mut cursor)?),
            PIECES => EncodedData::Pieces(EncodedPieces::read(rows, &mut cursor)?),
            _ => return Err(damaged("has a layout that this version does not write")),
        };
        cursor.end()?;
        Ok(Self { rows, validity, data })
    }

    /// The rows of the chunk.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many batches it has.
    pub fn batches(&self) -> usize {
        self.rows.div_ceil(BATCH_ROWS)
    }

    /// Bounds of the numbers of each 1,024 rows, as they are stored; nothing for other columns.
    /// Numbers lie within them, but need not reach them.
    pub fn zones(&self) -> Option<impl Iterator<Item = RangeInclusive<i64>> + use<'a>> {
        match self.data {
            EncodedData::Integers(numbers) => Some(numbers.zones()),
            _ => None,
        }
    }

    /// Which batches may hold numbers from one to another, as [`crate::bounds_of`] gives them: all
    /// of them where the column has no zones.
    pub fn batches_with(&self, range: &RangeInclusive<i64>) -> Vec<bool> {
        let Some(zones) = self.zones() else { return vec![true; self.batches()] };
        let mut batches = vec![false; self.batches()];
        for (block, zone) in zones.enumerate() {
            let meets = zone.start() <= range.end() && range.start() <= zone.end();
            if let Some(batch) = batches.get_mut(block * BLOCK_ROWS / BATCH_ROWS) {
                *batch |= meets;
            }
        }
        batches
    }

    /// Decodes a batch: [`BATCH_ROWS`] rows, the last one fewer.
    ///
    /// # Errors
    /// `Invalid` for a batch that is not there; `Corruption` for values that the type has not.
    pub fn decode(&self, batch: usize, data_type: &DataType) -> Result<ArrayRef> {
        if batch >= self.batches() {
            return Err(Error::invalid(format!("the chunk has {} batches", self.batches())));
        }
        let first = batch * BATCH_ROWS;
        let rows = (self.rows - first).min(BATCH_ROWS);
        let nulls = self.nulls(first, rows);
        match &self.data {
            EncodedData::Integers(packed) => {
                let mut numbers = Vec::new();
                packed.unpack(first / BLOCK_ROWS, rows, &mut numbers);
                array_of_numbers(data_type, numbers, nulls)
            }
            EncodedData::Doubles(encoded) if *data_type == DataType::Float64 => {
                let values = encoded.decode(first, rows);
                Ok(Arc::new(Float64Array::new(values.into(), nulls)))
            }
            EncodedData::Doubles(_) => Err(damaged("holds doubles, which its type has not")),
            EncodedData::Dictionary(encoded) => {
                array_of_values(data_type, encoded.decode(first, rows)?, nulls)
            }
            EncodedData::Pieces(encoded) => {
                array_of_values(data_type, encoded.decode(first, rows)?, nulls)
            }
        }
    }

    fn nulls(&self, first: usize, rows: usize) -> Option<NullBuffer> {
        let bits = &self.validity?[first / 8..(first + rows).div_ceil(8)];
        let nulls = NullBuffer::new(BooleanBuffer::new(Buffer::from(bits), 0, rows));
        (nulls.null_count() > 0).then_some(nulls)
    }
}
