//! Verification and statistics.

use std::sync::Arc;

use tonnage_engine::{
    Deadline, ErrorKind, Ranges, Result, Rows, ScanOptions, Scanner, ShardId, ShardStatistics,
    Statistics, VerifyReport,
};

use crate::extent::{Extent, TokenRange};
use crate::partition_sizes::PartitionSizes;
use crate::scan::ClusterScan;
use crate::store::ClusterStore;

impl ClusterStore {
    /// Reads every row, and reports partitions that are too large. Checksums are verified by the
    /// nodes that answer.
    pub(crate) fn verify_all(self: &Arc<Self>, deadline: Deadline) -> Result<VerifyReport> {
        let mut report = VerifyReport::default();
        for space in self.runtime.wait(self.spaces())? {
            let table = match self.runtime.wait(self.table(space.id)) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                table => table?,
            };
            let mut partitions =
                PartitionSizes::of(table.display_name(), table.is_shard_prefixed());
            // Along the ring, so that rows of a partition come together, as `PartitionSizes` needs
            // them.
            let whole = vec![Extent::Ring(TokenRange::RING)];
            let options = ScanOptions { deadline, ..ScanOptions::default() };
            let level = self.cluster.quorum_scope().majority();
            let mut scan = ClusterScan::open(Arc::clone(self), table, whole, options, level)?;
            let mut rows = Rows::new();
            loop {
                match scan.next_batch(&mut rows) {
                    Ok(true) => {}
                    Ok(false) => break,
                    // Another process drops it, or was killed when its table was gone and its row
                    // was not.
                    Err(error) if error.kind() == ErrorKind::NotFound => break,
                    Err(error) => return Err(error),
                }
                for (key, value) in rows.keys.iter().zip(rows.values.iter()) {
                    let shard_key = &key[..space.shape.shard_key_len(key)?];
                    partitions.add(self.bucket(shard_key), shard_key, key.len() + value.len());
                }
                report.rows += rows.len() as u64;
                report.bytes += rows.bytes() as u64;
            }
            report.warnings.extend(partitions.into_warnings());
        }
        Ok(report)
    }

    /// One reading: the cluster's own tools show its internals.
    pub(crate) async fn read_statistics(&self) -> Result<Statistics> {
        let mut rows_estimate = 0;
        let spaces = self.spaces().await?;
        for space in &spaces {
            rows_estimate += match self.estimate_rows(space.id, &Ranges::whole_space()).await {
                // It was dropped after the list was read: that is not an error of the statistics.
                Err(error) if error.kind() == ErrorKind::NotFound => 0,
                estimate => estimate?,
            };
        }
        let state = self.cluster.session().get_cluster_state();
        let nodes = state.get_nodes_info();
        let connected = nodes.iter().filter(|node| node.is_connected()).count();
        Ok(Statistics {
            shards: vec![ShardStatistics {
                shard: ShardId(0),
                location: format!("{}/{}", self.hosts(), self.cluster.keyspace()),
                rows_estimate,
                details: vec![
                    ("nodes".to_owned(), nodes.len() as u64),
                    ("nodes connected".to_owned(), connected as u64),
                    ("tables".to_owned(), spaces.len() as u64),
                ],
                ..ShardStatistics::default()
            }],
        })
    }
}
