//! The database under test: how RocksDB is set up, its errors, and bulk calls: write batches and
//! batched multi-gets from several threads.

use parking_lot::Mutex;
use rocksdb::{
    BlockBasedOptions, Cache, ColumnFamily, ColumnFamilyDescriptor, DB, DBCompressionType,
    LogLevel, Options, WriteBatch,
};
use tonnage::{Durability, Error, ErrorKind, Result, RocksDbSettings};

use crate::system::{BatchSource, BulkDone, BulkOptions, PairSource, Record, SystemSpec};
use crate::threads::each;

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

/// Entries of one write batch, and keys of one multi-get.
const BATCH_ROWS: usize = 1_000;

/// Appends the bytes to store.
pub(super) type StoredValue<V> = fn(&V, &mut Vec<u8>) -> Result<()>;

/// A key and the bytes to store with it.
type KeyedValue<'e> = (&'e [u8], &'e [u8]);

/// A bulk call on a column family.
pub(super) struct RawBulkCall<'a> {
    pub(super) db: &'a DB,
    pub(super) family: &'a ColumnFamily,
    pub(super) options: &'a BulkOptions<'a>,
}

impl RawBulkCall<'_> {
    /// Puts what the sources give, each source from a thread of its own as far as the parallelism
    /// asked for allows.
    pub(super) fn put<V: ?Sized + 'static>(
        &self,
        sources: Vec<BatchSource<V>>,
        value: StoredValue<V>,
    ) -> Result<BulkDone> {
        let sources_max = sources.len().max(1);
        let threads = self.options.parallelism.unwrap_or(sources_max).clamp(1, sources_max);
        let sources = Mutex::new(sources.into_iter());
        let done = side_by_side(threads, || {
            let mut done = BulkDone::default();
            let (mut keys, mut values) = (Record::default(), Record::default());
            // The lock goes at once: taken in the `while let`, it would last through the loop.
            let next = || sources.lock().next();
            while let Some(mut source) = next() {
                while source(&mut |key, entry| {
                    keys.push(key);
                    values.push_with(|into| value(entry, into))
                })? {
                    let entries: Vec<KeyedValue<'_>> = keys.iter().zip(values.iter()).collect();
                    for entries in entries.chunks(BATCH_ROWS) {
                        self.write(entries, &mut done)?;
                    }
                    keys.clear();
                    values.clear();
                }
            }
            Ok(done)
        })?;
        // One sync at the end: Tonnage does not sync each batch either.
        if self.options.durability == Durability::Fsync {
            self.db.flush_wal(true).map_err(translate)?;
        }
        Ok(done)
    }

    fn write(&self, entries: &[KeyedValue<'_>], done: &mut BulkDone) -> Result<()> {
        let read = entries.len() as u64;
        let bytes = entries.iter().map(|(key, value)| (key.len() + value.len()) as u64).sum();
        let absent = if self.options.overwrite { entries.to_vec() } else { self.absent(entries)? };
        let rows = absent.len() as u64;
        let mut batch = WriteBatch::default();
        absent.into_iter().for_each(|(key, value)| batch.put_cf(self.family, key, value));
        done.add(&BulkDone { rows, existed: read - rows, failed: 0, bytes });
        self.db.write(batch).map_err(translate)?;
        (self.options.progress)(read, bytes);
        Ok(())
    }

    /// The entries whose keys are not stored yet, in key order; of equal keys the first. Keys that
    /// two sources give at the same moment may be stored by both.
    fn absent<'e>(&self, entries: &[KeyedValue<'e>]) -> Result<Vec<KeyedValue<'e>>> {
        let mut sorted = entries.to_vec();
        sorted.sort_by_key(|(key, _)| *key);
        sorted.dedup_by_key(|(key, _)| *key);
        let stored =
            self.db.batched_multi_get_cf(self.family, sorted.iter().map(|(key, _)| *key), true);
        let stored: Vec<_> =
            stored.into_iter().collect::<std::result::Result<_, _>>().map_err(translate)?;
        let absent = sorted.into_iter().zip(stored).filter(|(_, stored)| stored.is_none());
        Ok(absent.map(|(entry, _)| entry).collect())
    }

    /// Gets pairs: each thread draws a batch of keys, sorts it, and looks it up a thousand at a
    /// time.
    pub(super) fn get(&self, keys: PairSource) -> Result<BulkDone> {
        let keys = Mutex::new(keys);
        let threads = self.options.parallelism.unwrap_or_else(tonnage::cores).max(1);
        side_by_side(threads, || {
            let (mut done, mut batch) = (BulkDone::default(), Record::default());
            let next = |batch: &mut Record| {
                batch.clear();
                keys.lock()(&mut |key, _| {
                    batch.push(key);
                    Ok(())
                })
            };
            while next(&mut batch)? {
                self.look_up(&batch, &mut done)?;
            }
            Ok(done)
        })
    }

    fn look_up(&self, keys: &Record, done: &mut BulkDone) -> Result<()> {
        let mut sorted: Vec<&[u8]> = keys.iter().collect();
        sorted.sort_unstable();
        for keys in sorted.chunks(BATCH_ROWS) {
            let (mut rows, mut bytes) = (0, 0);
            let values = self.db.batched_multi_get_cf(self.family, keys.iter().copied(), true);
            for (key, value) in keys.iter().zip(values) {
                if let Some(value) = value.map_err(translate)? {
                    rows += 1;
                    bytes += (key.len() + value.len()) as u64;
                }
            }
            done.count(rows, bytes, self.options);
        }
        Ok(())
    }
}

/// Runs the same work on several threads and adds up what they did.
fn side_by_side(threads: usize, work: impl Fn() -> Result<BulkDone> + Sync) -> Result<BulkDone> {
    let mut done = BulkDone::default();
    each((0..threads).collect(), |_| work())?.iter().for_each(|part| done.add(part));
    Ok(done)
}
