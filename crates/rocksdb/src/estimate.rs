//! Estimates how many rows ranges hold.
//!
//! 1. The first keys of a range are counted. Most ranges have no more, so their answer is exact.
//! 2. RocksDB's indexes tell how many bytes of files these keys take, and how many the whole range.
//!    The rest is in proportion.
//! 3. Step 2 does not cover rows in memory. They are added to every large range, whichever they
//!    belong to.

use rocksdb::Range;
use tonnage_engine::{Ranges, Result, SpaceId};

use crate::error::translate;
use crate::open_store::OpenStore;
use crate::settings::read_options;
use crate::shard::{SPACE_LEN, Shard, space_end};

/// Keys counted in each shard, for all ranges together.
const COUNTED_KEYS_MAX: usize = 4_096;
/// Keys counted in a range, however many there are.
const COUNTED_KEYS_MIN: usize = 64;

impl OpenStore {
    pub(crate) fn estimate_rows(&self, space: SpaceId, ranges: &Ranges) -> Result<u64> {
        self.space(space)?;
        let most = (COUNTED_KEYS_MAX / ranges.len().max(1)).max(COUNTED_KEYS_MIN);
        let mut rows = 0;
        for range in 0..ranges.len() {
            let (start, end) = physical(space, ranges, range);
            for shard in self.shards() {
                rows += rows_of_shard(shard, &start, &end, most)?;
            }
        }
        Ok(rows)
    }
}

/// The bounds of a range as they are stored.
fn physical(space: SpaceId, ranges: &Ranges, range: usize) -> (Vec<u8>, Vec<u8>) {
    let prefix: [u8; SPACE_LEN] = space.0.to_be_bytes();
    let end = match ranges.end(range) {
        [] => space_end(space).to_vec(),
        end => [&prefix, end].concat(),
    };
    ([&prefix, ranges.start(range)].concat(), end)
}

fn rows_of_shard(shard: &Shard, start: &[u8], end: &[u8], most: usize) -> Result<u64> {
    let mut read = read_options();
    read.set_iterate_lower_bound(start);
    read.set_iterate_upper_bound(end);
    let mut iterator = shard.db().raw_iterator_cf_opt(shard.rows(), read);
    iterator.seek_to_first();
    let mut counted = 0;
    while counted < most && iterator.valid() {
        counted += 1;
        iterator.next();
    }
    iterator.status().map_err(|error| translate(shard.display_name(), error))?;
    let Some(reached) = iterator.key() else { return Ok(counted as u64) };
    let in_files = match bytes_between(shard, start, reached) {
        0 => counted as u64,
        counted_bytes => {
            let all_bytes = bytes_between(shard, start, end) as f64;
            (counted as f64 * all_bytes / counted_bytes as f64) as u64
        }
    };
    Ok(in_files.max(counted as u64) + rows_in_memory(shard)?)
}

/// About how many bytes of files a space takes in a shard.
pub(crate) fn bytes_in_files(shard: &Shard, space: SpaceId) -> u64 {
    bytes_between(shard, &space.0.to_be_bytes(), &space_end(space))
}

/// About how many bytes of files lie between two physical keys of a shard.
pub(crate) fn bytes_between(shard: &Shard, start: &[u8], end: &[u8]) -> u64 {
    let sizes = shard.db().get_approximate_sizes_cf(&shard.rows(), &[Range::new(start, end)]);
    sizes.first().copied().unwrap_or(0)
}

/// Rows of all spaces that are not in files yet.
fn rows_in_memory(shard: &Shard) -> Result<u64> {
    let property = |name: &str| -> Result<u64> {
        let value = shard
            .db()
            .property_int_value_cf(shard.rows(), name)
            .map_err(|error| translate(shard.display_name(), error))?;
        Ok(value.unwrap_or(0))
    };
    Ok(property("rocksdb.num-entries-active-mem-table")?
        + property("rocksdb.num-entries-imm-mem-tables")?)
}
