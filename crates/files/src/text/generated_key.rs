//! Generates keys for documents that have none.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{ArrayRef, FixedSizeBinaryArray, Int64Array};
use arrow::datatypes::{DataType, Field};
use tonnage_engine::{Error, Result};

use super::block::Block;
use crate::type_name::type_name;

/// Refuses a column for which no key can be generated.
pub(super) fn check(field: &Field) -> Result<()> {
    match field.data_type() {
        DataType::Int64 | DataType::FixedSizeBinary(16) => Ok(()),
        _ => Err(Error::invalid(format!(
            "column {} holds {}: keys are made for columns of type UUID, and for LONG, which takes the number of the record",
            field.name(),
            type_name(field)
        ))),
    }
}

/// A key for each record of a block.
pub(super) fn keys(field: &Field, block: &Block) -> Result<ArrayRef> {
    if *field.data_type() == DataType::Int64 {
        let number = |record: u32| (block.first_record + u64::from(record)) as i64;
        return Ok(Arc::new(Int64Array::from_iter_values(
            block.spans.iter().map(|span| number(span.record)),
        )));
    }
    let bytes: Vec<u8> = block.spans.iter().flat_map(|_| uuid()).collect();
    let keys = FixedSizeBinaryArray::try_new(16, bytes.into(), None);
    keys.map(|keys| Arc::new(keys) as ArrayRef)
        .map_err(|error| Error::internal(format!("keys could not be made: {error}")))
}

/// A random UUID (version 4): the standard library's keyed hash, whose key comes from the system,
/// over a counter.
fn uuid() -> [u8; 16] {
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&KEYS.hash_one((number, 0_u8)).to_le_bytes());
    bytes[8..].copy_from_slice(&KEYS.hash_one((number, 1_u8)).to_le_bytes());
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    bytes
}
