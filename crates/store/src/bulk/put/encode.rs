//! Encodes entries into keys and values.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use tonnage_engine::{Condition, Entries, Error, NEVER_MS, Slices, SpaceId};

use super::ttls::EntryTtls;
use crate::catalog::TableEntry;
use crate::codec::{Aligned, Rounding};
use crate::inner::Inner;
use crate::kv::Pairs;
use crate::kv::limits::over_limits;
use crate::row::Row;

/// An entry that could not be encoded.
pub(super) struct RejectedEntry {
    pub(super) position: u64,
    /// Its position among those of the call.
    pub(super) index: usize,
    pub(super) column: Option<String>,
    pub(super) reason: String,
}

/// Encodes the batches of one reader thread, over and over into the same memory.
pub(super) struct EntryEncoder<'a> {
    store: &'a Inner,
    bytes_max: usize,
    rows_max: usize,
    /// Tables that were looked up, as of a version of the catalog.
    tables: HashMap<Arc<str>, Arc<TableEntry>>,
    version: u64,
    space: SpaceId,
    entries: Entries,
    /// What indexes need of the last call.
    index_entries: Vec<(SpaceId, Entries)>,
    key: Vec<u8>,
    value: Vec<u8>,
    /// The table of the last call, if it has indexes.
    pub(super) indexed: Option<Arc<TableEntry>>,
    /// What the last call could not encode.
    pub(super) rejected: Vec<RejectedEntry>,
}

impl<'a> EntryEncoder<'a> {
    pub(super) fn new(store: &'a Inner, bytes_max: usize, rows_max: usize) -> Self {
        Self {
            store,
            bytes_max,
            rows_max,
            tables: HashMap::new(),
            version: store.catalog.version(),
            space: store.pairs,
            entries: Entries::new(),
            index_entries: Vec::new(),
            key: Vec::new(),
            value: Vec::new(),
            indexed: None,
            rejected: Vec::new(),
        }
    }

    /// What the last call encoded, if anything.
    pub(super) fn encoded(&self) -> Option<(SpaceId, &Entries)> {
        (!self.entries.is_empty()).then_some((self.space, &self.entries))
    }

    /// The entries of indexes that belong to it: to be pushed before it.
    pub(super) fn index_entries(&self) -> &[(SpaceId, Entries)] {
        &self.index_entries
    }

    /// How many rows of a batch make about as many bytes as are handed on at once.
    pub(super) fn rows_at_once(&mut self, table: &Arc<str>, rows: &RecordBatch) -> usize {
        let bytes = self.table(table).map_or(0, |entry| entry.codec.bytes_of(rows));
        (rows.num_rows() as u128 * self.bytes_max as u128 / bytes.max(1) as u128)
            .clamp(1, self.rows_max as u128) as usize
    }

    /// Encodes leading rows of a table, at least one, and says how many it took: all, unless a few
    /// of them are very large. `place` tells the position of a row in the stream.
    pub(super) fn rows(
        &mut self,
        table: &Arc<str>,
        rows: &RecordBatch,
        rounding: Rounding,
        ttls: EntryTtls<'_>,
        place: impl Fn(usize) -> u64,
    ) -> usize {
        self.clear();
        let mut rows = rows.clone();
        // Dictionaries and defaults may spell out to more than the 2 GiB of an Arrow array: halved
        // until they fit.
        if let Ok(entry) = self.table(table) {
            while rows.num_rows() > 1 && !entry.codec.has_room(&rows) {
                rows = rows.slice(0, rows.num_rows() / 2);
            }
        }
        let rows = &rows;
        let encoded = self.table(table).and_then(|entry| {
            let draw = |count: usize| self.store.draw_numbers(&entry, count);
            let mut aligned = entry.codec.align_numbered(rows, &draw, rounding)?;
            entry.codec.encode(&aligned.batch, &mut self.entries.keys, &mut self.entries.values)?;
            // Before positions are given out: an index may sort out further rows.
            if entry.indexes.any() {
                self.index_rows(&entry, &mut aligned)?;
            }
            Ok((entry, aligned))
        });
        let (entry, aligned) = match encoded {
            Ok(encoded) => encoded,
            Err(error) => {
                self.reject_all(rows.num_rows(), &error, place);
                return rows.num_rows();
            }
        };
        match &aligned.kept {
            None => self.entries.positions.extend((0..rows.num_rows()).map(&place)),
            Some(kept) => {
                self.entries.positions.extend(kept.iter().map(|row| place(*row as usize)))
            }
        }
        for rejected in aligned.rejected {
            let column = Some(rejected.column).filter(|column| !column.is_empty());
            let position = place(rejected.row);
            self.rejected.push(RejectedEntry {
                position,
                index: rejected.row,
                column,
                reason: rejected.reason,
            });
        }
        // Until now they are the numbers of rows among those that are left.
        for position in self.index_entries.iter_mut().flat_map(|(_, made)| &mut made.positions) {
            *position = self.entries.positions[*position as usize];
        }
        self.set_expiries(&entry, rows.num_rows(), ttls);
        rows.num_rows()
    }

