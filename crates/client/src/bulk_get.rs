//! The rows of a bulk get, or of a scan, as a server sends them.

use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use arrow::compute::filter;
use arrow::datatypes::{DataType, Schema, SchemaRef, UInt64Type};
use arrow_flight::Ticket;
use serde_json::json;
use tonnage::geo::Region;
use tonnage::internal::sync::lock;
use tonnage::{
    BulkGetOptions, Error, GetOptions, IndexScanOptions, InterleavedBatch, KeyOrigin, KeySource,
    Result, Row, TableBatch, TableEntry, TableScanOptions, Value,
};

use crate::command;
use crate::keys::{KeyBatches, LeftOutKeys};
use crate::store::RemoteStore;

/// The rows of a bulk get or of a scan from a server, as [`tonnage::BulkGet`]: an iterator of record
/// batches. They are pulled: the server reads on when they are taken. Dropping it ends the call.
pub struct RemoteBulkGet {
    rows: Box<dyn Iterator<Item = Result<RecordBatch>> + Send>,
    /// The tables whose rows come, by path, each with its columns.
    tables: Vec<(Arc<str>, SchemaRef)>,
    /// Which of them is the table asked for.
    target: usize,
    /// Whether rows of several tables share a stream, a struct for each.
    is_related: bool,
    stamps: Stamps,
    waiting: std::vec::IntoIter<TableBatch>,
}

/// The columns after those of the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stamps {
    pub(crate) has_versions: bool,
    pub(crate) has_origins: bool,
    pub(crate) left_out: LeftOutKeys,
}

impl RemoteBulkGet {
    /// Reads the rows of keys.
    pub(crate) fn of_keys(
        store: &RemoteStore,
        entry: &Arc<TableEntry>,
        keys: KeySource,
        options: &BulkGetOptions,
        has_versions: bool,
    ) -> Result<Self> {
        let command = command::of_bulk_get(&entry.schema.path, options, has_versions)?;
        let mut keys = KeyBatches::new(entry.clone(), keys);
        if keys.is_empty() && options.relatives.is_empty() {
            return Self::of_rows(None, entry, options);
        }
        let left_out = keys.left_out();
        let mut first = None;
        // One whole key needs no stream of keys there and of rows back.
        if let Some(key) = keys.only_key()? {
            if is_single_get(options) && key.iter().all(|(_, value)| *value != Value::Null) {
                return Self::of_one(store, entry, &key, options);
            }
            first = Some(keys.batch_of(vec![key])?);
        }
        let schema = match keys.schema() {
            Some(schema) => schema,
            // The schema leads the stream of keys, and the first batch has it.
            None => {
                let Some(batch) = keys.next().transpose()? else {
                    return Self::of_rows(None, entry, options);
                };
                first.insert(batch).schema()
            }
        };
        let limits = store.limits_of(&options.cancel, options.timeout);
        let keys = first.into_iter().map(Ok).chain(keys);
        let rows = store.exchange_keys(limits, &command, schema, keys)?;
        let stamps = Stamps { has_versions, has_origins: options.origins, left_out };
        let schema = rows.schema().clone();
        let is_related = !options.relatives.is_empty();
        Self::open(&entry.schema.path, &schema, rows, is_related, stamps)
    }

    /// Reads a part of all rows.
    pub(crate) fn of_scan(
        store: &RemoteStore,
        entry: &Arc<TableEntry>,
        options: &TableScanOptions,
        part: usize,
        parts: NonZeroUsize,
    ) -> Result<Self> {
        let command = command::of_scan(&entry.schema.path, options, part, parts.get())?;
        let limits = store.limits_of(&options.cancel, options.timeout);
        let rows = store.fetch(limits, Ticket::new(json!({ "scan": command }).to_string()))?;
        let schema = rows.schema().clone();
        Self::open(&entry.schema.path, &schema, rows, false, Stamps::default())
    }

    /// Reads the rows of regions.
    pub(crate) fn of_regions(
        store: &RemoteStore,
        entry: &Arc<TableEntry>,
        regions: &[Region],
        options: &IndexScanOptions,
        has_versions: bool,
    ) -> Result<Self> {
        let command = command::of_within(&entry.schema.path, regions, options, has_versions)?;
        let limits = store.limits_of(&options.cancel, options.timeout);
        let ticket = json!({ "bulk_get_within": command }).to_string();
        let rows = store.fetch(limits, Ticket::new(ticket))?;
        let stamps = Stamps { has_versions, has_origins: true, left_out: LeftOutKeys::default() };
        let schema = rows.schema().clone();
        Self::open(&entry.schema.path, &schema, rows, false, stamps)
    }

