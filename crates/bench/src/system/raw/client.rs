//! One record or pair at a time.

use rocksdb::{ReadOptions, WriteOptions};
use tonnage::{Durability, Result};

use super::database::{Raw, translate};
use super::record;
use crate::system::{Client, Record};

/// A session of one thread. Options and buffers are made once.
pub(super) struct RawClient<'a> {
    raw: &'a Raw,
    read: ReadOptions,
    write: WriteOptions,
    synced: WriteOptions,
    current: Record,
    value: Vec<u8>,
}

impl<'a> RawClient<'a> {
    pub(super) fn new(raw: &'a Raw) -> Self {
        let mut synced = WriteOptions::default();
        synced.set_sync(true);
        RawClient {
            raw,
            read: ReadOptions::default(),
            write: WriteOptions::default(),
            synced,
            current: Record::default(),
            value: Vec::new(),
        }
    }

    fn write_options(&self, durability: Durability) -> &WriteOptions {
        if durability == Durability::Fsync { &self.synced } else { &self.write }
    }

    fn put_record<'f>(&mut self, key: &str, fields: impl Iterator<Item = &'f [u8]>) -> Result<()> {
        record::encode(fields, &mut self.value);
        let options = self.write_options(self.raw.durability);
        self.raw.db.put_cf_opt(self.raw.records(), key, &self.value, options).map_err(translate)
    }
}

impl Client for RawClient<'_> {
    fn read(&mut self, key: &str, fields: Option<&[usize]>, into: &mut Record) -> Result<bool> {
        into.clear();
        let value = self
            .raw
            .db
            .get_pinned_cf_opt(self.raw.records(), key, &self.read)
            .map_err(translate)?;
        let Some(value) = value else { return Ok(false) };
        record::decode(&value, fields, into)?;
        Ok(true)
    }

    fn insert(&mut self, key: &str, record: &Record) -> Result<()> {
        self.put_record(key, record.fields())
    }

    fn update(&mut self, key: &str, fields: &[usize], values: &Record) -> Result<bool> {
        let mut current = std::mem::take(&mut self.current);
        let found = self.read(key, None, &mut current)?;
        if found {
            let changed = |number: usize| fields.iter().position(|field| *field == number);
            let merged = current
                .fields()
                .enumerate()
                .map(|(number, old)| changed(number).map_or(old, |new| values.field(new)));
            self.put_record(key, merged)?;
        }
        self.current = current;
        Ok(found)
    }

    fn scan(
        &mut self,
        start: &str,
        count: usize,
        fields: Option<&[usize]>,
        into: &mut Record,
    ) -> Result<usize> {
        into.clear();
        let mut iterator = self.raw.db.raw_iterator_cf(self.raw.records());
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

    fn delete(&mut self, key: &str) -> Result<bool> {
        let found = self
            .raw
            .db
            .get_pinned_cf_opt(self.raw.records(), key, &self.read)
            .map_err(translate)?
            .is_some();
        if found {
            let options = self.write_options(self.raw.durability);
            self.raw.db.delete_cf_opt(self.raw.records(), key, options).map_err(translate)?;
        }
        Ok(found)
    }

    fn put_pair(&mut self, key: &[u8], value: &[u8], durability: Durability) -> Result<()> {
        self.raw
            .db
            .put_cf_opt(self.raw.pairs(), key, value, self.write_options(durability))
            .map_err(translate)
    }

    fn get_pair(&mut self, key: &[u8]) -> Result<Option<usize>> {
        let value =
            self.raw.db.get_pinned_cf_opt(self.raw.pairs(), key, &self.read).map_err(translate)?;
        Ok(value.map(|value| value.len()))
    }
}
