//! The capability of a cluster, from the settings of its nodes.

use scylla::statement::{Consistency, Statement};
use tonnage_engine::{Capability, Result};

use crate::cluster::Cluster;
use crate::error::{RequestInfo, failure, not_understood};

/// The longest clustering key of Cassandra, less the byte that means "after this key".
const KEY_BYTES_MAX: usize = 65_535 - 1;

/// What a mutation holds besides its rows: names, time stamps, the state of a decision.
const MUTATION_RESERVE_BYTES: usize = 64 << 10;

/// The most operations of a batch. Each is a statement of its own.
const BATCH_OPERATIONS_MAX: usize = 1_000;

/// What such an operation takes besides key and value.
const OPERATION_BYTES: usize = 128;

/// The largest mutation where the cluster does not tell.
const MUTATION_BYTES: usize = 8 << 20;

/// Reads what the cluster says of itself, for a store of so many shards.
pub(crate) async fn capability(cluster: &Cluster, shards: u32) -> Result<Capability> {
    let mutation = setting(cluster, "max_mutation_size").await?;
    let mutation_bytes =
        mutation.as_deref().and_then(size_bytes).unwrap_or(MUTATION_BYTES).min(256 << 20);
    let sync = setting(cluster, "commitlog_sync").await?;
    // A batch at its limits must fit into one mutation, with what its statements add to the rows.
    let row_bytes_max = mutation_bytes
        .saturating_sub(MUTATION_RESERVE_BYTES + BATCH_OPERATIONS_MAX * OPERATION_BYTES)
        .max(KEY_BYTES_MAX);
    Ok(Capability {
        key_bytes_max: KEY_BYTES_MAX,
        value_bytes_max: row_bytes_max - KEY_BYTES_MAX,
        batch_bytes_max: row_bytes_max,
        batch_operations_max: BATCH_OPERATIONS_MAX,
        spaces_per_batch: 1,
        total_order: false,
        absolute_consistency: true,
        acks_all: true,
        // With `periodic` a node answers before its log is synced.
        fsync: sync.is_some_and(|sync| sync == "batch" || sync == "group"),
        persistent: true,
        shared: true,
        checkpoint: false,
        settle: false,
        shard_prefixed_spaces: true,
        shard_prefixed_atomic: false,
        shards,
    })
}

/// A setting of the node that answers; nothing where nodes do not tell (ScyllaDB).
async fn setting(cluster: &Cluster, name: &str) -> Result<Option<String>> {
    let what = "asking a node for a setting";
    let mut question = Statement::new("SELECT value FROM system_views.settings WHERE name = ?");
    question.set_consistency(Consistency::One);
    let answer = match cluster.session().query_unpaged(question, (name,)).await {
        Ok(answer) => answer.into_rows_result().map_err(|error| not_understood(what, error))?,
        Err(error) => {
            let failure = failure(RequestInfo { what, level: "ONE", silent: "" }, error);
            return if failure.is_permanent() { Ok(None) } else { Err(failure.into_error()) };
        }
    };
    let row: Option<(Option<String>,)> =
        answer.maybe_first_row().map_err(|error| not_understood(what, error))?;
    Ok(row.and_then(|(value,)| value))
}

/// A size as settings write it: `4096KiB`.
fn size_bytes(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let shift = match unit {
        "B" | "" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        _ => return None,
    };
    number.parse::<usize>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size_bytes("4096KiB"), Some(4 << 20));
        assert_eq!(size_bytes("16MiB"), Some(16 << 20));
        assert_eq!(size_bytes("512"), Some(512));
        assert_eq!(size_bytes("null"), None);
    }
}
