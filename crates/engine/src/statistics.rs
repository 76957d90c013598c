//! Statistics and verification reports of an engine.

use crate::ShardId;

/// A reading of the whole engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// One reading a shard; a single one of the whole where shards are not places of their own.
    pub shards: Vec<ShardStatistics>,
}

impl Statistics {
    /// Rows in all shards, about.
    pub fn rows_estimate(&self) -> u64 {
        self.shards.iter().map(|shard| shard.rows_estimate).sum()
    }

    /// Bytes on disk in all shards.
    pub fn disk_bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.disk_bytes).sum()
    }

    /// Bytes that compaction still has to rewrite, in all shards, about.
    pub fn compaction_pending_bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.compaction_pending_bytes).sum()
    }
}

/// A reading of one shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardStatistics {
    /// Which shard.
    pub shard: ShardId,
    /// Where it lives.
    pub location: String,
    /// About how many rows it holds, deleted and replaced ones that are not yet cleaned away
    /// included.
    pub rows_estimate: u64,
    /// Bytes of data files.
    pub disk_bytes: u64,
    /// Bytes of memory that hold recent writes.
    pub memtable_bytes: u64,
    /// Bytes of memory that cache blocks.
    pub cache_bytes: u64,
    /// Bytes that compaction still has to rewrite, about.
    pub compaction_pending_bytes: u64,
    /// Data files.
    pub files: u64,
    /// Further figures, by the engine's own names.
    pub details: Vec<(String, u64)>,
}

/// What a verification read and found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Rows read.
    pub rows: u64,
    /// Bytes of keys and values read.
    pub bytes: u64,
    /// What is damaged; empty when all is well.
    pub damages: Vec<Damage>,
    /// What is sound, and should still be changed, each with how.
    pub warnings: Vec<String>,
}

/// One damaged place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where: a file, a shard, or a key.
    pub location: String,
    /// What is wrong there.
    pub what: String,
}
