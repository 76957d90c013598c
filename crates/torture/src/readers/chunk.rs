//! Chunks of columns. They are read as they are, and with a checksum that is right again: it guards
//! code that a change would otherwise never reach.

use std::sync::Arc;

use tonnage::arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Float64Array, Int64Array, StringArray,
};
use tonnage::arrow::datatypes::DataType;
use tonnage_columns::{BATCH_ROWS, Chunk, ChunkId, encode, seal};

use crate::fallible::Fallible;

const ID: ChunkId = ChunkId { segment: 0, column: 0 };
const ROWS: i64 = 1_100;
/// What a chunk is read as.
const TYPES: [DataType; 11] = [
    DataType::Int64,
    DataType::Int8,
    DataType::Boolean,
    DataType::Float64,
    DataType::Utf8,
    DataType::Binary,
    DataType::Decimal128(38, 2),
    DataType::Decimal256(76, 2),
    DataType::FixedSizeBinary(8),
    DataType::Date32,
    DataType::Float32,
];

/// One chunk of each layout.
pub(super) fn samples() -> Fallible<Vec<Vec<u8>>> {
    let each = || (0..ROWS).map(|row| (row % 7 != 0).then_some(row));
    let text = |row: i64| format!("{row}: what repeats itself repeats itself");
    let arrays: [ArrayRef; 6] = [
        Arc::new(each().collect::<Int64Array>()),
        Arc::new(each().map(|row| row.map(|row| row % 2 == 0)).collect::<BooleanArray>()),
        Arc::new(each().map(|row| row.map(|row| row as f64 / 8.0)).collect::<Float64Array>()),
        Arc::new(
            each().map(|row| row.map(|row| ["a", "bc"][row as usize % 2])).collect::<StringArray>(),
        ),
        Arc::new(each().map(|row| row.map(text)).collect::<StringArray>()),
        Arc::new(each().map(|row| row.map(i64::to_le_bytes)).collect::<BinaryArray>()),
    ];
    let chunks: tonnage::Result<_> = arrays.iter().map(|array| encode(array, ID)).collect();
    Ok(chunks?)
}

/// What is wrong with what a chunk gives: more or fewer rows than it says.
pub(super) fn judge(case: &[u8]) -> Result<(), String> {
    let mut sealed = case.to_vec();
    seal(&mut sealed);
    judge_bytes(case)?;
    judge_bytes(&sealed)
}

fn judge_bytes(bytes: &[u8]) -> Result<(), String> {
    let Ok(chunk) = Chunk::open(bytes, ID) else { return Ok(()) };
    for batch in 0..chunk.batches() {
        let rows = (chunk.rows() - batch * BATCH_ROWS).min(BATCH_ROWS);
        for data_type in &TYPES {
            let Ok(array) = chunk.decode(batch, data_type) else { continue };
            if array.len() != rows || array.data_type() != data_type {
                return Err(format!("ROWS {} of {data_type} instead of {rows}", array.len()));
            }
        }
    }
    Ok(())
}
