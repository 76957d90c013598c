//! Plans the bulk gets and scans of tables.

use std::sync::Arc;

use tonnage_engine::{Direction, Error, FillCache, Part, Result, ScanOptions};

use super::cut::{check_total_order, cut, is_in_order};
use super::keys::KeyTasks;
use super::result::ResumeScope;
use super::resume::ResumePoint;
use super::scan::{PARTS_PER_WORKER, SpaceParts};
use super::shaper::TableShaper;
use super::source::KeySourceKind;
use super::{BulkGet, BulkGetOptions, KeySource, TableScanOptions};
use crate::catalog::Relatives;
use crate::catalog::TableEntry;
use crate::inner::Inner;
use crate::read::{ReadControl, ReadPipeline, ReadPlan};

/// Reads the rows of many keys of a table.
pub(crate) fn bulk_get(
    store: &Inner,
    target: Arc<TableEntry>,
    keys: KeySource,
    options: &BulkGetOptions,
) -> Result<BulkGet> {
    options.check()?;
    let is_everything = matches!(keys.0, KeySourceKind::All(_)) && options.range.is_none();
    if is_everything && options.limit_per_key.is_none() && options.start_after.is_none() {
        let relatives = Relatives::find(&store.catalog, target.clone(), &options.relatives)?;
        let plan = plan(store, relatives, options)?;
        let parts = if options.limit.is_some() { 1 } else { PARTS_PER_WORKER * plan.workers };
        let ranges = SpaceParts::cut(store, &target, !options.relatives.is_empty(), parts)?;
        let tasks = SpaceParts::new(ranges, options.direction);
        return BulkGet::new(ReadPipeline::new(plan, tasks), options.limit, None);
    }
    // Where there are several sources, a place in one of them says nothing of the others.
    let is_one = !matches!(keys.0, KeySourceKind::Several(_));
    let is_resumable = is_one && options.origins && options.relatives.is_empty();
    let resumable = (is_resumable && options.direction != Direction::Unordered)
        .then(|| resume_scope(&target, options.direction, true));
    let (plan, tasks) = key_read(store, target, keys, options)?;
    BulkGet::new(ReadPipeline::new(plan, tasks), options.limit, resumable)
}

fn resume_scope(target: &TableEntry, direction: Direction, is_by_keys: bool) -> ResumeScope {
    ResumeScope { space: target.space, is_reverse: direction == Direction::Reverse, is_by_keys }
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
        // A key gives its whole shard key, whose rows lie together: only a range of all rows needs
        // a total order.
        if matches!(keys.0, KeySourceKind::All(_)) {
            check_total_order(store, "a range across shard keys")?;
        }
    }
    let after = match &options.start_after {
        None => None,
        Some(_) if matches!(keys.0, KeySourceKind::Several(_)) => {
            return Err(Error::invalid(
                "start_after needs one source of keys: chain the sources instead",
            ));
        }
        Some(token) => Some(ResumePoint::of(token, target.space, options.direction, true)?),
    };
    // Descendants follow a row, outside its own key: with them whole keys are read as ranges, too.
    let always_ranges = !relatives.descendants.is_empty();
    let plan = plan(store, relatives, options)?;
    let tasks = KeyTasks::new(target, options, always_ranges, after, keys, &plan.control);
    Ok((plan, tasks))
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
    let parts = cut(store, &target, options, parts)?;
    let resumable = (options.direction != Direction::Unordered && is_in_order(store))
        .then(|| resume_scope(&target, options.direction, false));
    let tasks = SpaceParts::new(parts, options.direction);
    BulkGet::new(ReadPipeline::new(plan, tasks), None, resumable)
}

/// Reads the rows of a part, by one worker.
pub(crate) fn scan_part(
    store: &Inner,
    target: Arc<TableEntry>,
    options: &TableScanOptions,
    part: Part,
) -> Result<BulkGet> {
    let mut plan = scan_plan(store, target, options)?;
    plan.workers = 1;
    let tasks = SpaceParts::new(vec![part], options.direction);
    BulkGet::new(ReadPipeline::new(plan, tasks), None, None)
}

/// Reads all rows of a table by at most `parts` results, each with a worker of its own, in
/// ascending order of keys.
pub(crate) fn scan_parts(
    store: &Inner,
    target: &Arc<TableEntry>,
    options: &TableScanOptions,
    parts: usize,
) -> Result<Vec<BulkGet>> {
    let parts = cut(store, target, options, parts)?;
    parts.into_iter().map(|part| scan_part(store, target.clone(), options, part)).collect()
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
    plan.scan.fill_cache = FillCache::IfSmall;
    Ok(plan)
}

fn plan(
    store: &Inner,
    relatives: Relatives,
    options: &BulkGetOptions,
) -> Result<ReadPlan<TableShaper>> {
    let control = ReadControl::new(&options.cancel, options.timeout);
    let shaper = TableShaper::new(&relatives, options, control.deadline())?;
    // The engine counts the bytes that are stored. Defaults of later columns come on top, so they
    // bound the rows.
    let scan = ScanOptions {
        direction: options.direction,
        projection: options.projection(),
        limit_per_range: options.limit_per_key,
        limit_per_shard_key: None,
        batch_rows_max: shaper.batch_rows_max(options),
        batch_bytes_max: options.batch_bytes_max,
        filter: Some(relatives.filter()),
        // Keys that were asked for are likely to be asked for again; `scan_plan` sets it otherwise.
        fill_cache: FillCache::Yes,
        deadline: control.deadline(),
        ..ScanOptions::default()
    };
    Ok(ReadPlan {
        engine: store.reader(options.consistency).clone(),
        space: relatives.target.space,
        projection: options.projection(),
        scan,
        ordered: options.direction != Direction::Unordered,
        workers: options.workers(),
        control,
        ahead: store.ahead.clone(),
        threads: store.threads.clone(),
        shaper,
    })
}
