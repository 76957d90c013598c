//! Estimates how many entries some ranges of an index have. Of many ranges it measures an even
//! sample.

use tonnage_engine::{Engine, Ranges, Result, SpaceId};

use super::options::IndexRange;
use super::scan::{EntryBounds, push_bounds};

/// Ranges looked at: all pieces of a cover, which differ by powers of 4.
const RANGES_MAX: usize = 64;

/// The ranges to look at.
pub(super) fn sample(ranges: &[IndexRange]) -> impl Iterator<Item = &IndexRange> {
    ranges.iter().step_by(ranges.len().div_ceil(RANGES_MAX).max(1))
}

/// About how many entries `count` ranges have of which these are a sample.
pub(super) fn entries(
    engine: &dyn Engine,
    space: SpaceId,
    sample: &[EntryBounds],
    count: usize,
) -> Result<u64> {
    let mut ranges = Ranges::new();
    for bounds in sample.iter().filter(|(start, end)| end.is_empty() || start < end) {
        (0..engine.capability().shards).for_each(|shard| push_bounds(shard, bounds, &mut ranges));
    }
    let entries = engine.rows_estimate(space, &ranges)?;
    Ok((u128::from(entries) * count as u128 / sample.len().max(1) as u128) as u64)
}
