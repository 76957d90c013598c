//! Numbers scattered without a draw.

/// Scatters a number over all 64-bit numbers, no two onto the same one: what SplitMix64 gives first
/// when seeded with it.
pub fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_what_splitmix64_gives() {
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(1_234_567), 6_457_827_717_110_365_317);
    }

    #[test]
    fn no_two_of_a_million_numbers_meet() {
        let mut mixed: Vec<u64> = (0..1_000_000).map(mix).collect();
        mixed.sort_unstable();
        assert!(mixed.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
