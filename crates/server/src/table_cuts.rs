//! Keeps how a table is cut into parts, which clients fetch by their numbers.
//!
//! A client fetches one part after the other. The store cuts a table by its current content, so
//! parts of two different cuts would repeat rows and miss others. So a cut is kept as long as a
//! client may ask for more parts of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tonnage::internal::sync::lock;
use tonnage::{Error, Part, Result, Table, TableScanOptions};

/// A cut that was unused for so long is computed anew.
const IDLE_MAX: Duration = Duration::from_secs(3_600);
/// What all cuts may have in memory.
const BYTES_MAX: usize = 64 << 20;
/// What a cut, and each of its parts, have in memory beside their keys.
const BYTES_EACH: usize = 128;

/// The space of a table, how many parts were asked for, and whether shard keys stay whole.
type CutKey = (u32, usize, bool);

/// All cuts that are kept.
#[derive(Default)]
pub(crate) struct TableCuts {
    cache: Mutex<CutCache>,
}

#[derive(Default)]
struct CutCache {
    cuts: HashMap<CutKey, Arc<CachedCut>>,
    bytes: usize,
}

struct CachedCut {
    parts: Vec<Part>,
    bytes: usize,
    used: Mutex<Instant>,
}

/// A cut in use.
pub(crate) struct TableCut(Arc<CachedCut>);

impl TableCut {
    fn new(parts: Vec<Part>) -> Self {
        let keys: usize = parts.iter().map(|part| BYTES_EACH + part.as_bytes().len()).sum();
        let used = Mutex::new(Instant::now());
        TableCut(Arc::new(CachedCut { parts, bytes: BYTES_EACH + keys, used }))
    }

    /// A part by its number. There may be fewer than were asked for: the later ones hold nothing.
    pub(crate) fn part(&self, number: usize) -> Option<Part> {
        self.0.parts.get(number).cloned()
    }
}

impl Drop for TableCut {
    fn drop(&mut self) {
        *lock(&self.0.used) = Instant::now();
    }
}

impl TableCuts {
    /// The cut of a table into so many parts.
    ///
    /// # Errors
    /// `Exhausted` when too many cuts are kept; what the store says.
    pub(crate) fn of(
        &self,
        table: &Table,
        options: &TableScanOptions,
        parts: usize,
    ) -> Result<TableCut> {
        if options.range.is_some() {
            // A range is one part, whatever is stored in it.
            return table.cut(options, parts).map(TableCut::new);
        }
        let of = (table.entry().space.0, parts, options.limit_per_shard_key.is_some());
        if let Some(kept) = self.cache().get(of) {
            return Ok(kept);
        }
        let cut = TableCut::new(table.cut(options, parts)?);
        let mut known = self.cache();
        match known.get(of) {
            // Another call was faster.
            Some(kept) => Ok(kept),
            None => known.insert(of, cut),
        }
    }

    fn cache(&self) -> MutexGuard<'_, CutCache> {
        lock(&self.cache)
    }
}

impl CutCache {
    fn get(&self, of: CutKey) -> Option<TableCut> {
        self.cuts.get(&of).filter(|kept| !is_idle(kept)).map(|kept| TableCut(kept.clone()))
    }

    fn insert(&mut self, of: CutKey, cut: TableCut) -> Result<TableCut> {
        if let Some(old) = self.cuts.remove(&of) {
            self.bytes -= old.bytes;
        }
        if self.bytes + cut.0.bytes > BYTES_MAX {
            self.cuts.retain(|_, kept| !is_idle(kept));
            self.bytes = self.cuts.values().map(|kept| kept.bytes).sum();
        }
        if self.bytes + cut.0.bytes > BYTES_MAX {
            return Err(Error::exhausted(
                "too many tables were cut into parts within the last hour: scan with the tickets \
                 of GetFlightInfo, which hold their parts",
            ));
        }
        self.bytes += cut.0.bytes;
        self.cuts.insert(of, cut.0.clone());
        Ok(cut)
    }
}

fn is_idle(kept: &Arc<CachedCut>) -> bool {
    let used = *lock(&kept.used);
    Arc::strong_count(kept) == 1 && used.elapsed() >= IDLE_MAX
}
