//! What a bulk get gives back.

use std::sync::Arc;

use arrow::array::RecordBatch;
use tonnage_engine::Result;

use super::ancestors::{AncestorEnds, Joiner};
use super::shaper::TableShaper;
use crate::read::pipeline::ReadPipeline;
use crate::row::Row;

/// Rows of one table.
#[derive(Clone, Debug)]
pub struct TableBatch {
    /// The path of the table.
    pub table: Arc<str>,
    /// Its rows.
    pub rows: RecordBatch,
    /// The version of each row.
    pub versions: Vec<u64>,
    /// When each row expires, in milliseconds since 1970; 0 for never.
    pub expiries_ms: Vec<u64>,
}

/// What one batch of engine rows became.
pub(super) struct Chunk {
    pub(super) parts: Vec<TableBatch>,
    /// For each row in key order the part that holds it; nothing when there is one part.
    pub(super) order: Vec<u32>,
    /// Whether a family goes on in the next chunk of the task, which must come right behind this
    /// one.
    pub(super) is_cut: bool,
    /// With what it begins and ends, for each ancestor table.
    pub(super) ancestors: Vec<AncestorEnds>,
}

impl Chunk {
    pub(super) fn of_one(part: TableBatch) -> Self {
        Self { parts: vec![part], order: Vec::new(), is_cut: false, ancestors: Vec::new() }
    }

    /// Takes the first row of a part out.
    pub(super) fn drop_first(&mut self, part: usize) {
        let batch = &mut self.parts[part];
        batch.rows = batch.rows.slice(1, batch.rows.num_rows() - 1);
        batch.versions.remove(0);
        batch.expiries_ms.remove(0);
        if let Some(place) = self.order.iter().position(|of_row| *of_row as usize == part) {
            self.order.remove(place);
        }
    }
}

/// The rows of a bulk get, an iterator of record batches.
///
/// Where relatives come along, one batch of each table follows the other, ancestors first; together
/// they hold whole stretches of rows in key order, and [`BulkGet::into_rows`] gives these rows
/// interleaved, each parent followed by its children.
pub struct BulkGet {
    reading: ReadPipeline<TableShaper>,
    joiner: Joiner,
    waiting: std::vec::IntoIter<TableBatch>,
}

impl BulkGet {
    pub(super) fn new(reading: ReadPipeline<TableShaper>) -> Self {
        Self { reading, joiner: Joiner::default(), waiting: Vec::new().into_iter() }
    }

    /// The same rows one by one, in key order within each stretch: an ancestor before the rows
    /// below it, once for each run of rows that share it, and each parent followed by its children
    /// (before it, when the direction is reverse). Without an order the families of several keys
    /// come as they are ready, each in one piece.
    pub fn into_rows(self) -> BulkGetRows {
        let chunk =
            Chunk { parts: Vec::new(), order: Vec::new(), is_cut: false, ancestors: Vec::new() };
        BulkGetRows {
            reading: self.reading,
            joiner: self.joiner,
            chunk,
            next: 0,
            cursors: Vec::new(),
        }
    }
}

impl Iterator for BulkGet {
    type Item = Result<TableBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.waiting.next() {
                return Some(Ok(batch));
            }
            match self.reading.next()? {
                Ok(chunk) => self.waiting = self.joiner.join(chunk).parts.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// One row with the table that it is of.
#[derive(Clone, Debug, PartialEq)]
pub struct RelatedRow {
    /// The path of its table.
    pub table: Arc<str>,
    /// The row.
    pub row: Row,
    /// Its version.
    pub version: u64,
}

/// The rows of a bulk get one by one.
pub struct BulkGetRows {
    reading: ReadPipeline<TableShaper>,
    joiner: Joiner,
    chunk: Chunk,
    next: usize,
    cursors: Vec<usize>,
}

impl BulkGetRows {
    /// The part that holds the next row of the chunk, and the place of the row in it.
    fn advance(&mut self) -> Option<(usize, usize)> {
        let part = match self.chunk.parts.len() {
            0 => return None,
            1 if self.next < self.chunk.parts[0].rows.num_rows() => 0,
            1 => return None,
            _ => *self.chunk.order.get(self.next)? as usize,
        };
        self.next += 1;
        self.cursors[part] += 1;
        Some((part, self.cursors[part] - 1))
    }
}

impl Iterator for BulkGetRows {
    type Item = Result<RelatedRow>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((part, index)) = self.advance() {
                let batch = &self.chunk.parts[part];
                let version = batch.versions[index];
                let row = Row::from_batch(&batch.rows, index);
                return Some(row.map(|row| RelatedRow {
                    table: batch.table.clone(),
                    row,
                    version,
                }));
            }
            match self.reading.next()? {
                Ok(chunk) => {
                    self.cursors = vec![0; chunk.parts.len()];
                    self.next = 0;
                    self.chunk = self.joiner.join(chunk);
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
