//! How RocksDB is set up.

use rocksdb::{BlockBasedOptions, Cache, DBCompressionType, LogLevel, Options};

use crate::system::SystemSpec;
use crate::system::budget::{Budget, MEMTABLES};

/// Blocks of data before compression.
const BLOCK_BYTES: usize = 4 << 10;

/// The options of a column family.
pub(super) fn family(budget: Budget, cache: &Cache) -> Options {
    let mut table = BlockBasedOptions::default();
    table.set_block_size(BLOCK_BYTES);
    table.set_format_version(6);
    table.set_bloom_filter(10.0, false);
    table.set_block_cache(cache);
    let mut options = Options::default();
    options.set_block_based_table_factory(&table);
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_write_buffer_size(budget.memtable_bytes);
    options.set_max_write_buffer_number(MEMTABLES as i32);
    options.set_max_bytes_for_level_base(4 * budget.memtable_bytes as u64);
    options
}

/// The options of the database.
pub(super) fn database(direct_io: bool) -> Options {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    options.increase_parallelism(threads());
    options.set_max_subcompactions(threads() as u32);
    options.set_max_open_files(-1);
    options.set_bytes_per_sync(1 << 20);
    options.set_use_direct_reads(direct_io);
    options.set_use_direct_io_for_flush_and_compaction(direct_io);
    options.set_log_level(LogLevel::Warn);
    options
}

/// Threads that flush and compact: as many as Tonnage takes.
fn threads() -> i32 {
    tonnage::RocksDbSettings::default().background_threads as i32
}

/// The set-up as names and values for a report.
pub(super) fn shown(spec: &SystemSpec, budget: Budget) -> Vec<(String, String)> {
    let mut shown = budget.settings().to_vec();
    let further = [
        ("direct_io", spec.direct_io.to_string()),
        ("durability", format!("{:?}", spec.durability).to_lowercase()),
        ("compression", "lz4".to_owned()),
        ("background_threads", threads().to_string()),
        ("block_bytes", BLOCK_BYTES.to_string()),
        ("bloom_bits", "10".to_owned()),
    ];
    shown.extend(further.map(|(name, value)| (name.to_owned(), value)));
    shown
}
