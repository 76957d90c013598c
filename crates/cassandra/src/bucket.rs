//! Buckets: the partitions that rows are spread over.
//!
//! A partition of one row costs Cassandra several times what the same row costs among others. So
//! rows are spread over a fixed number of partitions by a hash of their shard keys. The number is
//! a setting of the store and never changes.

use scylla::routing::partitioner::{Murmur3Partitioner, Partitioner};
use tonnage_engine::placement_hash;

/// The number of a partition of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Bucket(pub(crate) u32);

impl Bucket {
    /// The bucket of a shard key, out of so many.
    #[inline]
    pub(crate) fn of(shard_key: &[u8], buckets: u32) -> Self {
        Self((placement_hash(shard_key) % u64::from(buckets)) as u32)
    }

    /// As Cassandra keeps it: column `p`.
    pub(crate) fn partition_key(self) -> [u8; 4] {
        self.0.to_be_bytes()
    }

    /// The position of the partition on the ring.
    pub(crate) fn token(self) -> i64 {
        Murmur3Partitioner.hash_one(&self.partition_key()).value()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// A scan resumes after a token: of two buckets with one token it would miss the second.
    #[test]
    fn no_two_buckets_have_the_same_token() {
        let tokens: HashSet<i64> = (0..1 << 20).map(|number| Bucket(number).token()).collect();
        assert_eq!(tokens.len(), 1 << 20);
        assert!(!tokens.contains(&i64::MIN), "ranges of tokens begin after the least one");
    }
}
