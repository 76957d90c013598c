//! The rows of a range, read from the store at the snapshot of a scan. Segments are built of them.

use std::sync::Arc;

use arrow::array::RecordBatch;
use tonnage_columns::BATCH_ROWS;
use tonnage_engine::{
    FillCache, FilterDecision, KeyFilter, Projection, Ranges, Result, Rows, ScanOptions, Scanner,
    TrackedRange,
};

use super::column_scan::ColumnScan;
use super::live_columns::BuildPermit;
use super::segment_builder::{KeptTable, KeptTables, SegmentBuilder};
use crate::codec::{KeyClassifier, KeyOwner};

/// A scan of the store, which builds segments as it goes.
pub(super) struct StoreRows {
    scanner: Box<dyn Scanner>,
    rows: Rows,
    building: Option<Building>,
    /// Whether rows of other tables come along.
    are_mixed: bool,
    end: Vec<u8>,
}

/// A segment under way.
struct Building {
    builder: SegmentBuilder,
    kept: Arc<KeptTables>,
    range: TrackedRange,
    /// Of the whole range.
    _permit: BuildPermit,
}

impl StoreRows {
    pub(super) fn open(scan: &ColumnScan, range: &TrackedRange) -> Result<Self> {
        let building = Building::begin(scan, range);
        let mut ranges = Ranges::new();
        ranges.push(&range.start, &range.end);
        // The rows of other tables are read only where segments have them.
        let filter = match &building {
            Some(building) => TablesFilter {
                classifier: building.kept.classifier.clone(),
                tables: building.kept.tables.iter().map(KeptTable::table_id).collect(),
            },
            None => TablesFilter {
                classifier: scan.table.classifier.clone(),
                tables: vec![scan.table.schema.table_id],
            },
        };
        let are_mixed = filter.tables.len() > 1;
        let schema = &scan.table.schema;
        let is_of_keys = scan.columns.iter().all(|column| schema.is_key(*column));
        let projection = match &building {
            None if is_of_keys => Projection::KeysOnly,
            _ => Projection::KeysAndValues,
        };
        let options = ScanOptions {
            projection,
            shard: Some(range.shard),
            filter: Some(Arc::new(filter)),
            // A segment takes whole batches.
            batch_rows_max: BATCH_ROWS.min(scan.live.limits.rows),
            fill_cache: FillCache::IfSmall,
            ..ScanOptions::default()
        };
        let scanner = scan.snapshot.engine().scan(scan.table.space, ranges, options)?;
        let end = range.end.clone();
        Ok(Self { scanner, rows: Rows::new(), building, are_mixed, end })
    }

    pub(super) fn next(&mut self, scan: &ColumnScan) -> Result<Option<RecordBatch>> {
        loop {
            if !self.scanner.next_batch(&mut self.rows)? {
                if let Some(building) = self.building.take() {
                    building.end(scan, &self.end);
                }
                return Ok(None);
            }
            // What cannot be built of is still read: the scan may not ask for what is damaged.
            let building = self.building.take();
            self.building = building.and_then(|building| building.add(scan, &self.rows));
            let batch = self.decode(scan)?;
            scan.live.counters.store_rows.add(batch.num_rows());
            if batch.num_rows() > 0 {
                return Ok(Some(batch));
            }
        }
    }

    fn decode(&self, scan: &ColumnScan) -> Result<RecordBatch> {
        if !self.are_mixed {
            return scan.decode(&self.rows, None);
        }
        let (classifier, wanted) = (&scan.table.classifier, scan.table.schema.table_id);
        // A key that cannot be read must not vanish: the decoder meets it and says so.
        let is_wanted = |key: &[u8]| match classifier.classify(key) {
            Ok(owner) => owner == KeyOwner::Table(wanted),
            Err(_) => true,
        };
        let rows = self.rows.keys.iter().enumerate();
        let which: Vec<u32> =
            rows.filter(|(_, key)| is_wanted(key)).map(|(row, _)| row as u32).collect();
        scan.decode(&self.rows, Some(&which))
    }
}

impl Building {
    fn begin(scan: &ColumnScan, range: &TrackedRange) -> Option<Self> {
        // Otherwise the next scan would build all of it again.
        let table_id = scan.table.schema.table_id;
        let kept = scan.kept.as_ref().filter(|kept| kept.have(table_id, scan.wanted()))?;
        let permit = scan.live.begin_build(scan.table.space, range)?;
        let builder = SegmentBuilder::new(scan.table.space, range.clone(), kept.clone());
        Some(Self { builder, kept: kept.clone(), range: range.clone(), _permit: permit })
    }

    /// Adds rows, behind the end of a segment that is full. Nothing once segments cannot be built.
    fn add(mut self, scan: &ColumnScan, rows: &Rows) -> Option<Self> {
        let limits = &scan.live.limits;
        if rows.len() > limits.rows {
            return None;
        }
        let is_full = self.builder.rows() + rows.len() > limits.rows
            || self.builder.stored_bytes() + rows.bytes() > limits.stored_bytes;
        if is_full && self.builder.rows() > 0 {
            let start = rows.keys.get(0).to_vec();
            let next = TrackedRange { start: start.clone(), ..self.range.clone() };
            let builder = SegmentBuilder::new(scan.table.space, next.clone(), self.kept.clone());
            let full = std::mem::replace(&mut self.builder, builder);
            self.range = next;
            if !publish(scan, full, &start) {
                return None;
            }
        }
        self.builder.add(rows).ok()?;
        Some(self)
    }

    fn end(self, scan: &ColumnScan, end: &[u8]) {
        publish(scan, self.builder, end);
    }
}

/// Has later scans find a segment. False where it cannot be kept: the rows are in the store.
fn publish(scan: &ColumnScan, builder: SegmentBuilder, end: &[u8]) -> bool {
    let (space, shard) = (scan.table.space, builder.shard());
    let Some(settled) = scan.snapshot.settled(space, shard) else { return false };
    let Ok(segment) = builder.finish(end, settled) else { return false };
    let segment = Arc::new(segment);
    let (has_room, evicted) = scan.live.insert(&segment);
    scan.untrack(evicted);
    if !has_room {
        return false;
    }
    match scan.engine.track(space, &segment.range, &*scan.snapshot) {
        Ok(true) => {
            scan.live.counters.built.add(1);
            scan.live.forget_replaced_by(&segment);
        }
        // More was written than is known, or another scan was faster.
        Ok(false) | Err(_) => scan.live.forget(space, segment.id()),
    }
    true
}

/// Lets the rows of some tables through.
struct TablesFilter {
    classifier: Arc<KeyClassifier>,
    tables: Vec<u32>,
}

impl KeyFilter for TablesFilter {
    fn decide(&self, key: &[u8]) -> FilterDecision {
        match self.classifier.classify(key) {
            Ok(KeyOwner::Table(table)) if self.tables.contains(&table) => FilterDecision::Count,
            Ok(_) => FilterDecision::Skip,
            // A key that cannot be read must not vanish: the decoder meets it and says so.
            Err(_) => FilterDecision::Count,
        }
    }
}
