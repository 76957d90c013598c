//! What keeps a store in order: sync, settle, statistics.

use std::time::Instant;

use rocksdb::{ErrorKind, WaitForCompactOptions};
use tonnage_engine::{Deadline, Result, ShardStatistics, Statistics};

use crate::directory::synced_manifest::MissingEnd;
use crate::error::translate;
use crate::open_store::OpenStore;
use crate::rows_family::ROWS;
use crate::shard::Shard;

/// Properties of RocksDB that are reported by their own names. Writes are held up while
/// `is_write_stopped` is 1. They are slowed down to so many bytes a second while
/// `actual_delayed_write_rate` is not 0; the shard reports that, see [`crate::write_throttle`].
const DETAILS: [&str; 5] = [
    "num-running-compactions",
    "num-running-flushes",
    "estimate-table-readers-mem",
    "num-deletes-active-mem-table",
    "is-write-stopped",
];

/// What a settling waits for.
const COMPACTION: &str = "compaction";

impl OpenStore {
    pub(crate) fn sync_all(&self) -> Result<()> {
        self.shards().iter().try_for_each(Shard::sync_log)
    }

    /// Memtables are flushed first: what is in them would be rewritten later.
    pub(crate) fn wait_for_compaction(&self, deadline: Deadline) -> Result<()> {
        let mut options = WaitForCompactOptions::default();
        options.set_flush(true);
        for shard in self.shards() {
            deadline.check(COMPACTION)?;
            if let Some(moment) = deadline.moment() {
                let left = moment.saturating_duration_since(Instant::now()).as_micros();
                // No time at all would be no limit.
                options.set_timeout(left.clamp(1, u64::MAX.into()) as u64);
            }
            shard.compaction_pause.resume();
            match shard.db().wait_for_compact(&options) {
                Err(error) if error.kind() == ErrorKind::TimedOut => {
                    return Err(Deadline::passed(COMPACTION));
                }
                waited => waited.map_err(|error| translate(shard.display_name(), error))?,
            }
        }
        Ok(())
    }

    pub(crate) fn read_statistics(&self) -> Result<Statistics> {
        let shards = self
            .shards()
            .iter()
            .map(|shard| self.shard_statistics(shard))
            .collect::<Result<_>>()?;
        Ok(Statistics { shards })
    }

    fn shard_statistics(&self, shard: &Shard) -> Result<ShardStatistics> {
        let property = |name: &str| -> Result<u64> {
            let value = shard
                .db()
                .property_int_value_cf(shard.rows(), name)
                .map_err(|error| translate(shard.display_name(), error))?;
            Ok(value.unwrap_or(0))
        };
        let files =
            shard.db().live_files().map_err(|error| translate(shard.display_name(), error))?;
        // Only files of rows: the properties are of that column family alone, too.
        let files: Vec<_> = files.iter().filter(|file| file.column_family_name == ROWS).collect();
        let levels = files.iter().map(|file| file.level).max().map_or(0, |level| level + 1);
        let mut details: Vec<(String, u64)> = (0..levels)
            .map(|level| {
                (
                    format!("files_at_level_{level}"),
                    files.iter().filter(|file| file.level == level).count() as u64,
                )
            })
            .collect();
        for name in DETAILS {
            details.push((name.replace('-', "_"), property(&format!("rocksdb.{name}"))?));
        }
        details.push(("actual_delayed_write_rate".to_owned(), shard.throttle.rate()));
        let cuts =
            shard.cuts.iter().map(|cut| (format!("log_{:06}_bytes_given_up", cut.log), cut.lost));
        details.extend(cuts);
        let lost =
            |end: MissingEnd| (format!("manifest_{:06}_bytes_given_up", end.manifest), end.lost);
        details.extend(shard.manifest_end.map(lost));
        Ok(ShardStatistics {
            shard: shard.id,
            location: shard.directory.display().to_string(),
            rows_estimate: property("rocksdb.estimate-num-keys")?,
            disk_bytes: property("rocksdb.total-sst-files-size")?,
            memtable_bytes: property("rocksdb.cur-size-all-mem-tables")?,
            // The cache serves all shards; each gets its share.
            cache_bytes: self.cache().get_usage() as u64 / self.shards().len() as u64,
            compaction_pending_bytes: property("rocksdb.estimate-pending-compaction-bytes")?,
            files: files.len() as u64,
            details,
        })
    }
}
