//! Reads the rows of ancestor tables that go with the rows of a chunk.

use std::sync::Arc;

use tonnage_engine::{Deadline, Engine, Projection, ReadOptions, Result, Rows, Slices, SpaceId};

use super::chunk::{AncestorEnds, RowChunk};
use super::result_table::ResultTable;
use super::table_batch::TableBatch;
use crate::codec::KeyClassifier;

/// The tables above the target whose rows come along, and how these are read.
pub(super) struct Ancestors {
    pub(super) parts: Vec<ResultTable>,
    pub(super) classifier: Arc<KeyClassifier>,
    pub(super) space: SpaceId,
    pub(super) projection: Projection,
    pub(super) batch_bytes_max: usize,
    /// By when the engine must have answered.
    pub(super) deadline: Deadline,
}

/// The ancestors that the rows of a batch want: for each table, one for each run of rows that share
/// it.
pub(super) struct AncestorLookup {
    tables: Vec<AncestorRuns>,
}

/// The runs of rows that share an ancestor.
#[derive(Default)]
struct AncestorRuns {
    /// The key of each ancestor.
    keys: Slices,
    /// The first row of each run.
    firsts: Vec<usize>,
    /// The first run that was not looked up yet.
    next: usize,
}

/// Rows of one ancestor table, for the rows of one chunk.
pub(super) struct AncestorRows {
    rows: Rows,
    /// How many of the rows are of this chunk.
    count: usize,
    /// For each of them the row that it precedes.
    pub(super) before: Vec<usize>,
    ends: AncestorEnds,
}

impl AncestorLookup {
    pub(super) fn of(family: &Ancestors, rows: &Rows) -> Result<Self> {
        let runs = |part: &ResultTable| {
            let table_id = part.entry.schema.table_id;
            let mut runs = AncestorRuns::default();
            for (row, key) in rows.keys.iter().enumerate() {
                let ancestor = &key[..family.classifier.ancestor_key_len(key, table_id)?];
                if runs.keys.last() != Some(ancestor) {
                    runs.keys.push(ancestor);
                    runs.firsts.push(row);
                }
            }
            Ok(runs)
        };
        Ok(Self { tables: family.parts.iter().map(runs).collect::<Result<_>>()? })
    }

    /// Looks up the ancestors of the rows from `first` on, as many as the bytes of a batch hold.
    /// Answers up to which row.
    pub(super) fn read(
        &mut self,
        family: &Ancestors,
        engine: &dyn Engine,
        first: usize,
        rows: usize,
    ) -> Result<(Vec<AncestorRows>, usize)> {
        let bytes_max = family.batch_bytes_max / self.tables.len();
        let (mut read, mut end) = (Vec::with_capacity(self.tables.len()), rows);
        // A table that reaches less far than those before it lowers `end` for all; `take` leaves
        // out what they read beyond it.
        for runs in &self.tables {
            let wanted = runs.next..runs.firsts.partition_point(|row| *row < end);
            let options = ReadOptions {
                projection: family.projection,
                keys: wanted.clone(),
                bytes_max,
                deadline: family.deadline,
            };
            let mut found = Rows::new();
            let taken = engine.read_some(family.space, &runs.keys, &options, &mut found)?;
            // The engine stops when the bytes are used up: rows of later runs wait for the next
            // call.
            if taken < wanted.len() {
                end = runs.firsts[wanted.start + taken];
            }
            read.push(found);
        }
        let found = self
            .tables
            .iter_mut()
            .zip(read)
            .map(|(runs, found)| runs.take(found, first, end))
            .collect();
        Ok((found, end))
    }
}

impl AncestorRuns {
    /// The run that a row is in.
    fn of_row(&self, row: usize) -> usize {
        self.firsts.partition_point(|first| *first <= row) - 1
    }

    /// The ancestors of the rows from one up to another, out of those that were read.
    fn take(&mut self, rows: Rows, first: usize, end: usize) -> AncestorRows {
        let (first_run, last_run) = (self.of_row(first), self.of_row(end - 1));
        let count = rows.origins.partition_point(|run| *run as usize <= last_run);
        let before = rows.origins[..count].iter().map(|run| self.firsts[*run as usize]).collect();
        let ends = AncestorEnds {
            first: self.keys.get(first_run).to_vec(),
            has_first: rows.origins.first().is_some_and(|run| *run as usize == first_run),
            last: self.keys.get(last_run).to_vec(),
        };
        // A run that continues after `end` has given its row, and the next chunk follows directly.
        self.next = last_run + 1;
        AncestorRows { rows, count, before, ends }
    }
}

impl AncestorRows {
    pub(super) fn decode(&self, part: &ResultTable) -> Result<TableBatch> {
        if self.count == self.rows.len() {
            return part.decode(&self.rows, None);
        }
        let which: Vec<u32> = (0..self.count as u32).collect();
        part.decode(&self.rows, Some(&which))
    }

    pub(super) fn ends(&self) -> AncestorEnds {
        self.ends.clone()
    }
}

/// Joins consecutive chunks: an ancestor that ended the chunk before is not repeated.
#[derive(Default)]
pub(super) struct ChunkJoiner {
    /// The key of the ancestor that came last, for each table.
    last: Vec<Vec<u8>>,
}

impl ChunkJoiner {
    pub(super) fn join(&mut self, mut chunk: RowChunk) -> RowChunk {
        let ends = std::mem::take(&mut chunk.ancestors);
        for (part, ends) in ends.iter().enumerate() {
            if ends.has_first && self.last.get(part) == Some(&ends.first) {
                chunk.drop_first(part);
            }
        }
        self.last = ends.into_iter().map(|ends| ends.last).collect();
        chunk
    }
}
