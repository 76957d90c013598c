//! About how many entries ranges of an index have.
//!
//! 1. Of many ranges some are looked at, evenly spread; the others are taken to be like them.
//! 2. Their entries are counted, up to a few thousand in all.
//! 3. A range that has more is weighed: the engine cuts the index into parts of about the same size, and the range has its share of them.

use tonnage_engine::{Direction, Engine, Ranges, Result, SHARD_LEN, Slices, SpaceId};

use super::options::IndexRange;
use super::walk::{Bounds, Walk};

/// Ranges looked at.
const RANGES_MAX: usize = 16;
/// Entries counted in all.
const COUNTED_MAX: usize = 8_192;
/// Parts that shares are measured in.
const PARTS: usize = 64;

/// The ranges to look at.
pub(super) fn sample(ranges: &[IndexRange]) -> impl Iterator<Item = &IndexRange> {
    ranges.iter().step_by(ranges.len().div_ceil(RANGES_MAX).max(1))
}

/// About how many entries `count` ranges have of which these are a sample.
pub(super) fn entries(engine: &dyn Engine, space: SpaceId, sample: &[Bounds], count: usize) -> Result<u64> {
    if sample.is_empty() {
        return Ok(0);
    }
    let most = COUNTED_MAX / sample.len();
    let (mut sum, mut weights) = (0, None);
    for bounds in sample {
        let counted = counted(engine, space, bounds, most)?;
        sum += match counted < most {
            true => counted as u64,
            false => {
                let weights = match &weights {
                    Some(weights) => weights,
                    None => weights.insert(Weights::of(engine, space)?),
                };
                weights.entries(bounds).max(counted as u64)
            }
        };
    }
    Ok((sum as u128 * count as u128 / sample.len() as u128) as u64)
}

fn counted(engine: &dyn Engine, space: SpaceId, bounds: &Bounds, most: usize) -> Result<usize> {
    let mut walk = Walk::new(engine, space, Direction::Unordered);
    walk.add(bounds.clone());
    let mut entries = Slices::new();
    walk.read(engine, most, &mut entries)?;
    Ok(entries.len().min(most))
}

/// An index in parts of about the same size.
struct Weights {
    parts: Ranges,
    entries: u64,
}

impl Weights {
    fn of(engine: &dyn Engine, space: SpaceId) -> Result<Self> {
        Ok(Self { parts: engine.split(space, PARTS)?, entries: engine.rows_estimate(space)? })
    }

    /// The entries of the parts that a range reaches into; half of those that it begins and ends in.
    fn entries(&self, bounds: &Bounds) -> u64 {
        let reached = (0..self.parts.len()).filter(|part| self.reaches(bounds, *part)).count() as u64;
        let halves = if reached > 1 { 2 * reached - 2 } else { 1 };
        self.entries * halves / (2 * self.parts.len().max(1) as u64)
    }

    /// Shards hold rows by a hash, so each has about the same share of every range.
    fn reaches(&self, (start, end): &Bounds, part: usize) -> bool {
        let (part_start, part_end) = (self.parts.start(part), self.parts.end(part));
        let shard = |key: &[u8]| key.get(..SHARD_LEN).map_or([0; SHARD_LEN], |shard| [shard[0], shard[1]]);
        let number = shard(part_start);
        let low = [&number, &start[..]].concat();
        let begins_before_its_end = part_end.is_empty() || low.as_slice() < part_end;
        let high = [&number, &end[..]].concat();
        let ends_behind_its_start = end.is_empty() || part_start < high.as_slice();
        begins_before_its_end && ends_behind_its_start
    }
}
