//! RocksDB by itself, as a careful user sets it up: the yardstick. Beside the engine this folder is
//! all that knows RocksDB.
//!
//! | what | how |
//! |---|---|
//! | records | in a column family of their own: fields end to end, each led by its length |
//! | update | read, merged and put, as YCSB's own binding for RocksDB does |
//! | bulk put | write batches of a thousand from as many threads as there are sources |
//! | bulk get | sorted, batched multi-gets of a thousand keys from as many threads as there are cores |
//! | durability | the log is on; `none` and `write` hand it to the operating system, `fsync` syncs it |

mod bulk;
mod client;
mod record;

use rocksdb::{
    BlockBasedOptions, Cache, ColumnFamily, ColumnFamilyDescriptor, DB, DBCompressionType,
    LogLevel, Options, WaitForCompactOptions,
};
use tonnage::{Durability, Error, ErrorKind, Result};

use super::budget::{Budget, MEMTABLES};
use super::{
    BulkDone, BulkOptions, Client, Feature, Gauges, GetKeys, PutInput, RecordShape, System,
    SystemKind, SystemSpec,
};

const RECORDS: &str = "records";
const PAIRS: &str = "pairs";
/// Blocks of data before compression.
const BLOCK_BYTES: usize = 4 << 10;

/// RocksDB in one directory.
pub(super) struct Raw {
    db: DB,
    settings: Vec<(String, String)>,
    durability: Durability,
}

impl Raw {
    pub(super) fn open(spec: &SystemSpec) -> Result<Self> {
        let budget = Budget::of(spec.memory_bytes);
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

    fn family(&self, name: &str) -> &ColumnFamily {
        self.db.cf_handle(name).expect("opened with this column family")
    }

    /// A property of both column families together.
    fn property(&self, name: &str) -> Result<u64> {
        [RECORDS, PAIRS].into_iter().try_fold(0, |sum, family| {
            let value = self.db.property_int_value_cf(self.family(family), name);
            Ok(sum + value.map_err(translate)?.unwrap_or(0))
        })
    }
}

fn family_options(budget: Budget, cache: &Cache) -> Options {
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
fn translate(error: rocksdb::Error) -> Error {
    use rocksdb::ErrorKind as Kind;
    let kind = match error.kind() {
        Kind::Corruption => ErrorKind::Corruption,
        Kind::InvalidArgument | Kind::NotSupported => ErrorKind::Internal,
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind, format!("raw RocksDB: {error}")).with_source(error)
}

impl System for Raw {
    fn name(&self) -> &str {
        SystemKind::RocksDb.name()
    }

    fn settings(&self) -> Vec<(String, String)> {
        self.settings.clone()
    }

    fn offers(&self, _feature: Feature) -> bool {
        false
    }

    /// The column family is there already.
    fn create_records(&self, _shape: &RecordShape) -> Result<()> {
        Ok(())
    }

    fn client(&self) -> Result<Box<dyn Client + '_>> {
        Ok(Box::new(client::RawClient::new(self)))
    }

    fn bulk_put(&self, input: PutInput, options: &BulkOptions<'_>) -> Result<BulkDone> {
        let (family, sources) = match input {
            PutInput::Records(_, sources) => {
                (RECORDS, sources.into_iter().map(bulk::PutSource::Records).collect())
            }
            PutInput::Pairs(sources) => {
                (PAIRS, sources.into_iter().map(bulk::PutSource::Pairs).collect())
            }
            PutInput::Rows(..) | PutInput::Tables(_) => return Err(self.unsupported("tables")),
        };
        bulk::put(&self.db, self.family(family), sources, options)
    }

    fn bulk_get(&self, keys: GetKeys, options: &BulkOptions<'_>) -> Result<BulkDone> {
        match keys {
            GetKeys::Pairs(keys) => bulk::get(&self.db, self.family(PAIRS), keys, options),
            GetKeys::Rows(..) | GetKeys::Tables(_) => Err(self.unsupported("tables")),
        }
    }

    fn sync(&self) -> Result<()> {
        self.db.flush_wal(true).map_err(translate)
    }

    /// Memtables are flushed first, so that all data lies in data files, as it does after a load of
    /// Tonnage's.
    fn settle(&self) -> Result<()> {
        let mut options = WaitForCompactOptions::default();
        options.set_flush(true);
        self.db.wait_for_compact(&options).map_err(translate)
    }

    fn gauges(&self) -> Result<Gauges> {
        Ok(Gauges {
            disk_bytes: self.property("rocksdb.total-sst-files-size")?,
            compaction_pending_bytes: self.property("rocksdb.estimate-pending-compaction-bytes")?,
            stalled: self.property("rocksdb.is-write-stopped")? > 0
                || self.property("rocksdb.actual-delayed-write-rate")? > 0,
        })
    }
}
