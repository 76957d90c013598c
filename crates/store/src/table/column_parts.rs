//! Opens the parts of a scan of columns at the snapshot of its query.

use std::sync::Arc;

use tonnage_engine::{Cuts, Ranges, Result, ShardId, TrackedRange};

use crate::catalog::TableEntry;
use crate::columns::column_part::ColumnPart;
use crate::columns::column_scan::ColumnScan;
use crate::columns::column_table::ColumnTable;
use crate::columns::{ColumnRange, ColumnSnapshot};
use crate::inner::Inner;

/// All rows of a table at a snapshot, in parts that together have each row once: those that are in
/// segments, and what else there is in about `parts` parts. Columns are places in its schema. Rows
/// outside of what is wanted may be left out.
pub(crate) fn open_parts(
    store: &Inner,
    entry: &Arc<TableEntry>,
    snapshot: &ColumnSnapshot,
    (columns, wanted): (&[usize], &[ColumnRange]),
    parts: usize,
) -> Result<Vec<ColumnPart>> {
    let (live, space) = (&store.columns, entry.space);
    let table = column_table(entry);
    live.note_scan(&table, columns);
    let mut ranges = snapshot.get().ranges(space)?;
    // Nobody follows the space yet: the next statement does.
    let is_followed = !ranges.is_empty();
    if !is_followed {
        let shards = 0..store.engine.capability().shards;
        ranges.extend(shards.map(|shard| ColumnPart::whole_space(ShardId(shard))));
    }
    let family = || store.catalog.family(space).iter().map(|entry| column_table(entry)).collect();
    let kept = is_followed.then(|| live.kept_tables(space, family())).flatten();
    let of_store = scan_of_store(store, entry, snapshot, columns)?;
    let scan =
        Arc::new(ColumnScan { kept: kept.map(Arc::new), ranges: wanted.to_vec(), ..of_store });
    let is_in_segment =
        |range: &TrackedRange| range.id.is_some_and(|id| live.has_segment(space, id));
    if ranges.iter().any(is_in_segment) {
        live.count_scan();
    }
    // What must be read from the store is shared by several readers; a segment is one part.
    let cuts = match ranges.iter().all(is_in_segment) {
        true => Vec::new(),
        false => cuts(store, entry, parts)?,
    };
    let mut opened = Vec::new();
    for range in ranges {
        match is_in_segment(&range) {
            true => opened.push(range),
            false => cut(range, &cuts, &mut opened),
        }
    }
    Ok(opened.into_iter().map(|range| ColumnPart::new(scan.clone(), range)).collect())
}

/// How many rows of a table are in segments that have these columns.
pub(crate) fn kept_rows(store: &Inner, entry: &Arc<TableEntry>, columns: &[usize]) -> u64 {
    store.columns.rows_with(&column_table(entry), columns)
}

/// Keys that cut the space into parts of about the same size.
fn cuts(store: &Inner, entry: &TableEntry, parts: usize) -> Result<Vec<Vec<u8>>> {
    let parts = store.engine.split(entry.space, parts.max(1), Cuts::Anywhere)?;
    let starts = parts.iter().skip(1).map(|part| part.keys().map(|keys| start_of(&keys)));
    starts.collect()
}

fn start_of(ranges: &Ranges) -> Vec<u8> {
    ranges.start(0).to_vec()
}

/// Cuts a range at the keys that are in it.
fn cut(range: TrackedRange, cuts: &[Vec<u8>], into: &mut Vec<TrackedRange>) {
    let mut rest = range;
    for key in cuts {
        let is_in_it = *key > rest.start && (rest.end.is_empty() || *key < rest.end);
        if is_in_it {
            into.push(TrackedRange { end: key.clone(), id: None, ..rest.clone() });
            rest = TrackedRange { start: key.clone(), id: None, ..rest };
        }
    }
    into.push(rest);
}

fn column_table(entry: &TableEntry) -> ColumnTable {
    ColumnTable {
        space: entry.space,
        schema: entry.schema.clone(),
        codec: entry.codec.clone(),
        classifier: entry.classifier.clone(),
    }
}

/// A scan of the store alone, without segments.
pub(crate) fn scan_of_store(
    store: &Inner,
    entry: &TableEntry,
    snapshot: &ColumnSnapshot,
    columns: &[usize],
) -> Result<ColumnScan> {
    Ok(ColumnScan {
        live: store.columns.clone(),
        engine: store.engine.clone(),
        snapshot: snapshot.get().clone(),
        table: column_table(entry),
        columns: columns.to_vec(),
        schema: entry.codec.projected_schema(Some(columns))?,
        ranges: Vec::new(),
        kept: None,
        now_ms: store.clock.now_ms(),
    })
}
