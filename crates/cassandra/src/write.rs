//! Small writes.
//!
//! 1. The batch is checked, and waits for the lock of its partition.
//! 2. The rows under its keys are read, and its conditions are judged. A condition that does not
//!    hold refuses the batch. If the process has just read the rows, it skips the read, once
//!    ([`crate::known_headers`]).
//! 3. The operations become statements, each on condition that its row is as it was read. Cassandra
//!    carries all of them out, or none. A plain write beside conditional ones would be lost without
//!    a sign, so every small write is conditional.
//! 4. If the rows were not as read, another process was faster: step 2 again.
//! 5. Index entries are not part of the decision. New ones go before it, not long before
//!    ([`crate::entry_age`]), deleted ones after it ([`crate::index_entries`]).
//! 6. If no answer came, the rows are read again, in a way that ends whatever is still under way. A
//!    number in the headers says whether the batch was carried out.
//! 7. If it seems that it was not, it is tried again. The first request may still reach a node. But
//!    both want the rows as they were, so only one of the two can be carried out
//!    ([`crate::open_tries`]).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use futures::stream::{self, StreamExt};
use scylla::statement::Consistency;
use scylla::statement::batch::{Batch, BatchType};
use scylla::value::CqlValue;
use tonnage_engine::{
    Acks, Condition, Deadline, Error, Operation, Result, SpaceId, WriteBatch, WriteOutcome,
    prefixed_shard,
};

use crate::blocking::with_deadline;
use crate::bucket::Bucket;
use crate::cluster::{AN_ANSWER, RetryBackoff, jitter, rows};
use crate::entry_age::RENEWED_AFTER;
use crate::error::RequestFailure;
use crate::header::{DELETED_TTL_SECONDS, RowHeader, ttl_seconds};
use crate::index_entries::IndexEntries;
use crate::key_change::{
    ExistingRow, KeyChange, STILL_UNDER_WAY, StoredRows, WRITTEN_SINCE, changes, in_doubt,
};
use crate::open_tries::OpenTries;
use crate::stamp::Stamp;
use crate::store::ClusterStore;
use crate::table::{CqlStatement, SpaceTable};

/// Batches of one call under way at a time.
const BATCHES: usize = 64;

/// The last step of a mark: with a random start no two writes have the same.
static MARKS: AtomicU64 = AtomicU64::new(0);

/// A batch that was checked.
struct CheckedBatch {
    /// Where its rows belong; nothing for a batch without rows.
    partition: Option<RowPartition>,
    /// Its operations on rows.
    operations: Vec<usize>,
    entries: Vec<IndexEntries>,
}

/// Where rows belong.
#[derive(Clone, Copy)]
struct RowPartition {
    space: SpaceId,
    bucket: Bucket,
}

impl ClusterStore {
    /// See [`tonnage_engine::Engine::write_by`].
    pub(crate) async fn write_batch(
        &self,
        batch: &WriteBatch,
        acks: Acks,
        deadline: Deadline,
    ) -> Result<WriteOutcome> {
        let checked = self.check_batch(batch, deadline).await?;
        self.carry_out(&checked, batch, acks, deadline).await
    }

