//! Index entries, written beside the small writes of their rows.
//!
//! Entries follow from rows, and readers check them against the rows. So nothing need be decided
//! about them: they are plain writes, each under a time stamp of its own that is later than all
//! that this process wrote before. A quorum stores new entries before the rows are written. Deleted
//! entries go after the rows are.
//!
//! Rows are decided by conditions, entries never are: the two would get in each other's way.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use futures::future::try_join_all;
use tonnage_engine::{Acks, Deadline, Operation, Result, SHARD_LEN, WriteBatch};

use crate::blocking::with_deadline;
use crate::bucket::Bucket;
use crate::header::{RowHeader, ttl_seconds};
use crate::stamp::Stamp;
use crate::store::ClusterStore;
use crate::table::{CqlStatement, SpaceTable};

/// What a batch does to the entries of one space, all of one partition.
pub(crate) struct IndexEntries {
    table: Arc<SpaceTable>,
    bucket: Bucket,
    /// The last operation on each key, if it is a put, and if it is a deletion.
    put: Vec<usize>,
    deleted: Vec<usize>,
}

impl IndexEntries {
    /// The operations of a run of a batch.
    pub(crate) fn new(
        store: &ClusterStore,
        table: Arc<SpaceTable>,
        batch: &WriteBatch,
        run: Range<usize>,
    ) -> Self {
        let bucket = store.bucket(&batch.key(run.start)[..SHARD_LEN]);
        let last: BTreeMap<&[u8], usize> =
            run.map(|operation| (batch.key(operation), operation)).collect();
        let (put, deleted) =
            last.into_values().partition(|operation| batch.operation(*operation) == Operation::Put);
        Self { table, bucket, put, deleted }
    }
}

impl ClusterStore {
    /// Puts entries into as many copies as asked for, a majority at least, and answers their version.
    pub(crate) async fn put_entries(
        &self,
        entries: &[IndexEntries],
        batch: &WriteBatch,
        acks: Acks,
        deadline: Deadline,
    ) -> Result<u64> {
        let version = self.time.version();
        let put = entries.iter().filter(|of_space| !of_space.put.is_empty());
        let put =
            try_join_all(put.map(|of_space| self.put_of_space(of_space, batch, acks, version)));
        with_deadline(deadline, "an answer of the cluster", put).await?;
        Ok(version)
    }

    async fn put_of_space(
        &self,
        entries: &IndexEntries,
        batch: &WriteBatch,
        acks: Acks,
        version: u64,
    ) -> Result<()> {
        let (table, now_ms) = (&entries.table, self.clock.now_ms());
        let p = entries.bucket.partition_key();
        let row = |operation: &usize| {
            let expires_at_ms = batch.expires_at_ms(*operation);
            let header = RowHeader { version, is_conditional: false, expires_at_ms };
            let ttl = ttl_seconds(expires_at_ms, now_ms);
            (ttl, header.to_bytes(), batch.value(*operation), p, batch.key(*operation))
        };
        let rows: Vec<_> = entries.put.iter().map(row).collect();
        let stored = async {
            let statement = table.statement(&self.cluster, CqlStatement::Load).await?;
            let stamp = Stamp::of_version(version);
            let level = self.cluster.quorum_scope().of(acks.max(Acks::Majority));
            self.cluster.store_all(level, "storing entries", statement, &rows, stamp).await
        };
        stored.await.map_err(|error| self.explain(table, error))
    }

    /// Removes entries.
    pub(crate) async fn remove_entries(
        &self,
        entries: &[IndexEntries],
        batch: &WriteBatch,
    ) -> Result<()> {
        let removed = entries.iter().filter(|of_space| !of_space.deleted.is_empty());
        try_join_all(removed.map(|of_space| self.remove_of_space(of_space, batch))).await?;
        Ok(())
    }

    async fn remove_of_space(&self, entries: &IndexEntries, batch: &WriteBatch) -> Result<()> {
        let table = &entries.table;
        let p = entries.bucket.partition_key();
        let keys: Vec<_> =
            entries.deleted.iter().map(|operation| (p, batch.key(*operation))).collect();
        let removed = async {
            let statement = table.statement(&self.cluster, CqlStatement::Remove).await?;
            let stamp = Stamp::of_version(self.time.version());
            let level = self.cluster.quorum_scope().majority();
            self.cluster.store_all(level, "removing entries", statement, &keys, stamp).await
        };
        removed.await.map_err(|error| self.explain(table, error))
    }
}
