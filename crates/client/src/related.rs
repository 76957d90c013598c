//! Bulk get over several tables: parents with their children.

use std::sync::Arc;

use arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use arrow::compute::filter;
use arrow::datatypes::{DataType, Schema, SchemaRef};
use tonnage::{Error, Result};

use crate::bulk_get::BulkGetRequest;
use crate::client::Client;
use crate::rows::Rows;

/// Rows of several tables that come together, with their order.
#[derive(Clone, Debug)]
pub struct RelatedBatch {
    /// The rows of each table, by its path. A table without rows here is missing.
    pub batches: Vec<(Arc<str>, RecordBatch)>,
    /// For each row in key order the batch that holds it. The rows of a batch come in their order.
    pub order: Vec<u32>,
}

/// Rows of several tables from a server, pulled.
#[derive(Debug)]
pub struct RelatedRows {
    rows: Rows,
    tables: Vec<(Arc<str>, SchemaRef)>,
    is_alone: bool,
}

impl Client {
    /// Reads the rows of keys together with those of related tables
    /// ([`BulkGetRequest::relatives`]), as [`Client::bulk_get`] reads those of one.
    ///
    /// # Errors
    /// As [`Client::bulk_get`].
    pub fn bulk_get_related<K>(&self, keys: K, request: &BulkGetRequest) -> Result<RelatedRows>
    where
        K: IntoIterator<Item = Result<RecordBatch>>,
        K::IntoIter: Send + 'static,
    {
        let rows = self.exchange_keys(keys, request)?;
        let schema = rows.schema();
        // Without relatives the server sends the table's own columns, else a struct for each table.
        let is_alone = request.relatives.is_empty();
        let tables = match is_alone {
            true => {
                let path = request.table.as_deref().unwrap_or_default();
                vec![(Arc::from(path), schema.clone())]
            }
            false => {
                let fields = schema.fields().iter();
                let columns = fields.map(|field| match field.data_type() {
                    DataType::Struct(columns) => {
                        Ok((Arc::from(field.name().as_str()), Schema::new(columns.clone()).into()))
                    }
                    _ => Err(self.unreadable_answer()),
                });
                columns.collect::<Result<Vec<_>>>()?
            }
        };
        Ok(RelatedRows { rows, tables, is_alone })
    }
}

impl RelatedRows {
    /// The tables whose rows come, by path, each with its columns; parents before their children.
    pub fn tables(&self) -> &[(Arc<str>, SchemaRef)] {
        &self.tables
    }

    fn split_by_table(&self, batch: &RecordBatch) -> Result<RelatedBatch> {
        if self.is_alone {
            let path = self.tables[0].0.clone();
            let order = vec![0; batch.num_rows()];
            return Ok(RelatedBatch { batches: vec![(path, batch.clone())], order });
        }
        // Each row is of one table: its struct has a value there, and is NULL in all others.
        let mut order = vec![u32::MAX; batch.num_rows()];
        let mut batches = Vec::with_capacity(self.tables.len());
        for (column, (path, schema)) in batch.columns().iter().zip(&self.tables) {
            let rows = column.as_struct_opt().ok_or_else(unreadable_rows)?;
            let here: Vec<usize> = (0..rows.len()).filter(|row| rows.is_valid(*row)).collect();
            if here.is_empty() {
                continue;
            }
            here.iter().for_each(|row| order[*row] = batches.len() as u32);
            let mask: BooleanArray = (0..rows.len()).map(|row| Some(rows.is_valid(row))).collect();
            let cells = rows.columns().iter().map(|cells| filter(cells, &mask));
            let cells = cells.collect::<std::result::Result<Vec<_>, _>>();
            let rows = cells.and_then(|cells| RecordBatch::try_new(schema.clone(), cells));
            batches.push((path.clone(), rows.map_err(|_| unreadable_rows())?));
        }
        // A row that no struct has comes from another version: it must not get lost silently.
        match order.contains(&u32::MAX) {
            true => Err(unreadable_rows()),
            false => Ok(RelatedBatch { batches, order }),
        }
    }
}

impl Iterator for RelatedRows {
    type Item = Result<RelatedBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.rows.next()?;
        Some(batch.and_then(|batch| self.split_by_table(&batch)))
    }
}

fn unreadable_rows() -> Error {
    Error::internal("rows of several tables came in columns of another version")
}
