//! Shapes engine rows into record batches, a batch for each table.
//!
//! 1. In an unordered read with child tables, a batch ends where a family ends. The rows of the
//!    last family may continue, so they wait for the next batch. Only a family that fills a batch
//!    is cut; its other rows follow directly.
//! 2. Ancestors are looked up once for each run of rows that share them, as many at a time as the
//!    bytes of a batch hold. The rows of one lookup make one chunk, with each ancestor before all
//!    rows below it.
//! 3. The rows of each table are decoded together.

use std::sync::Arc;

use tonnage_engine::{Deadline, Direction, Engine, Error, Result, Rows, Slices};

use super::BulkGetOptions;
use super::ancestors::{AncestorLookup, AncestorRows, Ancestors};
use super::chunk::{RowChunk, RowKeys};
use super::result_table::ResultTable;
use crate::catalog::Relatives;
use crate::codec::KeyOwner;
use crate::read::origin::KeyOrigin;
use crate::read::{ReadTask, Shaper};

/// What is kept from batch to batch of one task.
#[derive(Default)]
pub(super) struct TaskMemory {
    /// The rows of a family that may continue.
    kept: Rows,
    /// The origin of the keys of the task, if given.
    origins: Option<Arc<Vec<KeyOrigin>>>,
}

/// Rows of a task, to be decoded.
struct TaskRows<'a> {
    rows: &'a Rows,
    origins: Option<&'a [KeyOrigin]>,
    is_cut: bool,
}

impl TaskRows<'_> {
    /// Where the keys of some rows come from.
    fn origins_of(&self, rows: impl Iterator<Item = usize>) -> Vec<KeyOrigin> {
        let Some(origins) = self.origins else { return Vec::new() };
        rows.map(|row| origins[self.rows.origins[row] as usize]).collect()
    }
}

/// Makes record batches of engine rows.
pub(super) struct TableShaper {
    /// The target, then the wanted tables below it.
    below: Vec<ResultTable>,
    ancestors: Ancestors,
    /// Whether chunks keep the keys of their rows, so that a read can resume after them.
    keeps_row_keys: bool,
    /// Whether batches must end where families end: ordered ones follow each other anyway.
    keeps_families: bool,
}

impl TableShaper {
    pub(super) fn new(
        relatives: &Relatives,
        options: &BulkGetOptions,
        deadline: Deadline,
    ) -> Result<Self> {
        let below = std::iter::once(ResultTable::new(&relatives.target, options, true));
        let below = below.chain(
            relatives.descendants.iter().map(|entry| ResultTable::new(entry, options, false)),
        );
        let below = below.collect::<Result<Vec<_>>>()?;
        // Only the target: the columns asked for are its own, and relatives come with all or their
        // keys.
        if options.keys_only {
            check_keys_only(&below[0])?;
        }
        let ancestors = relatives
            .ancestors
            .iter()
            .map(|entry| ResultTable::new(entry, options, false))
            .collect::<Result<_>>()?;
        Ok(Self {
            keeps_row_keys: options.direction != Direction::Unordered,
            // A family of one table is a single row, which no batch can cut.
            keeps_families: options.direction == Direction::Unordered && below.len() > 1,
            below,
            ancestors: Ancestors {
                parts: ancestors,
                classifier: relatives.target.classifier.clone(),
                space: relatives.target.space,
                projection: options.projection(),
                batch_bytes_max: options.batch_bytes_max,
                deadline,
            },
        })
    }

    /// How many rows a batch may hold so that defaults, which rows from before their columns lack,
    /// keep to the bytes of a batch too.
    pub(super) fn batch_rows_max(&self, options: &BulkGetOptions) -> usize {
        let default_bytes =
            |part: &ResultTable| part.entry.codec.default_bytes_of(part.columns.as_deref());
        let most =
            self.below.iter().chain(&self.ancestors.parts).map(default_bytes).max().unwrap_or(0);
        options.batch_rows_max.min(options.batch_bytes_max / most.max(1)).max(1)
    }

    /// The tables of the result, ancestors first, as their batches come.
    pub(super) fn parts(&self) -> impl Iterator<Item = &ResultTable> {
        self.ancestors.parts.iter().chain(&self.below)
    }

