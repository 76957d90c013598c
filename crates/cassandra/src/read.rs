//! Looking up keys.
//!
//! 1. The keys are sorted by partition. One request asks for all of a partition at once, so rows
//!    under one shard key are seen at one moment. Partitions with few keys share requests
//!    ([`crate::group`]).
//! 2. What was found is put into the order of the keys that were asked for.
//! 3. Rows of a version at least are asked of one copy first, and of a majority where that has older
//!    ones or none.
//! 4. Where the bytes are bounded, as many keys are asked for as should fit, by the mean of rows
//!    seen before. The read goes on only while the keys are of partitions that it has not seen.

use std::collections::HashSet;
use std::ops::Range;

use futures::stream::{self, StreamExt, TryStreamExt};
use scylla::response::query_result::QueryRowsResult;
use scylla::statement::Consistency as Level;
use tonnage_engine::{Consistency, Projection, ReadOptions, Result, Rows, Slices, SpaceId};

use crate::blocking::by;
use crate::bucket::Bucket;
use crate::cluster::rows;
use crate::group::Group;
use crate::header::RowHeader;
use crate::store::OpenStore;
use crate::table::{Table, Text};

const WHAT: &str = "looking up rows";

/// Requests of one read under way at a time.
const REQUESTS: usize = 64;

/// The fewest and the most keys of a bounded read that are asked for together.
const KEYS_MIN: usize = 512;
const KEYS_MAX: usize = 8_192;

/// What a few keys may bring at most, as far as rows before tell.
const FEW_BYTES: usize = 32 << 20;

/// Whoever reads so many keys may write them next: the headers of their rows are kept
/// ([`crate::known`]).
const KNOWN_KEYS: usize = 64;

/// No row was found under a key.
const NOTHING: u32 = u32::MAX;

/// How fresh rows must be.
#[derive(Clone, Copy)]
enum Asked {
    For(Consistency),
    At(Level),
}

/// Rows in the order in which they were found.
#[derive(Default)]
struct Found {
    headers: Vec<RowHeader>,
    values: Slices,
    /// The headers as they are stored, of few rows.
    raw_headers: Option<Slices>,
}

impl Found {
    /// Takes a row of others, and answers its place.
    fn take_from(&mut self, others: &Found, place: u32) -> u32 {
        self.headers.push(others.headers[place as usize]);
        self.values.push(others.values.get(place as usize));
        self.headers.len() as u32 - 1
    }
}

