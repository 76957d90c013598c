//! Stores a chunk: entries of one partition.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tonnage_engine::{Acks, Deadline, Entries, Error, ErrorKind, LoadObserver, OnExisting, Result};

use crate::cluster::rows;
use crate::header::{RowHeader, ttl_seconds};
use crate::load::entry_result::EntryResult;
use crate::load::generation::Generation;
use crate::stamp::Stamp;
use crate::store::ClusterStore;
use crate::table::{CqlStatement, SpaceTable};

/// A row to store: time to live, header, payload, partition, key.
type RowValues<'a> = (i32, [u8; 17], &'a [u8], [u8; 4], &'a [u8]);

/// An entry that is stored, by its position in the generation, and the header that it gets.
type WinningEntry = (usize, RowHeader);

/// How a chunk is stored.
pub(super) struct ChunkOrder {
    pub(super) on_existing: OnExisting,
    pub(super) acks: Acks,
    pub(super) deadline: Deadline,
    /// Rows are not sent later, for their entries would be too old.
    pub(super) rows_until: Option<Instant>,
    /// Set when the load has ended: then nothing more is sent.
    pub(super) is_cancelled: Arc<AtomicBool>,
    /// Says whether the process may write at all.
    pub(super) observer: Arc<dyn LoadObserver>,
}

impl ChunkOrder {
    fn check(&self) -> Result<()> {
        if self.is_cancelled.load(Ordering::Acquire) {
            return Err(Error::cancelled("the load has ended"));
        }
        self.observer.check_may_send()?;
        match self.rows_until.is_some_and(|until| Instant::now() >= until) {
            true => Err(Error::unavailable(
                "rows of a load waited too long for their entries in indexes: the cluster is too busy; load them again, fewer at a time",
            )),
            false => Ok(()),
        }
    }
}

/// The error of a chunk that was sent. One that is not sent again, since its load has ended, had no
/// answer: it is in doubt.
fn doubtful_error(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Cancelled => Error::unavailable(format!(
            "rows that got no answer are not sent again, and may or may not be stored: {error}"
        )),
        _ => error,
    }
}

/// Reports rows that were sent when the process might no longer write. The observer waits for the
/// cluster, on a thread of its own.
async fn report_late(
    generation: &Generation,
    table: &SpaceTable,
    winners: &[WinningEntry],
    order: &ChunkOrder,
) -> Result<()> {
    let mut rows = Entries::new();
    for (at, _) in winners {
        let expires_at_ms = generation.expires_at_ms(*at);
        rows.push(generation.key(*at), generation.value(*at), 0, expires_at_ms);
    }
    let (observer, space) = (Arc::clone(&order.observer), table.id());
    let told = tokio::task::spawn_blocking(move || observer.sent_late(space, &rows)).await;
    told.map_err(|error| {
        Error::internal("the observer of a load failed: report it").with_source(error)
    })?
}

impl ClusterStore {
    /// Stores a chunk of a generation. Answers what became of each of its entries.
    pub(super) async fn store_chunk(
        &self,
        generation: &Generation,
        chunk: &Range<usize>,
        order: &ChunkOrder,
    ) -> Result<Vec<EntryResult>> {
        let table = generation.table(chunk.start);
        let bucket = generation.origin(chunk.start).bucket;
        // Entries of an index are stored over whatever is there.
        let is_entries = table.is_shard_prefixed();
        let on_existing = if is_entries { OnExisting::BlindReplace } else { order.on_existing };
        let mut lock = self.partition_locks.lock_by(table.id(), bucket, order.deadline).await?;
        order.check()?;
        let oldest = chunk.clone().map(|at| generation.origin(at).version).min().unwrap_or(0);
        let is_blind = is_entries || (on_existing == OnExisting::BlindReplace && *lock < oldest);
        let stored = match is_blind {
            true => vec![None; chunk.len()],
            false => self.look_up_chunk(generation, chunk).await?,
        };
        let stamp = self.time.stamp();
        let (results, winners) = self.decide_chunk(generation, chunk, &stored, on_existing);
        if let Some(greatest) = winners.iter().map(|(_, header)| header.version).max() {
            *lock = (*lock).max(greatest);
            let is_tried = AtomicBool::new(false);
            let sent = self.send(generation, table, &winners, stamp, order, &is_tried).await;
            let may_be_stored = is_tried.load(Ordering::Relaxed);
            // Unanswered requests may be stored too: no write may use an earlier stamp.
            let passed = if may_be_stored { self.time.pass(stamp).await } else { Ok(()) };
            // Unlocked first: the observer writes index entries of late rows, under such locks.
            drop(lock);
            if may_be_stored && !is_entries && order.observer.check_may_send().is_err() {
                report_late(generation, table, &winners, order).await?;
            }
            sent.map_err(|error| if may_be_stored { doubtful_error(error) } else { error })?;
            passed?;
        }
        Ok(results)
    }

