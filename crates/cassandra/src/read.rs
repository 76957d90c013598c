//! Looks up keys.
//!
//! 1. The keys are sorted by partition. One request asks for all keys of a partition, so it sees
//!    rows under one shard key at one point in time. Partitions with few keys share requests
//!    ([`crate::key_group`]).
//! 2. The rows are put into the order of the keys that were asked for.
//! 3. A read that wants some version at least asks one copy first. It asks a majority for the
//!    partitions where that copy has older rows or none.
//! 4. If the bytes are bounded, a request asks for as many keys as should fit, by the mean of rows
//!    seen before. The read continues only while the keys are of partitions that it has not seen.

use std::collections::HashSet;
use std::ops::Range;

use futures::stream::{self, StreamExt, TryStreamExt};
use scylla::response::query_result::QueryRowsResult;
use scylla::statement::Consistency as Level;
use tonnage_engine::{Consistency, Projection, ReadOptions, Result, Rows, Slices, SpaceId};

use crate::blocking::with_deadline;
use crate::bucket::Bucket;
use crate::cluster::rows;
use crate::header::RowHeader;
use crate::key_group::KeyGroup;
use crate::store::ClusterStore;
use crate::table::{CqlStatement, SpaceTable};

const WHAT: &str = "looking up rows";

/// Requests of one read under way at a time.
const REQUESTS: usize = 64;

/// The fewest and the most keys of a bounded read that are asked for together.
const KEYS_MIN: usize = 512;
const KEYS_MAX: usize = 8_192;

/// What a few keys may bring at most, as far as rows before tell.
const FEW_BYTES: usize = 32 << 20;

/// A reader of so many keys may write them next: the headers of their rows are kept
/// ([`crate::known_headers`]).
const KNOWN_KEYS: usize = 64;

/// No row was found under a key.
const NOTHING: u32 = u32::MAX;

/// How fresh rows must be.
#[derive(Clone, Copy)]
enum ReadLevel {
    For(Consistency),
    At(Level),
}

/// Rows in the order in which they were found.
#[derive(Default)]
struct FoundRows {
    headers: Vec<RowHeader>,
    values: Slices,
    /// The headers as they are stored, of few rows.
    raw_headers: Option<Slices>,
}

impl FoundRows {
    /// Takes a row of others, and answers its place.
    fn take_from(&mut self, others: &FoundRows, row_index: u32) -> u32 {
        self.headers.push(others.headers[row_index as usize]);
        self.values.push(others.values.get(row_index as usize));
        self.headers.len() as u32 - 1
    }
}

impl ClusterStore {
    /// See [`tonnage_engine::Engine::read_some`].
    pub(crate) async fn read_keys(
        &self,
        space: SpaceId,
        keys: &Slices,
        options: &ReadOptions,
        consistency: Consistency,
        rows: &mut Rows,
    ) -> Result<usize> {
        rows.clear();
        let found =
            self.read_in_time(space, keys, options, ReadLevel::For(consistency), rows).await;
        if found.is_err() {
            rows.clear();
        }
        found
    }

    /// The same at a level of the cluster.
    pub(crate) async fn read_at(
        &self,
        level: Level,
        space: SpaceId,
        keys: &Slices,
        options: &ReadOptions,
        rows: &mut Rows,
    ) -> Result<usize> {
        rows.clear();
        self.read_in_time(space, keys, options, ReadLevel::At(level), rows).await
    }

    async fn read_in_time(
        &self,
        space: SpaceId,
        keys: &Slices,
        options: &ReadOptions,
        asked: ReadLevel,
        rows: &mut Rows,
    ) -> Result<usize> {
        let table = self.table_by(space, options.deadline).await?;
        let wanted = options.keys.clone();
        let mut buckets = Vec::with_capacity(wanted.len());
        // Every key is checked before any row is asked for: one that is wrong fails the whole call.
        for index in wanted.clone() {
            let key = keys.get(index);
            let len = self.shard_key_len(&table, key)?;
            buckets.push(self.bucket(&key[..len]));
        }
        let mut seen: HashSet<Bucket> = HashSet::new();
        let mut first = wanted.start;
        while first < wanted.end {
            let last = first + window(&table, options.bytes_max, wanted.end - first);
            let of_window = &buckets[first - wanted.start..last - wanted.start];
            // Rows of a partition are seen at one point in time: to read one again would show a
            // second.
            if of_window.iter().any(|bucket| seen.contains(bucket)) {
                break;
            }
            let order = order(keys, first, of_window);
            let lookup = self.look_up_as(asked, &table, keys, &order, options.projection);
            let (row_indexes, found) = with_deadline(options.deadline, WHAT, lookup)
                .await
                .map_err(|error| self.explain(&table, error))?;
            if let Some(full) =
                self.push_rows(keys, first..last, options, &row_indexes, &found, rows)
            {
                return Ok(full - wanted.start);
            }
            // No read follows the last window: a read of one window need not note any.
            if last < wanted.end {
                seen.extend(of_window);
            }
            first = last;
        }
        Ok(first - wanted.start)
    }

