//! Seeded data, made on the fly: nothing of it is kept in memory.

use std::sync::Arc;

use tonnage::arrow::array::{
    ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, TimestampSecondArray,
};

pub(crate) const KEY_LEN: usize = 16;
pub(crate) const VALUE_LEN: usize = 100;

/// A bijection that looks random: the finaliser of SplitMix64.
pub(crate) fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// The random key of a row.
pub(crate) fn key(row: u64) -> [u8; KEY_LEN] {
    let mut key = [0; KEY_LEN];
    key[..8].copy_from_slice(&mix(row).to_be_bytes());
    key[8..].copy_from_slice(&mix(row ^ 0x5555_5555).to_be_bytes());
    key
}

/// A mebibyte of values of which the second half repeats the first.
pub(crate) struct Values(Vec<u8>);

impl Values {
    pub(crate) fn new() -> Self {
        let mut data = Vec::with_capacity((1 << 20) + VALUE_LEN);
        let mut seed = 1;
        while data.len() < 1 << 20 {
            let start = data.len();
            for _ in 0..VALUE_LEN / 2 {
                seed = mix(seed);
                data.push(b' ' + (seed % 95) as u8);
            }
            data.extend_from_within(start..);
        }
        Values(data)
    }

    pub(crate) fn of(&self, row: u64) -> &[u8] {
        let pieces = (self.0.len() / VALUE_LEN) as u64;
        &self.0[(row % pieces) as usize * VALUE_LEN..][..VALUE_LEN]
    }
}

/// The table of positions: two key columns and six more.
pub(crate) const POSITIONS_DDL: &str = "CREATE TABLE positions (ship LONG, at TIMESTAMP(0), lat DOUBLE, lon DOUBLE, speed DOUBLE, course DOUBLE, \
     status INTEGER, name STRING, PRIMARY KEY (SHARD(ship), at))";

/// Ships that report in turn.
pub(crate) const SHIPS: u64 = 10_000;

/// Positions `rows`, as they come in: time after time, at each time one of every ship.
pub(crate) fn positions(rows: std::ops::Range<u64>) -> RecordBatch {
    let column =
        |of: fn(u64) -> f64| Arc::new(rows.clone().map(of).collect::<Float64Array>()) as ArrayRef;
    let ship = |row: u64| 200_000_000 + (mix(row % SHIPS) % 600_000_000) as i64;
    let at = rows.clone().map(|row| 1_640_995_200 + (row / SHIPS) as i64 * 10);
    let columns = [
        ("ship", Arc::new(rows.clone().map(ship).collect::<Int64Array>()) as ArrayRef),
        ("at", Arc::new(TimestampSecondArray::from_iter_values(at))),
        ("lat", column(|row| (mix(row) % 9_000_000) as f64 / 1e5)),
        ("lon", column(|row| -((mix(row + 1) % 18_000_000) as f64) / 1e5)),
        ("speed", column(|row| (mix(row + 2) % 300) as f64 / 10.0)),
        ("course", column(|row| (mix(row + 3) % 3_600) as f64 / 10.0)),
        ("status", Arc::new(rows.clone().map(|row| (row % 16) as i32).collect::<Int32Array>())),
        (
            "name",
            Arc::new(
                rows.map(|row| format!("SHIP {:05}", row % SHIPS))
                    .collect::<Vec<_>>()
                    .into_iter()
                    .map(Some)
                    .collect::<StringArray>(),
            ),
        ),
    ];
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}