    /// Encodes leading rows of a table, at least one, and says how many it took.
    pub(super) fn single_rows(
        &mut self,
        table: &Arc<str>,
        rows: &[Row],
        ttls: EntryTtls<'_>,
        place: impl Fn(usize) -> u64,
    ) -> usize {
        self.clear();
        let entry = match self.table(table) {
            Ok(entry) => entry,
            Err(error) => {
                self.reject_all(rows.len(), &error, place);
                return rows.len();
            }
        };
        let mut taken = 0;
        while taken < rows.len().min(self.rows_max) && self.entries.bytes() < self.bytes_max {
            let row = &rows[taken];
            let completed = self.store.with_generated_values(&entry, row, Condition::Always);
            let encoded = completed
                .and_then(|(row, _)| entry.codec.encode_row(&row, &mut self.key, &mut self.value));
            match encoded {
                // The index first: a row without its entry must not be pushed.
                Ok(()) => match self.index_row(&entry) {
                    Ok(()) => self.entries.push(&self.key, &self.value, place(taken), NEVER_MS),
                    Err(error) => self.reject(place(taken), taken, None, &error),
                },
                Err(error) => {
                    let column = entry.codec.column_at_fault(row);
                    self.reject(place(taken), taken, column, &error);
                }
            }
            taken += 1;
        }
        // Rows were pushed without an expiry: all of them get theirs here.
        self.set_expiries(&entry, taken, ttls);
        taken
    }

    /// Encodes pairs from `offset` on, at least one, and says how many it took.
    pub(super) fn pairs(
        &mut self,
        pairs: &Pairs,
        offset: usize,
        ttls: EntryTtls<'_>,
        place: impl Fn(usize) -> u64,
    ) -> usize {
        self.clear();
        self.space = self.store.pairs;
        // Each pair is looked at by itself, so that one over the limits fails alone.
        let capability = self.store.engine.capability();
        let mut index = offset;
        while index < pairs.len().min(offset.saturating_add(self.rows_max))
            && self.entries.bytes() < self.bytes_max
        {
            let (key, value) = (pairs.keys.get(index), pairs.values.get(index));
            if key.len() > capability.key_bytes_max || value.len() > capability.value_bytes_max {
                let error = over_limits(key.len(), value.len(), capability);
                self.reject(place(index), index - offset, None, &error);
            } else {
                self.entries.keys.push(key);
                self.entries.values.push(value);
                self.entries.positions.push(place(index));
            }
            index += 1;
        }
        let taken = index - offset;
        // `expire` counts from the first entry of the call, so times to live are cut to the same.
        self.expire(taken, ttls.starting_at(offset), None);
        taken
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.index_entries.clear();
        self.rejected.clear();
        self.indexed = None;
    }

    /// Makes the entries of all indexes of aligned rows. Rows whose entries would be too long are
    /// sorted out.
    fn index_rows(
        &mut self,
        entry: &TableEntry,
        aligned: &mut Aligned,
    ) -> tonnage_engine::Result<()> {
        // Taken once: the loop runs over positions, which must not shift when an index is created
        // or dropped.
        let set = entry.indexes.set();
        let mut next = 0;
        while let Some(index) = set.indexes.get(next) {
            let arrays = index.pick_columns(&entry.schema, &aligned.batch)?;
            match index.codec.encode(&*self.store.engine, &arrays, &self.entries.keys) {
                Ok(encoded) => {
                    let (keys, positions) = encoded.into_parts();
                    let values = Slices::from_parts(Vec::new(), vec![0; keys.len()]);
                    let entries = Entries { keys, values, positions, ..Entries::default() };
                    self.index_entries.push((index.space(), entries));
                    next += 1;
                }
                Err(too_long) => {
                    // Fewer rows mean other keys, so the entries of all indexes are encoded again
                    // from the first on.
                    aligned.reject(&too_long.rows, too_long.error.message())?;
                    entry.codec.encode(
                        &aligned.batch,
                        &mut self.entries.keys,
                        &mut self.entries.values,
                    )?;
                    self.index_entries.clear();
                    next = 0;
                }
            }
        }
        Ok(())
    }