    pub(super) fn target(&self) -> &ResultTable {
        &self.below[0]
    }

    fn target_id(&self) -> u32 {
        self.below[0].entry.schema.table_id
    }

    /// The rows of each part from one row up to another, in key order, and the part of each row.
    fn split_by_table(
        &self,
        rows: &Rows,
        first: usize,
        end: usize,
    ) -> Result<(Vec<Vec<u32>>, Vec<u32>)> {
        let mut which = vec![Vec::new(); self.below.len()];
        let mut order = Vec::with_capacity(end - first);
        for index in first..end {
            let KeyOwner::Table(table) =
                self.ancestors.classifier.classify(rows.keys.get(index))?
            else {
                continue;
            };
            if let Some(part) =
                self.below.iter().position(|part| part.entry.schema.table_id == table)
            {
                which[part].push(index as u32);
                order.push(part as u32);
            }
        }
        Ok((which, order))
    }

    /// The number of the first row of the last family.
    fn last_family(&self, rows: &Rows) -> Result<usize> {
        let last = rows.len() - 1;
        let key = rows.keys.get(last);
        let family = &key[..self.ancestors.classifier.ancestor_key_len(key, self.target_id())?];
        let is_of_it = |row: &usize| {
            rows.origins[*row] == rows.origins[last] && rows.keys.get(*row).starts_with(family)
        };
        Ok((0..last).rev().take_while(is_of_it).last().unwrap_or(last))
    }

    /// Keeps the rows of the last family back, after those that were kept back before it joined
    /// `rows`. Answers whether a family had to be cut.
    fn keep_last_family(&self, rows: &mut Rows, kept: &mut Rows) -> Result<bool> {
        if !kept.is_empty() {
            // Origins of a task's batches ascend, so those of two batches can be compared.
            append(kept, rows, 0);
            std::mem::swap(kept, rows);
            kept.clear();
        }
        let first = self.last_family(rows)?;
        if first == 0 {
            return Ok(true);
        }
        append(kept, rows, first);
        truncate(rows, first);
        Ok(false)
    }

    /// Decodes rows and emits them, in several chunks where their ancestors are large.
    fn emit(
        &self,
        engine: &dyn Engine,
        task_rows: &TaskRows<'_>,
        emit: &mut dyn FnMut(RowChunk) -> bool,
    ) -> Result<()> {
        let rows = task_rows.rows;
        let keys = self.keeps_row_keys.then(|| Arc::new(rows.keys.clone()));
        // Without ancestors nothing is looked up, so no lookup cuts the batch into pieces.
        if self.ancestors.parts.is_empty() {
            let mut chunk = self.chunk(task_rows, 0, rows.len(), &[], keys)?;
            chunk.is_cut = task_rows.is_cut;
            emit(chunk);
            return Ok(());
        }
        let mut wanted = AncestorLookup::of(&self.ancestors, rows)?;
        let mut first = 0;
        while first < rows.len() {
            let (found, end) = wanted.read(&self.ancestors, engine, first, rows.len())?;
            let mut chunk = self.chunk(task_rows, first, end, &found, keys.clone())?;
            // The pieces of one batch must follow each other: an ancestor that two of them share is
            // given once.
            chunk.is_cut = task_rows.is_cut || end < rows.len();
            if !emit(chunk) {
                break;
            }
            first = end;
        }
        Ok(())
    }

