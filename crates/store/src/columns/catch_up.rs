//! Brings the state of a segment up to a snapshot:
//!
//! 1. Where the state took in a change whose ticket is not settled in the snapshot, it is too new:
//!    the state of the fresh segment is taken instead, which took in nothing.
//! 2. The changes noted since the state was settled are asked for. Where they are not known, or are
//!    too many, the range is read from the store.
//! 3. The rows of these keys are dead in the segment, and gone from the delta; so are all rows in a
//!    range that was deleted.
//! 4. The keys are looked up at the snapshot, and what a deleted range still shows is read: these
//!    rows join the delta as they are stored.
//! 5. The state is settled up to the snapshot's settled ticket: later changes come again.

use std::sync::Arc;

use tonnage_engine::{
    Deadline, FillCache, Projection, RangeChange, RangeChanges, Ranges, ReadOptions, Result, Rows,
    ScanOptions, Slices, Snapshot,
};

use super::overlay::{Overlay, TableOverlay};
use super::segment::Segment;

/// One changed row in so many is the most that is looked up; with more, a range is read anew.
const CHANGED_SHARE: usize = 8;
/// As many are looked up in any case.
const CHANGED_MIN: usize = 256;
/// Bytes of rows that are looked up together.
const READ_BYTES: usize = 4 << 20;

/// The state of a segment at a snapshot; nothing where the range must be read from the store.
pub(super) fn overlay_at(
    segment: &Segment,
    snapshot: &dyn Snapshot,
) -> Result<Option<Arc<Overlay>>> {
    let Some(settled) = snapshot.settled(segment.space, segment.range.shard) else {
        return Ok(None);
    };
    let newest = segment.newest();
    let is_too_new = newest.taken > settled;
    let base = if is_too_new { segment.fresh.clone() } else { newest };
    let changes = match snapshot.changes(segment.space, &segment.range, base.settled)? {
        RangeChanges::Known(changes) => changes,
        RangeChanges::Unknown => return Ok(None),
    };
    let most = (segment.rows() / CHANGED_SHARE).max(CHANGED_MIN);
    if changes.len() + base.changed() > most {
        return Ok(None);
    }
    // Nothing to do, as for all scans of tables that rest.
    if changes.is_empty() && base.settled >= settled {
        return Ok(Some(base));
    }
    let taken = changes.iter().map(|(ticket, _)| ticket + 1).fold(base.taken, u64::max);
    let settled = base.settled.max(settled);
    let mut tables = base.tables.clone();
    if !changes.is_empty() {
        let changed = ChangedKeys::of(segment, changes.into_iter().map(|(_, change)| change))?;
        changed.leave_out(segment, &mut tables)?;
        changed.take_in(segment, snapshot, &mut tables)?;
    }
    let overlay = Arc::new(Overlay { settled, taken, tables });
    // What is made from an older state is of use to this scan alone.
    if !is_too_new {
        segment.publish(overlay.clone());
    }
    Ok(Some(overlay))
}

/// What was written into a range.
struct ChangedKeys {
    /// Ascending, each once, of tables of the segment. None of them is in a deleted range.
    keys: Slices,
    /// The table of each key.
    tables: Vec<usize>,
    deleted: Ranges,
}

impl ChangedKeys {
    fn of(segment: &Segment, changes: impl Iterator<Item = RangeChange>) -> Result<Self> {
        let (mut named, mut deleted) = (Vec::new(), Vec::new());
        for change in changes {
            match change {
                RangeChange::Key(key) => named.push(key),
                RangeChange::Deleted(start, end) => deleted.push(clipped(segment, start, end)),
            }
        }
        let deleted = joined(deleted);
        named.sort_unstable();
        named.dedup();
        named.retain(|key| (0..deleted.len()).all(|range| !deleted.holds(range, key)));
        let (mut keys, mut tables) = (Slices::new(), Vec::new());
        for key in named {
            if let Some(table) = segment.table_of_key(&key)? {
                keys.push(&key);
                tables.push(table);
            }
        }
        Ok(Self { keys, tables, deleted })
    }

    /// Takes the rows of before out of all tables.
    fn leave_out(&self, segment: &Segment, tables: &mut [TableOverlay]) -> Result<()> {
        for (table, rows) in tables.iter_mut().zip(&segment.tables) {
            let dead = Arc::make_mut(&mut table.dead);
            for range in 0..self.deleted.len() {
                let places =
                    rows.keys.places_in(self.deleted.start(range), self.deleted.end(range));
                dead.insert_all(places);
            }
        }
        for (key, table) in self.keys.iter().zip(&self.tables) {
            if let Some(place) = segment.tables[*table].keys.place_of(key) {
                Arc::make_mut(&mut tables[*table].dead).insert(place);
            }
        }
        Ok(())
    }

