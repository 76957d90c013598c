//! What keeps a store in order: sync, settle, copies, statistics.

use std::fs;
use std::path::{Path, PathBuf};

use rocksdb::WaitForCompactOptions;
use rocksdb::checkpoint::Checkpoint;
use tonnage_engine::{Error, Result, ShardStatistics, Statistics};

use crate::RocksEngine;
use crate::error::translate;
use crate::manifest::{sync_directory, unavailable};
use crate::places::write_copy;
use crate::shard::{ROWS, Shard};

/// Properties of RocksDB that are told by their own names. Writes are held up while `is_write_stopped` is 1. They are slowed down to
/// so many bytes a second while `actual_delayed_write_rate` is not 0; that is told by the shard, see [`crate::pace`].
const DETAILS: [&str; 5] = [
    "num-running-compactions",
    "num-running-flushes",
    "estimate-table-readers-mem",
    "num-deletes-active-mem-table",
    "is-write-stopped",
];

impl RocksEngine {
    pub(crate) fn sync_all(&self) -> Result<()> {
        self.shards().iter().try_for_each(|shard| shard.db().flush_wal(true).map_err(|error| translate(shard.place(), error)))
    }

    /// Memtables are flushed first: what is in them would be rewritten later.
    pub(crate) fn wait_for_compaction(&self) -> Result<()> {
        let mut options = WaitForCompactOptions::default();
        options.set_flush(true);
        for shard in self.shards() {
            shard.respite.end();
            let waited = shard.db().wait_for_compact(&options);
            waited.map_err(|error| translate(shard.place(), error))?;
        }
        Ok(())
    }

    /// Copies into a directory beside the one asked for, which gets its name only when the copy is whole. Data files are
    /// linked, not copied, where both lie on one disk.
    pub(crate) fn copy_to(&self, directory: &Path) -> Result<()> {
        if directory.exists() {
            return Err(Error::invalid(format!("{}: it exists: a copy needs a directory of its own", directory.display())));
        }
        let partial = with_suffix(directory, ".partial");
        fs::create_dir_all(directory.parent().unwrap_or(Path::new("."))).map_err(|error| unavailable(directory, error))?;
        fs::create_dir(&partial).map_err(|error| {
            let error = unavailable(&partial, error);
            if partial.exists() { Error::invalid(format!("{error}: a copy was cut short there: remove it")) } else { error }
        })?;
        let copied = self.copy_shards(&partial).and_then(|()| {
            fs::rename(&partial, directory).map_err(|error| unavailable(directory, error))?;
            let parent = directory.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            sync_directory(parent).map_err(|error| unavailable(parent, error))
        });
        if copied.is_err() {
            let _ = fs::remove_dir_all(&partial);
        }
        copied
    }

    /// The list of spaces stands still meanwhile, so that no shard has rows of a space that shard 0 does not know.
    fn copy_shards(&self, root: &Path) -> Result<()> {
        let _held = self.spaces_list().hold();
        let mut shards = Vec::new();
        for shard in self.shards() {
            let name = PathBuf::from(format!("shard-{}", shard.id.0));
            let target = root.join(&name);
            fs::create_dir(&target).map_err(|error| unavailable(&target, error))?;
            let copied = Checkpoint::new(shard.db()).and_then(|checkpoint| checkpoint.create_checkpoint(target.join("db")));
            copied.map_err(|error| translate(target.display(), error))?;
            sync_directory(&target).map_err(|error| unavailable(&target, error))?;
            shards.push(name);
        }
        write_copy(root, shards)
    }

    pub(crate) fn read_statistics(&self) -> Result<Statistics> {
        let shards = self.shards().iter().map(|shard| self.shard_statistics(shard)).collect::<Result<_>>()?;
        Ok(Statistics { shards })
    }

    fn shard_statistics(&self, shard: &Shard) -> Result<ShardStatistics> {
        let property = |name: &str| -> Result<u64> {
            let value = shard.db().property_int_value_cf(shard.rows(), name).map_err(|error| translate(shard.place(), error))?;
            Ok(value.unwrap_or(0))
        };
        let files = shard.db().live_files().map_err(|error| translate(shard.place(), error))?;
        let files: Vec<_> = files.iter().filter(|file| file.column_family_name == ROWS).collect();
        let levels = files.iter().map(|file| file.level).max().map_or(0, |level| level + 1);
        let mut details: Vec<(String, u64)> = (0..levels)
            .map(|level| (format!("files_at_level_{level}"), files.iter().filter(|file| file.level == level).count() as u64))
            .collect();
        for name in DETAILS {
            details.push((name.replace('-', "_"), property(&format!("rocksdb.{name}"))?));
        }
        details.push(("actual_delayed_write_rate".to_owned(), shard.pace.rate()));
        Ok(ShardStatistics {
            shard: shard.id,
            place: shard.directory.display().to_string(),
            rows_estimate: property("rocksdb.estimate-num-keys")?,
            disk_bytes: property("rocksdb.total-sst-files-size")?,
            memtable_bytes: property("rocksdb.cur-size-all-mem-tables")?,
            // The cache serves all shards; each is told its share.
            cache_bytes: self.cache().get_usage() as u64 / self.shards().len() as u64,
            compaction_pending_bytes: property("rocksdb.estimate-pending-compaction-bytes")?,
            files: files.len() as u64,
            details,
        })
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
