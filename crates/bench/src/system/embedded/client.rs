//! One record, pair or row at a time.

use tonnage::{
    BulkGetOptions, Durability, Error, KeySource, KeyValue, Result, Row, RowSession, RowView,
    Table, ValueRef,
};

use super::store::Embedded;
use crate::system::library::{text_key, write_options};
use crate::system::{Client, Fields, Record};

/// A session of one thread.
pub(super) struct EmbeddedClient<'a> {
    system: &'a Embedded,
    pairs: KeyValue,
    /// The session with YCSB's records, if there are some.
    records: Option<RowSession>,
    /// Tables that were used, with their names: few.
    tables: Vec<(String, Table)>,
}

impl<'a> EmbeddedClient<'a> {
    pub(super) fn new(system: &'a Embedded) -> Self {
        let records = system.records.get().map(Table::session);
        EmbeddedClient { system, pairs: system.store.kv(), records, tables: Vec::new() }
    }

    fn table(&mut self, name: &str) -> Result<&Table> {
        let known = self.tables.iter().position(|(known, _)| known == name);
        if known.is_none() {
            self.tables.push((name.to_owned(), self.system.store.table(name)?));
        }
        Ok(&self.tables[known.unwrap_or(self.tables.len() - 1)].1)
    }

    fn records(&mut self) -> Result<&mut RowSession> {
        let missing = || Error::invalid("there are no records yet: call create_records first");
        self.records.as_mut().ok_or_else(missing)
    }
}

/// Appends fields of a row: those asked for, or all. Column 0 is the key.
fn push_fields(
    row: &RowView<'_>,
    columns: usize,
    fields: Option<&[usize]>,
    into: &mut Record,
) -> Result<()> {
    let mut push = |field: usize| {
        if let ValueRef::Binary(bytes) = row.get(field + 1)? {
            into.push(bytes);
        }
        Ok(())
    };
    match fields {
        Some(fields) => fields.iter().try_for_each(|field| push(*field)),
        None => (0..columns - 1).try_for_each(push),
    }
}

impl Client for EmbeddedClient<'_> {
    fn read(&mut self, key: &str, fields: Option<&[usize]>, into: &mut Record) -> Result<bool> {
        into.clear();
        let session = self.records()?;
        let columns = session.columns();
        let Some(row) = session.get(&[key.into()])? else { return Ok(false) };
        push_fields(&row, columns, fields, into)?;
        Ok(true)
    }

    fn insert(&mut self, key: &str, fields: &mut Fields<'_, '_>) -> Result<()> {
        let mut cells: Vec<ValueRef<'_>> = Vec::with_capacity(fields.len() + 1);
        cells.push(key.into());
        fields.for_each(|field| cells.push(field.into()));
        let options = write_options(self.system.durability);
        self.records()?.put(&cells, &options).map(drop)
    }

    fn scan(
        &mut self,
        start: &str,
        count: usize,
        fields: Option<&[usize]>,
        into: &mut Record,
    ) -> Result<usize> {
        into.clear();
        let session = self.records()?;
        let columns = session.columns();
        let mut scan = session.scan(&[start.into()], count)?;
        let mut found = 0;
        while let Some(row) = scan.next_row()? {
            push_fields(&row, columns, fields, into)?;
            found += 1;
        }
        Ok(found)
    }

    fn put_pair(&mut self, key: &[u8], value: &[u8], durability: Durability) -> Result<()> {
        self.pairs.put(&text_key(key)?, value, &write_options(durability)).map(drop)
    }

    fn get_pair(&mut self, key: &[u8]) -> Result<Option<usize>> {
        Ok(self.pairs.get(&text_key(key)?)?.map(|pair| pair.value.len()))
    }

    fn put_row(&mut self, table: &str, row: &Row, durability: Durability) -> Result<()> {
        self.table(table)?.put(row, &write_options(durability)).map(drop)
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
}