    /// Gives what was found, in the order of the keys. Answers the key whose row is one too many.
    fn push_rows(
        &self,
        keys: &Slices,
        window: Range<usize>,
        options: &ReadOptions,
        row_indexes: &[u32],
        found: &FoundRows,
        rows: &mut Rows,
    ) -> Option<usize> {
        // One timestamp applies to the whole window: of rows with one expiry all live, or none.
        let now_ms = self.clock.now_ms();
        for (index, row_index) in window.zip(row_indexes) {
            if *row_index == NOTHING {
                continue;
            }
            let (header, value) =
                (found.headers[*row_index as usize], found.values.get(*row_index as usize));
            // Before the look at the bytes: a row that has expired must not end the answer.
            if !header.is_live(now_ms) {
                continue;
            }
            let key = keys.get(index);
            if options.is_full(rows.bytes(), key.len() + value.len()) {
                return Some(index);
            }
            rows.push(key, value, header.version, header.expires_at_ms, index as u32);
        }
        None
    }

    /// Looks keys up as fresh as asked for. No copy says how old it is, so a majority is asked for
    /// all but what may be as old as it likes, and what one copy has as new as asked for.
    async fn look_up_as(
        &self,
        asked: ReadLevel,
        table: &SpaceTable,
        keys: &Slices,
        order: &[(Bucket, usize)],
        projection: Projection,
    ) -> Result<(Vec<u32>, FoundRows)> {
        let (one, majority) =
            (self.cluster.quorum_scope().one(), self.cluster.quorum_scope().majority());
        match asked {
            ReadLevel::At(level) => self.look_up(level, table, keys, order, projection).await,
            ReadLevel::For(Consistency::None) => {
                self.look_up(one, table, keys, order, projection).await
            }
            ReadLevel::For(Consistency::Version(version)) => {
                let (mut row_indexes, mut found) =
                    self.look_up(one, table, keys, order, projection).await?;
                let first = least(order);
                // A row that this copy has not may be one that it did not get yet: only a majority
                // tells.
                let is_new = |index: &usize| match row_indexes[index - first] {
                    NOTHING => false,
                    row_index => found.headers[row_index as usize].version >= version,
                };
                let old: HashSet<Bucket> = order
                    .iter()
                    .filter(|(_, index)| !is_new(index))
                    .map(|(bucket, _)| *bucket)
                    .collect();
                if old.is_empty() {
                    return Ok((row_indexes, found));
                }
                // All of a partition: its rows are seen at one point in time.
                let again: Vec<(Bucket, usize)> =
                    order.iter().copied().filter(|(bucket, _)| old.contains(bucket)).collect();
                let (newer, rows) = self.look_up(majority, table, keys, &again, projection).await?;
                let first_again = least(&again);
                for (_, index) in again {
                    // The majority counts even where it has no row: states of a partition must not
                    // mix.
                    row_indexes[index - first] = match newer[index - first_again] {
                        NOTHING => NOTHING,
                        row_index => found.take_from(&rows, row_index),
                    };
                }
                Ok((row_indexes, found))
            }
            _ => self.look_up(majority, table, keys, order, projection).await,
        }
    }

