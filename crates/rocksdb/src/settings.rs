//! How a RocksDB store is set up: plain values with good defaults, and what they mean to RocksDB.

use std::path::PathBuf;
use std::sync::Arc;

use rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, Cache, DBCompressionType, DBRecoveryMode, LogLevel,
    Options, ReadOptions, WriteBufferManager,
};
use tonnage_engine::Clock;

use crate::descriptors::table_parts_log2;

/// How many memtables a shard has at most: one that is written to, and others that are being
/// stored.
const MEMTABLES: usize = 3;

/// How blocks of rows are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// LZ4: fast, about half the size on plain data. The default.
    #[default]
    Lz4,
    /// Zstandard: smaller, slower.
    Zstd,
}

/// How to open a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where the rows live: one shard a directory, best one a disk. Empty for the store's own
    /// directory. Fixed when the store is created; opening an existing store with an empty list
    /// takes the directories that it remembers.
    pub data_directories: Vec<PathBuf>,
    /// Memory that keeps blocks of rows, in all shards together. By default a quarter of the
    /// machine's memory, at least 64 MiB and at most 32 GiB.
    pub cache_bytes: usize,
    /// Memory that gathers small writes before they go to a data file, for each shard. Up to three
    /// of these are in use while writes come faster than they are stored. All shards together keep
    /// to an eighth of the machine's memory, or to what one shard may use if that is more.
    pub memtable_bytes: usize,
    /// How blocks of rows are compressed.
    pub compression: Compression,
    /// Threads that flush and compact, for each shard.
    pub background_threads: usize,
    /// Whether to make the store when there is none.
    pub create_if_missing: bool,
    /// Whether a store with a damaged write-ahead log, or with a MANIFEST that lacks its end, is
    /// opened with what precedes the damage. What follows is given up: acknowledged writes among it
    /// are lost, and the statistics say how many bytes of which file were cut. Without it, which is
    /// the default, such a store does not open. A log that only a crash cut short always opens.
    pub recover_log_to_damage: bool,
    /// Whether data files are read and written past the operating system's cache.
    pub direct_io: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            data_directories: Vec::new(),
            cache_bytes: (tonnage_engine::memory_bytes() / 4).clamp(64 << 20, 32 << 30),
            memtable_bytes: 64 << 20,
            compression: Compression::Lz4,
            background_threads: tonnage_engine::cores().clamp(2, 16),
            create_if_missing: true,
            recover_log_to_damage: false,
            direct_io: false,
        }
    }
}

/// How many times as many bytes of data files as of cache a store may have with their filters and
/// indexes outside of the cache. These take an eighth of the files at most, where rows are tiny,
/// and some 2 % with rows of 100 bytes.
const DATA_PER_CACHE: u64 = 16;

/// Where the filters and indexes of data files are kept.
///
/// Measured with keys of 16 bytes and values of 100 (`benches/read.rs`): in the cache they cost a
/// look-up 12 % of its processor time, and 16 % where they are not partitioned. So they lie outside
/// while they are small beside the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableIndexes {
    /// With each open file, outside of the cache.
    WithFile,
    /// In the cache, in partitions of their own: only the top level stays with the file.
    InCache,
}

impl TableIndexes {
    /// For data files of so many bytes that may use so much of the cache.
    pub(crate) fn for_data(data_bytes: u64, cache_bytes: usize) -> Self {
        if data_bytes > DATA_PER_CACHE.saturating_mul(cache_bytes as u64) {
            Self::InCache
        } else {
            Self::WithFile
        }
    }

    /// What makes a database that is open keep those of files to come in the cache: as
    /// [`TableIndexes::set`] does it for one that is about to be opened.
    pub(crate) fn in_cache_option() -> (&'static str, &'static str) {
        (
            "block_based_table_factory",
            "{cache_index_and_filter_blocks=true;\
             cache_index_and_filter_blocks_with_high_priority=true;\
             pin_top_level_index_and_filter=true;index_type=kTwoLevelIndexSearch;\
             partition_filters=true;metadata_block_size=16384;}",
        )
    }

    fn set(self, table: &mut BlockBasedOptions) {
        if self == Self::InCache {
            table.set_cache_index_and_filter_blocks(true);
            table.set_cache_index_and_filter_blocks_with_high_priority(true);
            table.set_pin_top_level_index_and_filter(true);
            table.set_index_type(BlockBasedIndexType::TwoLevelIndexSearch);
            table.set_partition_filters(true);
            table.set_metadata_block_size(PARTITION_BYTES);
        }
    }
}

/// How large a part of a filter or an index is.
const PARTITION_BYTES: usize = 16 << 10;

/// The options of the column family of rows without what only a database has (cache, filter): what
/// `SstFileWriter` takes.
pub(crate) fn row_options(settings: &Settings, indexes: TableIndexes) -> Options {
    rows(settings, None, true, indexes)
}

