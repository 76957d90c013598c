//! How far compaction lags, and the limits at which writers slow down and stop.

use rocksdb::{DB, Options};

use crate::rows_family::ROWS;

/// How far compaction may lag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BacklogLimits {
    /// Files at level 0 from which on writers are slowed down, and with which they are stopped.
    pub(crate) slow_files: u64,
    pub(crate) stop_files: u64,
    /// The same in bytes that wait for compaction.
    pub(crate) slow_bytes: u64,
    pub(crate) stop_bytes: u64,
}

/// RocksDB's own defaults.
pub(crate) const STEADY: BacklogLimits =
    BacklogLimits { slow_files: 20, stop_files: 36, slow_bytes: 64 << 30, stop_bytes: 256 << 30 };

impl BacklogLimits {
    /// As options for a database that is open. Where slowing down would begin writers are stopped
    /// already.
    pub(crate) fn options(self) -> [(&'static str, String); 4] {
        [
            ("level0_slowdown_writes_trigger", self.stop_files.to_string()),
            ("level0_stop_writes_trigger", self.stop_files.to_string()),
            ("soft_pending_compaction_bytes_limit", self.stop_bytes.to_string()),
            ("hard_pending_compaction_bytes_limit", self.stop_bytes.to_string()),
        ]
    }

    /// The same for one that is about to be opened.
    pub(crate) fn set(self, options: &mut Options) {
        options.set_level_zero_slowdown_writes_trigger(self.stop_files as i32);
        options.set_level_zero_stop_writes_trigger(self.stop_files as i32);
        options.set_soft_pending_compaction_bytes_limit(self.stop_bytes as usize);
        options.set_hard_pending_compaction_bytes_limit(self.stop_bytes as usize);
    }
}

/// How far compaction lags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CompactionBacklog {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

impl CompactionBacklog {
    pub(crate) fn of(db: &DB) -> Self {
        let Some(rows) = db.cf_handle(ROWS) else { return Self::default() };
        let number = |name: &str| db.property_int_value_cf(rows, name).ok().flatten().unwrap_or(0);
        Self {
            files: number("rocksdb.num-files-at-level0"),
            bytes: number("rocksdb.estimate-pending-compaction-bytes"),
        }
    }
}
