//! Reads an extent page by page.
//!
//! Each page names the key after which it resumes, and depends on nothing else. So a scan may be
//! closed and continue anywhere.
//!
//! - Within a partition, pages follow each other by key.
//! - Along the ring, a page holds rows of several partitions. If it is full, its last partition may
//!   be cut. If that gave few rows, they are dropped, and the next page begins with that partition.
//!   Otherwise the next page is the rest of that partition, and the ring continues after it.
//! - Deleted rows stay for days, and a node gives up a request that meets too many. Then less of
//!   the ring is asked for at a time.
//! - Cassandra gives no rows of several partitions backwards. So a scan backwards finds out which
//!   partitions there are, and reads one after another.

use std::collections::VecDeque;

use scylla::response::query_result::QueryRowsResult;
use scylla::statement::Consistency;
use tonnage_engine::{Direction, Error, Projection, Result, Rows, append_successor};

use crate::bucket::Bucket;
use crate::cluster::rows;
use crate::error::is_too_much;
use crate::extent::{Extent, TokenRange};
use crate::header::RowHeader;
use crate::store::ClusterStore;
use crate::table::{CqlStatement, SpaceTable};

const WHAT: &str = "reading rows in order";

/// About how many bytes a page holds.
const PAGE_BYTES: usize = 1 << 20;

/// The rows of the first page, and of any.
const PAGE_ROWS_FIRST: usize = 512;
const PAGE_ROWS_MAX: usize = 5_000;

/// Of so many rows of a page, one may be read again with the next.
const ROWS_PER_ROW_AGAIN: usize = 8;

/// Keys that are read to learn of partitions.
const PARTITION_KEYS: usize = 500;

/// A request that too many deleted rows stand in the way of is sent for such a part of the ring
/// instead, down to about a partition.
const NARROWER: u64 = 8;
const NARROWEST: u64 = 1 << 44;

/// What is read next.
#[derive(Clone, Debug)]
enum NextPage {
    /// A range of a partition, and the part of the ring after it.
    Within {
        bucket: Bucket,
        start: Vec<u8>,
        end: Option<Vec<u8>>,
        then: Option<TokenRange>,
    },
    Ring(TokenRange),
    Nothing,
}

/// The pages of an extent.
pub(crate) struct Pages {
    next: NextPage,
    is_reverse: bool,
    projection: Projection,
    /// Partitions that a scan backwards has still to read.
    partitions: VecDeque<Bucket>,
    page_rows: usize,
    /// The level of its requests; a majority without it.
    level: Option<Consistency>,
    /// How much of the ring is asked for at most.
    width: u64,
}

impl Pages {
    /// The pages of an extent from its start.
    pub(crate) fn of(extent: &Extent, direction: Direction, projection: Projection) -> Self {
        let next = match extent.clone() {
            Extent::Nothing => NextPage::Nothing,
            Extent::Within { bucket, start, end } => {
                NextPage::Within { bucket, start, end, then: None }
            }
            Extent::Ring(token_range) => NextPage::Ring(token_range),
        };
        let is_reverse = direction == Direction::Reverse;
        Self {
            next,
            is_reverse,
            projection,
            partitions: VecDeque::new(),
            page_rows: PAGE_ROWS_FIRST,
            level: None,
            width: u64::MAX,
        }
    }

    /// The same read at a level.
    pub(crate) fn at(self, level: Consistency) -> Self {
        Self { level: Some(level), ..self }
    }

    fn level(&self, store: &ClusterStore) -> Consistency {
        self.level.unwrap_or(store.cluster.quorum_scope().majority())
    }

    /// The pages after a key of an extent, or after all keys that begin with it.
    pub(crate) fn behind(
        extent: &Extent,
        bucket: Bucket,
        key: &[u8],
        is_prefix: bool,
        direction: Direction,
        projection: Projection,
    ) -> Self {
        let mut pages = Self::of(extent, direction, projection);
        let (first, last, then) = match extent {
            Extent::Within { start, end, .. } => (start.clone(), end.clone(), None),
            Extent::Ring(token_range) => {
                (Vec::new(), None, Some(TokenRange { after: bucket.token(), ..*token_range }))
            }
            Extent::Nothing => return pages,
        };
        // No key is after all that begin with bytes of 0xFF: a successor of them does not exist.
        let is_empty = !pages.is_reverse && is_prefix && key.iter().all(|byte| *byte == 0xFF);
        pages.next = match (pages.is_reverse, is_empty) {
            (true, _) => NextPage::Within { bucket, start: first, end: Some(key.to_vec()), then },
            (false, true) => then.map_or(NextPage::Nothing, NextPage::Ring),
            (false, false) => {
                NextPage::Within { bucket, start: behind(key, is_prefix), end: last, then }
            }
        };
        pages
    }

