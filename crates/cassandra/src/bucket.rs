//! Buckets: the partitions that rows are spread over.
//!
//! A partition of one row costs Cassandra several times what the same row costs among others. So
//! rows are spread over a fixed number of partitions by a hash of their shard keys. The number is
//! a setting of the store and never changes.

use scylla::routing::partitioner::{Murmur3Partitioner, Partitioner};

/// The number of a partition of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Bucket(pub(crate) u32);

impl Bucket {
    /// The bucket of a shard key, out of so many.
    #[inline]
    pub(crate) fn of(shard_key: &[u8], buckets: u32) -> Self {
        Self((hash(shard_key) % u64::from(buckets)) as u32)
    }

    /// As Cassandra keeps it: column `p`.
    pub(crate) fn partition_key(self) -> [u8; 4] {
        self.0.to_be_bytes()
    }

    /// Where the partition stands on the ring.
    pub(crate) fn token(self) -> i64 {
        Murmur3Partitioner.hash_one(&self.partition_key()).value()
    }
}

/// 64-bit FNV-1a with the finalizer of MurmurHash3. Stores depend on it: it never changes.
#[inline]
fn hash(bytes: &[u8]) -> u64 {
    let fnv = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    let mixed = (fnv ^ (fnv >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ (mixed >> 33)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_hash_never_changes() {
        assert_eq!(hash(b""), 0xefd0_1f60_ba99_2926);
        assert_eq!(hash(b"Nokia"), 0x0790_55e4_ea0e_54bd);
    }

    /// A scan goes on behind a token: of two buckets with one token it would miss the second.
    #[test]
    fn no_two_buckets_have_the_same_token() {
        let tokens: HashSet<i64> = (0..1 << 20).map(|number| Bucket(number).token()).collect();
        assert_eq!(tokens.len(), 1 << 20);
        assert!(!tokens.contains(&i64::MIN), "ranges of tokens begin behind the least one");
    }
}