    /// Looks keys up, partition by partition. Answers the place of each key's row in what was
    /// found, from the least key on.
    async fn look_up(
        &self,
        level: Level,
        table: &SpaceTable,
        keys: &Slices,
        order: &[(Bucket, usize)],
        projection: Projection,
    ) -> Result<(Vec<u32>, FoundRows)> {
        // A read that ends whatever is under way is one of a single partition.
        let groups = match level {
            Level::Serial | Level::LocalSerial => KeyGroup::alone(order),
            _ => {
                let owners = self.cluster.owners();
                KeyGroup::by_node(keys, order, |bucket| owners(bucket.token()))
            }
        };
        let asked = groups.into_iter().map(|group| async move {
            let answer = self.ask_group(level, table, keys, &group, projection).await?;
            Ok::<_, tonnage_engine::Error>((group, answer))
        });
        let first = least(order);
        let last = order.iter().map(|(_, index)| *index).max().unwrap_or(0);
        let mut row_indexes = vec![NOTHING; last + 1 - first];
        let is_few = order.len() <= KNOWN_KEYS;
        let mut found = FoundRows { raw_headers: is_few.then(Slices::new), ..FoundRows::default() };
        // In any order: rows are placed by their keys, so no answer waits for a slower one.
        let mut answers = stream::iter(asked).buffer_unordered(REQUESTS);
        while let Some((group, answer)) = answers.try_next().await? {
            collect_rows(&answer, keys, &group, projection, first, &mut row_indexes, &mut found)?;
        }
        if let Some(headers) = &found.raw_headers {
            for (_, index) in
                order.iter().filter(|(_, index)| row_indexes[index - first] != NOTHING)
            {
                let header = headers.get(row_indexes[index - first] as usize);
                self.known.learn(table.id(), keys.get(*index), header);
            }
        }
        table.learn(found.headers.len(), found.values.bytes() + keys.bytes() / keys.len().max(1));
        Ok((row_indexes, found))
    }

    /// Sends the request for a group.
    async fn ask_group(
        &self,
        level: Level,
        table: &SpaceTable,
        keys: &Slices,
        group: &KeyGroup,
        projection: Projection,
    ) -> Result<QueryRowsResult> {
        let wanted = group.wanted(keys);
        if let [bucket] = group.buckets[..] {
            let statement =
                table.statement(&self.cluster, CqlStatement::Rows.with(projection)).await?;
            let p = bucket.partition_key();
            return self.cluster.ask_at(level, WHAT, statement, (&p[..], wanted)).await;
        }
        let statement =
            table.statement(&self.cluster, CqlStatement::Spread.with(projection)).await?;
        let partitions: Vec<[u8; 4]> =
            group.buckets.iter().map(|bucket| bucket.partition_key()).collect();
        let partitions: Vec<&[u8]> = partitions.iter().map(|p| &p[..]).collect();
        let values = (partitions, wanted);
        // The driver cannot choose the node: the statement names several partitions.
        match &group.node {
            Some(node) => self.cluster.ask_first(node, level, WHAT, statement, values).await,
            None => self.cluster.ask_at(level, WHAT, statement, values).await,
        }
    }
}

/// The least key of an order.
fn least(order: &[(Bucket, usize)]) -> usize {
    order.iter().map(|(_, index)| *index).min().unwrap_or(0)
}

/// How many keys to ask for together.
fn window(table: &SpaceTable, bytes_max: usize, left: usize) -> usize {
    if bytes_max == usize::MAX {
        return left;
    }
    let row_bytes = table.row_bytes();
    let least = KEYS_MIN.min(FEW_BYTES / row_bytes).max(1);
    (bytes_max / row_bytes).clamp(least, KEYS_MAX.max(least)).min(left)
}

/// The keys of a window by partition, then by key.
fn order(keys: &Slices, first: usize, buckets: &[Bucket]) -> Vec<(Bucket, usize)> {
    let mut order: Vec<(Bucket, usize)> = buckets.iter().copied().zip(first..).collect();
    order.sort_unstable_by(|left, right| {
        left.0.cmp(&right.0).then_with(|| keys.get(left.1).cmp(keys.get(right.1)))
    });
    order
}

/// Takes the rows of a group.
fn collect_rows(
    answer: &QueryRowsResult,
    keys: &Slices,
    group: &KeyGroup,
    projection: Projection,
    first: usize,
    row_indexes: &mut [u32],
    found: &mut FoundRows,
) -> Result<()> {
    let mut put = |key: &[u8], header: Option<&[u8]>, value: Option<&[u8]>| -> Result<()> {
        // A row exists by its header alone, see the head of the crate.
        let Some(header) = header else { return Ok(()) };
        let row_index = found.headers.len() as u32;
        found.headers.push(RowHeader::read(header)?);
        found.raw_headers.iter_mut().for_each(|raw| raw.push(header));
        found.values.push(value.unwrap_or_default());
        group.indexes_of(keys, key).for_each(|index| row_indexes[index - first] = row_index);
        Ok(())
    };
    // Two loops, because the driver reads rows of a fixed number of columns.
    match projection {
        Projection::KeysAndValues => {
            for row in rows::<(&[u8], Option<&[u8]>, Option<&[u8]>)>(WHAT, answer)? {
                let (key, header, value) = row?;
                put(key, header, value)?;
            }
        }
        Projection::KeysOnly => {
            for row in rows::<(&[u8], Option<&[u8]>)>(WHAT, answer)? {
                let (key, header) = row?;
                put(key, header, None)?;
            }
        }
    }
    Ok(())
}
