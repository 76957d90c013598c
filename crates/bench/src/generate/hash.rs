//! Numbers scattered without a draw, and their keys.

/// Scatters a number over all 64-bit numbers, no two onto the same one: what SplitMix64 gives first
/// when seeded with it.
pub fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// FNV-1a of 64 bits: the hash of Fowler, Noll and Vo.
pub fn fnv1a_64(bytes: &[u8]) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    bytes.iter().fold(BASIS, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

/// YCSB's hash of a number: FNV-1a of its eight bytes, the lowest first, with the sign of Java's
/// `long` taken away.
pub fn ycsb_hash(number: u64) -> u64 {
    (fnv1a_64(&number.to_le_bytes()) as i64).unsigned_abs()
}

/// The key of a row that looks random: sixteen hexadecimal digits, a different one for each row.
pub fn pair_key(row: u64) -> [u8; 16] {
    ordered_key(mix(row))
}

/// The key of a row that keeps the rows' order: sixteen hexadecimal digits.
pub fn ordered_key(row: u64) -> [u8; 16] {
    let digit = |place: usize| b"0123456789abcdef"[(row >> (60 - 4 * place)) as usize & 15];
    std::array::from_fn(digit)
}
