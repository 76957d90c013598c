//! Whole numbers in blocks of 1,024: the least value of a block, and the bits that the others need.
//!
//! A block is packed in groups of 64 values: of W bits they fill W words of 8 bytes. The heads of
//! all blocks stand before the words, so that the place of a block is known without reading others.

use std::ops::RangeInclusive;

use tonnage_engine::Result;

use crate::cursor::{Cursor, damaged};

/// Values that share a least value and a width.
pub(crate) const BLOCK_ROWS: usize = 1_024;
const GROUP_ROWS: usize = 64;
/// The least value and the width of a block.
const HEAD_BYTES: usize = 9;
const WORD_BYTES: usize = 8;

/// Packs values after what `out` has.
pub(crate) fn pack(values: &[i64], out: &mut Vec<u8>) {
    let heads: Vec<(i64, usize)> = values.chunks(BLOCK_ROWS).map(head).collect();
    for (least, width) in &heads {
        out.extend_from_slice(&least.to_le_bytes());
        out.push(*width as u8);
    }
    for (block, (least, width)) in values.chunks(BLOCK_ROWS).zip(heads) {
        block.chunks(GROUP_ROWS).for_each(|group| pack_group(group, least, width, out));
    }
}

/// The least value of a block, and how many bits the distance to its greatest one has.
fn head(block: &[i64]) -> (i64, usize) {
    let least = block.iter().copied().min().unwrap_or_default();
    let greatest = block.iter().copied().max().unwrap_or_default();
    (least, (u64::BITS - distance(greatest, least).leading_zeros()) as usize)
}

fn distance(value: i64, least: i64) -> u64 {
    value.wrapping_sub(least) as u64
}

fn pack_group(group: &[i64], least: i64, width: usize, out: &mut Vec<u8>) {
    let mut words = [0u64; GROUP_ROWS];
    if width == 0 {
        return;
    }
    for (index, value) in group.iter().enumerate() {
        let (bits, at) = (distance(*value, least), index * width);
        let (word, shift) = (at / GROUP_ROWS, at % GROUP_ROWS);
        words[word] |= bits << shift;
        if shift + width > GROUP_ROWS {
            words[word + 1] |= bits >> (GROUP_ROWS - shift);
        }
    }
    words[..width].iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
}

/// Packed values whose heads and lengths were checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedIntegers<'a> {
    rows: usize,
    heads: &'a [[u8; HEAD_BYTES]],
    words: &'a [[u8; WORD_BYTES]],
}

impl<'a> PackedIntegers<'a> {
    /// Takes as many bytes as the heads of `rows` values ask for.
    pub(crate) fn read(rows: usize, bytes: &mut Cursor<'a>) -> Result<Self> {
        let (heads, _) = bytes.take(rows.div_ceil(BLOCK_ROWS) * HEAD_BYTES)?.as_chunks();
        let mut words = 0;
        for (block, head) in heads.iter().enumerate() {
            if width_of(head) > GROUP_ROWS {
                return Err(damaged("names a width of more than 64 bits"));
            }
            words += groups_of(rows, block) * width_of(head);
        }
        let (words, _) = bytes.take(words * WORD_BYTES)?.as_chunks();
        Ok(Self { rows, heads, words })
    }

    /// What bounds the values of each block.
    pub(crate) fn zones(self) -> impl Iterator<Item = RangeInclusive<i64>> + use<'a> {
        self.heads.iter().map(|head| {
            let (least, width) = (least_of(head), width_of(head) as u32);
            let span = u64::MAX.checked_shr(u64::BITS - width).unwrap_or(0);
            least..=least.saturating_add_unsigned(span)
        })
    }

    /// Appends the values of blocks from `first` on, `rows` of them or up to the end.
    pub(crate) fn unpack(self, first: usize, rows: usize, out: &mut Vec<i64>) {
        let rows = rows.min(self.rows.saturating_sub(first * BLOCK_ROWS));
        let before = self.heads.iter().take(first).enumerate();
        let skipped: usize =
            before.map(|(block, head)| groups_of(self.rows, block) * width_of(head)).sum();
        let mut words = &self.words[skipped..];
        let end = out.len() + rows;
        out.reserve(rows);
        for (block, head) in self.heads.iter().enumerate().skip(first) {
            let (least, width) = (least_of(head), width_of(head));
            for _ in 0..groups_of(self.rows, block) {
                let left = end - out.len();
                if left == 0 {
                    return;
                }
                let (group, rest) = words.split_at(width);
                words = rest;
                let mut values = [0u64; GROUP_ROWS];
                UNPACK[width](group, &mut values);
                let values = values.iter().take(left);
                out.extend(values.map(|value| least.wrapping_add(*value as i64)));
            }
        }
    }
}

fn least_of(head: &[u8; HEAD_BYTES]) -> i64 {
    let [bytes @ .., _] = *head;
    i64::from_le_bytes(bytes)
}

fn width_of(head: &[u8; HEAD_BYTES]) -> usize {
    usize::from(head[HEAD_BYTES - 1])
}

/// How many groups a block has: the last block may be short.
fn groups_of(rows: usize, block: usize) -> usize {
    (rows - block * BLOCK_ROWS).min(BLOCK_ROWS).div_ceil(GROUP_ROWS)
}

type UnpackGroup = fn(&[[u8; WORD_BYTES]], &mut [u64; GROUP_ROWS]);

/// One function a width, so that its shifts are constants.
fn unpack_group<const WIDTH: usize>(words: &[[u8; WORD_BYTES]], out: &mut [u64; GROUP_ROWS]) {
    if WIDTH == 0 {
        return;
    }
    let (words, mask) = (&words[..WIDTH], u64::MAX >> (GROUP_ROWS - WIDTH));
    for (index, value) in out.iter_mut().enumerate() {
        let (word, shift) = (index * WIDTH / GROUP_ROWS, index * WIDTH % GROUP_ROWS);
        let mut bits = u64::from_le_bytes(words[word]) >> shift;
        if shift + WIDTH > GROUP_ROWS {
            bits |= u64::from_le_bytes(words[word + 1]) << (GROUP_ROWS - shift);
        }
        *value = bits & mask;
    }
}

macro_rules! unpack_groups {
    ($($width:literal)*) => { [$(unpack_group::<$width>,)*] };
}

const UNPACK: [UnpackGroup; GROUP_ROWS + 1] = unpack_groups!(
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34
    35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
);
