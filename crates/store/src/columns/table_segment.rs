//! The rows of one table in a segment: their keys, and some of their columns.

use std::collections::BTreeMap;

use arrow::array::{Array, ArrayRef, AsArray, UInt64Array};
use arrow::buffer::BooleanBuffer;
use arrow::compute::concat;
use arrow::datatypes::{DataType, UInt64Type};
use tonnage_columns::{BATCH_ROWS, Chunk, ChunkId, encode};
use tonnage_engine::{Error, NEVER_MS, Result};

use super::key_list::KeyList;
use crate::schema::{Column, ColumnType};

/// In place of the number of a column: when rows expire. No column has it.
const EXPIRY_ID: u32 = u32::MAX;

/// The rows of a table.
#[derive(Debug)]
pub(super) struct TableSegment {
    pub(super) table_id: u32,
    pub(super) keys: KeyList,
    /// Of a row that expires at least.
    expiries: Option<Vec<u8>>,
    /// By the numbers of columns.
    columns: BTreeMap<u16, StoredColumn>,
}

#[derive(Debug)]
struct StoredColumn {
    chunk: Vec<u8>,
    has_nulls: bool,
}

/// Whether values of a type are kept.
pub(super) fn is_kept(column_type: ColumnType) -> bool {
    !column_type.is_nested() && column_type != ColumnType::FixedBinary(0)
}

/// What a segment keeps of a table, while its rows are read.
#[derive(Debug)]
pub(super) struct TableSegmentBuilder {
    pub(super) table_id: u32,
    keys: KeyList,
    expiries: Vec<u64>,
    /// The numbers of the columns, and what was read of each.
    columns: Vec<(u16, Vec<ArrayRef>)>,
}

impl TableSegmentBuilder {
    pub(super) fn new(table_id: u32, columns: &[u16]) -> Self {
        let columns = columns.iter().map(|id| (*id, Vec::new())).collect();
        Self { table_id, keys: KeyList::default(), expiries: Vec::new(), columns }
    }

    pub(super) fn rows(&self) -> usize {
        self.keys.len()
    }

    /// Adds rows behind those before.
    pub(super) fn add<'a>(
        &mut self,
        rows: impl Iterator<Item = (&'a [u8], u64)>,
        arrays: &[ArrayRef],
    ) {
        for (key, expiry) in rows {
            self.keys.push(key);
            self.expiries.push(expiry);
        }
        for ((_, read), array) in self.columns.iter_mut().zip(arrays) {
            read.push(array.clone());
        }
    }

    /// Packs what was read, for the segment of this number.
    pub(super) fn finish(mut self, segment: u128) -> Result<TableSegment> {
        self.keys.shrink();
        let expires = self.expiries.iter().any(|expiry| *expiry != NEVER_MS);
        let id = |column| ChunkId { segment, column };
        let expiries = expires
            .then(|| encode(&UInt64Array::from(self.expiries), id(EXPIRY_ID)))
            .transpose()?;
        let mut columns = BTreeMap::new();
        for (column, arrays) in self.columns {
            let parts: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
            // A table without rows in this range has no arrays, and needs none.
            if parts.is_empty() {
                columns.insert(column, StoredColumn { chunk: Vec::new(), has_nulls: false });
                continue;
            }
            let all = concat(&parts).map_err(|error| Error::internal(error.to_string()))?;
            let mut chunk = encode(&all, id(column.into()))?;
            chunk.shrink_to_fit();
            columns.insert(column, StoredColumn { chunk, has_nulls: all.null_count() > 0 });
        }
        Ok(TableSegment { table_id: self.table_id, keys: self.keys, expiries, columns })
    }
}

impl TableSegment {
    pub(super) fn memory_bytes(&self) -> usize {
        let columns = self.columns.values().map(|column| column.chunk.capacity());
        let expiries = self.expiries.as_ref().map_or(0, Vec::capacity);
        self.keys.memory_bytes() + expiries + columns.sum::<usize>()
    }

    /// Whether it has these columns as a table with them shows them.
    pub(super) fn has<'a>(&self, mut columns: impl Iterator<Item = &'a Column>) -> bool {
        columns.all(|column| {
            let stored = self.columns.get(&column.id);
            stored.is_some_and(|stored| column.nullable || !stored.has_nulls)
        })
    }

    pub(super) fn batches(&self) -> usize {
        self.keys.len().div_ceil(BATCH_ROWS)
    }

    /// The rows of a batch.
    pub(super) fn rows_of(&self, batch: usize) -> std::ops::Range<usize> {
        batch * BATCH_ROWS..((batch + 1) * BATCH_ROWS).min(self.keys.len())
    }

    /// Some columns, to be decoded batch by batch.
    pub(super) fn open<'a>(
        &self,
        segment: u128,
        columns: impl Iterator<Item = &'a Column>,
    ) -> Result<OpenColumns<'_>> {
        let open = |bytes, column| Chunk::open(bytes, ChunkId { segment, column });
        let chunks = columns.map(|column| {
            let stored = self.columns.get(&column.id).ok_or_else(|| no_column(column))?;
            Ok((open(&stored.chunk, column.id.into())?, column.column_type.data_type()))
        });
        let chunks = chunks.collect::<Result<_>>()?;
        let expiries = self.expiries.as_ref().map(|bytes| open(bytes, EXPIRY_ID)).transpose()?;
        Ok(OpenColumns { chunks, expiries })
    }
}

#[cold]
fn no_column(column: &Column) -> Error {
    Error::internal(format!("a segment without column {} was asked for it", column.name))
}

/// Columns whose checksums were checked.
#[derive(Debug)]
pub(super) struct OpenColumns<'a> {
    chunks: Vec<(Chunk<'a>, DataType)>,
    expiries: Option<Chunk<'a>>,
}

impl OpenColumns<'_> {
    pub(super) fn arrays(&self, batch: usize) -> Result<Vec<ArrayRef>> {
        self.chunks.iter().map(|(chunk, data_type)| chunk.decode(batch, data_type)).collect()
    }

    /// Which rows of a batch have not expired; nothing where none ever does.
    pub(super) fn unexpired(&self, batch: usize, now_ms: u64) -> Result<Option<BooleanBuffer>> {
        let Some(expiries) = &self.expiries else { return Ok(None) };
        let expiries = expiries.decode(batch, &DataType::UInt64)?;
        let expiries = expiries.as_primitive::<UInt64Type>().values();
        Ok(Some(BooleanBuffer::collect_bool(expiries.len(), |row| is_live(expiries[row], now_ms))))
    }
}

/// Whether a row that expires then is still there.
pub(super) fn is_live(expiry_ms: u64, now_ms: u64) -> bool {
    expiry_ms == NEVER_MS || expiry_ms > now_ms
}
