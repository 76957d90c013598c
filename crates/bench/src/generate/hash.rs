//! Numbers scattered without a draw, and the keys that are made of them.

/// Scatters a number over all 64-bit numbers, no two onto the same one: what SplitMix64 gives first
/// when seeded with it.
pub(crate) fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// FNV-1a of 64 bits: the hash of Fowler, Noll and Vo.
pub(crate) fn fnv1a_64(bytes: &[u8]) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    bytes.iter().fold(BASIS, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

/// YCSB's hash of a number: FNV-1a of its eight bytes, the lowest first, with the sign of Java's
/// `long` taken away.
pub(crate) fn ycsb_hash(number: u64) -> u64 {
    (fnv1a_64(&number.to_le_bytes()) as i64).unsigned_abs()
}

/// The key of a row that looks random: sixteen hexadecimal digits, a different one for each row.
pub(crate) fn pair_key(row: u64) -> [u8; 16] {
    ordered_key(mix(row))
}

/// The key of a row that keeps the rows' order: sixteen hexadecimal digits.
pub(crate) fn ordered_key(row: u64) -> [u8; 16] {
    let digit = |place: usize| b"0123456789abcdef"[(row >> (60 - 4 * place)) as usize & 15];
    std::array::from_fn(digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixing_gives_what_splitmix64_gives_and_no_number_twice() {
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(1_234_567), 6_457_827_717_110_365_317);
        let mut mixed: Vec<u64> = (0..1_000_000).map(mix).collect();
        mixed.sort_unstable();
        assert!(mixed.windows(2).all(|pair| pair[0] < pair[1]));
    }

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

    #[test]
    fn a_key_is_the_hexadecimal_number() {
        assert_eq!(&ordered_key(0x0123_4567_89ab_cdef), b"0123456789abcdef");
        assert_eq!(pair_key(7), *format!("{:016x}", mix(7)).as_bytes());
    }
}
