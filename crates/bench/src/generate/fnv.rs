//! The hash of Fowler, Noll and Vo.

/// FNV-1a of 64 bits.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_that_its_authors_publish() {
        for (text, hash) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("b", 0xaf63_df4c_8601_f1a5),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            assert_eq!(fnv1a_64(text.as_bytes()), hash, "{text}");
        }
    }

    #[test]
    fn hashes_of_numbers_are_those_in_the_keys_that_ycsb_loads_first() {
        let keys =
            [6_284_781_860_667_377_211, 8_517_097_267_634_966_620, 1_820_151_046_732_198_393];
        assert_eq!([0, 1, 2].map(ycsb_hash), keys);
    }
}
