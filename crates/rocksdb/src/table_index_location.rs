//! Where the filters and indexes of a shard's data files are kept, while the shard grows.
//!
//! 1. When a store is opened its size decides ([`TableIndexes::for_data`]).
//! 2. The size of a small one is checked again after each file that a load stores, and every few
//!    seconds. Once its data files have outgrown the bound, RocksDB keeps in the cache what files
//!    written and opened from then on have of both.
//! 3. What the files that are open by then have outside of the cache stays there, and grows no
//!    more. It is removed with them: when compaction replaces them, and with the next opening.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rocksdb::DB;

use crate::settings::TableIndexes;

/// Where filters and indexes of one shard are kept now.
pub(crate) struct TableIndexLocation {
    db: Arc<DB>,
    /// The column family of rows.
    family: &'static str,
    /// The shard's part of the cache.
    cache_bytes: usize,
    in_cache: AtomicBool,
}

impl TableIndexLocation {
    /// For a database that was just opened with these.
    pub(crate) fn new(
        db: Arc<DB>,
        family: &'static str,
        cache_bytes: usize,
        indexes: TableIndexes,
    ) -> Self {
        let in_cache = AtomicBool::new(indexes == TableIndexes::InCache);
        Self { db, family, cache_bytes, in_cache }
    }

    /// For files that are written now.
    pub(crate) fn current(&self) -> TableIndexes {
        match self.in_cache.load(Ordering::Relaxed) {
            true => TableIndexes::InCache,
            false => TableIndexes::WithFile,
        }
    }

    /// Checks the size of the data files, unless filters and indexes are in the cache already. An
    /// option that RocksDB does not take now is set the next time.
    pub(crate) fn check_size(&self) {
        if self.in_cache.load(Ordering::Relaxed) {
            return;
        }
        let Some(rows) = self.db.cf_handle(self.family) else { return };
        let bytes = self.db.property_int_value_cf(rows, "rocksdb.live-sst-files-size");
        let indexes = TableIndexes::for_data(bytes.ok().flatten().unwrap_or(0), self.cache_bytes);
        let is_set = || self.db.set_options_cf(rows, &[TableIndexes::in_cache_option()]).is_ok();
        if indexes == TableIndexes::InCache && is_set() {
            self.in_cache.store(true, Ordering::Relaxed);
        }
    }
}