    /// Leaves out the rest of a shard key, where that is what comes next. Pages that are past it
    /// already stay where they are: rows that expired may have followed it.
    pub(crate) fn jump_over(&mut self, of: Bucket, shard_key: &[u8]) {
        let NextPage::Within { bucket, start, end, then } = &mut self.next else { return };
        if *bucket != of {
            return;
        }
        if self.is_reverse {
            if end.as_deref().is_none_or(|end| end > shard_key) {
                *end = Some(shard_key.to_vec());
            }
            return;
        }
        let past = behind(shard_key, true);
        if past.is_empty() {
            self.next = then.map_or(NextPage::Nothing, NextPage::Ring);
        } else if *start < past {
            *start = past;
        }
    }

    /// Whether there is nothing left to read.
    pub(crate) fn are_over(&self) -> bool {
        matches!(self.next, NextPage::Nothing) && self.partitions.is_empty()
    }

    /// Reads the next page, of about so many rows at most. It may be empty though there are more.
    pub(crate) async fn read(
        &mut self,
        store: &ClusterStore,
        table: &SpaceTable,
        rows_max: usize,
        page: &mut Rows,
    ) -> Result<()> {
        page.clear();
        // A number of rows alone bounds no memory: pages of large rows have fewer.
        let by_bytes = (PAGE_BYTES / table.row_bytes()).max(1);
        let limit = self.page_rows.min(by_bytes).min(rows_max).clamp(1, PAGE_ROWS_MAX);
        // The first page is small, for callers that want few rows: later pages are larger.
        self.page_rows = (self.page_rows * 16).min(PAGE_ROWS_MAX);
        match self.next.clone() {
            // The ring may be used up before the partitions that were found on it are read.
            NextPage::Nothing => {
                if let Some(bucket) = self.partitions.pop_front() {
                    self.next =
                        NextPage::Within { bucket, start: Vec::new(), end: None, then: None };
                }
                Ok(())
            }
            NextPage::Within { bucket, start, end, then } => {
                self.read_within(store, table, limit, page, bucket, start, end, then).await
            }
            NextPage::Ring(token_range) if self.is_reverse => {
                self.read_partitions(store, table, token_range).await
            }
            NextPage::Ring(token_range) => {
                self.read_ring(store, table, limit, page, token_range).await
            }
        }?;
        table.learn(page.len(), page.bytes());
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of what is read next")]
    async fn read_within(
        &mut self,
        store: &ClusterStore,
        table: &SpaceTable,
        limit: usize,
        page: &mut Rows,
        bucket: Bucket,
        start: Vec<u8>,
        end: Option<Vec<u8>>,
        then: Option<TokenRange>,
    ) -> Result<()> {
        // No key is after all others, so a range without an end is a statement of its own.
        let text = match (self.is_reverse, end.is_some()) {
            (false, true) => CqlStatement::Range,
            (false, false) => CqlStatement::Rest,
            (true, true) => CqlStatement::RangeBack,
            (true, false) => CqlStatement::RestBack,
        };
        let statement = table.statement(&store.cluster, text.with(self.projection)).await?;
        let (p, count, level) = (&bucket.partition_key()[..], limit as i32, self.level(store));
        let cluster = &store.cluster;
        let answer = match &end {
            Some(end) => cluster.ask_at(level, WHAT, statement, (p, &start, end, count)).await?,
            None => cluster.ask_at(level, WHAT, statement, (p, &start, count)).await?,
        };
        let read = append_rows(&answer, self.projection, page)?;
        // A page that is not full ends the partition, without a request that finds nothing.
        let is_full = read == limit;
        // `start` is in its range, `end` is not: so only forwards the last key needs a successor.
        self.next = match (page.keys.last().filter(|_| is_full), self.is_reverse) {
            (Some(last), false) => {
                NextPage::Within { bucket, start: behind(last, false), end, then }
            }
            (Some(last), true) => {
                NextPage::Within { bucket, start, end: Some(last.to_vec()), then }
            }
            (None, _) => then.map_or(NextPage::Nothing, NextPage::Ring),
        };
        Ok(())
    }

    async fn read_ring(
        &mut self,
        store: &ClusterStore,
        table: &SpaceTable,
        limit: usize,
        page: &mut Rows,
        token_range: TokenRange,
    ) -> Result<()> {
        let statement =
            table.statement(&store.cluster, CqlStatement::Ring.with(self.projection)).await?;
        let (first, answer) = loop {
            let first = token_range.first(self.width);
            let bounds = (first.after, first.last, limit as i32);
            match store.cluster.ask_at(self.level(store), WHAT, statement, bounds).await {
                Ok(answer) => break (first, answer),
                Err(error) => self.width = narrower(first, error)?,
            }
        };
        let read = append_rows(&answer, self.projection, page)?;
        let Some(last) = page.keys.last().filter(|_| read == limit) else {
            // A page that is not full has all of `first`, be it nothing: the ring continues after
            // it.
            self.next = token_range.behind(first).map_or(NextPage::Nothing, NextPage::Ring);
            return Ok(());
        };
        let bucket_of = |key: &[u8]| -> Result<Bucket> {
            Ok(store.bucket(&key[..table.info().shape.shard_key_len(key)?]))
        };
        let bucket = bucket_of(last)?;
        // A few rows of a cut partition are read again with the next page: that spares a request
        // for its rest.
        let again = limit / ROWS_PER_ROW_AGAIN;
        let last_ones = (0..page.len()).rev().take(again + 1);
        let before = last_ones
            .map(|place| Ok((place, bucket_of(page.keys.get(place))?)))
            .find(|found| !matches!(found, Ok((_, of)) if *of == bucket))
            .transpose()?;
        // The ring continues only after whole partitions: it is asked for by tokens, not by keys.
        self.next = match before {
            Some((place, whole)) => {
                keep_first(page, place + 1);
                NextPage::Ring(TokenRange { after: whole.token(), ..token_range })
            }
            None => {
                let then = Some(TokenRange { after: bucket.token(), ..token_range });
                NextPage::Within { bucket, start: behind(last, false), end: None, then }
            }
        };
        Ok(())
    }

    async fn read_partitions(
        &mut self,
        store: &ClusterStore,
        table: &SpaceTable,
        token_range: TokenRange,
    ) -> Result<()> {
        if let Some(bucket) = self.partitions.pop_front() {
            let then = Some(token_range);
            self.next = NextPage::Within { bucket, start: Vec::new(), end: None, then };
            return Ok(());
        }
        let (found, rest) = partitions(store, table, token_range, self.level(store)).await?;
        self.next = rest.map_or(NextPage::Nothing, NextPage::Ring);
        self.partitions = found.into();
        Ok(())
    }
}

/// The first partitions of a token range, and what is left of it.
///
/// Cassandra can list partitions (DISTINCT, PER PARTITION LIMIT). But a node of version 5.0.5 gives
/// no answer where a file of the table holds a range deletion: it does not close a partition that it
/// leaves early. So a few keys are read, and the rest of the last one's partition is left out.
pub(crate) async fn partitions(
    store: &ClusterStore,
    table: &SpaceTable,
    token_range: TokenRange,
    level: Consistency,
) -> Result<(Vec<Bucket>, Option<TokenRange>)> {
    let statement = table.statement(&store.cluster, CqlStatement::RingKeys).await?;
    let what = "the partitions of a space";
    let mut first = token_range;
    let answer = loop {
        let bounds = (first.after, first.last, PARTITION_KEYS as i32);
        match store.cluster.ask_at(level, what, statement, bounds).await {
            Ok(answer) => break answer,
            Err(error) => first = token_range.first(narrower(first, error)?),
        }
    };
    let mut page = Rows::new();
    let read = append_rows(&answer, Projection::KeysOnly, &mut page)?;
    let mut found: Vec<Bucket> = Vec::new();
    for key in page.keys.iter() {
        let bucket = store.bucket(&key[..table.info().shape.shard_key_len(key)?]);
        // Keys come by token, so those of a partition are neighbours.
        if found.last() != Some(&bucket) {
            found.push(bucket);
        }
    }
    // After all of the last partition, though it may be cut: only the existing partitions are asked
    // for.
    let rest = match found.last().filter(|_| read == PARTITION_KEYS) {
        Some(last) => Some(TokenRange { after: last.token(), ..token_range }),
        None => token_range.behind(first),
    };
    Ok((found, rest))
}

/// How much of the ring to ask for instead, where so much of it was too much.
fn narrower(asked: TokenRange, error: Error) -> Result<u64> {
    match asked.width() / NARROWER {
        width if width >= NARROWEST && is_too_much(&error) => Ok(width),
        _ => Err(error),
    }
}

fn keep_first(page: &mut Rows, count: usize) {
    page.keys.truncate(count);
    page.values.truncate(count);
    page.versions.truncate(count);
    page.expiries_ms.truncate(count);
    page.origins.truncate(count);
}

/// The least key after a key, or after all that begin with it.
fn behind(key: &[u8], is_prefix: bool) -> Vec<u8> {
    let mut start = Vec::with_capacity(key.len() + 1);
    match is_prefix {
        true => append_successor(key, &mut start),
        false => {
            start.extend_from_slice(key);
            start.push(0);
        }
    }
    start
}

/// Takes the rows of an answer, expired ones too. Answers how many there were.
fn append_rows(answer: &QueryRowsResult, projection: Projection, page: &mut Rows) -> Result<usize> {
    let mut count = 0;
    let mut put = |key: &[u8], header: Option<&[u8]>, value: Option<&[u8]>| -> Result<()> {
        count += 1;
        let header = RowHeader::read(header.unwrap_or_default())?;
        page.push(key, value.unwrap_or_default(), header.version, header.expires_at_ms, 0);
        Ok(())
    };
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
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUCKET: Bucket = Bucket(7);

    /// Pages that continue after a key of a partition.
    fn pages_behind(key: &[u8], direction: Direction) -> Pages {
        let ring = Extent::Ring(TokenRange::RING);
        Pages::behind(&ring, BUCKET, key, false, direction, Projection::KeysOnly)
    }

    /// Where the next page starts and ends.
    fn bounds(pages: &Pages) -> (&[u8], Option<&[u8]>) {
        match &pages.next {
            NextPage::Within { start, end, .. } => (start, end.as_deref()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_rest_of_a_shard_key_is_left_out() {
        let mut pages = pages_behind(b"a3", Direction::Forward);
        pages.jump_over(BUCKET, b"a");
        assert_eq!(bounds(&pages), (&b"b"[..], None));
        let mut pages = pages_behind(b"a3", Direction::Reverse);
        pages.jump_over(BUCKET, b"a");
        assert_eq!(bounds(&pages), (&b""[..], Some(&b"a"[..])));
        let mut pages = pages_behind(b"\xFF3", Direction::Forward);
        pages.jump_over(BUCKET, b"\xFF");
        assert!(matches!(pages.next, NextPage::Ring(rest) if rest.after == BUCKET.token()));
        let mut pages = pages_behind(b"a3", Direction::Forward);
        pages.jump_over(Bucket(8), b"a");
        assert_eq!(bounds(&pages), (&b"a3\0"[..], None));
    }

    /// The story of a bug: a scan with a limit for each shard key had its rows of one, and then a
    /// page of nothing but expired rows of the next ones in the partition. To leave out the rest of
    /// the first it went back to where these begin, read the same page again, and so for ever.
    #[test]
    fn pages_never_go_back_to_the_end_of_a_shard_key_that_they_are_past() {
        let mut pages = pages_behind(b"c9", Direction::Forward);
        pages.jump_over(BUCKET, b"a");
        assert_eq!(bounds(&pages), (&b"c9\0"[..], None));
        let mut pages = pages_behind(b"c9", Direction::Reverse);
        pages.jump_over(BUCKET, b"e");
        assert_eq!(bounds(&pages), (&b""[..], Some(&b"c9"[..])));
    }
}