    /// The row of a whole key, by one small message each way in place of a stream.
    fn of_one(
        store: &RemoteStore,
        entry: &Arc<TableEntry>,
        key: &Row,
        options: &BulkGetOptions,
    ) -> Result<Self> {
        let columns = columns_of(entry, options)?;
        let names: Vec<_> = columns.fields().iter().map(|field| field.name().clone()).collect();
        let get = GetOptions { consistency: options.consistency, timeout: options.timeout };
        let found = store.get_row(&entry.schema.path, key, Some(&names), &get)?;
        let batch = found.map(|found| {
            let cells = names.iter().map(|name| {
                let column = &entry.schema.columns[entry.schema.require_column(name)?];
                let value = found.row.get(&column.name).unwrap_or(&Value::Null);
                value.to_array(column.column_type, 1)
            });
            let rows = RecordBatch::try_new(columns.clone(), cells.collect::<Result<Vec<_>>>()?)
                .map_err(|error| Error::internal(format!("a row as a batch: {error}")))?;
            let mut batch = TableBatch::new(entry.schema.path.as_str().into(), rows);
            batch.versions = vec![found.version];
            batch.expiries_ms = vec![found.expires_at_ms];
            Ok::<_, Error>(batch)
        });
        Self::of_rows(batch.transpose()?, entry, options)
    }

    /// What there is without a call.
    fn of_rows(
        batch: Option<TableBatch>,
        entry: &TableEntry,
        options: &BulkGetOptions,
    ) -> Result<Self> {
        let columns = columns_of(entry, options)?;
        Ok(Self {
            rows: Box::new(std::iter::empty()),
            tables: vec![(entry.schema.path.as_str().into(), columns)],
            target: 0,
            is_related: false,
            stamps: Stamps::default(),
            waiting: Vec::from_iter(batch).into_iter(),
        })
    }

    /// Rows that come under these columns.
    ///
    /// # Errors
    /// `Internal` for columns of another version.
    pub(crate) fn open(
        path: &str,
        schema: &SchemaRef,
        rows: impl Iterator<Item = Result<RecordBatch>> + Send + 'static,
        is_related: bool,
        stamps: Stamps,
    ) -> Result<Self> {
        let tables = match is_related {
            false => vec![(Arc::from(path), stamps.own_columns(schema))],
            true => {
                let tables = schema.fields().iter().map(|field| match field.data_type() {
                    DataType::Struct(columns) => {
                        let columns = Arc::new(Schema::new(columns.clone()));
                        Ok((Arc::from(field.name().as_str()), stamps.own_columns(&columns)))
                    }
                    _ => Err(unreadable_rows()),
                });
                tables.collect::<Result<Vec<_>>>()?
            }
        };
        let target = tables.iter().position(|(table, _)| **table == *path).unwrap_or_default();
        let waiting = Vec::new().into_iter();
        Ok(Self { rows: Box::new(rows), tables, target, is_related, stamps, waiting })
    }

    /// The columns of the rows asked for, known before the first batch.
    pub fn schema(&self) -> &SchemaRef {
        &self.tables[self.target].1
    }

    /// The tables whose rows come, by path, each with its columns; parents before their children.
    pub fn schemas(&self) -> &[(Arc<str>, SchemaRef)] {
        &self.tables
    }

    /// The same rows in batches of several tables, each with the order of its rows.
    pub fn into_interleaved(self) -> impl Iterator<Item = Result<InterleavedBatch>> + Send {
        let mut found = self;
        std::iter::from_fn(move || found.next_interleaved().transpose())
    }

    fn next_interleaved(&mut self) -> Result<Option<InterleavedBatch>> {
        let alone = |batch: TableBatch| {
            let order = vec![0; batch.rows.num_rows()];
            InterleavedBatch::new(vec![batch], order)
        };
        if let Some(batch) = self.waiting.next() {
            return Ok(Some(alone(batch)));
        }
        let Some(batch) = self.rows.next().transpose()? else { return Ok(None) };
        match self.is_related {
            true => self.split_by_table(&batch).map(Some),
            false => Ok(Some(alone(self.stamps.batch(self.tables[0].0.clone(), batch)?))),
        }
    }