    /// The rows stored under the keys of a chunk, side by side with its entries.
    async fn look_up_chunk(
        &self,
        generation: &Generation,
        chunk: &Range<usize>,
    ) -> Result<Vec<Option<RowHeader>>> {
        let what = "looking up what a load meets";
        let table = generation.table(chunk.start);
        let p = generation.origin(chunk.start).bucket.partition_key();
        let statement = table.statement(&self.cluster, CqlStatement::RowsKeys).await?;
        let mut keys: Vec<&[u8]> = chunk.clone().map(|at| generation.key(at)).collect();
        keys.dedup();
        let answer = self.cluster.ask(what, statement, (&p[..], &keys)).await?;
        let mut stored = vec![None; chunk.len()];
        // Rows come by ascending key, as the chunk is sorted, so one walk over both pairs them.
        let mut at = chunk.start;
        for row in rows::<(&[u8], Option<&[u8]>)>(what, &answer)? {
            let (key, Some(header)) = row? else { continue };
            while at < chunk.end && generation.key(at) < key {
                at += 1;
            }
            let header = RowHeader::read(header)?;
            // All entries of the key get the row: one whose forerunner is not stored meets it, too.
            while at < chunk.end && generation.key(at) == key {
                stored[at - chunk.start] = Some(header);
                at += 1;
            }
        }
        Ok(stored)
    }

    /// What becomes of the entries of a chunk, and the last one stored of each key.
    fn decide_chunk(
        &self,
        generation: &Generation,
        chunk: &Range<usize>,
        stored: &[Option<RowHeader>],
        on_existing: OnExisting,
    ) -> (Vec<EntryResult>, Vec<WinningEntry>) {
        let now_ms = self.clock.now_ms();
        let is_keeping = matches!(on_existing, OnExisting::Keep | OnExisting::Fail);
        let mut results = vec![EntryResult::Undecided; chunk.len()];
        let mut winners: Vec<WinningEntry> = Vec::with_capacity(chunk.len());
        for (place, at) in chunk.clone().enumerate() {
            let version = generation.origin(at).version;
            let last = winners.last().copied();
            let own = last.filter(|(last, _)| generation.key(*last) == generation.key(at));
            // An entry meets the one before it with the same key as if that were stored already.
            let meets = own.map(|(_, header)| header).or(stored[place]);
            let result = EntryResult::of(version, meets, on_existing, now_ms);
            results[place] = result;
            if result.is_stored() {
                // Only a row written on a condition is later and gives way: the entry needs a
                // version past it.
                let later = meets.filter(|row| row.version > version);
                let version = later.map_or(version, |row| {
                    self.time.observe(row.version);
                    self.time.version()
                });
                let header = RowHeader {
                    version,
                    is_conditional: is_keeping || later.is_some(),
                    expires_at_ms: generation.expires_at_ms(at),
                };
                if own.is_some() {
                    winners.pop();
                }
                winners.push((at, header));
            }
            // The load ends here: entries after this one stay `Undecided`, and are not reported.
            if result == EntryResult::Existed && on_existing == OnExisting::Fail {
                break;
            }
        }
        (results, winners)
    }

    /// Sends the rows of a chunk as one batch under one time stamp. Notes it when they are handed
    /// over: then they may be stored, whatever comes back.
    async fn send(
        &self,
        generation: &Generation,
        table: &SpaceTable,
        winners: &[WinningEntry],
        stamp: Stamp,
        order: &ChunkOrder,
        is_tried: &AtomicBool,
    ) -> Result<()> {
        let what = "storing rows of a load";
        let now_ms = self.clock.now_ms();
        let row = |(at, header): &WinningEntry| -> RowValues<'_> {
            (
                ttl_seconds(header.expires_at_ms, now_ms),
                header.to_bytes(),
                generation.value(*at),
                generation.origin(*at).bucket.partition_key(),
                generation.key(*at),
            )
        };
        let bytes =
            |(at, _): &WinningEntry| generation.key(*at).len() + generation.value(*at).len();
        // Held until the answer: so what is on its way to the nodes stays bounded in bytes.
        let _room = self.cluster.room(winners.iter().map(bytes).sum()).await;
        let values: Vec<RowValues<'_>> = winners.iter().map(row).collect();
        let statement = table.statement(&self.cluster, CqlStatement::Load).await?;
        // An index never misses a row, however few copies of the row are waited for.
        let least = if table.is_shard_prefixed() { Acks::Majority } else { Acks::None };
        let level = self.cluster.quorum_scope().of(order.acks.max(least));
        let may_send = || order.check().map(|()| is_tried.store(true, Ordering::Relaxed));
        self.cluster.store_all_while(&may_send, level, what, statement, &values, stamp).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story of a bug: rows of such a chunk could come after the error of their load, which
    /// claimed to be final.
    #[test]
    fn a_chunk_that_was_sent_and_is_not_sent_again_is_in_doubt() {
        let error = doubtful_error(Error::cancelled("the load has ended"));
        assert!(error.is_retryable() && error.message().contains("may or may not"), "{error}");
        let error = doubtful_error(Error::not_found("the table is gone"));
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }
}
