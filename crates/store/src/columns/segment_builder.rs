//! Builds a segment of the rows of a range, as they are read in order.

use std::sync::Arc;

use tonnage_engine::{Error, Result, Rows, ShardId, SpaceId, TrackedRange};

use super::column_table::ColumnTable;
use super::segment::Segment;
use super::table_segment::TableSegmentBuilder;
use crate::codec::{KeyClassifier, KeyOwner};
use crate::schema::Column;

/// What segments of a space are to have.
#[derive(Debug)]
pub(crate) struct KeptTables {
    /// Knows all tables that there are in the space.
    pub(super) classifier: Arc<KeyClassifier>,
    pub(super) tables: Vec<KeptTable>,
}

/// A table of which columns are kept.
#[derive(Debug)]
pub(crate) struct KeptTable {
    pub(super) table: ColumnTable,
    /// Positions in its schema.
    pub(super) columns: Vec<usize>,
}

impl KeptTable {
    pub(super) fn table_id(&self) -> u32 {
        self.table.schema.table_id
    }
}

impl KeptTables {
    /// Whether columns of a table are among them, by their numbers.
    pub(super) fn have<'a>(
        &self,
        table_id: u32,
        mut columns: impl Iterator<Item = &'a Column>,
    ) -> bool {
        let kept = self.tables.iter().find(|kept| kept.table_id() == table_id);
        kept.is_some_and(|kept| {
            let own = &kept.table.schema.columns;
            columns.all(|column| kept.columns.iter().any(|place| own[*place].id == column.id))
        })
    }
}

/// Makes a segment of the rows of a range, as they are read in order.
pub(super) struct SegmentBuilder {
    space: SpaceId,
    range: TrackedRange,
    kept: Arc<KeptTables>,
    tables: Vec<TableSegmentBuilder>,
    stored_bytes: usize,
}

impl SegmentBuilder {
    /// For a range that begins at `range.start`; its end is known once it is read.
    pub(super) fn new(space: SpaceId, range: TrackedRange, kept: Arc<KeptTables>) -> Self {
        let tables = kept.tables.iter().map(|table| {
            let schema = &table.table.schema;
            let ids: Vec<u16> =
                table.columns.iter().map(|column| schema.columns[*column].id).collect();
            TableSegmentBuilder::new(schema.table_id, &ids)
        });
        Self { space, range, tables: tables.collect(), kept, stored_bytes: 0 }
    }

    /// The rows of the table that has the most.
    pub(super) fn rows(&self) -> usize {
        self.tables.iter().map(TableSegmentBuilder::rows).max().unwrap_or(0)
    }

    pub(super) fn shard(&self) -> ShardId {
        self.range.shard
    }

    pub(super) fn stored_bytes(&self) -> usize {
        self.stored_bytes
    }

    /// Adds rows behind those before.
    pub(super) fn add(&mut self, rows: &Rows) -> Result<()> {
        self.stored_bytes += rows.bytes();
        let classifier = &self.kept.classifier;
        let mut which = vec![Vec::new(); self.tables.len()];
        for (row, key) in rows.keys.iter().enumerate() {
            let KeyOwner::Table(table_id) = classifier.classify(key)? else { continue };
            let place = self.tables.iter().position(|table| table.table_id == table_id);
            if let Some(place) = place {
                which[place].push(row as u32);
            }
        }
        for ((table, kept), which) in self.tables.iter_mut().zip(&self.kept.tables).zip(&which) {
            if which.is_empty() {
                continue;
            }
            let read = kept.table.codec.decode(rows, Some(which), Some(&kept.columns))?;
            let places = which.iter().map(|row| *row as usize);
            let keys = places.map(|row| (rows.keys.get(row), rows.expiries_ms[row]));
            table.add(keys, read.columns());
        }
        Ok(())
    }

    /// Packs what was read up to `end`, which is empty for the end of the space. The rows are those
    /// of a snapshot with this settled ticket.
    pub(super) fn finish(self, end: &[u8], settled: u64) -> Result<Segment> {
        let id = random_id()?;
        let tables = self.tables.into_iter().map(|table| table.finish(id));
        let tables = tables.collect::<Result<Vec<_>>>()?;
        let range = TrackedRange { end: end.to_vec(), id: Some(id), ..self.range };
        let classifier = self.kept.classifier.clone();
        Ok(Segment::new(self.space, range, classifier, tables, settled))
    }
}

/// Of 128 random bits: nobody gives one twice.
fn random_id() -> Result<u128> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::unavailable(format!("the system has no random numbers for a segment: {error}"))
    })?;
    Ok(u128::from_le_bytes(bytes))
}
