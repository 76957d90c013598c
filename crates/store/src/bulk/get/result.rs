//! The result of a bulk get: an iterator of record batches, or of rows.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use tonnage_engine::{Result, SpaceId};

use super::ancestors::ChunkJoiner;
use super::chunk::RowChunk;
use super::resume::{ResumePoint, ResumeToken};
use super::shaper::TableShaper;
use super::table_batch::TableBatch;
use crate::read::control::ReadProgress;
use crate::read::origin::KeyOrigin;
use crate::read::pipeline::ReadPipeline;
use crate::row::Row;

/// The rows of a bulk get, an iterator of record batches.
///
/// Where relatives come along, one batch of each table follows the other, ancestors first; together
/// they hold whole stretches of rows in key order, and [`BulkGet::into_rows`] gives these rows
/// interleaved, each parent followed by its children.
pub struct BulkGet {
    chunks: ChunkStream,
    waiting: std::vec::IntoIter<TableBatch>,
    /// The position after the batches that are waiting.
    next_point: Option<ResumePoint>,
}

/// Chunks as they come.
struct ChunkStream {
    /// Nothing once the limit is reached.
    reading: Option<ReadPipeline<TableShaper>>,
    joiner: ChunkJoiner,
    /// How many rows are still wanted, if there is a limit.
    left: Option<u64>,
    progress: ReadProgress,
    schemas: Vec<(Arc<str>, SchemaRef)>,
    /// Which of the schemas is that of the rows asked for.
    target: usize,
    /// What all points of the read have in common, where it can be resumed.
    resumable: Option<ResumeScope>,
    /// Everything up to this point was taken.
    point: Option<ResumePoint>,
}

/// What tells the points of one read from those of others.
#[derive(Clone, Copy)]
pub(super) struct ResumeScope {
    pub(super) space: SpaceId,
    pub(super) is_reverse: bool,
    /// Whether keys are read, whose numbers are part of a point.
    pub(super) is_by_keys: bool,
}

impl ResumeScope {
    fn point(self, key: &[u8], number: Option<u64>) -> Option<ResumePoint> {
        let ResumeScope { space, is_reverse, is_by_keys } = self;
        if is_by_keys && number.is_none() {
            return None;
        }
        Some(ResumePoint { space, is_reverse, number, key: key.to_vec() })
    }
}

impl ChunkStream {
    fn next(&mut self) -> Option<Result<RowChunk>> {
        let mut chunk = match self.reading.as_mut()?.next()? {
            Ok(chunk) => self.joiner.join(chunk),
            Err(error) => return Some(Err(error)),
        };
        if let Some(left) = &mut self.left {
            chunk.truncate(*left);
            *left -= chunk.parts[0].rows.num_rows() as u64;
            if *left == 0 {
                self.reading = None;
            }
        }
        Some(Ok(chunk))
    }

    /// The position after a row of a chunk. `row` counts the rows that are not of ancestors.
    fn point_behind(&self, chunk: &RowChunk, row: usize) -> Option<ResumePoint> {
        let key = chunk.row_keys.as_ref()?.key(row)?;
        // With one part, rows and their origins stand in the order of the keys.
        let origin = match &chunk.parts[..] {
            [alone] => alone.origins.get(row),
            _ => None,
        };
        self.resumable?.point(key, origin.map(|origin| origin.position))
    }
}

impl BulkGet {
    pub(super) fn new(
        reading: ReadPipeline<TableShaper>,
        limit: Option<u64>,
        resumable: Option<ResumeScope>,
    ) -> Result<Self> {
        let shaper = &reading.plan().shaper;
        let schemas = shaper.parts().map(|part| Ok((part.path.clone(), part.arrow_schema()?)));
        let schemas = schemas.collect::<Result<Vec<_>>>()?;
        let target = &shaper.target().path;
        let target = schemas.iter().position(|(path, _)| path == target).unwrap_or_default();
        let chunks = ChunkStream {
            progress: reading.plan().control.progress.clone(),
            reading: Some(reading),
            joiner: ChunkJoiner::default(),
            left: limit,
            schemas,
            target,
            resumable,
            point: None,
        };
        Ok(Self { chunks, waiting: Vec::new().into_iter(), next_point: None })
    }

    /// The columns of the rows asked for, known before the first batch.
    pub fn schema(&self) -> &SchemaRef {
        &self.chunks.schemas[self.chunks.target].1
    }

    /// The tables whose rows come, by path, each with its columns: ancestors, the table asked for,
    /// then its descendants.
    pub fn schemas(&self) -> &[(Arc<str>, SchemaRef)] {
        &self.chunks.schemas
    }

    /// Watches the read, from any thread.
    pub fn progress(&self) -> ReadProgress {
        self.chunks.progress.clone()
    }

