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
mod options;
mod record;

use std::path::Path;

use rocksdb::{Cache, ColumnFamily, ColumnFamilyDescriptor, DB, WaitForCompactOptions};
use tonnage::{Durability, Error, Result};

use super::budget::Budget;
use super::{
    BulkDone, BulkOptions, Client, Feature, Gauges, KeySource, PairSource, RecordShape,
    RecordSource, Target, TargetKind, TargetSpec,
};

const RECORDS: &str = "records";
const PAIRS: &str = "pairs";

/// RocksDB in one directory.
pub(super) struct Raw {
    db: DB,
    cache: Cache,
    settings: Vec<(String, String)>,
    durability: Durability,
}

impl Raw {
    pub(super) fn open(spec: &TargetSpec) -> Result<Self> {
        let budget = Budget::of(spec.memory_bytes);
        let cache = Cache::new_hyper_clock_cache(budget.cache_bytes, 0);
        let families = [RECORDS, PAIRS]
            .map(|name| ColumnFamilyDescriptor::new(name, options::family(budget, &cache)));
        let db = DB::open_cf_descriptors(
            &options::database(spec.direct_io),
            Path::new(&spec.directory),
            families,
        );
        Ok(Raw {
            db: db.map_err(translate)?,
            cache,
            settings: options::shown(spec, budget),
            durability: spec.durability,
        })
    }

    fn records(&self) -> &ColumnFamily {
        self.db.cf_handle(RECORDS).expect("opened with this column family")
    }

    fn pairs(&self) -> &ColumnFamily {
        self.db.cf_handle(PAIRS).expect("opened with this column family")
    }

    /// A property of both column families together.
    fn property(&self, name: &str) -> Result<u64> {
        [self.records(), self.pairs()].into_iter().try_fold(0, |sum, family| {
            Ok(sum + self.db.property_int_value_cf(family, name).map_err(translate)?.unwrap_or(0))
        })
    }
}

/// What RocksDB says went wrong.
fn translate(error: rocksdb::Error) -> Error {
    use rocksdb::ErrorKind as Kind;
    let text = format!("raw RocksDB: {error}");
    let error_kind = match error.kind() {
        Kind::Corruption => tonnage::ErrorKind::Corruption,
        Kind::InvalidArgument | Kind::NotSupported => tonnage::ErrorKind::Internal,
        _ => tonnage::ErrorKind::Unavailable,
    };
    Error::new(error_kind, text).with_source(error)
}

impl Target for Raw {
    fn name(&self) -> &str {
        TargetKind::RocksDb.name()
    }

    fn settings(&self) -> Vec<(String, String)> {
        self.settings.clone()
    }

    fn offers(&self, feature: Feature) -> bool {
        feature == Feature::Durable
    }

    /// The column family is there already.
    fn create_records(&self, _shape: &RecordShape) -> Result<()> {
        Ok(())
    }

    fn client(&self) -> Result<Box<dyn Client + '_>> {
        Ok(Box::new(client::RawClient::new(self)))
    }

    fn bulk_put_records(
        &self,
        _shape: &RecordShape,
        sources: Vec<Box<dyn RecordSource>>,
        options: &BulkOptions,
    ) -> Result<BulkDone> {
        bulk::put(
            &self.db,
            self.records(),
            sources.into_iter().map(bulk::Source::Records).collect(),
            options,
        )
    }

    fn bulk_put_pairs(
        &self,
        sources: Vec<Box<dyn PairSource>>,
        options: &BulkOptions,
    ) -> Result<BulkDone> {
        bulk::put(
            &self.db,
            self.pairs(),
            sources.into_iter().map(bulk::Source::Pairs).collect(),
            options,
        )
    }

    fn bulk_get_pairs(&self, keys: Box<dyn KeySource>, options: &BulkOptions) -> Result<BulkDone> {
        bulk::get(&self.db, self.pairs(), keys, options)
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
            memtable_bytes: self.property("rocksdb.cur-size-all-mem-tables")?,
            cache_bytes: self.cache.get_usage() as u64,
            compaction_pending_bytes: self.property("rocksdb.estimate-pending-compaction-bytes")?,
            stalled: self.property("rocksdb.is-write-stopped")? > 0
                || self.property("rocksdb.actual-delayed-write-rate")? > 0,
        })
    }
}
