//! Finds the columns in encoded keys.

use tonnage_engine::Error;

use super::TableCodec;
use super::layout::{KeyStep, MARKER_LEN};

/// Where the requested key columns of many keys begin.
pub(super) struct KeyOffsets {
    /// The steps that are wanted, in key order.
    wanted: Vec<usize>,
    /// For each key the place of each wanted column.
    offsets: Vec<u32>,
}

impl KeyOffsets {
    /// Where the column of that step begins in the key with that index.
    #[inline]
    pub(super) fn get(&self, index: usize, wanted: usize) -> usize {
        self.offsets[index * self.wanted.len() + wanted] as usize
    }

    /// Which of the wanted columns a step is.
    pub(super) fn position(&self, step: usize) -> Option<usize> {
        self.wanted.iter().position(|wanted| *wanted == step)
    }
}

impl TableCodec {
    /// Walks every key to its end and notes where the wanted columns begin.
    pub(super) fn key_offsets<'k>(
        &self,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
        wanted: Vec<usize>,
    ) -> Result<KeyOffsets, Error> {
        let mut offsets = Vec::with_capacity(keys.len() * wanted.len());
        for key in keys {
            let mut at = 0;
            let mut next = wanted.iter().copied().peekable();
            for (index, step) in self.key.iter().enumerate() {
                let part =
                    self.key_part_at(key, &mut at, step).ok_or_else(|| key_error(self, key))?;
                if next.next_if_eq(&index).is_some() {
                    offsets.push((at - part.len()) as u32);
                }
            }
            if at != key.len() {
                return Err(key_error(self, key));
            }
        }
        Ok(KeyOffsets { wanted, offsets })
    }

    /// The part of a key that a step wrote at `at`, which moves past it.
    #[inline]
    pub(super) fn key_part_at<'k>(
        &self,
        key: &'k [u8],
        at: &mut usize,
        step: &KeyStep,
    ) -> Option<&'k [u8]> {
        let mut start = *at;
        if let Some(marker) = step.marker {
            if key.get(start..start + MARKER_LEN)? != marker.to_be_bytes() {
                return None;
            }
            start += MARKER_LEN;
        }
        let end = step.part.end(key, start)?;
        *at = end;
        Some(&key[start..end])
    }
}

#[cold]
pub(super) fn key_error(codec: &TableCodec, key: &[u8]) -> Error {
    codec.corruption(key, "the key is not one of this table")
}
