//! One record or pair at a time.

use rocksdb::{DBPinnableSlice, ReadOptions, WriteOptions};
use tonnage::{Durability, Result};

use super::database::{PAIRS, RECORDS, Raw, translate};
use super::record;
use crate::system::{Client, Fields, Record};

/// A session of one thread. Options and buffers are made once.
pub(super) struct RawClient<'a> {
    raw: &'a Raw,
    read: ReadOptions,
    write: WriteOptions,
    synced: WriteOptions,
    value: Vec<u8>,
}

impl<'a> RawClient<'a> {
    pub(super) fn new(raw: &'a Raw) -> Self {
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
        record::encode(fields, &mut self.value);
        self.put(RECORDS, key.as_bytes(), &self.value, self.raw.durability)
    }

    fn scan(
        &mut self,
        start: &str,
        count: usize,
        fields: Option<&[usize]>,
        into: &mut Record,
    ) -> Result<usize> {
        into.clear();
        let mut iterator = self.raw.db.raw_iterator_cf(self.raw.family(RECORDS));
        iterator.seek(start);
        let mut found = 0;
        while found < count {
            let Some(value) = iterator.value() else { break };
            record::decode(value, fields, into)?;
            found += 1;
            if found < count {
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
