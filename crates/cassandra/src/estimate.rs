//! Estimates how many rows there are, by reading a few thousand keys.
//!
//! Partitions lie on the ring at random. So if these rows took some share of the ring, the whole
//! ring holds in proportion. Cassandra's own estimates do not cover recent writes.

use tonnage_engine::{Direction, NEVER_MS, Projection, Ranges, Result, Rows, SpaceId};

use crate::bucket::Bucket;
use crate::cluster::rows;
use crate::extent::{Extent, TokenRange};
use crate::pages::Pages;
use crate::store::ClusterStore;
use crate::table::{CqlStatement, SpaceTable};

/// The most rows that are read.
const ROWS_MAX: u64 = 4_096;

impl ClusterStore {
    /// See [`tonnage_engine::Engine::rows_estimate`].
    pub(crate) async fn estimate_rows(&self, space: SpaceId, ranges: &Ranges) -> Result<u64> {
        let table = self.table(space).await?;
        let extents = self.extents(&table, ranges)?;
        let mut counted = 0;
        for (done, extent) in (0_u64..).zip(&extents) {
            if counted >= ROWS_MAX {
                // As many again in each of the ranges that are left.
                return Ok(counted * extents.len() as u64 / done.max(1));
            }
            counted += self
                .estimate(&table, extent, ROWS_MAX - counted)
                .await
                .map_err(|error| self.explain(&table, error))?;
        }
        Ok(counted)
    }

    async fn estimate(&self, table: &SpaceTable, extent: &Extent, rows_max: u64) -> Result<u64> {
        let mut pages = Pages::of(extent, Direction::Forward, Projection::KeysOnly);
        let (mut page, mut read, mut count, mut last) = (Rows::new(), 0, 0, Vec::new());
        let now_ms = self.clock.now_ms();
        let is_live = |expiry_ms: &&u64| **expiry_ms == NEVER_MS || **expiry_ms > now_ms;
        while !pages.are_over() {
            // All rows that were read count here, dead ones too: they bound what an estimate costs.
            if read >= rows_max {
                return match extent {
                    Extent::Ring(token_range) => {
                        self.extrapolate(table, *token_range, count, &last)
                    }
                    Extent::Within { bucket, start, end } => {
                        self.count(table, *bucket, start, end.as_deref()).await
                    }
                    Extent::Nothing => Ok(count),
                };
            }
            pages.read(self, table, usize::MAX, &mut page).await?;
            read += page.len() as u64;
            // Rows that were deleted or have expired stay for an hour.
            count += page.expiries_ms.iter().filter(is_live).count() as u64;
            if let Some(key) = page.keys.last() {
                last.clear();
                last.extend_from_slice(key);
            }
        }
        Ok(count)
    }

    fn extrapolate(
        &self,
        table: &SpaceTable,
        token_range: TokenRange,
        count: u64,
        last: &[u8],
    ) -> Result<u64> {
        let shard_key = &last[..table.info().shape.shard_key_len(last)?];
        let length = |to: i64| (i128::from(to) - i128::from(token_range.after)).max(1) as f64;
        let share = length(self.bucket(shard_key).token()) / length(token_range.last);
        Ok((count as f64 / share) as u64)
    }

    /// Counts within a partition, where Cassandra counts.
    async fn count(
        &self,
        table: &SpaceTable,
        bucket: Bucket,
        start: &[u8],
        end: Option<&[u8]>,
    ) -> Result<u64> {
        let what = "counting rows";
        let p = &bucket.partition_key()[..];
        let answer = match end {
            Some(end) => {
                let statement = table.statement(&self.cluster, CqlStatement::Count).await?;
                self.cluster.ask(what, statement, (p, start, end)).await?
            }
            None => {
                let statement = table.statement(&self.cluster, CqlStatement::CountRest).await?;
                self.cluster.ask(what, statement, (p, start)).await?
            }
        };
        let count = rows::<(i64,)>(what, &answer)?.next().transpose()?;
        Ok(count.map_or(0, |(count,)| count.max(0) as u64))
    }
}