    /// See [`tonnage_engine::Engine::write_many_by`]: the batches of a partition in their order,
    /// those of many partitions at a time.
    pub(crate) async fn write_batches(
        &self,
        batches: &[WriteBatch],
        acks: Acks,
        deadline: Deadline,
    ) -> Vec<Result<WriteOutcome>> {
        let mut outcomes: Vec<Option<Result<WriteOutcome>>> = Vec::new();
        outcomes.resize_with(batches.len(), || None);
        let mut groups: Vec<Vec<(usize, CheckedBatch)>> = Vec::new();
        let mut by_partition: HashMap<Option<(SpaceId, Bucket)>, usize> = HashMap::new();
        for (index, batch) in batches.iter().enumerate() {
            match self.check_batch(batch, deadline).await {
                Ok(checked) => {
                    let partition =
                        checked.partition.map(|partition| (partition.space, partition.bucket));
                    // Batches of one partition keep their order, so one future carries them out.
                    let group = *by_partition.entry(partition).or_insert_with(|| {
                        groups.push(Vec::new());
                        groups.len() - 1
                    });
                    groups[group].push((index, checked));
                }
                Err(error) => outcomes[index] = Some(Err(error)),
            }
        }
        let written = groups.into_iter().map(|checked_batches| async move {
            let mut written = Vec::with_capacity(checked_batches.len());
            // A batch that fails or is refused stops none of those after it.
            for (index, checked) in checked_batches {
                let outcome = self.carry_out(&checked, &batches[index], acks, deadline).await;
                written.push((index, outcome));
            }
            written
        });
        let mut written = stream::iter(written).buffer_unordered(BATCHES);
        while let Some(of_group) = written.next().await {
            for (index, outcome) in of_group {
                outcomes[index] = Some(outcome);
            }
        }
        outcomes.into_iter().map(|outcome| outcome.expect("every batch has an outcome")).collect()
    }

    /// Checks a batch.
    async fn check_batch(&self, batch: &WriteBatch, deadline: Deadline) -> Result<CheckedBatch> {
        deadline.check("its turn")?;
        self.check_size(batch)?;
        let mut checked =
            CheckedBatch { partition: None, operations: Vec::new(), entries: Vec::new() };
        let (mut shard, mut rows) = (None, None);
        for (space, run) in batch.runs() {
            let table = self.table_by(space, deadline).await?;
            let is_entry = table.is_shard_prefixed();
            for operation in run.clone() {
                let shard_key = self
                    .checked_shard_key(&table, batch, operation)
                    .map_err(|error| error.at(format_args!("operation {operation}")))?;
                let own = match is_entry {
                    true => prefixed_shard(shard_key, self.capability.shards)?,
                    false => self.shard(shard_key),
                };
                // Entries may be of any space, rows of one alone: Cassandra decides about one table
                // at a time.
                let of_rows = if is_entry { None } else { rows };
                if of_rows.is_some_and(|(known, _)| known != space) {
                    return Err(Error::unsupported(
                        "a batch over several spaces is not atomic on a cluster: write a batch for each",
                    ));
                }
                // Entries are in the shard of their row: no reader would look for them in another
                // one.
                if *shard.get_or_insert(own) != own
                    || of_rows.is_some_and(|(_, known)| known != shard_key)
                {
                    return Err(other_shard_key(&table, operation));
                }
                if !is_entry {
                    rows = Some((space, shard_key));
                    checked.operations.push(operation);
                }
            }
            if is_entry && !run.is_empty() {
                checked.entries.push(IndexEntries::new(self, table, batch, run));
            }
        }
        checked.partition =
            rows.map(|(space, shard_key)| RowPartition { space, bucket: self.bucket(shard_key) });
        Ok(checked)
    }

    fn check_size(&self, batch: &WriteBatch) -> Result<()> {
        let most = &self.capability;
        if batch.len() > most.batch_operations_max {
            return Err(Error::invalid(format!(
                "a write batch of {} operations is over the limit of {}: use several, or a load",
                batch.len(),
                most.batch_operations_max
            )));
        }
        let bytes: usize =
            (0..batch.len()).map(|index| batch.key(index).len() + batch.value(index).len()).sum();
        if bytes > most.batch_bytes_max {
            return Err(Error::invalid(format!(
                "a write batch of {bytes} bytes is over the limit of {}: use a load",
                most.batch_bytes_max
            )));
        }
        Ok(())
    }

