//! One record, pair or row at a time, each a call of its own.

use tonnage::arrow::array::{Array, AsArray, RecordBatch};
use tonnage::{Condition, Durability, Error, GetOptions, Result, Row, RowOperation, Value};
use tonnage_client::{Answer, BulkGetRequest, PairWrite, PreparedStatement};

use super::server::Remote;
use crate::system::library::{field_name, text_key, write_options};
use crate::system::{Client, Fields, Record, RecordShape};

/// A session of one thread. All share one connection.
pub(super) struct RemoteClient<'a> {
    system: &'a Remote,
    /// The statement of a scan, once there was one.
    scan: Option<PreparedStatement>,
}

impl<'a> RemoteClient<'a> {
    pub(super) fn new(system: &'a Remote) -> Self {
        RemoteClient { system, scan: None }
    }

    fn shape(&self) -> Result<&'a RecordShape> {
        let missing = || Error::invalid("there are no records yet: call create_records first");
        self.system.shape.get().ok_or_else(missing)
    }
}

/// Appends the fields of the rows of a batch, column 0 of which is the key.
fn push_fields(batch: &RecordBatch, fields: Option<&[usize]>, into: &mut Record) -> Result<()> {
    let strange = || Error::internal("records came in columns of another type");
    for row in 0..batch.num_rows() {
        let mut push = |field: usize| -> Result<()> {
            let cells =
                batch.columns().get(field + 1).and_then(|cells| cells.as_binary_opt::<i32>());
            let cells = cells.ok_or_else(strange)?;
            if !cells.is_null(row) {
                into.push(cells.value(row));
            }
            Ok(())
        };
        match fields {
            Some(fields) => fields.iter().try_for_each(|field| push(*field))?,
            None => (0..batch.num_columns() - 1).try_for_each(push)?,
        }
    }
    Ok(())
}

impl Client for RemoteClient<'_> {
    fn read(&mut self, key: &str, fields: Option<&[usize]>, into: &mut Record) -> Result<bool> {
        into.clear();
        let shape = self.shape()?;
        let names: Option<Vec<String>> =
            fields.map(|fields| fields.iter().map(|field| field_name(*field)).collect());
        let (key, freshness) = (Row::new().with("id", key), GetOptions::default());
        let client = &self.system.client;
        let Some(found) = client.get_with(&shape.table, &key, names.as_deref(), &freshness)? else {
            return Ok(false);
        };
        for (name, value) in found.row.iter() {
            match value {
                Value::Binary(field) => into.push(field),
                _ if name == "id" => {}
                _ => return Err(Error::internal("a record came in columns of another type")),
            }
        }
        Ok(true)
    }

    fn insert(&mut self, key: &str, fields: &mut Fields<'_, '_>) -> Result<()> {
        let shape = self.shape()?;
        let mut row = Row::with_capacity(shape.fields + 1);
        row.set("id", key);
        for (number, field) in fields.enumerate() {
            row.set(&field_name(number), Value::Binary(field.to_vec()));
        }
        let options = write_options(self.system.embedded.durability);
        let put = [RowOperation::put(shape.table.as_str(), row)];
        self.system.client.write(&put, &options).map(drop)
    }

    fn scan(
        &mut self,
        start: &str,
        count: usize,
        fields: Option<&[usize]>,
        into: &mut Record,
    ) -> Result<usize> {
        into.clear();
        if self.scan.is_none() {
            let table = &self.shape()?.table;
            let text = format!("SELECT * FROM {table} WHERE id >= $1 ORDER BY id LIMIT $2");
            self.scan = Some(self.system.client.prepare(&text)?);
        }
        let scan = self.scan.as_ref().ok_or_else(|| Error::internal("it was just prepared"))?;
        let Answer::Rows(rows) = scan.execute(&[start.into(), Value::Long(count as i64)])? else {
            return Err(Error::internal("a SELECT gave no rows"));
        };
        let mut found = 0;
        for batch in rows {
            let batch = batch?;
            found += batch.num_rows();
            push_fields(&batch, fields, into)?;
        }
        Ok(found)
    }

    fn put_pair(&mut self, key: &[u8], value: &[u8], durability: Durability) -> Result<()> {
        let (key, put) = (text_key(key)?, PairWrite::Put(value));
        let client = &self.system.client;
        client.write_pair(&key, &put, &Condition::Always, &write_options(durability)).map(drop)
    }

    fn get_pair(&mut self, key: &[u8]) -> Result<Option<usize>> {
        Ok(self.system.client.get_pair(&text_key(key)?)?.map(|pair| pair.value.len()))
    }

    fn put_row(&mut self, table: &str, row: &Row, durability: Durability) -> Result<()> {
        let put = [RowOperation::put(table, row.clone())];
        self.system.client.write(&put, &write_options(durability)).map(drop)
    }

    fn get_rows(&mut self, table: &str, key: &Row, children: &[&str]) -> Result<u64> {
        if !children.is_empty() {
            return Err(Error::unsupported("a bulk get over Flight brings no child tables"));
        }
        let entry = self.system.embedded.store.table(table)?;
        if key.len() == entry.schema().key_columns().count() {
            return Ok(u64::from(self.system.client.get(table, key)?.is_some()));
        }
        let keys = tonnage_client::batch_of(entry.schema(), std::slice::from_ref(key))?;
        let rows = self.system.client.bulk_get([Ok(keys)], &BulkGetRequest::of(table))?;
        rows.into_iter().try_fold(0, |rows, batch| Ok(rows + batch?.num_rows() as u64))
    }
}
