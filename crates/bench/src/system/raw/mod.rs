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

mod database;
mod record;

use rocksdb::{DBPinnableSlice, ReadOptions, WaitForCompactOptions, WriteOptions};
use tonnage::{Durability, Result};

pub(super) use self::database::Raw;
use self::database::{BLOCK_BYTES, PAIRS, RECORDS, RawBulkCall, translate};
use super::{
    BulkDone, BulkOptions, Client, Feature, Fields, Gauges, GetKeys, PutInput, Record, RecordScan,
    RecordShape, System, SystemKind,
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
        let own = [("block_bytes", BLOCK_BYTES.to_string()), ("bloom_bits", "10".to_owned())];
        let own = own.map(|(name, value)| (name.to_owned(), value));
        [self.spec.shown(), own.into()].concat()
    }

    fn offers(&self, _feature: Feature) -> bool {
        false
    }

    /// The column family is there already.
    fn create_records(&self, _shape: &RecordShape) -> Result<()> {
        Ok(())
    }

    fn client(&self) -> Result<Box<dyn Client + '_>> {
        Ok(Box::new(RawClient::new(self)))
    }

    fn bulk_put(&self, input: PutInput, options: &BulkOptions<'_>) -> Result<BulkDone> {
        match input {
            PutInput::Records(_, sources) => self
                .bulk(RECORDS, options)
                .put(sources, |fields, value| record::encode(fields.iter(), value)),
            PutInput::Pairs(sources) => self.bulk(PAIRS, options).put(sources, |bytes, value| {
                value.extend_from_slice(bytes);
                Ok(())
            }),
            PutInput::Rows(..) | PutInput::Tables(_) => Err(self.unsupported("tables")),
        }
    }

    fn bulk_get(&self, keys: GetKeys, options: &BulkOptions<'_>) -> Result<BulkDone> {
        match keys {
            GetKeys::Pairs(keys, _) => self.bulk(PAIRS, options).get(keys),
            GetKeys::Rows(..) | GetKeys::Tables(_) => Err(self.unsupported("tables")),
        }
    }

    fn sync(&self) -> Result<()> {
        self.db.flush_wal(true).map_err(translate)
    }

    /// Memtables are flushed first, so that all data is in data files, as it does after a load of
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

/// A session of one thread. Options and buffers are made once.
struct RawClient<'a> {
    raw: &'a Raw,
    read: ReadOptions,
    write: WriteOptions,
    synced: WriteOptions,
    value: Vec<u8>,
}

impl<'a> RawClient<'a> {
    fn new(raw: &'a Raw) -> Self {
        let (read, write) = (ReadOptions::default(), WriteOptions::default());
        let mut synced = WriteOptions::default();
        synced.set_sync(true);
        RawClient { raw, read, write, synced, value: Vec::new() }
    }

    fn get(&self, family: &str, key: &[u8]) -> Result<Option<DBPinnableSlice<'_>>> {
        let family = self.raw.family(family);
        self.raw.db.get_pinned_cf_opt(family, key, &self.read).map_err(translate)
    }

    fn put(&self, family: &str, key: &[u8], value: &[u8], durability: Durability) -> Result<()> {
        let options = if durability == Durability::Fsync { &self.synced } else { &self.write };
        self.raw.db.put_cf_opt(self.raw.family(family), key, value, options).map_err(translate)
    }
}

impl Client for RawClient<'_> {
    fn read(&mut self, key: &str, fields: Option<&[usize]>, into: &mut Record) -> Result<bool> {
        into.clear();
        let Some(value) = self.get(RECORDS, key.as_bytes())? else { return Ok(false) };
        record::decode(&value, fields, into)?;
        Ok(true)
    }

    fn insert(&mut self, key: &str, fields: &mut Fields<'_, '_>) -> Result<()> {
        self.value.clear();
        record::encode(fields, &mut self.value)?;
        self.put(RECORDS, key.as_bytes(), &self.value, self.raw.spec.durability)
    }

    fn scan(&mut self, scan: &RecordScan<'_>, into: &mut Record) -> Result<usize> {
        into.clear();
        let mut iterator = self.raw.db.raw_iterator_cf(self.raw.family(RECORDS));
        iterator.seek(scan.start);
        let mut found = 0;
        while found < scan.count {
            let Some(value) = iterator.value() else { break };
            record::decode(value, scan.fields, into)?;
            found += 1;
            if found < scan.count {
                iterator.next();
            }
        }
        iterator.status().map_err(translate)?;
        Ok(found)
    }

    fn put_pair(&mut self, key: &[u8], value: &[u8], durability: Durability) -> Result<()> {
        self.put(PAIRS, key, value, durability)
    }

    fn get_pair(&mut self, key: &[u8]) -> Result<Option<usize>> {
        Ok(self.get(PAIRS, key)?.map(|value| value.len()))
    }
}