    /// The rows from one up to another, with their ancestors.
    fn chunk(
        &self,
        task_rows: &TaskRows<'_>,
        first: usize,
        end: usize,
        found: &[AncestorRows],
        keys: Option<Arc<Slices>>,
    ) -> Result<RowChunk> {
        let rows = task_rows.rows;
        // Most reads are of one table: the filter of the scan has let through its rows alone, so no
        // key is looked at.
        let is_plain = self.below.len() == 1 && found.is_empty() && (first, end) == (0, rows.len());
        if is_plain {
            let mut batch = self.below[0].decode(rows, None)?;
            batch.origins = task_rows.origins_of(0..rows.len());
            let row_keys = keys.map(|keys| RowKeys { keys, rows: None });
            return Ok(RowChunk { row_keys, ..RowChunk::of_one(batch) });
        }
        let (which, below_order) = self.split_by_table(rows, first, end)?;
        let mut parts = Vec::with_capacity(found.len() + which.len());
        for (found, part) in found.iter().zip(&self.ancestors.parts) {
            let mut batch = found.decode(part)?;
            batch.origins = task_rows.origins_of(found.before.iter().copied());
            parts.push(batch);
        }
        for (part, which) in self.below.iter().zip(&which) {
            let mut batch = part.decode(rows, Some(which))?;
            batch.origins = task_rows.origins_of(which.iter().map(|row| *row as usize));
            parts.push(batch);
        }
        let order = interleave(found, &which, &below_order);
        // Row numbers ascend in key order, so sorting them brings the tables back together.
        let mut in_order: Vec<u32> = which.concat();
        in_order.sort_unstable();
        Ok(RowChunk {
            parts,
            order,
            is_cut: false,
            ancestors: found.iter().map(AncestorRows::ends).collect(),
            row_keys: keys.map(|keys| RowKeys { keys, rows: Some(in_order) }),
        })
    }
}

/// The order of all rows when ancestors join a chunk: each right before the first row that it was
/// read for.
fn interleave(found: &[AncestorRows], which: &[Vec<u32>], below_order: &[u32]) -> Vec<u32> {
    let mut ancestors = vec![0; found.len()];
    let mut below = vec![0; which.len()];
    let mut order = Vec::with_capacity(below_order.len());
    for part in below_order {
        let row = which[*part as usize][below[*part as usize]] as usize;
        below[*part as usize] += 1;
        for (number, (found, next)) in found.iter().zip(&mut ancestors).enumerate() {
            while found.before.get(*next).is_some_and(|first| *first <= row) {
                order.push(number as u32);
                *next += 1;
            }
        }
        order.push(part + found.len() as u32);
    }
    order
}

/// Names columns that a keys-only read cannot give.
fn check_keys_only(part: &ResultTable) -> Result<()> {
    let schema = &part.entry.schema;
    for column in part.columns.iter().flatten() {
        if !schema.is_key(*column) {
            return Err(Error::invalid(format!(
                "column {} of {} is not in the primary key: a read of keys only cannot give it",
                schema.columns[*column].name, schema.path
            )));
        }
    }
    Ok(())
}

/// Appends the rows of `from` that begin with number `first`.
fn append(rows: &mut Rows, from: &Rows, first: usize) {
    for row in first..from.len() {
        rows.push(
            from.keys.get(row),
            from.values.get(row),
            from.versions[row],
            from.expiries_ms[row],
            from.origins[row],
        );
    }
}

fn truncate(rows: &mut Rows, len: usize) {
    rows.keys.truncate(len);
    rows.values.truncate(len);
    rows.versions.truncate(len);
    rows.expiries_ms.truncate(len);
    rows.origins.truncate(len);
}

impl Shaper for TableShaper {
    type Output = RowChunk;
    type Memory = TaskMemory;

    fn begin(&self, task: &ReadTask) -> TaskMemory {
        let origins = match task {
            ReadTask::Traced { origins, .. } => Some(origins.clone()),
            _ => None,
        };
        TaskMemory { kept: Rows::new(), origins }
    }

    fn shape(
        &self,
        engine: &dyn Engine,
        rows: &mut Rows,
        memory: &mut TaskMemory,
        emit: &mut dyn FnMut(RowChunk) -> bool,
    ) -> Result<()> {
        let is_cut = self.keeps_families && self.keep_last_family(rows, &mut memory.kept)?;
        let origins = memory.origins.as_ref().map(|origins| &origins[..]);
        self.emit(engine, &TaskRows { rows, origins, is_cut }, emit)
    }

    fn end(
        &self,
        engine: &dyn Engine,
        memory: TaskMemory,
        emit: &mut dyn FnMut(RowChunk) -> bool,
    ) -> Result<()> {
        if memory.kept.is_empty() {
            return Ok(());
        }
        let origins = memory.origins.as_ref().map(|origins| &origins[..]);
        self.emit(engine, &TaskRows { rows: &memory.kept, origins, is_cut: false }, emit)
    }

    fn is_cut(chunk: &RowChunk) -> bool {
        chunk.is_cut
    }
}