    /// Puts the rows of now into the deltas of all tables.
    fn take_in(
        &self,
        segment: &Segment,
        snapshot: &dyn Snapshot,
        tables: &mut [TableOverlay],
    ) -> Result<()> {
        let mut found = vec![Rows::new(); tables.len()];
        self.look_up(segment, snapshot, |rows| sort_out(segment, rows, &mut found))?;
        self.scan_deleted(segment, snapshot, |rows| sort_out(segment, rows, &mut found))?;
        for (place, (table, found)) in tables.iter_mut().zip(&found).enumerate() {
            let is_gone = |key: &[u8]| {
                let named = self.place_of(key).is_some_and(|at| self.tables[at] == place);
                named || (0..self.deleted.len()).any(|range| self.deleted.holds(range, key))
            };
            table.delta = Arc::new(merged(&table.delta, is_gone, found));
        }
        Ok(())
    }

    fn place_of(&self, key: &[u8]) -> Option<usize> {
        let (mut first, mut behind) = (0, self.keys.len());
        while first < behind {
            let middle = first + (behind - first) / 2;
            match self.keys.get(middle).cmp(key) {
                std::cmp::Ordering::Less => first = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => behind = middle,
            }
        }
        None
    }

    fn look_up(
        &self,
        segment: &Segment,
        snapshot: &dyn Snapshot,
        mut visit: impl FnMut(&Rows) -> Result<()>,
    ) -> Result<()> {
        let (mut first, mut rows) = (0, Rows::new());
        while first < self.keys.len() {
            let options = ReadOptions {
                projection: Projection::KeysAndValues,
                keys: first..self.keys.len(),
                bytes_max: READ_BYTES,
                deadline: Deadline::NONE,
            };
            first += snapshot.engine().read_some(segment.space, &self.keys, &options, &mut rows)?;
            visit(&rows)?;
        }
        Ok(())
    }

    /// What the snapshot shows of the ranges that were deleted: rows that came later, or all of them
    /// where it is older than the deletion.
    fn scan_deleted(
        &self,
        segment: &Segment,
        snapshot: &dyn Snapshot,
        mut visit: impl FnMut(&Rows) -> Result<()>,
    ) -> Result<()> {
        if self.deleted.is_empty() {
            return Ok(());
        }
        let options = ScanOptions {
            shard: Some(segment.range.shard),
            fill_cache: FillCache::No,
            ..ScanOptions::default()
        };
        let mut scan = snapshot.engine().scan(segment.space, self.deleted.clone(), options)?;
        let mut rows = Rows::new();
        while scan.next_batch(&mut rows)? {
            visit(&rows)?;
        }
        Ok(())
    }
}

/// The part of a range of keys that is in the segment.
fn clipped(segment: &Segment, start: Vec<u8>, end: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    let range = &segment.range;
    let end = match (end.is_empty(), range.end.is_empty()) {
        (true, _) => range.end.clone(),
        (false, true) => end,
        (false, false) => end.min(range.end.clone()),
    };
    (start.max(range.start.clone()), end)
}

/// Ranges in order, joined where they meet, so that no row is in two of them.
fn joined(mut ranges: Vec<(Vec<u8>, Vec<u8>)>) -> Ranges {
    ranges.retain(|(start, end)| end.is_empty() || start < end);
    ranges.sort_unstable();
    let mut apart: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for (start, end) in ranges {
        match apart.last_mut() {
            Some((_, last)) if last.is_empty() || start <= *last => {
                let is_longer = end.is_empty() || (!last.is_empty() && end > *last);
                if is_longer {
                    *last = end;
                }
            }
            _ => apart.push((start, end)),
        }
    }
    let mut ranges = Ranges::new();
    apart.iter().for_each(|(start, end)| ranges.push(start, end));
    ranges
}

/// Appends rows to those of their tables; those of others are left out.
fn sort_out(segment: &Segment, rows: &Rows, found: &mut [Rows]) -> Result<()> {
    for row in 0..rows.len() {
        if let Some(table) = segment.table_of_key(rows.keys.get(row))? {
            append(&mut found[table], rows, row);
        }
    }
    Ok(())
}

/// The rows of before that are not gone, and those found, in the order of their keys.
fn merged(before: &Rows, is_gone: impl Fn(&[u8]) -> bool, found: &Rows) -> Rows {
    let mut order: Vec<(&[u8], &Rows, usize)> = Vec::with_capacity(before.len() + found.len());
    for rows in [before, found] {
        order.extend((0..rows.len()).map(|row| (rows.keys.get(row), rows, row)));
    }
    order.retain(|(key, rows, _)| !std::ptr::eq(*rows, before) || !is_gone(key));
    order.sort_by_key(|(one, ..)| *one);
    let mut all = Rows::new();
    order.into_iter().for_each(|(_, rows, row)| append(&mut all, rows, row));
    all
}

fn append(to: &mut Rows, from: &Rows, row: usize) {
    to.push(from.keys.get(row), from.values.get(row), from.versions[row], from.expiries_ms[row], 0);
}
