//! The rows of one table in a segment: their keys, and some of their columns.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

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
    cells: StoredCells,
    has_nulls: bool,
}

#[derive(Debug)]
enum StoredCells {
    Chunk(Vec<u8>),
    /// Of a nested type.
    Array(ArrayRef),
}

impl StoredCells {
    /// Encodes an array, unless it is of a nested type.
    fn of(array: ArrayRef, id: ChunkId) -> Result<Self> {
        if array.data_type().is_nested() {
            return Ok(Self::Array(array));
        }
        let mut chunk = encode(&array, id)?;
        chunk.shrink_to_fit();
        Ok(Self::Chunk(chunk))
    }

    fn memory_bytes(&self) -> usize {
        match self {
            Self::Chunk(chunk) => chunk.capacity(),
            Self::Array(array) => array.get_array_memory_size(),
        }
    }
}

/// Whether values of a type are kept: not those without bytes.
pub(super) fn is_kept(column_type: ColumnType) -> bool {
    column_type != ColumnType::FixedBinary(0)
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
                let cells = StoredCells::Chunk(Vec::new());
                columns.insert(column, StoredColumn { cells, has_nulls: false });
                continue;
            }
            let all = concat(&parts).map_err(|error| Error::internal(error.to_string()))?;
            let has_nulls = all.null_count() > 0;
            let cells = StoredCells::of(all, id(column.into()))?;
            columns.insert(column, StoredColumn { cells, has_nulls });
        }
        Ok(TableSegment { table_id: self.table_id, keys: self.keys, expiries, columns })
    }
}

impl TableSegment {
    pub(super) fn memory_bytes(&self) -> usize {
        let columns = self.columns.values().map(|column| column.cells.memory_bytes());
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
        let columns = columns.map(|column| {
            let stored = self.columns.get(&column.id).ok_or_else(|| no_column(column))?;
            Ok(match &stored.cells {
                StoredCells::Chunk(chunk) => {
                    let chunk = open(chunk, column.id.into())?;
                    OpenColumn::Chunk(chunk, column.column_type.data_type())
                }
                StoredCells::Array(array) => OpenColumn::Array(array),
            })
        });
        let columns = columns.collect::<Result<_>>()?;
        let expiries = self.expiries.as_ref().map(|bytes| open(bytes, EXPIRY_ID)).transpose()?;
        Ok(OpenColumns { columns, expiries })
    }
}

#[cold]
fn no_column(column: &Column) -> Error {
    Error::internal(format!("a segment without column {} was asked for it", column.name))
}

/// Columns whose checksums were checked.
#[derive(Debug)]
pub(super) struct OpenColumns<'a> {
    columns: Vec<OpenColumn<'a>>,
    expiries: Option<Chunk<'a>>,
}

#[derive(Debug)]
enum OpenColumn<'a> {
    Chunk(Chunk<'a>, DataType),
    Array(&'a ArrayRef),
}

impl OpenColumn<'_> {
    fn array(&self, batch: usize) -> Result<ArrayRef> {
        match self {
            Self::Chunk(chunk, data_type) => chunk.decode(batch, data_type),
            Self::Array(array) => {
                let first = (batch * BATCH_ROWS).min(array.len());
                Ok(array.slice(first, (array.len() - first).min(BATCH_ROWS)))
            }
        }
    }
}

impl OpenColumns<'_> {
    pub(super) fn arrays(&self, batch: usize) -> Result<Vec<ArrayRef>> {
        self.columns.iter().map(|column| column.array(batch)).collect()
    }

    /// Which batches may have rows in all of these ranges, of columns that are given by their places
    /// among those opened.
    pub(super) fn batches_with<'r>(
        &self,
        batches: usize,
        ranges: impl Iterator<Item = (usize, &'r RangeInclusive<i64>)>,
    ) -> Vec<bool> {
        let mut with = vec![true; batches];
        for (place, range) in ranges {
            let Some(OpenColumn::Chunk(chunk, _)) = self.columns.get(place) else { continue };
            with.iter_mut().zip(chunk.batches_with(range)).for_each(|(with, has)| *with &= has);
        }
        with
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
