//! One record, pair or row at a time.

use tonnage::arrow::array::RecordBatch;
use tonnage::{
    BulkGetOptions, Durability, Error, KeySource, KeyValue, Result, Row, RowSession, RowView,
    Table, ValueRef, WriteOptions,
};

use super::queries;
use super::store::Embedded;
use crate::system::feeds::text_key;
use crate::system::{Client, Record};

/// A session of one thread.
pub(super) struct EmbeddedClient<'a> {
    system: &'a Embedded,
    pairs: KeyValue,
    /// The session with YCSB's records, once there was something to do with them.
    records: Option<RowSession>,
    /// Tables that were used, with their names: few.
    tables: Vec<(String, Table)>,
    /// The record that an update changes.
    current: Record,
}

impl<'a> EmbeddedClient<'a> {
    pub(super) fn new(system: &'a Embedded) -> Self {
        EmbeddedClient {
            system,
            pairs: system.store.kv(),
            records: None,
            tables: Vec::new(),
            current: Record::default(),
        }
    }

    fn table(&mut self, name: &str) -> Result<&Table> {
        let place = match self.tables.iter().position(|(known, _)| known == name) {
            Some(place) => place,
            None => {
                self.tables.push((name.to_owned(), self.system.store.table(name)?));
                self.tables.len() - 1
            }
        };
        Ok(&self.tables[place].1)
    }

    fn write_options(&self) -> WriteOptions {
        options(self.system.durability)
    }
}

fn options(durability: Durability) -> WriteOptions {
    WriteOptions { durability, ..WriteOptions::default() }
}

/// The session with the records. Not a method: its callers need the other fields of the client too.
fn session<'s>(
    records: &'s mut Option<RowSession>,
    system: &Embedded,
) -> Result<&'s mut RowSession> {
    if records.is_none() {
        *records = Some(system.records()?.session());
    }
    records.as_mut().ok_or_else(|| Error::internal("the session was just made"))
}

/// Appends fields of a row: those asked for, or all.
fn push_fields(
    row: &RowView<'_>,
    count: usize,
    fields: Option<&[usize]>,
    into: &mut Record,
) -> Result<()> {
    let mut push = |field: usize| {
        // Column 0 is the key.
        if let ValueRef::Binary(bytes) = row.get(field + 1)? {
            into.push(bytes);
        }
        Ok(())
    };
    match fields {
        Some(fields) => fields.iter().try_for_each(|field| push(*field)),
        None => (0..count).try_for_each(push),
    }
}

/// The cells of a record's row.
fn cells<'c>(key: &'c str, fields: impl ExactSizeIterator<Item = &'c [u8]>) -> Vec<ValueRef<'c>> {
    let mut cells = Vec::with_capacity(fields.len() + 1);
    cells.push(key.into());
    cells.extend(fields.map(ValueRef::Binary));
    cells
}

impl Client for EmbeddedClient<'_> {
    fn read(&mut self, key: &str, fields: Option<&[usize]>, into: &mut Record) -> Result<bool> {
        into.clear();
        let session = session(&mut self.records, self.system)?;
        let count = session.columns() - 1;
        let Some(row) = session.get(&[key.into()])? else { return Ok(false) };
        push_fields(&row, count, fields, into)?;
        Ok(true)
    }

    fn insert(&mut self, key: &str, record: &Record) -> Result<()> {
        let options = self.write_options();
        session(&mut self.records, self.system)?
            .put(&cells(key, record.fields()), &options)
            .map(drop)
    }

    /// Reads the record, changes it, and puts it whole.
    fn update(&mut self, key: &str, fields: &[usize], values: &Record) -> Result<bool> {
        let mut current = std::mem::take(&mut self.current);
        let found = self.read(key, None, &mut current)?;
        if found {
            let mut cells = cells(key, current.fields());
            fields
                .iter()
                .zip(values.fields())
                .for_each(|(field, value)| cells[field + 1] = value.into());
            let options = self.write_options();
            session(&mut self.records, self.system)?.put(&cells, &options)?;
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
        let session = session(&mut self.records, self.system)?;
        let columns = session.columns() - 1;
        let mut scan = session.scan(&[start.into()], count)?;
        let mut found = 0;
        while let Some(row) = scan.next_row()? {
            push_fields(&row, columns, fields, into)?;
            found += 1;
        }
        Ok(found)
    }

    fn delete(&mut self, key: &str) -> Result<bool> {
        let options = self.write_options();
        session(&mut self.records, self.system)?.delete(&[key.into()], &options)
    }

    fn put_pair(&mut self, key: &[u8], value: &[u8], durability: Durability) -> Result<()> {
        self.pairs.put(&text_key(key)?, value, &options(durability)).map(drop)
    }

    fn get_pair(&mut self, key: &[u8]) -> Result<Option<usize>> {
        Ok(self.pairs.get(&text_key(key)?)?.map(|pair| pair.value.len()))
    }

    fn put_row(&mut self, table: &str, row: &Row, durability: Durability) -> Result<()> {
        self.table(table)?.put(row, &options(durability)).map(drop)
    }

    /// A whole key without children is one lookup; anything else is the rows of one partial key.
    fn get_rows(&mut self, table: &str, key: &Row, children: &[&str]) -> Result<u64> {
        let table = self.table(table)?;
        if children.is_empty() && key.len() == table.schema().key.len() {
            return Ok(table.get(key)?.is_some().into());
        }
        let options = BulkGetOptions {
            relatives: children.iter().map(|child| (*child).to_owned()).collect(),
            ..BulkGetOptions::default()
        };
        let batches = table.bulk_get(KeySource::keys([key.clone()]), &options)?;
        batches.into_iter().try_fold(0, |rows, batch| Ok(rows + batch?.rows.num_rows() as u64))
    }

    fn query(
        &mut self,
        statement: &str,
        sink: &mut dyn FnMut(&RecordBatch) -> Result<()>,
    ) -> Result<()> {
        queries::query(self.system.sql()?, statement, sink)
    }
}
