//! Counts cache hits and misses, to tell whether keys find their blocks in the cache.

use rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};

/// Counts the blocks that this thread finds in the cache, and those that it reads from files.
pub(super) struct CacheMisses {
    hits_before: u64,
    reads_before: u64,
}

impl CacheMisses {
    /// Counts from here on.
    pub(super) fn since_now() -> Self {
        set_perf_stats(PerfStatsLevel::EnableCount);
        Self { hits_before: hits(), reads_before: reads() }
    }

    /// Whether a good part of the blocks of so many keys came from files: more than one for three
    /// that were in the cache, and not just a few for many keys.
    ///
    /// Filters and indexes that are kept in the cache count as well, up to two hits for each key:
    /// so half of the blocks would be too much to ask for.
    pub(super) fn are_many_for(&self, keys: usize) -> bool {
        let (hits, reads) = (hits() - self.hits_before, reads() - self.reads_before);
        reads * 3 > hits && reads * 16 >= keys as u64
    }
}

fn hits() -> u64 {
    PerfContext::default().metric(PerfMetric::BlockCacheHitCount)
}

fn reads() -> u64 {
    PerfContext::default().metric(PerfMetric::BlockReadCount)
}
