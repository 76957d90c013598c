//! Cuts a table, or a range of its first key column, into parts.

use tonnage_engine::{Error, Part, Ranges, Result};

use super::resume::ResumePoint;
use super::scan::SpaceParts;
use super::table_scan::TableScanOptions;
use crate::catalog::TableEntry;
use crate::codec::FieldRange;
use crate::inner::Inner;

/// So few rows are one part.
const PART_ROWS_MIN: u64 = 65_536;
/// A table is cut into so many parts at most, for those that a range has.
const PARTS_MAX: u64 = 1_024;

/// Whether all rows are kept in one order.
pub(super) fn is_in_order(store: &Inner) -> bool {
    let capability = store.engine.capability();
    capability.total_order && capability.shards == 1
}

/// Refuses what only an engine in total order can do.
pub(super) fn check_total_order(store: &Inner, what: &str) -> Result<()> {
    if is_in_order(store) {
        return Ok(());
    }
    let capability = store.engine.capability();
    Err(Error::unsupported(match capability.shared {
        true => format!(
            "{what}: this store is on a cluster, which keeps its rows in order only under each shard key; read without it, or name the shard keys"
        ),
        false => format!(
            "{what}: this store keeps its rows in {} directories, and in order only under each shard key; read without it, or keep the store in one directory",
            capability.shards
        ),
    }))
}

/// The keys from and up to which a scan is narrowed, if it is.
fn narrowed_bounds(
    store: &Inner,
    target: &TableEntry,
    options: &TableScanOptions,
) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
    let (mut start, mut end) = (Vec::new(), Vec::new());
    if options.range.is_none() && options.start_after.is_none() {
        return Ok(None);
    }
    if let Some(range) = &options.range {
        target.codec.range_bounds(&[], 0, range, &mut start, &mut end)?;
        check_total_order(store, "a range across shard keys")?;
    }
    if let Some(token) = &options.start_after {
        check_total_order(store, "start_after")?;
        ResumePoint::of(token, target.space, options.direction, false)?
            .narrow(&mut start, &mut end);
    }
    Ok(Some((start, end)))
}

/// About how many rows a range of the first key column has.
pub(crate) fn rows_in_range(store: &Inner, target: &TableEntry, range: &FieldRange) -> Result<u64> {
    let (mut start, mut end) = (Vec::new(), Vec::new());
    target.codec.range_bounds(&[], 0, range, &mut start, &mut end)?;
    rows_between(store, target, &start, &end)
}

fn rows_between(store: &Inner, target: &TableEntry, start: &[u8], end: &[u8]) -> Result<u64> {
    let mut ranges = Ranges::new();
    ranges.push(start, end);
    store.engine.rows_estimate(target.space, &ranges)
}

/// Whether what is counted or joined by shard key must come from one part.
fn by_shard_key(options: &TableScanOptions) -> bool {
    options.limit_per_shard_key.is_some() || !options.relatives.is_empty()
}

/// Cuts a table into at most `parts` parts, in ascending order of keys.
pub(crate) fn cut(
    store: &Inner,
    target: &TableEntry,
    options: &TableScanOptions,
    parts: usize,
) -> Result<Vec<Part>> {
    let Some((start, end)) = narrowed_bounds(store, target, options)? else {
        return SpaceParts::cut(store, target, by_shard_key(options), parts);
    };
    // Only stores in total order come here: their engines keep ranges of keys.
    let whole = || vec![Part::of_keys(&start, &end)];
    if parts < 2 {
        return Ok(whole());
    }
    let wanted = rows_between(store, target, &start, &end)?;
    if wanted < PART_ROWS_MIN {
        return Ok(whole());
    }
    // The table is cut into as many more parts as the range is shorter than it.
    let all = store.engine.rows_estimate(target.space, &Ranges::whole_space())?;
    let finer = (parts as u64).saturating_mul((all / wanted).max(1)).min(PARTS_MAX);
    let all = SpaceParts::cut(store, target, by_shard_key(options), finer as usize)?;
    let mut cut = Vec::new();
    for part in all {
        let keys = part.keys()?;
        let from = keys.start(0).max(&start);
        let to = match (keys.end(0), end.as_slice()) {
            (to, []) | ([], to) => to,
            (one, other) => one.min(other),
        };
        if to.is_empty() || from < to {
            cut.push(Part::of_keys(from, to));
        }
    }
    Ok(if cut.is_empty() { whole() } else { cut })
}
