//! Engine rows to record batches, a batch for each table.
//!
//! 1. Where no order is asked for and child tables come along, a batch ends where a family ends:
//!    the rows of the last one, which may go on, wait for the next batch. Only a family that fills
//!    a batch is cut; the rest of it comes right behind.
//! 2. Ancestors are looked up for each run of rows that share them, as many at a time as the bytes
//!    of a batch hold. The rows they belong to make one chunk, with each ancestor before all rows
//!    below it.
//! 3. The rows of each table are decoded together.

use std::sync::Arc;

use tonnage_engine::{Direction, Engine, Error, Projection, Result, Rows, SpaceId};

use super::ancestors::{Found, Wanted};
use super::result::Chunk;
use super::table::projection;
use super::{BulkGetOptions, TableBatch};
use crate::catalog::Relatives;
use crate::catalog::TableEntry;
use crate::codec::{KeyClassifier, KeyOwner};
use crate::read::Shaper;

/// One table of a result: what of it is wanted.
pub(super) struct Part {
    pub(super) entry: Arc<TableEntry>,
    path: Arc<str>,
    columns: Option<Vec<usize>>,
}

impl Part {
    fn new(entry: &Arc<TableEntry>, options: &BulkGetOptions, is_target: bool) -> Result<Self> {
        let schema = &entry.schema;
        let columns = match &options.columns {
            Some(names) if is_target => {
                Some(names.iter().map(|name| schema.require_column(name)).collect::<Result<_>>()?)
            }
            _ if options.keys_only => Some(schema.key.clone()),
            _ => None,
        };
        Ok(Self { entry: entry.clone(), path: schema.path.as_str().into(), columns })
    }

    pub(super) fn decode(&self, rows: &Rows, which: Option<&[u32]>) -> Result<TableBatch> {
        let batch = self.entry.codec.decode(rows, which, self.columns.as_deref())?;
        let pick = |all: &[u64]| match which {
            None => all.to_vec(),
            Some(which) => which.iter().map(|index| all[*index as usize]).collect(),
        };
        Ok(TableBatch {
            table: self.path.clone(),
            rows: batch,
            versions: pick(&rows.versions),
            expiries_ms: pick(&rows.expiries_ms),
        })
    }
}

/// Makes record batches of engine rows.
pub(super) struct TableShaper {
    /// The target, then the wanted tables below it.
    below: Vec<Part>,
    pub(super) ancestors: Vec<Part>,
    pub(super) classifier: Arc<KeyClassifier>,
    pub(super) space: SpaceId,
    pub(super) projection: Projection,
    pub(super) batch_bytes_max: usize,
    /// Whether batches must end where families end: ordered ones follow each other anyway.
    keeps_families: bool,
}

impl TableShaper {
    pub(super) fn new(relatives: &Relatives, options: &BulkGetOptions) -> Result<Self> {
        let below = std::iter::once(Part::new(&relatives.target, options, true));
        let below =
            below.chain(relatives.descendants.iter().map(|entry| Part::new(entry, options, false)));
        let below = below.collect::<Result<Vec<_>>>()?;
        if options.keys_only {
            check_keys_only(&below[0])?;
        }
        let ancestors = relatives
            .ancestors
            .iter()
            .map(|entry| Part::new(entry, options, false))
            .collect::<Result<_>>()?;
        Ok(Self {
            classifier: relatives.target.classifier.clone(),
            space: relatives.target.space,
            projection: projection(options),
            batch_bytes_max: options.batch_bytes_max,
            keeps_families: options.direction == Direction::Unordered && below.len() > 1,
            below,
            ancestors,
        })
    }

    /// How many rows a batch may hold so that defaults, which rows from before their columns lack,
    /// keep to the bytes of a batch too.
    pub(super) fn batch_rows_max(&self, options: &BulkGetOptions) -> usize {
        let default_bytes =
            |part: &Part| part.entry.codec.default_bytes_of(part.columns.as_deref());
        let most = self.below.iter().chain(&self.ancestors).map(default_bytes).max().unwrap_or(0);
        options.batch_rows_max.min(options.batch_bytes_max / most.max(1)).max(1)
    }

    fn target_id(&self) -> u32 {
        self.below[0].entry.schema.table_id
    }

    /// The rows of each part from one row up to another, in key order, and the part of each row.
    fn sort_out(&self, rows: &Rows, first: usize, end: usize) -> Result<(Vec<Vec<u32>>, Vec<u32>)> {
        let mut which = vec![Vec::new(); self.below.len()];
        let mut order = Vec::with_capacity(end - first);
        for index in first..end {
            let KeyOwner::Table(table) = self.classifier.classify(rows.keys.get(index))? else {
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
        let family = &key[..self.classifier.ancestor_key_len(key, self.target_id())?];
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
        rows: &Rows,
        is_cut: bool,
        emit: &mut dyn FnMut(Chunk) -> bool,
    ) -> Result<()> {
        if self.ancestors.is_empty() {
            let mut chunk = self.chunk(rows, 0, rows.len(), &[])?;
            chunk.is_cut = is_cut;
            emit(chunk);
            return Ok(());
        }
        let mut wanted = Wanted::of(self, rows)?;
        let mut first = 0;
        while first < rows.len() {
            let (found, end) = wanted.read(self, engine, first, rows.len())?;
            let mut chunk = self.chunk(rows, first, end, &found)?;
            chunk.is_cut = is_cut || end < rows.len();
            if !emit(chunk) {
                break;
            }
            first = end;
        }
        Ok(())
    }

    /// The rows from one up to another, with their ancestors.
    fn chunk(&self, rows: &Rows, first: usize, end: usize, found: &[Found]) -> Result<Chunk> {
        let is_plain = self.below.len() == 1 && found.is_empty() && (first, end) == (0, rows.len());
        if is_plain {
            return Ok(Chunk::of_one(self.below[0].decode(rows, None)?));
        }
        let (which, below_order) = self.sort_out(rows, first, end)?;
        let mut parts = found
            .iter()
            .zip(&self.ancestors)
            .map(|(found, part)| found.decode(part))
            .collect::<Result<Vec<_>>>()?;
        for (part, which) in self.below.iter().zip(&which) {
            parts.push(part.decode(rows, Some(which))?);
        }
        let order = interleave(found, &which, &below_order);
        Ok(Chunk {
            parts,
            order,
            is_cut: false,
            ancestors: found.iter().map(Found::ends).collect(),
        })
    }
}

/// The order of all rows when ancestors join a chunk: each right before the first row that it was
/// read for.
fn interleave(found: &[Found], which: &[Vec<u32>], below_order: &[u32]) -> Vec<u32> {
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
fn check_keys_only(part: &Part) -> Result<()> {
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
    type Output = Chunk;
    /// The rows of a family that may go on.
    type Memory = Rows;

    fn shape(
        &self,
        engine: &dyn Engine,
        rows: &mut Rows,
        kept: &mut Rows,
        emit: &mut dyn FnMut(Chunk) -> bool,
    ) -> Result<()> {
        let is_cut = self.keeps_families && self.keep_last_family(rows, kept)?;
        self.emit(engine, rows, is_cut, emit)
    }

    fn end(
        &self,
        engine: &dyn Engine,
        kept: Rows,
        emit: &mut dyn FnMut(Chunk) -> bool,
    ) -> Result<()> {
        if kept.is_empty() { Ok(()) } else { self.emit(engine, &kept, false, emit) }
    }

    fn is_cut(chunk: &Chunk) -> bool {
        chunk.is_cut
    }
}
