//! The database under test: how RocksDB is set up, and its errors.

use rocksdb::{
    BlockBasedOptions, Cache, ColumnFamily, ColumnFamilyDescriptor, DB, DBCompressionType,
    LogLevel, Options,
};
use tonnage::{Error, ErrorKind, Result, RocksDbSettings};

use crate::system::SystemSpec;

pub(super) const RECORDS: &str = "records";
pub(super) const PAIRS: &str = "pairs";
/// Blocks of data before compression.
pub(super) const BLOCK_BYTES: usize = 4 << 10;

/// RocksDB in one directory.
pub(in crate::system) struct Raw {
    pub(super) db: DB,
    pub(super) spec: SystemSpec,
}

impl Raw {
    pub(in crate::system) fn open(spec: &SystemSpec) -> Result<Self> {
        let like = spec.rocksdb_settings();
        let cache = Cache::new_hyper_clock_cache(like.cache_bytes, 0);
        let families = [RECORDS, PAIRS]
            .map(|name| ColumnFamilyDescriptor::new(name, family_options(&like, &cache)));
        let options = database_options(&like);
        let db = DB::open_cf_descriptors(&options, &spec.directory, families).map_err(translate)?;
        Ok(Raw { db, spec: spec.clone() })
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

fn family_options(like: &RocksDbSettings, cache: &Cache) -> Options {
    let mut table = BlockBasedOptions::default();
    table.set_block_size(BLOCK_BYTES);
    table.set_format_version(6);
    table.set_bloom_filter(10.0, false);
    table.set_block_cache(cache);
    let mut options = Options::default();
    options.set_block_based_table_factory(&table);
    // As Tonnage does by default, which is what the report tells.
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_write_buffer_size(like.memtable_bytes);
    options.set_max_write_buffer_number(SystemSpec::MEMTABLES as i32);
    options.set_max_bytes_for_level_base(4 * like.memtable_bytes as u64);
    options
}

/// Threads that flush and compact are as many as Tonnage takes.
fn database_options(like: &RocksDbSettings) -> Options {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    options.increase_parallelism(like.background_threads as i32);
    options.set_max_subcompactions(like.background_threads as u32);
    options.set_max_open_files(-1);
    options.set_bytes_per_sync(1 << 20);
    options.set_use_direct_reads(like.direct_io);
    options.set_use_direct_io_for_flush_and_compaction(like.direct_io);
    options.set_log_level(LogLevel::Warn);
    options
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
