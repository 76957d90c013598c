//! Bulk get over tables: what to read, and how rows become record batches.

use std::sync::Arc;

use tonnage_engine::{Direction, Engine, Projection, Ranges, Result, Rows, ScanOptions, Slices};

use super::keys::KeyTasks;
use super::parts::{PARTS_PER_WORKER, SpaceParts};
use super::result::Chunk;
use super::{BulkGet, BulkGetOptions, KeySource, Points, ReadPlan, Reading, Relatives, Shaper, TableBatch};
use crate::catalog::TableEntry;
use crate::codec::KeyOwner;
use crate::store::Inner;
use crate::table::TableScanOptions;

/// Reads the rows of many keys of a table.
pub(crate) fn bulk_get(store: &Inner, target: Arc<TableEntry>, keys: KeySource, options: &BulkGetOptions) -> Result<BulkGet> {
    options.check()?;
    let (plan, tasks) = key_read(store, target, keys, options)?;
    Ok(BulkGet::new(Reading::new(plan, tasks)))
}

/// How to read the rows of many keys, and the tasks that the keys make.
pub(super) fn key_read(
    store: &Inner,
    target: Arc<TableEntry>,
    keys: KeySource,
    options: &BulkGetOptions,
) -> Result<(ReadPlan<TableShaper>, KeyTasks)> {
    let relatives = Relatives::find(&store.catalog, target.clone(), &options.relatives)?;
    if let Some(range) = &options.range {
        target.schema.require_column(&range.column)?;
    }
    let points = Points::new(options.direction != Direction::Unordered, options.memory_bytes_max);
    let tasks = KeyTasks::new(target, options.range.clone(), !relatives.descendants.is_empty(), points, keys);
    Ok((plan(store, relatives, options)?, tasks))
}

/// Reads all rows of a table, by several workers when it is large.
pub(crate) fn scan(store: &Inner, target: Arc<TableEntry>, options: &TableScanOptions) -> Result<BulkGet> {
    let plan = scan_plan(store, target.clone(), options)?;
    let parts = if plan.workers > 1 && options.limit.is_none() { PARTS_PER_WORKER * plan.workers } else { 1 };
    let ranges = SpaceParts::cut(store, &target, options, parts)?;
    Ok(BulkGet::new(Reading::new(plan, SpaceParts::new(ranges, options.direction))))
}

/// Reads all rows of a table by at most `parts` results, each with a worker of its own, in ascending order of keys.
pub(crate) fn scan_parts(
    store: &Inner,
    target: Arc<TableEntry>,
    options: &TableScanOptions,
    parts: usize,
) -> Result<Vec<BulkGet>> {
    let ranges = SpaceParts::cut(store, &target, options, parts)?;
    let part = |index| {
        let mut plan = scan_plan(store, target.clone(), options)?;
        plan.workers = 1;
        let mut range = Ranges::new();
        range.push(ranges.start(index), ranges.end(index));
        Ok(BulkGet::new(Reading::new(plan, SpaceParts::new(range, options.direction))))
    };
    (0..ranges.len()).map(part).collect()
}

fn scan_plan(store: &Inner, target: Arc<TableEntry>, options: &TableScanOptions) -> Result<ReadPlan<TableShaper>> {
    options.check()?;
    let get = options.as_bulk_get();
    get.check()?;
    let relatives = Relatives::find(&store.catalog, target, &options.relatives)?;
    let mut plan = plan(store, relatives, &get)?;
    plan.scan.limit_per_shard_key = options.limit_per_shard_key;
    plan.scan.fill_cache = false;
    Ok(plan)
}

fn plan(store: &Inner, relatives: Relatives, options: &BulkGetOptions) -> Result<ReadPlan<TableShaper>> {
    let scan = ScanOptions {
        direction: options.direction,
        projection: projection(options),
        limit_per_range: options.limit_per_key,
        limit_per_shard_key: None,
        batch_rows_max: options.batch_rows_max,
        batch_bytes_max: options.batch_bytes_max,
        filter: relatives.filter(),
        fill_cache: true,
    };
    Ok(ReadPlan {
        engine: store.engine.clone(),
        space: relatives.target.space,
        projection: projection(options),
        scan,
        ordered: options.direction != Direction::Unordered,
        workers: options.workers(),
        shaper: TableShaper::new(relatives, options)?,
    })
}

fn projection(options: &BulkGetOptions) -> Projection {
    if options.keys_only { Projection::KeysOnly } else { Projection::KeysAndValues }
}

/// One table of a result: what of it is wanted.
struct Part {
    entry: Arc<TableEntry>,
    path: Arc<str>,
    columns: Option<Vec<usize>>,
}

impl Part {
    fn new(entry: &Arc<TableEntry>, options: &BulkGetOptions, is_target: bool) -> Result<Self> {
        let schema = &entry.schema;
        let columns = match &options.columns {
            Some(names) if is_target => Some(names.iter().map(|name| schema.require_column(name)).collect::<Result<_>>()?),
            _ if options.keys_only => Some(schema.key.clone()),
            _ => None,
        };
        Ok(Self { entry: entry.clone(), path: schema.path.as_str().into(), columns })
    }

