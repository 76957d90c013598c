//! Deletes ranges: one deletion for each partition, under a stamp of its own and the lock of the
//! partition.
//!
//! A whole space is emptied partition by partition too. To truncate its table would be faster, but
//! needs every node, and may delete what is written meanwhile.
//!
//! A range deletion leaves no headers ([`crate::header`]): it would have to read all keys to know
//! the rows. So a late request for a new row, which a node gets after the deletion, brings that row
//! back. The library deletes chunks of large objects by range, and sends no such requests: it
//! writes each chunk together with the draft of its writer, on condition of the draft's own header.

use std::future::Future;

use futures::stream::{self, StreamExt};
use scylla::statement::Consistency;
use tonnage_engine::{Acks, Deadline, Ranges, Result, SpaceId};

use crate::bucket::Bucket;
use crate::extent::{Extent, TokenRange};
use crate::pages::partitions;
use crate::store::ClusterStore;
use crate::table::{CqlStatement, SpaceTable};

/// Deletions of one call under way at a time.
const DELETIONS: usize = 64;

impl ClusterStore {
    /// See [`tonnage_engine::Engine::delete_range`].
    pub(crate) async fn delete_ranges(
        &self,
        space: SpaceId,
        ranges: &Ranges,
        acks: Acks,
        deadline: Deadline,
    ) -> Result<()> {
        deadline.check("its turn")?;
        let table = self.table_by(space, deadline).await?;
        let extents = self.extents(&table, ranges)?;
        self.time.check()?;
        let level = self.cluster.quorum_scope().of(acks.max(Acks::Majority));
        all(extents.iter().map(|extent| self.delete(&table, extent, level, deadline)))
            .await
            .map_err(|error| self.explain(&table, error))
    }

    async fn delete(
        &self,
        table: &SpaceTable,
        extent: &Extent,
        level: Consistency,
        deadline: Deadline,
    ) -> Result<()> {
        match extent {
            Extent::Nothing => Ok(()),
            Extent::Within { bucket, start, end } => {
                let range = (&start[..], end.as_deref());
                self.delete_within(table, *bucket, range, level, deadline).await
            }
            Extent::Ring(token_range) => {
                self.delete_token_range(table, *token_range, level, deadline).await
            }
        }
    }

    async fn delete_token_range(
        &self,
        table: &SpaceTable,
        mut token_range: TokenRange,
        level: Consistency,
        deadline: Deadline,
    ) -> Result<()> {
        loop {
            let majority = self.cluster.quorum_scope().majority();
            let (found, rest) = partitions(self, table, token_range, majority).await?;
            let delete = |bucket| self.delete_within(table, bucket, (&[], None), level, deadline);
            all(found.into_iter().map(delete)).await?;
            match rest {
                Some(rest) => token_range = rest,
                None => return Ok(()),
            }
        }
    }

    async fn delete_within(
        &self,
        table: &SpaceTable,
        bucket: Bucket,
        (start, end): (&[u8], Option<&[u8]>),
        level: Consistency,
        deadline: Deadline,
    ) -> Result<()> {
        let what = "deleting a range";
        let _lock = self.partition_locks.lock_by(table.id(), bucket, deadline).await?;
        let stamp = self.time.stamp();
        let p = &bucket.partition_key()[..];
        let deleted = match end {
            Some(end) => {
                let statement = table.statement(&self.cluster, CqlStatement::DeleteRange).await?;
                self.cluster.store(level, what, statement, (stamp.0, p, start, end)).await
            }
            None => {
                let statement = table.statement(&self.cluster, CqlStatement::DeleteRest).await?;
                self.cluster.store(level, what, statement, (stamp.0, p, start)).await
            }
        };
        // Unanswered requests may be executed too: no write may use an earlier stamp.
        let passed = self.time.pass(stamp).await;
        deleted.and(passed)
    }
}

/// Carries all of them out, so many at a time, whatever fails. A deletion that is given up half-way
/// would give up its lock before it is settled. Answers the first error.
async fn all(deletions: impl Iterator<Item = impl Future<Output = Result<()>>>) -> Result<()> {
    let outcomes = stream::iter(deletions).buffer_unordered(DELETIONS);
    outcomes.fold(Ok(()), |first, outcome| async { first.and(outcome) }).await
}
