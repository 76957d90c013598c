//! The position of a scan, as bytes that outlive the scan.

use crate::{Error, Result};

/// The position of a scan: what is before it was given or passed over.
///
/// Only the engine that created it can read it. Its bytes may be kept while the scan is closed, and
/// handed to another process that has the same store open.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScanPosition(Vec<u8>);

impl ScanPosition {
    /// A position that its engine describes by these bytes.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// What describes it.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The position of an engine that keeps keys in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyPosition {
    /// The range under way, or the number of ranges when the scan is over.
    pub range: u32,
    /// The shard under way; nothing before the range is entered.
    pub shard: Option<u32>,
    /// The key at the scan; nothing at the beginning of the range.
    pub key: Option<Vec<u8>>,
    /// Whether the scan is at that key, not after it.
    pub is_before_key: bool,
    /// Rows counted towards the limit of the range.
    pub counted_in_range: u64,
    /// The shard key that rows were counted under last; empty for none.
    pub shard_key: Vec<u8>,
    /// Rows counted towards the limit of that shard key.
    pub counted_in_shard_key: u64,
}

const HAS_SHARD: u8 = 1;
const HAS_KEY: u8 = 2;
const IS_BEFORE_KEY: u8 = 4;

impl KeyPosition {
    /// The position as callers keep it.
    pub fn to_position(&self) -> ScanPosition {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let mut bytes = vec![
            flag(self.shard.is_some(), HAS_SHARD)
                | flag(self.key.is_some(), HAS_KEY)
                | flag(self.is_before_key, IS_BEFORE_KEY),
        ];
        bytes.extend_from_slice(&self.range.to_be_bytes());
        bytes.extend_from_slice(&self.shard.unwrap_or(0).to_be_bytes());
        bytes.extend_from_slice(&self.counted_in_range.to_be_bytes());
        bytes.extend_from_slice(&self.counted_in_shard_key.to_be_bytes());
        bytes.extend_from_slice(&(self.shard_key.len() as u32).to_be_bytes());
        bytes.extend_from_slice(&self.shard_key);
        bytes.extend_from_slice(self.key.as_deref().unwrap_or_default());
        ScanPosition(bytes)
    }

    /// Reads what [`KeyPosition::to_position`] wrote.
    ///
    /// # Errors
    /// `Invalid` for anything else.
    pub fn from_position(position: &ScanPosition) -> Result<Self> {
        Self::read(&position.0).ok_or_else(not_of_this_scan)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let ([flags], bytes) = bytes.split_first_chunk::<1>()?;
        let (range, bytes) = bytes.split_first_chunk::<4>()?;
        let (shard, bytes) = bytes.split_first_chunk::<4>()?;
        let (counted_in_range, bytes) = bytes.split_first_chunk::<8>()?;
        let (counted_in_shard_key, bytes) = bytes.split_first_chunk::<8>()?;
        let (len, bytes) = bytes.split_first_chunk::<4>()?;
        let (shard_key, key) = bytes.split_at_checked(u32::from_be_bytes(*len) as usize)?;
        let has_key = flags & HAS_KEY != 0;
        if !has_key && !key.is_empty() {
            return None;
        }
        Some(Self {
            range: u32::from_be_bytes(*range),
            shard: (flags & HAS_SHARD != 0).then_some(u32::from_be_bytes(*shard)),
            key: has_key.then(|| key.to_vec()),
            is_before_key: flags & IS_BEFORE_KEY != 0,
            counted_in_range: u64::from_be_bytes(*counted_in_range),
            shard_key: shard_key.to_vec(),
            counted_in_shard_key: u64::from_be_bytes(*counted_in_shard_key),
        })
    }
}

/// The error of a position that does not fit the scan that it is handed to.
#[cold]
pub fn not_of_this_scan() -> Error {
    Error::invalid("a position is not one of this scan: begin the scan anew")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_position_is_read_as_it_was_written(
            range in any::<u32>(),
            shard in any::<Option<u32>>(),
            key in any::<Option<Vec<u8>>>(),
            is_before_key in any::<bool>(),
            counted_in_range in any::<u64>(),
            shard_key in any::<Vec<u8>>(),
            counted_in_shard_key in any::<u64>(),
        ) {
            let written = KeyPosition {
                range, shard, key, is_before_key, counted_in_range, shard_key, counted_in_shard_key,
            };
            prop_assert_eq!(KeyPosition::from_position(&written.to_position()).unwrap(), written);
        }

        #[test]
        fn what_is_no_position_is_invalid_or_read(bytes in any::<Vec<u8>>()) {
            if let Err(error) = KeyPosition::from_position(&ScanPosition::from_bytes(bytes)) {
                prop_assert_eq!(error.kind(), crate::ErrorKind::Invalid);
            }
        }
    }
}
