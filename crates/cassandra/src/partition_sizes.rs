//! Finds partitions that are larger than Cassandra likes, from the rows that a verification reads
//! in order.

use crate::bucket::Bucket;

/// The most bytes of rows that a partition should hold: past it compaction and repair of a node take
/// long, and much of its memory.
const BYTES_MAX: u64 = 100 << 20;

/// How many large partitions of a space are reported.
const WARNINGS_MAX: usize = 10;

/// The partitions of one space, as their rows come by.
pub(crate) struct PartitionSizes {
    place: String,
    is_index: bool,
    current: Option<CurrentPartition>,
    large: Vec<String>,
}

/// The partition whose rows come by.
struct CurrentPartition {
    bucket: Bucket,
    bytes: u64,
    shard_key: Vec<u8>,
    has_others: bool,
}

impl PartitionSizes {
    pub(crate) fn of(place: String, is_index: bool) -> Self {
        Self { place, is_index, current: None, large: Vec::new() }
    }

    /// Takes the next row.
    pub(crate) fn add(&mut self, bucket: Bucket, shard_key: &[u8], bytes: usize) {
        let current = match &mut self.current {
            Some(current) if current.bucket == bucket => current,
            _ => {
                self.end();
                let shard_key = shard_key.to_vec();
                self.current.insert(CurrentPartition {
                    bucket,
                    bytes: 0,
                    shard_key,
                    has_others: false,
                })
            }
        };
        current.bytes += bytes as u64;
        current.has_others |= current.shard_key != shard_key;
    }

    fn end(&mut self) {
        let Some(current) = self.current.take() else { return };
        if current.bytes <= BYTES_MAX || self.large.len() == WARNINGS_MAX {
            return;
        }
        let remedy = match (self.is_index, current.has_others) {
            (true, _) => "an index spreads over the store's shards: drop it if it is little used",
            (false, true) => "unload the table into a store with more buckets",
            (false, false) => "its rows are of one shard key: add a column to it",
        };
        self.large.push(format!(
            "{}: partition {} holds {} MiB, over the {} that Cassandra likes: {remedy}",
            self.place,
            current.bucket.0,
            current.bytes >> 20,
            BYTES_MAX >> 20
        ));
    }

    /// What is reported of them.
    pub(crate) fn into_warnings(mut self) -> Vec<String> {
        self.end();
        self.large
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(rows: &[(u32, &[u8], u64)]) -> Vec<String> {
        let mut partitions = PartitionSizes::of("space 't'".to_owned(), false);
        for (bucket, shard_key, mebibytes) in rows {
            partitions.add(Bucket(*bucket), shard_key, (*mebibytes as usize) << 20);
        }
        partitions.into_warnings()
    }

    #[test]
    fn only_a_partition_over_the_limit_is_told_with_what_helps() {
        assert!(warnings(&[(1, b"a", 60), (2, b"b", 60), (3, b"c", 100)]).is_empty());
        let told = warnings(&[(1, b"a", 60), (2, b"b", 60), (2, b"b", 60), (3, b"c", 1)]);
        assert!(told.len() == 1 && told[0].contains("partition 2 holds 120 MiB"), "{told:?}");
        assert!(told[0].contains("one shard key"), "{told:?}");
        let told = warnings(&[(2, b"b", 60), (2, b"d", 60)]);
        assert!(told[0].contains("more buckets"), "{told:?}");
    }
}
