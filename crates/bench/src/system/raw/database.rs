//! The database under test: how RocksDB is set up, and its errors.

use rocksdb::{
    BlockBasedOptions, Cache, ColumnFamily, ColumnFamilyDescriptor, DB, DBCompressionType,
    LogLevel, Options,
};
use tonnage::{Durability, Error, ErrorKind, Result};

use crate::system::SystemSpec;
use crate::system::budget::{MEMTABLES, MemoryBudget};

pub(super) const RECORDS: &str = "records";
pub(super) const PAIRS: &str = "pairs";
/// Blocks of data before compression.
const BLOCK_BYTES: usize = 4 << 10;

/// RocksDB in one directory.
pub(in crate::system) struct Raw {
    pub(super) db: DB,
    pub(super) settings: Vec<(String, String)>,
    pub(super) durability: Durability,
}

impl Raw {
    pub(in crate::system) fn open(spec: &SystemSpec) -> Result<Self> {
        let budget = MemoryBudget::of(spec.memory_bytes);
        let cache = Cache::new_hyper_clock_cache(budget.cache_bytes, 0);
        let families = [RECORDS, PAIRS]
            .map(|name| ColumnFamilyDescriptor::new(name, family_options(budget, &cache)));
        let options = database_options(spec.direct_io);
        let db = DB::open_cf_descriptors(&options, &spec.directory, families).map_err(translate)?;
        let mut settings = spec.shown(budget, "lz4", threads());
        settings.push(("block_bytes".to_owned(), BLOCK_BYTES.to_string()));
        settings.push(("bloom_bits".to_owned(), "10".to_owned()));
        Ok(Raw { db, settings, durability: spec.durability })
    }

    pub(super) fn family(&self, name: &str) -> &ColumnFamily {
        self.db.cf_handle(name).expect("opened with this column family")
    }

    /// A property of both column families together.
    pub(super) fn property(&self, name: &str) -> Result<u64> {
        [RECORDS, PAIRS].into_iter().try_fold(0, |sum, family| {
            let value = self.db.property_int_value_cf(self.family(family), name);
            Ok(sum + value.map_err(translate)?.unwrap_or(0))
        })
    }
}

fn family_options(budget: MemoryBudget, cache: &Cache) -> Options {
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

fn database_options(direct_io: bool) -> Options {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    options.increase_parallelism(threads() as i32);
    options.set_max_subcompactions(threads() as u32);
    options.set_max_open_files(-1);
    options.set_bytes_per_sync(1 << 20);
    options.set_use_direct_reads(direct_io);
    options.set_use_direct_io_for_flush_and_compaction(direct_io);
    options.set_log_level(LogLevel::Warn);
    options
}

/// Threads that flush and compact: as many as Tonnage takes.
fn threads() -> usize {
    tonnage::RocksDbSettings::default().background_threads
}

/// What RocksDB says went wrong.
pub(super) fn translate(error: rocksdb::Error) -> Error {
    use rocksdb::ErrorKind as Kind;
    let kind = match error.kind() {
        Kind::Corruption => ErrorKind::Corruption,
        Kind::InvalidArgument | Kind::NotSupported => ErrorKind::Internal,
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind, format!("raw RocksDB: {error}")).with_source(error)
}