    fn split_by_table(&self, batch: &RecordBatch) -> Result<InterleavedBatch> {
        // Each row is of one table: its struct has a value there, and is NULL in all others.
        let mut order = vec![u32::MAX; batch.num_rows()];
        let mut batches = Vec::with_capacity(self.tables.len());
        for (column, (path, _)) in batch.columns().iter().zip(&self.tables) {
            let rows = column.as_struct_opt().ok_or_else(unreadable_rows)?;
            let mask: BooleanArray = (0..rows.len()).map(|row| Some(rows.is_valid(row))).collect();
            if mask.true_count() == 0 {
                continue;
            }
            let here = (0..rows.len()).filter(|row| mask.value(*row));
            here.for_each(|row| order[row] = batches.len() as u32);
            let cells = rows.columns().iter().map(|cells| filter(cells, &mask));
            let cells = cells.collect::<std::result::Result<Vec<_>, _>>();
            let schema = Arc::new(Schema::new(rows.fields().clone()));
            let rows = cells.and_then(|cells| RecordBatch::try_new(schema, cells));
            batches.push(self.stamps.batch(path.clone(), rows.map_err(|_| unreadable_rows())?)?);
        }
        // A row that no struct has comes from another version: it must not get lost silently.
        match order.contains(&u32::MAX) {
            true => Err(unreadable_rows()),
            false => Ok(InterleavedBatch::new(batches, order)),
        }
    }
}

impl std::fmt::Debug for RemoteBulkGet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tables: Vec<_> = self.tables.iter().map(|(path, _)| path).collect();
        f.debug_struct("RemoteBulkGet").field("tables", &tables).finish_non_exhaustive()
    }
}

impl Iterator for RemoteBulkGet {
    type Item = Result<TableBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(batch) = self.waiting.next() {
            return Some(Ok(batch));
        }
        match self.next_interleaved().transpose()? {
            Ok(interleaved) => {
                self.waiting = interleaved.batches.into_iter();
                self.waiting.next().map(Ok)
            }
            Err(error) => Some(Err(error)),
        }
    }
}

impl Stamps {
    fn count(&self) -> usize {
        2 * usize::from(self.has_versions) + usize::from(self.has_origins)
    }

    /// The columns without the stamps.
    fn own_columns(&self, schema: &SchemaRef) -> SchemaRef {
        let own = schema.fields().len().saturating_sub(self.count());
        match self.count() {
            0 => schema.clone(),
            _ => Arc::new(Schema::new(schema.fields()[..own].to_vec())),
        }
    }

    /// Rows of a table, with what their stamps tell.
    fn batch(&self, path: Arc<str>, rows: RecordBatch) -> Result<TableBatch> {
        if self.count() == 0 {
            return Ok(TableBatch::new(path, rows));
        }
        let own: Vec<usize> = (0..rows.num_columns().saturating_sub(self.count())).collect();
        let stamp = |name: &str| {
            let column = rows
                .column_by_name(name)
                .and_then(|column| column.as_primitive_opt::<UInt64Type>());
            column.map(|column| column.values().to_vec()).ok_or_else(unreadable_rows)
        };
        let mut batch = TableBatch::new(path, rows.project(&own).map_err(|_| unreadable_rows())?);
        if self.has_versions {
            (batch.versions, batch.expiries_ms) = (stamp("_version")?, stamp("_expires_at_ms")?);
        }
        if self.has_origins {
            let left_out = lock(&self.left_out);
            let origin = |sent| KeyOrigin { source: 0, position: position_of(sent, &left_out) };
            batch.origins = stamp("_key")?.into_iter().map(origin).collect();
        }
        Ok(batch)
    }
}

/// The position of a key in its source, where some before it were not sent.
fn position_of(sent: u64, left_out: &[u64]) -> u64 {
    left_out.iter().fold(sent, |position, left_out| position + u64::from(*left_out <= position))
}

/// Whether one whole key asks for no more than its row.
fn is_single_get(options: &BulkGetOptions) -> bool {
    options.range.is_none()
        && options.relatives.is_empty()
        && !options.origins
        && options.limit.is_none()
        && options.limit_per_key != Some(0)
}

/// The columns of the rows asked for.
fn columns_of(entry: &TableEntry, options: &BulkGetOptions) -> Result<SchemaRef> {
    let table = &entry.schema;
    let places = match &options.columns {
        Some(names) => {
            let places = names.iter().map(|name| table.require_column(name));
            Some(places.collect::<Result<Vec<_>>>()?)
        }
        None if options.keys_only => Some(table.key.clone()),
        None => None,
    };
    entry.codec.projected_schema(places.as_deref())
}

fn unreadable_rows() -> Error {
    Error::internal("rows came in columns of another version")
}

#[cfg(test)]
mod tests {
    use super::position_of;

    #[test]
    fn positions_count_keys_that_were_not_sent() {
        let positions: Vec<u64> = (0..5).map(|sent| position_of(sent, &[0, 2, 3, 7])).collect();
        assert_eq!(positions, [1, 4, 5, 6, 8]);
    }
}
