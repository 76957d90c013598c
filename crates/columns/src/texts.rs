//! Values of bytes: a dictionary with codes, or lengths with packed bytes.

use std::collections::HashMap;

use tonnage_engine::Result;

use crate::batch::BATCH_ROWS;
use crate::cursor::{Cursor, damaged};
use crate::integers::{BLOCK_ROWS, PackedIntegers, pack};

/// Values that a dictionary may have.
const DICTIONARY_MAX: usize = 65_536;
/// The longest value of a dictionary, which bounds what a batch of codes can ask for.
const DICTIONARY_VALUE_BYTES: usize = 255;
/// A dictionary pays where each of its values comes twice, on average.
const DICTIONARY_SHARE: usize = 2;
/// A byte of LZ4 unpacks to at most so many.
const LZ4_RATIO: usize = 255;
/// What a few bytes of LZ4 may unpack to beyond that.
const LZ4_SLACK: usize = 64;
/// In the length of a piece: its bytes are not packed.
const IS_PLAIN: u32 = 1 << 31;

/// Consecutive values.
#[derive(Debug, Default)]
pub(crate) struct Values {
    /// The start of each value, and the end of the last.
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

impl Values {
    pub(crate) fn with_rows(rows: usize) -> Self {
        let mut ends = Vec::with_capacity(rows + 1);
        ends.push(0);
        Self { ends, bytes: Vec::new() }
    }

    pub(crate) fn rows(&self) -> usize {
        self.ends.len() - 1
    }

    pub(crate) fn push(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len());
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.ends.windows(2).map(|ends| &self.bytes[ends[0]..ends[1]])
    }

    fn lengths(&self) -> Vec<i64> {
        self.ends.windows(2).map(|ends| (ends[1] - ends[0]) as i64).collect()
    }

    /// All bytes, where each value has this length.
    pub(crate) fn bytes_of_length(self, len: usize) -> Result<Vec<u8>> {
        if self.ends.windows(2).any(|ends| ends[1] - ends[0] != len) {
            return Err(damaged("has values of a wrong length"));
        }
        Ok(self.bytes)
    }

    /// Ends as arrays of texts have them, and the bytes.
    pub(crate) fn into_parts(self) -> Result<(Vec<i32>, Vec<u8>)> {
        let ends: Option<Vec<i32>> =
            self.ends.into_iter().map(|end| i32::try_from(end).ok()).collect();
        Ok((ends.ok_or_else(|| damaged("has more text than a batch may have"))?, self.bytes))
    }
}

/// Encodes values as a dictionary after what `out` has; false where there are too many of them, or
/// they are too long, and nothing was written.
pub(crate) fn encode_dictionary(values: &Values, out: &mut Vec<u8>) -> bool {
    let most = (values.rows() / DICTIONARY_SHARE).min(DICTIONARY_MAX);
    let (mut known, mut words) = (HashMap::<&[u8], i64>::new(), Vec::<&[u8]>::new());
    let mut codes = Vec::with_capacity(values.rows());
    for value in values.iter() {
        let code = *known.entry(value).or_insert_with(|| {
            words.push(value);
            words.len() as i64 - 1
        });
        if words.len() > most || value.len() > DICTIONARY_VALUE_BYTES {
            return false;
        }
        codes.push(code);
    }
    out.extend_from_slice(&(words.len() as u32).to_le_bytes());
    out.extend(words.iter().map(|word| word.len() as u8));
    words.iter().for_each(|word| out.extend_from_slice(word));
    pack(&codes, out);
    true
}

/// Encodes values as lengths and pieces of bytes.
pub(crate) fn encode_pieces(values: &Values, out: &mut Vec<u8>) {
    pack(&values.lengths(), out);
    for first in (0..values.rows()).step_by(BATCH_ROWS) {
        let last = (first + BATCH_ROWS).min(values.rows());
        let bytes = &values.bytes[values.ends[first]..values.ends[last]];
        let packed = lz4_flex::block::compress(bytes);
        let (piece, mark) = match packed.len() < bytes.len() {
            true => (&packed[..], 0),
            false => (bytes, IS_PLAIN),
        };
        out.extend_from_slice(&(piece.len() as u32 | mark).to_le_bytes());
        out.extend_from_slice(piece);
    }
}

/// A dictionary and its codes.
#[derive(Debug)]
pub(crate) struct EncodedDictionary<'a> {
    words: Vec<&'a [u8]>,
    codes: PackedIntegers<'a>,
}

impl<'a> EncodedDictionary<'a> {
    pub(crate) fn read(rows: usize, bytes: &mut Cursor<'a>) -> Result<Self> {
        let count = bytes.u32()? as usize;
        if count > DICTIONARY_MAX {
            return Err(damaged("has a dictionary that is too large"));
        }
        // The lengths are there before memory is taken for so many words.
        let lengths = bytes.take(count)?;
        let words: Result<Vec<_>> =
            lengths.iter().map(|len| bytes.take(usize::from(*len))).collect();
        Ok(Self { words: words?, codes: PackedIntegers::read(rows, bytes)? })
    }

    pub(crate) fn decode(&self, first: usize, rows: usize) -> Result<Values> {
        let mut codes = Vec::new();
        self.codes.unpack(first / BLOCK_ROWS, rows, &mut codes);
        let mut values = Values::with_rows(rows);
        for code in codes {
            let word = usize::try_from(code).ok().and_then(|code| self.words.get(code));
            values.push(word.ok_or_else(|| damaged("has a code without a word"))?);
        }
        Ok(values)
    }
}

/// Lengths, and the bytes of 8,192 values a piece.
#[derive(Debug)]
pub(crate) struct EncodedPieces<'a> {
    lengths: PackedIntegers<'a>,
    pieces: Vec<(bool, &'a [u8])>,
}

impl<'a> EncodedPieces<'a> {
    pub(crate) fn read(rows: usize, bytes: &mut Cursor<'a>) -> Result<Self> {
        let lengths = PackedIntegers::read(rows, bytes)?;
        let pieces = (0..rows.div_ceil(BATCH_ROWS)).map(|_| {
            let head = bytes.u32()?;
            Ok((head & IS_PLAIN != 0, bytes.take((head & !IS_PLAIN) as usize)?))
        });
        Ok(Self { lengths, pieces: pieces.collect::<Result<_>>()? })
    }

    pub(crate) fn decode(&self, first: usize, rows: usize) -> Result<Values> {
        let (mut lengths, mut values) = (Vec::new(), Values::with_rows(rows));
        self.lengths.unpack(first / BLOCK_ROWS, rows, &mut lengths);
        let mut end = 0usize;
        for len in lengths {
            let next = usize::try_from(len).ok().and_then(|len| end.checked_add(len));
            end = next.ok_or_else(|| damaged("has lengths that no text has"))?;
            values.ends.push(end);
        }
        let (is_plain, piece) = self.pieces[first / BATCH_ROWS];
        let is_possible = match is_plain {
            true => end == piece.len(),
            false => end <= piece.len().saturating_mul(LZ4_RATIO) + LZ4_SLACK,
        };
        if !is_possible {
            return Err(damaged("has lengths that do not fit its texts"));
        }
        values.bytes = match is_plain {
            true => piece.to_vec(),
            false => lz4_flex::block::decompress(piece, end)
                .map_err(|_| damaged("has texts that do not unpack"))?,
        };
        if values.bytes.len() != end {
            return Err(damaged("has lengths that do not fit its texts"));
        }
        Ok(values)
    }
}
