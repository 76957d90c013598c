//! About how many rows a space holds.
//!
//! 1. The first keys are counted. Most spaces have no more, and are known exactly.
//! 2. RocksDB tells from its indexes how many bytes of files these keys take, and how many the whole space: the rest is in proportion.
//! 3. What is only in memory is not weighed there. It is counted in, for whichever space it is.

use rocksdb::Range;
use tonnage_engine::{Result, SpaceId};

use crate::RocksEngine;
use crate::error::translate;
use crate::settings::read_options;
use crate::shard::{Shard, space_end};

/// Keys counted in each shard.
const COUNTED_KEYS_MAX: u64 = 4_096;

impl RocksEngine {
    pub(crate) fn estimate_rows(&self, space: SpaceId) -> Result<u64> {
        self.space(space)?;
        self.shards().iter().map(|shard| rows_of_shard(shard, space)).sum()
    }
}

fn rows_of_shard(shard: &Shard, space: SpaceId) -> Result<u64> {
    let (start, end) = (space.0.to_be_bytes(), space_end(space));
    let mut read = read_options();
    read.set_iterate_lower_bound(start);
    read.set_iterate_upper_bound(end);
    let mut iterator = shard.db().raw_iterator_cf_opt(shard.rows(), read);
    iterator.seek_to_first();
    let mut counted = 0;
    while counted < COUNTED_KEYS_MAX && iterator.valid() {
        counted += 1;
        iterator.next();
    }
    iterator.status().map_err(|error| translate(shard.place(), error))?;
    let Some(reached) = iterator.key() else { return Ok(counted) };
    let bytes =
        |end: &[u8]| shard.db().get_approximate_sizes_cf(&shard.rows(), &[Range::new(&start, end)]).first().copied().unwrap_or(0);
    let (counted_bytes, all_bytes) = (bytes(reached), bytes(&end));
    let in_files = match counted_bytes {
        0 => counted,
        _ => (counted as f64 * all_bytes as f64 / counted_bytes as f64) as u64,
    };
    Ok(in_files.max(counted) + rows_in_memory(shard)?)
}

/// Rows of all spaces that are not in files yet.
fn rows_in_memory(shard: &Shard) -> Result<u64> {
    let property = |name: &str| -> Result<u64> {
        let value = shard.db().property_int_value_cf(shard.rows(), name).map_err(|error| translate(shard.place(), error))?;
        Ok(value.unwrap_or(0))
    };
    Ok(property("rocksdb.num-entries-active-mem-table")? + property("rocksdb.num-entries-imm-mem-tables")?)
}
