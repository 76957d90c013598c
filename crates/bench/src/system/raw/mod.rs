//! RocksDB by itself, as a careful user sets it up: the yardstick. Beside the engine this folder is
//! all that knows RocksDB.
//!
//! | what | how |
//! |---|---|
//! | records | in a column family of their own: fields end to end, each led by its length |
//! | update | read, merged and put, as YCSB's own binding for RocksDB does |
//! | bulk put | write batches of a thousand from as many threads as there are sources |
//! | bulk get | sorted, batched multi-gets of a thousand keys, from a thread for each core |
//! | durability | the log is on: `none` and `write` hand it to the system, `fsync` syncs it |

mod bulk;
mod client;
mod database;
mod record;

use rocksdb::WaitForCompactOptions;
use tonnage::Result;

use self::bulk::RawBulkCall;
pub(super) use self::database::Raw;
use self::database::{PAIRS, RECORDS, translate};
use super::{
    BulkDone, BulkOptions, Client, Feature, Gauges, GetKeys, PutInput, RecordShape, System,
    SystemKind,
};

impl Raw {
    fn bulk<'a>(&'a self, family: &str, options: &'a BulkOptions<'a>) -> RawBulkCall<'a> {
        RawBulkCall { db: &self.db, family: self.family(family), options }
    }
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
        match input {
            PutInput::Records(_, sources) => {
                self.bulk(RECORDS, options).put(sources, record::stored)
            }
            PutInput::Pairs(sources) => self.bulk(PAIRS, options).put(sources, |value, _| value),
            PutInput::Rows(..) | PutInput::Tables(_) => Err(self.unsupported("tables")),
        }
    }

    fn bulk_get(&self, keys: GetKeys, options: &BulkOptions<'_>) -> Result<BulkDone> {
        match keys {
            GetKeys::Pairs(keys) => self.bulk(PAIRS, options).get(keys),
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