impl OpenStore {
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
        let found = self.read_in_time(space, keys, options, Asked::For(consistency), rows).await;
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
        self.read_in_time(space, keys, options, Asked::At(level), rows).await
    }

    async fn read_in_time(
        &self,
        space: SpaceId,
        keys: &Slices,
        options: &ReadOptions,
        asked: Asked,
        rows: &mut Rows,
    ) -> Result<usize> {
        let table = self.table_by(space, options.deadline).await?;
        let wanted = options.keys.clone();
        let mut buckets = Vec::with_capacity(wanted.len());
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
            // Rows of a partition are seen at one moment: to read one again would show a second.
            if of_window.iter().any(|bucket| seen.contains(bucket)) {
                break;
            }
            let order = order(keys, first, of_window);
            let lookup = self.look_up_as(asked, &table, keys, &order, options.projection);
            let (places, found) = by(options.deadline, WHAT, lookup)
                .await
                .map_err(|error| self.explain(&table, error))?;
            if let Some(full) = self.give(keys, first..last, options, &places, &found, rows) {
                return Ok(full - wanted.start);
            }
            if last < wanted.end {
                seen.extend(of_window);
            }
            first = last;
        }
        Ok(first - wanted.start)
    }

    /// Gives what was found, in the order of the keys. Answers the key whose row is one too many.
    fn give(
        &self,
        keys: &Slices,
        window: Range<usize>,
        options: &ReadOptions,
        places: &[u32],
        found: &Found,
        rows: &mut Rows,
    ) -> Option<usize> {
        let now_ms = self.clock.now_ms();
        for (index, place) in window.zip(places) {
            if *place == NOTHING {
                continue;
            }
            let (header, value) =
                (found.headers[*place as usize], found.values.get(*place as usize));
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

    /// Looks keys up as fresh as asked for. No copy tells how old it is, so a majority is asked for
    /// all but what may be as old as it likes, and what one copy has as new as asked for.
    async fn look_up_as(
        &self,
        asked: Asked,
        table: &Table,
        keys: &Slices,
        order: &[(Bucket, usize)],
        projection: Projection,
    ) -> Result<(Vec<u32>, Found)> {
        let (one, majority) = (self.cluster.reach().one(), self.cluster.reach().majority());
        match asked {
            Asked::At(level) => self.look_up(level, table, keys, order, projection).await,
            Asked::For(Consistency::None) => {
                self.look_up(one, table, keys, order, projection).await
            }
            Asked::For(Consistency::Version(version)) => {
                let (mut places, mut found) =
                    self.look_up(one, table, keys, order, projection).await?;
                let first = least(order);
                let is_new = |index: &usize| match places[index - first] {
                    NOTHING => false,
                    place => found.headers[place as usize].version >= version,
                };
                let old: HashSet<Bucket> = order
                    .iter()
                    .filter(|(_, index)| !is_new(index))
                    .map(|(bucket, _)| *bucket)
                    .collect();
                if old.is_empty() {
                    return Ok((places, found));
                }
                // All of a partition: its rows are seen at one moment.
                let again: Vec<(Bucket, usize)> =
                    order.iter().copied().filter(|(bucket, _)| old.contains(bucket)).collect();
                let (newer, rows) = self.look_up(majority, table, keys, &again, projection).await?;
                let first_again = least(&again);
                for (_, index) in again {
                    places[index - first] = match newer[index - first_again] {
                        NOTHING => NOTHING,
                        place => found.take_from(&rows, place),
                    };
                }
                Ok((places, found))
            }
            _ => self.look_up(majority, table, keys, order, projection).await,
        }
    }

    /// Looks keys up, partition by partition. Answers the place of each key's row in what was
    /// found, from the least key on.
    async fn look_up(
        &self,
        level: Level,
        table: &Table,
        keys: &Slices,
        order: &[(Bucket, usize)],
        projection: Projection,
    ) -> Result<(Vec<u32>, Found)> {
        // A read that ends whatever is under way is one of a single partition.
        let groups = match level {
            Level::Serial | Level::LocalSerial => Group::alone(order),
            _ => {
                let owners = self.cluster.owners();
                Group::by_node(keys, order, |bucket| owners(bucket.token()))
            }
        };
        let asked = groups.into_iter().map(|group| async move {
            let answer = self.ask_group(level, table, keys, &group, projection).await?;
            Ok::<_, tonnage_engine::Error>((group, answer))
        });
        let first = least(order);
        let last = order.iter().map(|(_, index)| *index).max().unwrap_or(0);
        let mut places = vec![NOTHING; last + 1 - first];
        let is_few = order.len() <= KNOWN_KEYS;
        let mut found = Found { raw_headers: is_few.then(Slices::new), ..Found::default() };
        let mut answers = stream::iter(asked).buffer_unordered(REQUESTS);
        while let Some((group, answer)) = answers.try_next().await? {
            take(&answer, keys, &group, projection, first, &mut places, &mut found)?;
        }
        if let Some(headers) = &found.raw_headers {
            for (_, index) in order.iter().filter(|(_, index)| places[index - first] != NOTHING) {
                let header = headers.get(places[index - first] as usize);
                self.known.learn(table.id(), keys.get(*index), header);
            }
        }
        table.learn(found.headers.len(), found.values.bytes() + keys.bytes() / keys.len().max(1));
        Ok((places, found))
    }

    /// Sends the request for a group.
    async fn ask_group(
        &self,
        level: Level,
        table: &Table,
        keys: &Slices,
        group: &Group,
        projection: Projection,
    ) -> Result<QueryRowsResult> {
        let wanted = group.wanted(keys);
        if let [bucket] = group.buckets[..] {
            let statement = table.statement(&self.cluster, Text::Rows.with(projection)).await?;
            let p = bucket.partition_key();
            return self.cluster.ask_at(level, WHAT, statement, (&p[..], wanted)).await;
        }
        let statement = table.statement(&self.cluster, Text::Spread.with(projection)).await?;
        let partitions: Vec<[u8; 4]> =
            group.buckets.iter().map(|bucket| bucket.partition_key()).collect();
        let partitions: Vec<&[u8]> = partitions.iter().map(|p| &p[..]).collect();
        let values = (partitions, wanted);
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
fn window(table: &Table, bytes_max: usize, left: usize) -> usize {
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
fn take(
    answer: &QueryRowsResult,
    keys: &Slices,
    group: &Group,
    projection: Projection,
    first: usize,
    places: &mut [u32],
    found: &mut Found,
) -> Result<()> {
    let mut put = |key: &[u8], header: Option<&[u8]>, value: Option<&[u8]>| -> Result<()> {
        // A row exists by its header alone, see the head of the crate.
        let Some(header) = header else { return Ok(()) };
        let place = found.headers.len() as u32;
        found.headers.push(RowHeader::read(header)?);
        found.raw_headers.iter_mut().for_each(|raw| raw.push(header));
        found.values.push(value.unwrap_or_default());
        group.indexes_of(keys, key).for_each(|index| places[index - first] = place);
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