    /// Makes the entries of the row that was encoded last.
    fn index_row(&mut self, entry: &TableEntry) -> tonnage_engine::Result<()> {
        if !entry.indexes.any() {
            return Ok(());
        }
        let set = entry.indexes.set();
        let (engine, position) = (&*self.store.engine, self.entries.len() as u64);
        let made = set.indexes.iter().map(|index| {
            let mut made = Slices::new();
            index.codec.push_entries(engine, &set.table, &self.key, &self.value, &mut made)?;
            Ok((index.space(), made))
        });
        for (space, made) in made.collect::<tonnage_engine::Result<Vec<_>>>()? {
            let place =
                self.index_entries.iter().position(|(other, _)| *other == space).unwrap_or_else(
                    || {
                        self.index_entries.push((space, Entries::new()));
                        self.index_entries.len() - 1
                    },
                );
            let entries = &mut self.index_entries[place].1;
            made.iter().for_each(|entry| entries.push(entry, &[], position, NEVER_MS));
        }
        Ok(())
    }

    fn set_expiries(&mut self, entry: &Arc<TableEntry>, taken: usize, ttls: EntryTtls<'_>) {
        self.space = entry.space;
        self.indexed = (!self.index_entries.is_empty()).then(|| entry.clone());
        self.expire(taken, ttls, entry.schema.ttl_ms.map(Duration::from_millis));
    }

    /// Sets the expiry of each entry that was encoded from the `taken` ones. Those without a time
    /// to live have the one of their table.
    fn expire(&mut self, taken: usize, ttls: EntryTtls<'_>, of_table: Option<Duration>) {
        let store = self.store;
        let now_ms = store.clock.now_ms();
        let expiry_ms = |ttl: Option<Duration>| {
            ttl.or(of_table).map_or(NEVER_MS, |ttl| Inner::expiry_from_ms(now_ms, ttl))
        };
        let expiries_ms = &mut self.entries.expiries_ms;
        if let Some(ttl) = ttls.of_all() {
            if expiry_ms(ttl) != NEVER_MS {
                expiries_ms.resize(self.entries.keys.len(), expiry_ms(ttl));
            }
            return;
        }
        // What was refused has no place among the entries.
        let mut is_refused = vec![false; taken];
        self.rejected.iter().for_each(|rejected| is_refused[rejected.index] = true);
        let kept = (0..taken).filter(|index| !is_refused[*index]);
        expiries_ms.clear();
        expiries_ms.extend(kept.map(|index| expiry_ms(ttls.of(index))));
        debug_assert_eq!(expiries_ms.len(), self.entries.keys.len(), "each entry has an expiry");
    }

    /// A table as it is now: a load takes rows of a table that was altered since it began, and none
    /// of one that was dropped.
    fn table(&mut self, path: &Arc<str>) -> tonnage_engine::Result<Arc<TableEntry>> {
        let version = self.store.catalog.version();
        if version != self.version {
            self.tables.clear();
            self.version = version;
        }
        if let Some(entry) = self.tables.get(path) {
            return Ok(entry.clone());
        }
        let entry = self.store.catalog.table(path)?;
        self.tables.insert(path.clone(), entry.clone());
        Ok(entry)
    }

    fn reject(&mut self, position: u64, index: usize, column: Option<String>, error: &Error) {
        self.rejected.push(RejectedEntry {
            position,
            index,
            column,
            reason: error.message().to_string(),
        });
    }

    fn reject_all(&mut self, count: usize, error: &Error, place: impl Fn(usize) -> u64) {
        self.clear();
        (0..count).for_each(|row| self.reject(place(row), row, None, error));
    }
}