/// The same for files of shard-prefixed spaces. Those are scanned, or asked for what they hold: a filter
/// would save nothing.
pub(crate) fn prefixed_options(settings: &Settings, indexes: TableIndexes) -> Options {
    rows(settings, None, false, indexes)
}

/// The options of the column family of rows in a database.
pub(crate) fn row_options_cached(
    settings: &Settings,
    cache: &Cache,
    clock: Arc<dyn Clock>,
    indexes: TableIndexes,
) -> Options {
    let mut options = rows(settings, Some(cache), true, indexes);
    crate::compaction::expiry::drop_expired(&mut options, clock);
    options
}

/// Measured on 20 M rows of 16-byte keys and 100-byte values (`benches/read.rs`): twice as many
/// restarts in a block as usual take an eighth off a lookup and a few per cent on disk; a hash
/// index inside blocks saves no more than it costs in cache misses; blocks of 4 KiB make lookups no
/// faster and scans a third slower.
fn rows(
    settings: &Settings,
    cache: Option<&Cache>,
    filters: bool,
    indexes: TableIndexes,
) -> Options {
    let mut table = BlockBasedOptions::default();
    table.set_block_size(8 << 10);
    table.set_block_restart_interval(8);
    // From format 6 on a checksum also fails where a sound block is at a wrong position.
    table.set_format_version(6);
    if filters {
        table.set_bloom_filter(10.0, false);
        table.set_optimize_filters_for_memory(true);
    }
    // Only a database has a cache. What `SstFileWriter` makes is read through that, too.
    if let Some(cache) = cache {
        table.set_block_cache(cache);
    }
    indexes.set(&mut table);
    let mut options = Options::default();
    options.set_block_based_table_factory(&table);
    options.set_compression_type(match settings.compression {
        Compression::None => DBCompressionType::None,
        Compression::Lz4 => DBCompressionType::Lz4,
        Compression::Zstd => DBCompressionType::Zstd,
    });
    options.set_write_buffer_size(settings.memtable_bytes);
    options.set_max_write_buffer_number(MEMTABLES as i32);
    // RocksDB begins to compact at four files of level 0: the level below takes as much.
    options.set_max_bytes_for_level_base(4 * settings.memtable_bytes as u64);
    options.set_target_file_size_base(64 << 20);
    options.set_level_compaction_dynamic_level_bytes(true);
    crate::backlog::STEADY.set(&mut options);
    options
}

/// What bounds the databases of a store together.
pub(crate) fn memtable_bound(settings: &Settings, shards: usize) -> WriteBufferManager {
    // One shard may fill all of its memtables. Of many few are full at a time; beyond the bound
    // they are flushed earlier.
    let own = MEMTABLES * settings.memtable_bytes;
    let all = shards.saturating_mul(own).min((tonnage_engine::memory_bytes() / 8).max(own));
    // It stalls no writer: see `stall`.
    WriteBufferManager::new_write_buffer_manager(all, false)
}

/// What a database is given of what the store has.
pub(crate) struct DatabaseShare<'a> {
    pub(crate) create: bool,
    pub(crate) max_open_files: i32,
    pub(crate) memtables: &'a WriteBufferManager,
}

/// The options of a database.
pub(crate) fn db_options(settings: &Settings, with: &DatabaseShare<'_>) -> Options {
    let mut options = Options::default();
    options.create_if_missing(with.create);
    options.create_missing_column_families(with.create);
    options.set_paranoid_checks(true);
    // `wal::audit` has cut off what a crash left; what is left to RocksDB is sound.
    options.set_wal_recovery_mode(DBRecoveryMode::TolerateCorruptedTailRecords);
    options.set_max_total_wal_size(4 * settings.memtable_bytes as u64);
    options.set_max_open_files(with.max_open_files);
    options.set_table_cache_num_shard_bits(table_parts_log2(with.max_open_files));
    options.set_write_buffer_manager(with.memtables);
    options.set_max_background_jobs(settings.background_threads.max(2) as i32);
    options.set_max_subcompactions(settings.background_threads.max(1) as u32);
    options.set_bytes_per_sync(1 << 20);
    options.set_avoid_unnecessary_blocking_io(true);
    options.set_use_direct_reads(settings.direct_io);
    options.set_use_direct_io_for_flush_and_compaction(settings.direct_io);
    options.set_log_level(LogLevel::Warn);
    options.set_keep_log_file_num(2);
    options.set_max_log_file_size(4 << 20);
    options.set_stats_dump_period_sec(0);
    options.set_stats_persist_period_sec(0);
    options
}

/// How every read is done: with its checksums verified.
pub(crate) fn read_options() -> ReadOptions {
    let mut options = ReadOptions::default();
    options.set_verify_checksums(true);
    options
}