    /// The position up to which all rows were taken. Another read with the same options and keys
    /// resumes there when it is given as `start_after`. With relatives that is known at the end of
    /// each stretch.
    ///
    /// A read without an order has none. A read of keys has one with [`BulkGetOptions::origins`],
    /// out of one source, and without relatives.
    ///
    /// [`BulkGetOptions::origins`]: crate::BulkGetOptions::origins
    pub fn position(&self) -> Option<ResumeToken> {
        self.chunks.point.as_ref().map(ResumePoint::token)
    }

    /// The next stretch of rows, as it comes.
    pub(super) fn next_chunk(&mut self) -> Option<Result<RowChunk>> {
        self.chunks.next()
    }

    /// How many workers have a thread.
    #[cfg(test)]
    pub(crate) fn threads(&self) -> usize {
        self.chunks.reading.as_ref().map_or(0, ReadPipeline::threads)
    }

    /// The same rows one by one, in key order within each stretch: an ancestor before the rows
    /// below it, once for each run of rows that share it, and each parent followed by its children
    /// (before it, when the direction is reverse). Without an order the families of several keys
    /// come as they are ready, each in one piece.
    pub fn into_rows(self) -> BulkGetRows {
        BulkGetRows {
            chunks: self.chunks,
            chunk: RowChunk {
                parts: Vec::new(),
                order: Vec::new(),
                is_cut: false,
                ancestors: Vec::new(),
                row_keys: None,
            },
            next: 0,
            below: 0,
            cursors: Vec::new(),
        }
    }
}

impl Iterator for BulkGet {
    type Item = Result<TableBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.waiting.next() {
                if self.waiting.len() == 0 && self.next_point.is_some() {
                    self.chunks.point = self.next_point.take();
                }
                return Some(Ok(batch));
            }
            match self.chunks.next()? {
                Ok(chunk) => {
                    let last =
                        chunk.row_keys.as_ref().and_then(|row_keys| row_keys.len().checked_sub(1));
                    self.next_point = last.and_then(|row| self.chunks.point_behind(&chunk, row));
                    self.waiting = chunk.parts.into_iter();
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl std::fmt::Debug for BulkGet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tables: Vec<_> = self.chunks.schemas.iter().map(|(path, _)| path).collect();
        f.debug_struct("BulkGet").field("tables", &tables).finish_non_exhaustive()
    }
}

/// One row with the table that it is of.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RelatedRow {
    /// The path of its table.
    pub table: Arc<str>,
    /// The row.
    pub row: Row,
    /// Its version.
    pub version: u64,
    /// When it expires, in milliseconds since 1970; 0 for never.
    pub expires_at_ms: u64,
    /// Which key it answers, if that was asked for.
    pub origin: Option<KeyOrigin>,
}

/// The rows of a bulk get one by one.
pub struct BulkGetRows {
    chunks: ChunkStream,
    chunk: RowChunk,
    next: usize,
    /// How many rows of the chunk were taken that are not of ancestors.
    below: usize,
    cursors: Vec<usize>,
}

impl BulkGetRows {
    /// Like [`BulkGet::position`], after the row that was taken last.
    pub fn position(&self) -> Option<ResumeToken> {
        let here = self.below.checked_sub(1);
        let point = here.and_then(|row| self.chunks.point_behind(&self.chunk, row));
        point.or_else(|| self.chunks.point.clone()).map(|point| point.token())
    }

    /// The part that holds the next row of the chunk, and the position of the row in it.
    fn advance(&mut self) -> Option<(usize, usize)> {
        let part = match self.chunk.parts.len() {
            0 => return None,
            1 if self.next < self.chunk.parts[0].rows.num_rows() => 0,
            1 => return None,
            _ => *self.chunk.order.get(self.next)? as usize,
        };
        self.next += 1;
        self.below += usize::from(part >= self.chunk.ancestors.len());
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
                let row = Row::from_batch(&batch.rows, index);
                return Some(row.map(|row| RelatedRow {
                    table: batch.table.clone(),
                    row,
                    version: batch.versions[index],
                    expires_at_ms: batch.expiries_ms[index],
                    origin: batch.origins.get(index).copied(),
                }));
            }
            // Before the drop: `position` must hold until a row of the next chunk is taken.
            if let Some(last) = self.below.checked_sub(1) {
                self.chunks.point = self.chunks.point_behind(&self.chunk, last);
            }
            match self.chunks.next()? {
                Ok(chunk) => {
                    self.cursors = vec![0; chunk.parts.len()];
                    (self.next, self.below) = (0, 0);
                    self.chunk = chunk;
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl std::fmt::Debug for BulkGetRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BulkGetRows").finish_non_exhaustive()
    }
}
