//! Statistics of the store, as JSON.

use serde_json::{Value as Json, json};
use tonnage::{Result, ShardStatistics};

use crate::context::ServerContext;

/// Tells sums, and each shard by itself.
///
/// # Errors
/// What the store says.
pub(crate) fn statistics(context: &ServerContext) -> Result<Vec<Vec<u8>>> {
    let statistics = context.store.statistics()?;
    let told = json!({
        "tables": context.store.tables().len(),
        "rows_estimate": statistics.rows_estimate(),
        "disk_bytes": statistics.disk_bytes(),
        "compaction_pending_bytes": statistics.compaction_pending_bytes(),
        "loads": context.jobs.running_loads(),
        "shards": statistics.shards.iter().map(shard_json).collect::<Vec<_>>(),
    });
    Ok(vec![told.to_string().into_bytes()])
}

fn shard_json(shard: &ShardStatistics) -> Json {
    json!({
        "place": shard.location,
        "rows_estimate": shard.rows_estimate,
        "disk_bytes": shard.disk_bytes,
        "files": shard.files,
        "memtable_bytes": shard.memtable_bytes,
        "cache_bytes": shard.cache_bytes,
        "compaction_pending_bytes": shard.compaction_pending_bytes,
        "details": shard.details,
    })
}