    fn decode(&self, rows: &Rows, which: Option<&[u32]>) -> Result<TableBatch> {
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
    ancestors: Vec<Part>,
    has_strangers: bool,
    space: tonnage_engine::SpaceId,
    projection: Projection,
}

impl TableShaper {
    fn new(relatives: Relatives, options: &BulkGetOptions) -> Result<Self> {
        let below = std::iter::once(Part::new(&relatives.target, options, true));
        let below = below.chain(relatives.descendants.iter().map(|entry| Part::new(entry, options, false)));
        let mut below = below.collect::<Result<Vec<_>>>()?;
        if options.keys_only
            && let Some(part) = below.first_mut()
        {
            check_keys_only(part)?;
        }
        let ancestors = relatives.ancestors.iter().map(|entry| Part::new(entry, options, false)).collect::<Result<_>>()?;
        Ok(Self {
            space: relatives.target.space,
            has_strangers: relatives.has_strangers,
            projection: projection(options),
            below,
            ancestors,
        })
    }

    /// The rows of each part, in key order, and the part of each row.
    fn sort_out(&self, rows: &Rows) -> Result<(Vec<Vec<u32>>, Vec<u8>)> {
        let mut which = vec![Vec::new(); self.below.len()];
        let mut order = Vec::with_capacity(rows.len());
        let classifier = &self.below[0].entry.classifier;
        for index in 0..rows.len() {
            let KeyOwner::Table(table) = classifier.classify(rows.keys.get(index))? else { continue };
            if let Some(part) = self.below.iter().position(|part| part.entry.schema.table_id == table) {
                which[part].push(index as u32);
                order.push(part as u8);
            }
        }
        Ok((which, order))
    }

    /// Reads the ancestors of the target's rows, one for each run of rows that share it, and puts them before these rows.
    fn with_ancestors(&self, engine: &dyn Engine, rows: &Rows, last: &mut LastAncestors, chunk: Chunk) -> Result<Chunk> {
        let targets = if self.has_strangers { self.sort_out(rows)?.0.swap_remove(0) } else { (0..rows.len() as u32).collect() };
        let mut parts = Vec::new();
        // For each ancestor, the row of the target before which each of its rows stands.
        let mut before: Vec<Vec<usize>> = Vec::new();
        last.resize_with(self.ancestors.len(), Vec::new);
        for (part, last) in self.ancestors.iter().zip(last) {
            let (keys, firsts) = self.ancestor_keys(part, rows, &targets, last)?;
            let mut found = Rows::new();
            engine.read(self.space, &keys, self.projection, &mut found)?;
            before.push(found.origins.iter().map(|origin| firsts[*origin as usize]).collect());
            parts.push(part.decode(&found, None)?);
        }
        let order = interleave(&before, &chunk);
        parts.extend(chunk.parts);
        Ok(Chunk { parts, order })
    }

    /// The key of the ancestor of each run of rows that begins here, and the number of the first target row of the run. `last`
    /// is the ancestor of the run before.
    fn ancestor_keys(&self, part: &Part, rows: &Rows, targets: &[u32], last: &mut Vec<u8>) -> Result<(Slices, Vec<usize>)> {
        let classifier = &self.below[0].entry.classifier;
        let (mut keys, mut firsts) = (Slices::new(), Vec::new());
        for (number, index) in targets.iter().enumerate() {
            let key = rows.keys.get(*index as usize);
            let ancestor = &key[..classifier.ancestor_key_len(key, part.entry.schema.table_id)?];
            if last != ancestor {
                last.clear();
                last.extend_from_slice(ancestor);
                keys.push(ancestor);
                firsts.push(number);
            }
        }
        Ok((keys, firsts))
    }
}

/// Names columns that a keys-only read cannot give.
fn check_keys_only(part: &mut Part) -> Result<()> {
    let schema = &part.entry.schema;
    for column in part.columns.iter().flatten() {
        if !schema.is_key(*column) {
            return Err(tonnage_engine::Error::invalid(format!(
                "column {} of {} is not in the primary key: a read of keys only cannot give it",
                schema.columns[*column].name, schema.path
            )));
        }
    }
    Ok(())
}

/// The order of all rows when ancestors join a chunk: each right before the target row it was read for.
fn interleave(before: &[Vec<usize>], chunk: &Chunk) -> Vec<u8> {
    let ancestors = before.len();
    let mut cursors = vec![0; ancestors];
    let mut order = Vec::new();
    let mut target_number = 0;
    let single = chunk.parts.first().map_or(0, |part| part.rows.num_rows());
    let below: Box<dyn Iterator<Item = u8>> =
        if chunk.order.is_empty() { Box::new(std::iter::repeat_n(0, single)) } else { Box::new(chunk.order.iter().copied()) };
    for part in below {
        if part == 0 {
            for (ancestor, cursor) in cursors.iter_mut().enumerate() {
                while before[ancestor].get(*cursor).is_some_and(|first| *first <= target_number) {
                    order.push(ancestor as u8);
                    *cursor += 1;
                }
            }
            target_number += 1;
        }
        order.push(part + ancestors as u8);
    }
    order
}

/// For each ancestor table the key of the row that came last, so that a run over several batches gets it once.
type LastAncestors = Vec<Vec<u8>>;

impl Shaper for TableShaper {
    type Output = Chunk;
    type Memory = LastAncestors;

    fn shape(
        &self,
        engine: &dyn Engine,
        rows: &mut Rows,
        last: &mut LastAncestors,
        emit: &mut dyn FnMut(Chunk) -> bool,
    ) -> Result<()> {
        let chunk = if self.has_strangers && self.below.len() > 1 {
            let (which, order) = self.sort_out(rows)?;
            let parts = self.below.iter().zip(&which).map(|(part, which)| part.decode(rows, Some(which)));
            Chunk { parts: parts.collect::<Result<_>>()?, order }
        } else {
            Chunk { parts: vec![self.below[0].decode(rows, None)?], order: Vec::new() }
        };
        let chunk = if self.ancestors.is_empty() { chunk } else { self.with_ancestors(engine, rows, last, chunk)? };
        emit(chunk);
        Ok(())
    }
}