    /// The shard key of an operation that may be carried out.
    fn checked_shard_key<'a>(
        &self,
        table: &SpaceTable,
        batch: &'a WriteBatch,
        operation: usize,
    ) -> Result<&'a [u8]> {
        let key = batch.key(operation);
        let len = self.shard_key_len(table, key)?;
        table.check_value(batch.value(operation), self.capability.value_bytes_max)?;
        if table.is_shard_prefixed() && batch.condition(operation) != Condition::Always {
            return Err(Error::unsupported(format!(
                "{}: entries take no conditions on a cluster, where they are stored before their rows",
                table.display_name()
            )));
        }
        Ok(&key[..len])
    }

    /// Puts entries, writes the rows, then removes entries.
    async fn carry_out(
        &self,
        checked: &CheckedBatch,
        batch: &WriteBatch,
        acks: Acks,
        deadline: Deadline,
    ) -> Result<WriteOutcome> {
        let version = self.put_entries(&checked.entries, batch, acks, deadline).await?;
        let outcome = match checked.partition {
            Some(partition) => self.write_at(partition, checked, batch, acks, deadline).await?,
            None => WriteOutcome::Applied { version },
        };
        if outcome.version().is_some() {
            let removed = self.remove_entries(&checked.entries, batch).await;
            // The rows are written, so no other answer is right. An entry that stays is stale.
            if checked.partition.is_none() {
                removed?;
            }
        }
        Ok(outcome)
    }

    async fn write_at(
        &self,
        partition: RowPartition,
        checked: &CheckedBatch,
        batch: &WriteBatch,
        acks: Acks,
        deadline: Deadline,
    ) -> Result<WriteOutcome> {
        let table = self.table_by(partition.space, deadline).await?;
        let changes = changes(batch, &checked.operations);
        let mut put_at = Instant::now();
        let mut lock =
            self.partition_locks.lock_by(partition.space, partition.bucket, deadline).await?;
        let mut tries = RetryBackoff::new();
        let mut guess = self.guess(&table, batch, &changes, acks);
        let mut open = OpenTries::default();
        let written = loop {
            // The lock and earlier tries may have taken long: no row may come an hour after its
            // entries.
            if put_at.elapsed() >= RENEWED_AFTER {
                match self.put_entries(&checked.entries, batch, acks, deadline).await {
                    Ok(_) => put_at = Instant::now(),
                    Err(error) => break Err(error),
                }
            }
            let attempt = ConditionalWrite {
                table: &table,
                bucket: partition.bucket,
                batch,
                changes: &changes,
            };
            let is_guess = guess.is_some();
            let tried = self.try_write(attempt, guess.take(), &mut open, acks, deadline).await;
            if is_guess {
                self.known.note(matches!(tried, Ok(Some(_))));
            }
            match tried {
                // What was known was not so. A read tells.
                Ok(None) if is_guess => continue,
                Ok(None) => {}
                Ok(Some(outcome)) => break Ok(outcome),
                Err(error) => break Err(error),
            }
            if !tries.wait_again().await {
                break Err(Error::unavailable(format!(
                    "other processes write the same rows of {} again and again, or no answer comes: try again",
                    table.display_name()
                )));
            }
        };
        // While the lock is held: by this version a blind load knows that it must look.
        *lock = (*lock).max(open.greatest_version(&written));
        let written = written.map_err(|error| self.explain(&table, error));
        written.map_err(|error| match open.may_be_carried_out() && !error.is_retryable() {
            true => in_doubt(&table, &error, &STILL_UNDER_WAY),
            false => error,
        })
    }

    /// What is stored under the keys, as far as this process knows ([`crate::known_headers`]), if
    /// that may mean a read. Where all copies are to have the write they must all answer first.
    fn guess<'a>(
        &self,
        table: &SpaceTable,
        batch: &WriteBatch,
        changes: &[KeyChange<'a>],
        acks: Acks,
    ) -> Option<StoredRows<'a>> {
        if acks == Acks::All || !self.known.has_credit() {
            return None;
        }
        let mut stored = HashMap::with_capacity(changes.len());
        for change in changes {
            match self.known.find(table.id(), change.key) {
                Some(header) => {
                    let row = ExistingRow {
                        header: RowHeader::read(&header).ok()?,
                        bytes: header.to_vec(),
                        stamp: Stamp(0),
                    };
                    stored.insert(change.key, row);
                }
                // Most that is put on this condition is new.
                None if batch.operation(change.operation) == Operation::Put
                    && batch.condition(change.operation) == Condition::IfAbsent => {}
                None => return None,
            }
        }
        // A read decides whom to refuse.
        self.refusal(batch, &stored).is_none().then_some(stored)
    }

    /// Answers nothing when the rows were not as they were read, or guessed.
    async fn try_write(
        &self,
        ConditionalWrite { table, bucket, batch, changes }: ConditionalWrite<'_>,
        guess: Option<StoredRows<'_>>,
        open: &mut OpenTries,
        acks: Acks,
        deadline: Deadline,
    ) -> Result<Option<WriteOutcome>> {
        // A decision takes a majority, whatever is asked for. Where all copies are to have it, all
        // of them must answer before anything is changed.
        let level = self.cluster.quorum_scope().of(acks.max(Acks::Majority));
        let is_guess = guess.is_some();
        let stored = match guess {
            Some(stored) => stored,
            None => {
                let read = self.read_existing(table, bucket, changes, level);
                with_deadline(deadline, AN_ANSWER, read).await?
            }
        };
        if !is_guess {
            if let Some(version) = open.carried_out(changes, &stored) {
                if acks == Acks::All {
                    self.confirm(table, bucket, changes).await?;
                }
                return Ok(Some(WriteOutcome::Applied { version }));
            }
            if let Some(error) = open.doubt(changes, &stored) {
                return Err(in_doubt(table, error, &WRITTEN_SINCE));
            }
        }
        if let Some(refused) = self.refusal(batch, &stored) {
            if let Some(error) = open.doubt_of_refusal() {
                return Err(in_doubt(table, error, &STILL_UNDER_WAY));
            }
            return Ok(Some(refused).filter(|_| !is_guess));
        }
        let greatest = stored.values().map(|row| row.header.version).max().unwrap_or(0);
        self.time.observe(greatest);
        let version = self.time.version();
        let now_ms = self.clock.now_ms();
        let is_live = |key: &[u8]| stored.get(key).is_some_and(|row| row.header.is_live(now_ms));
        let is_nothing = |change: &KeyChange<'_>| {
            batch.operation(change.operation) == Operation::Delete && !is_live(change.key)
        };
        // What was guessed proves nothing.
        if !is_guess && changes.iter().all(is_nothing) {
            return Ok(Some(WriteOutcome::Applied { version }));
        }
        // Over a row whose time stamp is ahead Cassandra would report success and change nothing.
        let stamps = stored.values().map(|row| row.stamp);
        if let Some(stamp) = stamps.filter(|stamp| stamp.is_chosen()).max() {
            with_deadline(deadline, "the clocks of the nodes", self.time.pass(stamp)).await?;
        }
        let mark = jitter() ^ MARKS.fetch_add(1, Ordering::Relaxed);
        let leaving = WriteVersion { version, mark, level };
        let attempt = ConditionalWrite { table, bucket, batch, changes };
        let decided = self.decide(attempt, &stored, leaving, deadline).await;
        open.add(mark, version);
        self.remember_rows(table, batch, changes, leaving, matches!(decided, Ok(true)));
        match decided {
            Ok(true) => Ok(Some(WriteOutcome::Applied { version })),
            Ok(false) => Ok(None),
            Err(RequestFailure::Refused(error)) => Err(error),
            Err(RequestFailure::InDoubt(error)) => {
                let doubt = UnansweredWrite { changes, before: &stored, mark, error };
                let is_applied = self.resolve(table, bucket, &doubt).await?;
                if is_applied && acks == Acks::All {
                    self.confirm(table, bucket, changes).await?;
                }
                if !is_applied {
                    open.leave(changes, &stored, doubt.error);
                }
                Ok(is_applied.then_some(WriteOutcome::Applied { version }))
            }
        }
    }

    /// Keeps the headers of rows that were just stored, and forgets others.
    fn remember_rows(
        &self,
        table: &SpaceTable,
        batch: &WriteBatch,
        changes: &[KeyChange<'_>],
        leaving: WriteVersion,
        is_stored: bool,
    ) {
        for change in changes {
            if is_stored && batch.operation(change.operation) == Operation::Put {
                let header = leaving.header(change, batch);
                self.known.learn(table.id(), change.key, &header);
            } else {
                self.known.forget(table.id(), change.key);
            }
        }
    }

    /// The rows stored under the keys of a batch.
    async fn read_existing<'a>(
        &self,
        table: &SpaceTable,
        bucket: Bucket,
        changes: &[KeyChange<'a>],
        consistency: Consistency,
    ) -> Result<StoredRows<'a>> {
        let what = "reading what a write meets";
        let mut statement =
            table.statement(&self.cluster, CqlStatement::RowsWithStamps).await?.clone();
        statement.set_consistency(consistency);
        let keys: Vec<&[u8]> = changes.iter().map(|change| change.key).collect();
        let answer =
            self.cluster.ask(what, &statement, (&bucket.partition_key()[..], &keys)).await?;
        let mut stored = HashMap::new();
        for row in rows::<(&[u8], Option<&[u8]>, Option<i64>)>(what, &answer)? {
            let (key, Some(bytes), Some(stamp)) = row? else { continue };
            let Ok(index) = keys.binary_search(&key) else { continue };
            let header = RowHeader::read(bytes)?;
            let row = ExistingRow { bytes: bytes.to_vec(), header, stamp: Stamp(stamp) };
            stored.insert(keys[index], row);
        }
        Ok(stored)
    }

    /// The first operation whose condition does not hold.
    fn refusal(&self, batch: &WriteBatch, stored: &StoredRows<'_>) -> Option<WriteOutcome> {
        let now_ms = self.clock.now_ms();
        (0..batch.len()).find_map(|operation| {
            let row = stored.get(batch.key(operation));
            let live = row.filter(|row| row.header.is_live(now_ms));
            let current = live.map(|row| row.header.version);
            let holds = batch.condition(operation).holds(current);
            (!holds).then_some(WriteOutcome::Refused { operation, current })
        })
    }

    /// Carries the changes out, on condition that the rows are as they were read.
    async fn decide(
        &self,
        ConditionalWrite { table, bucket, batch, changes }: ConditionalWrite<'_>,
        stored: &StoredRows<'_>,
        leaving: WriteVersion,
        deadline: Deadline,
    ) -> std::result::Result<bool, RequestFailure> {
        let blob = |bytes: &[u8]| CqlValue::Blob(bytes.to_vec());
        let now_ms = self.clock.now_ms();
        let mut together = Batch::new(BatchType::Unlogged);
        together.set_consistency(leaving.level);
        let mut values = Vec::with_capacity(changes.len());
        let mut last = None;
        for change in changes {
            let before = stored.get(change.key);
            let is_put = batch.operation(change.operation) == Operation::Put;
            let mut of_change = Vec::with_capacity(6);
            // A deletion over a row is a put as well: it leaves a header there for an hour
            // (`crate::header`).
            if is_put || before.is_some() {
                let ttl = match is_put {
                    true => ttl_seconds(batch.expires_at_ms(change.operation), now_ms),
                    false => DELETED_TTL_SECONDS,
                };
                of_change.push(CqlValue::Int(ttl));
                of_change.push(CqlValue::Blob(leaving.header(change, batch)));
                of_change.push(blob(batch.value(change.operation)));
            }
            of_change.push(blob(&bucket.partition_key()));
            of_change.push(blob(change.key));
            of_change.extend(before.map(|row| blob(&row.bytes)));
            // `DeleteNone` changes nothing, but makes it a condition that the row stays absent.
            let text = match (is_put, before.is_some()) {
                (_, true) => CqlStatement::PutOver,
                (true, false) => CqlStatement::PutNew,
                (false, false) => CqlStatement::DeleteNone,
            };
            let statement =
                table.statement(&self.cluster, text).await.map_err(RequestFailure::Refused)?;
            if changes.len() > 1 {
                together.append_statement(statement.clone());
            }
            values.push(of_change);
            last = Some(statement);
        }
        let what = "a write";
        match (last, &values[..]) {
            (Some(statement), [values]) => {
                let mut statement = statement.clone();
                statement.set_consistency(leaving.level);
                self.cluster.decide(what, &statement, values, deadline).await
            }
            _ => self.cluster.decide_batch(what, together, &values, deadline).await,
        }
    }

    /// Finds out what became of a write that got no answer. Answers whether it was carried out.
    async fn resolve(
        &self,
        table: &SpaceTable,
        bucket: Bucket,
        doubt: &UnansweredWrite<'_>,
    ) -> Result<bool> {
        let now = self
            .read_existing(table, bucket, doubt.changes, self.cluster.quorum_scope().serial())
            .await
            .map_err(|error| doubt.in_doubt(table, &error))?;
        if doubt
            .changes
            .iter()
            .any(|change| now.get(change.key).is_some_and(|row| row.is_of(doubt.mark)))
        {
            return Ok(true);
        }
        let is_unchanged = |change: &KeyChange<'_>| {
            let (now, before) = (now.get(change.key), doubt.before.get(change.key));
            now.map(|row| &row.bytes) == before.map(|row| &row.bytes)
        };
        // The request may still be carried out later: that is for `crate::open_tries` to see.
        if doubt.changes.iter().all(is_unchanged) {
            return Ok(false);
        }
        Err(doubt.in_doubt(table, &WRITTEN_SINCE))
    }

    /// Makes sure that all copies have a write that was executed: a read of all of them brings the
    /// lagging ones up to date.
    async fn confirm(
        &self,
        table: &SpaceTable,
        bucket: Bucket,
        changes: &[KeyChange<'_>],
    ) -> Result<()> {
        let read = self.read_existing(table, bucket, changes, Consistency::All).await;
        read.map(drop).map_err(|error| {
            Error::unavailable(format!(
                "a write to {} is stored by a majority, and perhaps not by all copies: {error}: write it again once all nodes are back",
                table.display_name()
            ))
        })
    }
}

