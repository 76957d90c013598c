//! Bulk get over tables: what to read.

use std::sync::Arc;

use tonnage_engine::{Direction, Projection, Ranges, Result, ScanOptions};

use super::keys::KeyTasks;
use super::scan::{PARTS_PER_WORKER, SpaceParts};
use super::shaper::TableShaper;
use super::{BulkGet, BulkGetOptions, KeySource};
use crate::catalog::Relatives;
use crate::catalog::TableEntry;
use crate::inner::Inner;
use crate::read::{KeyBatcher, ReadPipeline, ReadPlan};
use crate::table::TableScanOptions;

/// Reads the rows of many keys of a table.
pub(crate) fn bulk_get(
    store: &Inner,
    target: Arc<TableEntry>,
    keys: KeySource,
    options: &BulkGetOptions,
) -> Result<BulkGet> {
    options.check()?;
    let (plan, tasks) = key_read(store, target, keys, options)?;
    Ok(BulkGet::new(ReadPipeline::new(plan, tasks)))
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
    let points =
        KeyBatcher::new(options.direction != Direction::Unordered, options.memory_bytes_max);
    let tasks = KeyTasks::new(
        target,
        options.range.clone(),
        !relatives.descendants.is_empty(),
        points,
        keys,
    );
    Ok((plan(store, relatives, options)?, tasks))
}

/// Reads all rows of a table, by several workers when it is large.
pub(crate) fn scan(
    store: &Inner,
    target: Arc<TableEntry>,
    options: &TableScanOptions,
) -> Result<BulkGet> {
    let plan = scan_plan(store, target.clone(), options)?;
    let parts = if plan.workers > 1 && options.limit.is_none() {
        PARTS_PER_WORKER * plan.workers
    } else {
        1
    };
    let ranges = SpaceParts::cut(store, &target, options, parts)?;
    Ok(BulkGet::new(ReadPipeline::new(plan, SpaceParts::new(ranges, options.direction))))
}

/// Reads all rows of a table by at most `parts` results, each with a worker of its own, in
/// ascending order of keys.
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
        Ok(BulkGet::new(ReadPipeline::new(plan, SpaceParts::new(range, options.direction))))
    };
    (0..ranges.len()).map(part).collect()
}

fn scan_plan(
    store: &Inner,
    target: Arc<TableEntry>,
    options: &TableScanOptions,
) -> Result<ReadPlan<TableShaper>> {
    options.check()?;
    let get = options.as_bulk_get();
    get.check()?;
    let relatives = Relatives::find(&store.catalog, target, &options.relatives)?;
    let mut plan = plan(store, relatives, &get)?;
    plan.scan.limit_per_shard_key = options.limit_per_shard_key;
    plan.scan.fill_cache = false;
    Ok(plan)
}

fn plan(
    store: &Inner,
    relatives: Relatives,
    options: &BulkGetOptions,
) -> Result<ReadPlan<TableShaper>> {
    let shaper = TableShaper::new(&relatives, options)?;
    let scan = ScanOptions {
        direction: options.direction,
        projection: projection(options),
        limit_per_range: options.limit_per_key,
        limit_per_shard_key: None,
        batch_rows_max: shaper.batch_rows_max(options),
        batch_bytes_max: options.batch_bytes_max,
        filter: Some(relatives.filter()),
        fill_cache: true,
    };
    Ok(ReadPlan {
        engine: store.engine.clone(),
        space: relatives.target.space,
        projection: projection(options),
        scan,
        ordered: options.direction != Direction::Unordered,
        workers: options.workers(),
        shaper,
    })
}

pub(super) fn projection(options: &BulkGetOptions) -> Projection {
    if options.keys_only { Projection::KeysOnly } else { Projection::KeysAndValues }
}
