//! Deletes stale index entries that a check has found.
//!
//! 1. The rows that entries lead to are read once more ([`ClusterStore::read_settled`]). A serial
//!    read ends decisions under way, so that none is carried out later. Then every copy is asked,
//!    so that a row is seen even if one copy alone has it.
//! 2. Only old entries are deleted: rows follow their entries within less than an hour
//!    ([`crate::entry_age`]).
//! 3. An entry is deleted under its own time stamp. So the deletion does not reach the same entry
//!    if a row that changed back has stored it again.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::stream::{self, StreamExt, TryStreamExt};
use scylla::statement::Consistency;
use tonnage_engine::{Deadline, Error, ReadOptions, Result, Rows, Slices, SpaceId};

use crate::blocking::with_deadline;
use crate::bucket::Bucket;
use crate::cluster::rows;
use crate::stamp::Stamp;
use crate::store::ClusterStore;
use crate::table::{CqlStatement, SpaceTable};

const WHAT: &str = "deleting stale entries";

/// Entries of one partition that are deleted together.
const ENTRIES: usize = 100;

/// Partitions that entries are deleted from at a time.
const PARTITIONS: usize = 8;

impl ClusterStore {
    /// See [`tonnage_engine::Engine::read_settled`].
    pub(crate) async fn read_settled(
        &self,
        space: SpaceId,
        keys: &Slices,
        options: &ReadOptions,
        rows: &mut Rows,
    ) -> Result<usize> {
        let serial = self.cluster.quorum_scope().serial();
        let read = self.read_at(serial, space, keys, options, rows).await?;
        let options =
            ReadOptions { keys: options.keys.start..options.keys.start + read, ..options.clone() };
        self.read_at(Consistency::All, space, keys, &options, rows).await
    }

    /// See [`tonnage_engine::Engine::delete_older`].
    pub(crate) async fn delete_older(
        &self,
        space: SpaceId,
        entries: &Slices,
        age: Duration,
        deadline: Deadline,
    ) -> Result<u64> {
        // Ages follow from time stamps, so the clocks of the nodes must agree.
        self.time.check()?;
        let table = self.table_by(space, deadline).await?;
        let mut by_partition: BTreeMap<Bucket, Vec<&[u8]>> = BTreeMap::new();
        for entry in entries.iter() {
            let len = self.shard_key_len(&table, entry)?;
            by_partition.entry(self.bucket(&entry[..len])).or_default().push(entry);
        }
        let table = &*table;
        // A request deletes from one partition: entries of several cannot share one.
        let of_partitions = by_partition.into_iter().map(|(bucket, keys)| async move {
            let mut deleted = 0;
            for keys in keys.chunks(ENTRIES) {
                let some = self.delete_some(table, bucket, keys, age);
                deleted += with_deadline(deadline, "the cluster to delete entries", some).await?;
            }
            Ok::<u64, Error>(deleted)
        });
        stream::iter(of_partitions)
            .buffer_unordered(PARTITIONS)
            .try_fold(0, |all, deleted| async move { Ok(all + deleted) })
            .await
            .map_err(|error| self.explain(table, error))
    }

    async fn delete_some(
        &self,
        table: &SpaceTable,
        bucket: Bucket,
        keys: &[&[u8]],
        age: Duration,
    ) -> Result<u64> {
        let p = bucket.partition_key();
        let statement = table.statement(&self.cluster, CqlStatement::RowsWithStamps).await?;
        let answer = self.cluster.ask(WHAT, statement, (&p[..], keys)).await?;
        let mut old: Vec<(i64, [u8; 4], &[u8])> = Vec::new();
        for row in rows::<(&[u8], Option<&[u8]>, Option<i64>)>(WHAT, &answer)? {
            let (key, Some(_), Some(stamp)) = row? else { continue };
            if self.time.since(Stamp(stamp)) >= age {
                old.push((stamp, p, key));
            }
        }
        let Some(latest) = old.iter().map(|(stamp, ..)| *stamp).max() else { return Ok(0) };
        let statement = table.statement(&self.cluster, CqlStatement::RemoveStored).await?;
        let level = self.cluster.quorum_scope().majority();
        // Each deletion has the stamp of its entry; that of the request counts for none of them.
        self.cluster.store_all(level, WHAT, statement, &old, Stamp(latest)).await?;
        Ok(old.len() as u64)
    }
}
