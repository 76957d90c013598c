//! The whole of one read: table, access path, columns, order and limits.

use std::sync::Arc;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::SchemaRef;
use tonnage::internal::ColumnRange;
use tonnage::{
    BulkGet, BulkGetOptions, Consistency, Direction, Error, IndexScanOptions, KeySource, Result,
    TableScanOptions,
};

use super::table_reader::{ShapedBatches, SqlBatches, StoredBatches};
use super::{AccessPath, IndexPath, LiveBatches, NearestRead, SourceCounts, SqlTable, TableReader};
use crate::session::Guard;

/// Fewer rows than this are read by one reader: to hand them to several would take longer.
const PARALLEL_ROWS_MIN: u64 = 100_000;
/// Parts are cut by estimates, so there are more of them than readers: who is done early takes
/// another.
const PARTS_PER_READER: usize = 4;

/// A row that is found by its key costs as much as this many rows of columns that are kept.
const CACHED_ROWS_PER_KEY: u64 = 500;
/// The same costs as much as this many rows that the readers of a scan pass by.
const SCANNED_ROWS_PER_KEY: u64 = 20;
/// The same of one that a scan passes by.
const CACHED_ROWS_PER_ROW: u64 = 30;
/// The same of an entry whose row is not looked up.
const CACHED_ROWS_PER_ENTRY: u64 = 50;

/// The first rows under each shard key, in a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LatestRows {
    pub(crate) rows: u64,
    pub(crate) direction: Direction,
}

/// A read of one table.
#[derive(Clone, Debug)]
pub(crate) struct ReadSpec {
    pub(crate) table: Arc<SqlTable>,
    pub(crate) path: AccessPath,
    /// The columns wanted, as positions in the table's SQL schema.
    pub(crate) columns: Vec<usize>,
    pub(crate) direction: Direction,
    /// At most this many rows in all.
    pub(crate) limit: Option<u64>,
    pub(crate) latest: Option<LatestRows>,
    pub(crate) batch_rows_max: usize,
    pub(crate) consistency: Option<Consistency>,
    pub(crate) workers: usize,
    /// Whether columns that are kept may be read; not for what must be read from the store.
    pub(crate) keeps_columns: bool,
    /// Other rows may be left out of a scan.
    pub(crate) wanted: Vec<ColumnRange>,
    /// Why no index is read through, where there is one that could be.
    pub(crate) remark: Option<String>,
    /// Which rows alone are wanted, by their distance from a place; to read more is not an error.
    pub(crate) nearest: Option<NearestRead>,
}

