//! The hash that places rows. It is part of the format: it must give the same number for ever, on
//! every machine.
//!
//! 1. FNV-1a over the bytes: start with `0xcbf29ce484222325`; for each byte, xor it in, then
//!    multiply by `0x100000001b3`.
//! 2. Avalanche (the finaliser of MurmurHash3), so that every bit of the input moves every bit of
//!    the hash: xor with itself shifted right by 33, multiply by `0xff51afd7ed558ccd`, shift-xor by
//!    33, multiply by `0xc4ceb9fe1a85ec53`, shift-xor by 33.

/// The hash of a shard key, which says where its rows are: the shard of a store on disk, the bucket
/// of one on a cluster.
#[inline]
pub fn placement_hash(bytes: &[u8]) -> u64 {
    let fnv = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    let mixed = (fnv ^ (fnv >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ (mixed >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_never_changes() {
        assert_eq!(placement_hash(b""), 0xefd0_1f60_ba99_2926);
        assert_eq!(placement_hash(b"Nokia"), 0x0790_55e4_ea0e_54bd);
    }

    #[test]
    fn short_keys_spread_evenly_over_shards() {
        let mut counts = [0; 3];
        (0..30_000_u32)
            .for_each(|key| counts[(placement_hash(&key.to_be_bytes()) % 3) as usize] += 1);
        assert!(counts.iter().all(|count| (9_600..10_400).contains(count)), "{counts:?}");
    }
}