/// What a write leaves in its rows, and the level at which it is stored.
#[derive(Clone, Copy)]
struct WriteVersion {
    version: u64,
    mark: u64,
    level: Consistency,
}

impl WriteVersion {
    /// The header that a change leaves in its row.
    fn header(self, change: &KeyChange<'_>, batch: &WriteBatch) -> Vec<u8> {
        let (version, is_conditional) = (self.version, change.is_conditional);
        let header = match batch.operation(change.operation) {
            Operation::Put => {
                let expires_at_ms = batch.expires_at_ms(change.operation);
                RowHeader { version, is_conditional, expires_at_ms }
            }
            Operation::Delete => RowHeader::deleted(version, is_conditional),
        };
        header.to_marked_bytes(self.mark)
    }
}

/// One try of a write.
#[derive(Clone, Copy)]
struct ConditionalWrite<'a> {
    table: &'a SpaceTable,
    bucket: Bucket,
    batch: &'a WriteBatch,
    changes: &'a [KeyChange<'a>],
}

/// A write that got no answer.
struct UnansweredWrite<'a> {
    changes: &'a [KeyChange<'a>],
    before: &'a StoredRows<'a>,
    mark: u64,
    error: Error,
}

impl UnansweredWrite<'_> {
    #[cold]
    fn in_doubt(&self, table: &SpaceTable, why: &dyn std::fmt::Display) -> Error {
        in_doubt(table, &self.error, why)
    }
}

#[cold]
fn other_shard_key(table: &SpaceTable, operation: usize) -> Error {
    Error::invalid(format!(
        "{}: operation {operation} is of another shard key than those before it: write one batch each",
        table.display_name()
    ))
}