impl ReadSpec {
    /// The schema of what comes out.
    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::new(
            self.table
                .arrow
                .project(&self.columns)
                .expect("a projection names columns that there are"),
        )
    }

    /// Whether keys alone are enough.
    pub(crate) fn keys_only(&self) -> bool {
        let schema = self.table.schema();
        self.columns.iter().all(|column| *column >= schema.columns.len() || schema.is_key(*column))
    }

    /// Whether this gives so few rows that handing the read to a thread would cost more than the
    /// read.
    pub(crate) fn is_small(&self) -> bool {
        const SMALL_ROWS: u64 = 1_024;
        let whole = match &self.path {
            AccessPath::Nothing => return true,
            AccessPath::All | AccessPath::Range { .. } => None,
            AccessPath::Index(path) => Some(path.entries()),
            AccessPath::Keys { keys, .. } => (keys.num_columns() == self.table.schema().key.len())
                .then(|| keys.num_rows() as u64),
        };
        // A limit says little where filters above it make it be read again and again: it is only
        // passed down where there are none.
        whole.or(self.limit).is_some_and(|rows| rows <= SMALL_ROWS)
    }

    /// About how many rows come at most.
    pub(crate) fn rows_estimate(&self) -> Option<u64> {
        let path = self.path.rows_estimate(&self.table);
        match (path, self.limit) {
            (Some(rows), Some(limit)) => Some(rows.min(limit)),
            (rows, limit) => rows.or(limit),
        }
    }

    /// Whether a scan of all rows, from columns that are kept, costs less than the rows of a path.
    pub(crate) fn is_faster_from_cache(&self, path: &AccessPath) -> bool {
        let (found, cost) = match path {
            AccessPath::Nothing | AccessPath::All => return false,
            AccessPath::Range { rows, .. } => (*rows, CACHED_ROWS_PER_ROW),
            AccessPath::Keys { keys, .. } => (keys.num_rows() as u64, CACHED_ROWS_PER_KEY),
            AccessPath::Index(path) if path.is_index_only() => {
                (path.entries(), CACHED_ROWS_PER_ENTRY)
            }
            AccessPath::Index(path) => (path.entries(), CACHED_ROWS_PER_KEY),
        };
        if !self.has_parts() {
            return false;
        }
        let all = match self.table.rows_estimate {
            Some(rows) => rows,
            None => self.table.table.rows_estimate().unwrap_or(u64::MAX),
        };
        found.saturating_mul(cost) > all && self.is_kept(all)
    }

    /// Whether most of so many rows, or all of them, would come from columns that are kept.
    fn is_kept(&self, all: u64) -> bool {
        let kept = match self.may_keep() {
            true => self.table.table.kept_rows(&self.columns),
            false => 0,
        };
        // Rows that were replaced may be among those estimated.
        kept > 0 && kept.saturating_mul(2) >= all
    }

    /// Whether the columns may be kept: what the store notes of rows is not.
    fn may_keep(&self) -> bool {
        let own = self.table.schema().columns.len();
        self.keeps_columns && self.columns.iter().all(|column| *column < own)
    }

    /// Whether a scan of columns that are kept would cost less than this range, or than reading
    /// through this index. They are these columns, and others that conditions are on.
    pub(crate) fn is_slower_than_cache(&self, others: &[usize]) -> bool {
        let scan = || {
            let columns = self.columns.iter().chain(others).copied().collect();
            Self { path: AccessPath::All, columns, ..self.clone() }
        };
        self.latest.is_none()
            && matches!(self.path, AccessPath::Index(_) | AccessPath::Range { .. })
            && scan().is_faster_from_cache(&self.path)
    }

    /// Whether a scan costs little more than a path: it has more readers, and may keep columns.
    pub(crate) fn is_near_full_scan(&self, path: &AccessPath) -> bool {
        let all = self.table.rows_estimate.unwrap_or(u64::MAX);
        match path {
            AccessPath::Range { rows, .. } => rows.saturating_mul(4) > all,
            AccessPath::Keys { keys, .. } => {
                let may_keep = self.keeps_columns && self.has_parts();
                may_keep && (keys.num_rows() as u64).saturating_mul(SCANNED_ROWS_PER_KEY) > all
            }
            _ => false,
        }
    }

    /// How many readers a plan gives this, each with rows of its own.
    pub(crate) fn readers(&self) -> usize {
        let is_large = self.rows_estimate().is_some_and(|rows| rows >= PARALLEL_ROWS_MIN);
        if self.has_parts() && is_large { self.workers } else { 1 }
    }

    /// Whether several readers may share this: all rows of a table or a range, in any order.
    fn has_parts(&self) -> bool {
        matches!(self.path, AccessPath::All | AccessPath::Range { .. })
            && self.direction == Direction::Unordered
            && self.limit.is_none()
            && self.nearest.is_none()
    }

    /// Starts to read.
    pub(crate) fn open(&self, guard: Guard) -> Result<TableReader> {
        if let Some(nearest) = &self.nearest {
            return self.nearest_rows(nearest, &guard);
        }
        let rows: Option<StoredBatches> = match &self.path {
            AccessPath::Nothing => None,
            _ if self.limit == Some(0) => None,
            AccessPath::All | AccessPath::Range { .. } => Some(Box::new(self.scan()?)),
            AccessPath::Keys { .. } => Some(Box::new(self.bulk_get()?)),
            AccessPath::Index(path) => match path.order() {
                Some(order) => return self.first_rows(path, order, &guard),
                None => Some(self.index_scan(path)?),
            },
        };
        Ok(TableReader::new(rows.map(|rows| self.sql_batches(rows)), self.limit, guard))
    }

    /// Starts to read in parts for so many readers; in one where that is not possible, or too
    /// little to share.
    pub(crate) fn open_parts(
        &self,
        readers: usize,
        guard: &Guard,
        counts: &SourceCounts,
    ) -> Result<Vec<TableReader>> {
        if !self.has_parts() {
            return Ok(vec![self.open(guard.clone())?]);
        }
        let read = |rows| TableReader::new(Some(rows), None, guard.clone());
        if let Some(parts) = self.live_parts(readers, guard, counts)? {
            return Ok(parts.into_iter().map(read).collect());
        }
        let parts = self.parts(readers)?.into_iter();
        Ok(parts.map(|part| read(self.sql_batches(part))).collect())
    }

    /// The same from live columns of the store, as of the snapshot of the query. Nothing where the
    /// store has none, as on a cluster.
    fn live_parts(
        &self,
        readers: usize,
        guard: &Guard,
        counts: &SourceCounts,
    ) -> Result<Option<Vec<SqlBatches>>> {
        if !self.may_be_live() {
            return Ok(None);
        }
        let table = &self.table.table;
        let Some(snapshot) = guard.snapshot(table)? else { return Ok(None) };
        let parts =
            table.column_parts(&snapshot, &self.columns, &self.wanted, parts_for(readers))?;
        let schema = self.schema();
        let batches = |part| {
            let batches = LiveBatches::new(part, schema.clone(), counts.clone());
            Box::new(batches.of_at_most(self.batch_rows_max)) as SqlBatches
        };
        Ok(Some(parts.into_iter().map(batches).collect()))
    }

    /// Whether live columns of the store, if it has any, are what this reads: the latest of each,
    /// and a range, are not all rows.
    pub(crate) fn may_be_live(&self) -> bool {
        let is_whole = self.latest.is_none() && self.path == AccessPath::All;
        is_whole && self.has_parts() && self.may_keep()
    }

    /// A scan of all rows in parts, one for a single reader.
    fn parts(&self, readers: usize) -> Result<Vec<StoredBatches>> {
        if readers == 1 {
            return Ok(vec![Box::new(self.scan()?)]);
        }
        let parts = self.table.table.scan_parts(&self.scan_options(), parts_for(readers))?;
        Ok(parts.into_iter().map(|part| Box::new(part) as StoredBatches).collect())
    }

    /// Where the columns are among others.
    pub(super) fn positions_in(&self, columns: &[usize]) -> Vec<usize> {
        let position = |wanted: &usize| columns.iter().position(|column| column == wanted);
        self.columns.iter().filter_map(position).collect()
    }

    pub(super) fn sql_batches(&self, rows: StoredBatches) -> SqlBatches {
        let own = self.table.schema().columns.len();
        Box::new(ShapedBatches::new(own, &self.columns, self.schema(), rows))
    }

    /// The read as EXPLAIN shows it.
    pub(crate) fn describe(&self) -> String {
        let schema = self.table.schema();
        let names: Vec<_> = self
            .columns
            .iter()
            .map(|column| self.table.arrow.field(*column).name().as_str())
            .collect();
        let remark = self.remark.as_ref().map(|remark| format!(" ({remark})")).unwrap_or_default();
        let path = match &self.nearest {
            Some(nearest) => nearest.describe(),
            None => self.path.describe(schema),
        };
        let mut text =
            format!("table={}, path={path}{remark}, columns=[{}]", schema.path, names.join(", "));
        // Tests hold this text. What does not apply is left out, so that a new part changes only
        // the plans that have it.
        if self.keys_only() && !matches!(self.path, AccessPath::Index(_)) {
            text.push_str(", keys only");
        }
        let by = if matches!(self.path, AccessPath::Index(_)) { "index" } else { "key" };
        // By the method, not the field: `latest` brings a direction of its own.
        match self.direction() {
            Direction::Unordered => {}
            Direction::Forward => text.push_str(&format!(", order={by}")),
            Direction::Reverse => text.push_str(&format!(", order={by} descending")),
        }
        if let Some(latest) = self.latest {
            text.push_str(&format!(", limit_per_key={}", latest.rows));
        }
        if let Some(limit) = self.limit {
            text.push_str(&format!(", limit={limit}"));
        }
        if self.readers() > 1 {
            text.push_str(&format!(", readers={}", self.readers()));
        }
        text
    }

    pub(super) fn names(&self) -> Vec<String> {
        let columns = &self.table.schema().columns;
        self.columns
            .iter()
            .filter_map(|column| columns.get(*column))
            .map(|column| column.name.clone())
            .collect()
    }

    fn direction(&self) -> Direction {
        self.latest.map_or(self.direction, |latest| latest.direction)
    }

    fn batch_rows(&self) -> usize {
        let limit = self.limit.unwrap_or(u64::MAX).clamp(1, self.batch_rows_max as u64);
        limit as usize
    }

    fn scan(&self) -> Result<BulkGet> {
        self.table.table.scan(&self.scan_options())
    }

    fn scan_options(&self) -> TableScanOptions {
        let range = match &self.path {
            AccessPath::Range { range, .. } => Some(range.clone()),
            _ => None,
        };
        TableScanOptions {
            range,
            direction: self.direction(),
            columns: Some(self.names()),
            keys_only: self.keys_only(),
            limit: self.limit,
            limit_per_shard_key: self.latest.map(|latest| latest.rows),
            batch_rows_max: self.batch_rows(),
            consistency: self.consistency,
            max_concurrent_requests: Some(self.workers),
            ..TableScanOptions::default()
        }
    }

    pub(super) fn index_options(&self, path: &IndexPath) -> IndexScanOptions {
        IndexScanOptions {
            direction: self.direction(),
            columns: Some(self.names()),
            limit: self.limit,
            batch_rows_max: self.batch_rows(),
            consistency: self.consistency,
            max_concurrent_requests: Some(self.workers),
            index_only: path.is_index_only(),
            ..IndexScanOptions::default()
        }
    }

    pub(super) fn index_scan(&self, path: &IndexPath) -> Result<StoredBatches> {
        if let Some(rows) = path.open(&self.table, &self.index_options(path))? {
            return Ok(Box::new(rows));
        }
        if path.is_checked_above {
            // More rows than the index named do no harm there.
            return Ok(Box::new(self.scan()?));
        }
        Err(self.dropped_index_error())
    }

    pub(super) fn dropped_index_error(&self) -> Error {
        Error::unavailable(format!(
            "an index of {} was dropped as the statement began: try again",
            self.table.table.path()
        ))
    }

    fn bulk_get(&self) -> Result<BulkGet> {
        let AccessPath::Keys { keys, range, .. } = &self.path else {
            return Err(Error::internal("a bulk get needs keys"));
        };
        // The latest rows are counted by shard key, the limit of a bulk get by given key: they
        // agree only where the given keys are shard keys.
        let is_shard_key = keys.num_columns() == self.table.schema().shard_key_len;
        let latest = self.latest.filter(|_| is_shard_key).map(|latest| latest.rows);
        let is_whole = keys.num_columns() == self.table.schema().key.len();
        // The store turns the rows of a key round, but answers keys in the order given.
        let keys =
            if self.direction() == Direction::Reverse { reverse_keys(keys)? } else { keys.clone() };
        let options = BulkGetOptions {
            max_concurrent_requests: Some(self.workers),
            direction: self.direction(),
            range: range.clone(),
            columns: Some(self.names()),
            keys_only: self.keys_only(),
            // Each key may give the whole limit: `TableReader` cuts what several give together.
            limit_per_key: if is_whole {
                None
            } else {
                [latest, self.limit].into_iter().flatten().min()
            },
            batch_rows_max: self.batch_rows(),
            consistency: self.consistency,
            ..BulkGetOptions::default()
        };
        self.table.table.bulk_get(KeySource::batches([Ok(keys)]), &options)
    }
}

fn parts_for(readers: usize) -> usize {
    if readers == 1 { 1 } else { PARTS_PER_READER * readers }
}

fn reverse_keys(keys: &RecordBatch) -> Result<RecordBatch> {
    if keys.num_rows() < 2 {
        return Ok(keys.clone());
    }
    let rows = UInt32Array::from_iter_values((0..keys.num_rows() as u32).rev());
    take_record_batch(keys, &rows)
        .map_err(|error| Error::internal(format!("the keys could not be reversed: {error}")))
}
