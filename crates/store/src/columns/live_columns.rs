//! The segments of a store, within a bound of memory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use tonnage_engine::sync::lock;
use tonnage_engine::{
    Engine, ErrorKind, Result, ShardId, Snapshot, SpaceId, TrackedRange, memory_bytes,
};

use super::column_statistics::{ColumnCounters, ColumnStatistics};
use super::column_table::ColumnTable;
use super::segment::Segment;
use super::segment_builder::{KeptTable, KeptTables};
use super::table_segment::is_kept;

/// Segments take at most one byte in so many of the machine's memory.
const MEMORY_SHARE: usize = 8;

/// Bounds of segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentLimits {
    /// The rows of a table in a segment.
    pub(crate) rows: usize,
    /// The stored bytes of a segment.
    pub(crate) stored_bytes: usize,
    /// The memory of all segments.
    pub(crate) memory_bytes: usize,
}

impl Default for SegmentLimits {
    fn default() -> Self {
        let memory_bytes = memory_bytes() / MEMORY_SHARE;
        Self { rows: tonnage_columns::ROWS_MAX, stored_bytes: 32 << 20, memory_bytes }
    }
}

/// The segments of all spaces.
#[derive(Debug)]
pub(crate) struct LiveColumns {
    pub(super) limits: SegmentLimits,
    /// The memory of all segments.
    memory_bytes: AtomicUsize,
    pub(super) counters: ColumnCounters,
    state: Mutex<LiveState>,
}

#[derive(Debug, Default)]
struct LiveState {
    spaces: HashMap<SpaceId, LiveSpace>,
    /// Of all segments, as they were measured last.
    bytes: usize,
    clock: u64,
}

/// A space that scans have read.
#[derive(Debug, Default)]
struct LiveSpace {
    /// When it was scanned last.
    used: u64,
    /// By table, the columns that scans have asked for.
    wanted: BTreeMap<u32, Vec<u16>>,
    segments: HashMap<u128, LiveSegment>,
    /// Where segments begin that are being built.
    building: HashSet<(ShardId, Vec<u8>)>,
}

#[derive(Debug)]
struct LiveSegment {
    segment: Arc<Segment>,
    bytes: usize,
}

impl LiveColumns {
    pub(crate) fn new(limits: SegmentLimits) -> Arc<Self> {
        Arc::new(Self {
            limits,
            memory_bytes: AtomicUsize::new(limits.memory_bytes),
            counters: ColumnCounters::default(),
            state: Mutex::default(),
        })
    }

    /// Has all segments take at most so much memory from now on.
    pub(crate) fn bound(&self, memory_bytes: usize) {
        self.memory_bytes.store(memory_bytes, Ordering::Relaxed);
    }

    fn memory_bytes_max(&self) -> usize {
        self.memory_bytes.load(Ordering::Relaxed)
    }

    fn state(&self) -> MutexGuard<'_, LiveState> {
        lock(&self.state)
    }

    /// The store as it is now, with what is known of the spaces that were scanned before. Nothing
    /// where the engine has no snapshots.
    pub(crate) fn snapshot(&self, engine: &dyn Engine) -> Result<Option<Arc<dyn Snapshot>>> {
        if self.memory_bytes_max() == 0 {
            return Ok(None);
        }
        let spaces: Vec<SpaceId> = self.state().spaces.keys().copied().collect();
        match engine.snapshot(&spaces) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let there: Vec<SpaceId> =
                    engine.spaces()?.into_iter().map(|space| space.id).collect();
                self.forget_others(&there);
                // A space that goes meanwhile is left to the next snapshot.
                engine.snapshot(&[])
            }
            taken => taken,
        }
    }

    /// Forgets the spaces that are gone.
    fn forget_others(&self, there: &[SpaceId]) {
        let mut state = self.state();
        state.spaces.retain(|space, _| there.contains(space));
        state.bytes = state.measured();
    }

    /// Notes that a scan asks for columns of a table, so that segments have them from now on.
    pub(crate) fn note_scan(&self, table: &ColumnTable, columns: &[usize]) {
        let schema = &table.schema;
        let mut state = self.state();
        state.clock += 1;
        let now = state.clock;
        let space = state.spaces.entry(table.space).or_default();
        space.used = now;
        let wanted = space.wanted.entry(schema.table_id).or_default();
        for column in columns.iter().map(|column| &schema.columns[*column]) {
            if is_kept(column.column_type) && !wanted.contains(&column.id) {
                wanted.push(column.id);
            }
        }
    }

    /// The tables and columns that a segment of a space is to have: all that scans have asked for,
    /// and that there are.
    pub(crate) fn kept_tables(
        &self,
        space: SpaceId,
        family: Vec<ColumnTable>,
    ) -> Option<KeptTables> {
        let state = self.state();
        let live = state.spaces.get(&space)?;
        let classifier = family.first()?.classifier.clone();
        let kept = family.into_iter().filter_map(|table| {
            let wanted = live.wanted.get(&table.schema.table_id)?;
            let columns = table.schema.columns.iter().enumerate();
            let columns = columns.filter(|(_, column)| wanted.contains(&column.id));
            let columns = columns.map(|(place, _)| place).collect();
            Some(KeptTable { table, columns })
        });
        Some(KeptTables { classifier, tables: kept.collect() })
    }

    /// Whether a range that is tracked under an id has its segment.
    pub(crate) fn has_segment(&self, space: SpaceId, id: u128) -> bool {
        self.segment(space, id).is_some()
    }

    pub(super) fn segment(&self, space: SpaceId, id: u128) -> Option<Arc<Segment>> {
        let state = self.state();
        Some(state.spaces.get(&space)?.segments.get(&id)?.segment.clone())
    }

    /// How many rows of a table are in segments that have these columns.
    pub(crate) fn rows_with(&self, table: &ColumnTable, columns: &[usize]) -> u64 {
        let state = self.state();
        let Some(space) = state.spaces.get(&table.space) else { return 0 };
        let wanted = || columns.iter().map(|column| &table.schema.columns[*column]);
        let rows = space.segments.values().filter_map(|live| {
            let place = live.segment.table(table.schema.table_id)?;
            let rows = &live.segment.tables[place];
            rows.has(wanted()).then_some(rows.keys.len() as u64)
        });
        rows.sum()
    }

    /// Notes a scan that finds segments.
    pub(crate) fn count_scan(&self) {
        self.counters.scans.add(1);
    }

    /// Takes a part of a space for its builder; nothing where another one is at it.
    pub(super) fn begin_build(
        self: &Arc<Self>,
        space: SpaceId,
        range: &TrackedRange,
    ) -> Option<BuildPermit> {
        let start = (range.shard, range.start.clone());
        let is_free = self.state().spaces.get_mut(&space)?.building.insert(start.clone());
        is_free.then(|| BuildPermit { live: self.clone(), space, start })
    }

    /// Has later scans find a segment. False where there is no room for it. Answers which segments
    /// had to make room.
    pub(super) fn insert(&self, segment: &Arc<Segment>) -> (bool, Vec<(SpaceId, u128)>) {
        let bytes = segment.memory_bytes();
        let mut state = self.state();
        let evicted = state.make_room(bytes, self.memory_bytes_max(), segment.space);
        let has_room = state.bytes + bytes <= self.memory_bytes_max();
        let Some(live) = state.spaces.get_mut(&segment.space).filter(|_| has_room) else {
            return (false, evicted);
        };
        live.segments.insert(segment.id(), LiveSegment { segment: segment.clone(), bytes });
        state.bytes += bytes;
        (true, evicted)
    }

    /// Forgets the segments that a new one stands in place of.
    pub(super) fn forget_replaced_by(&self, segment: &Segment) {
        let range = &segment.range;
        self.retain(segment.space, |other| {
            let is_before = !other.range.end.is_empty() && other.range.end <= range.start;
            let is_behind = !range.end.is_empty() && range.end <= other.range.start;
            let is_elsewhere = other.range.shard != range.shard;
            other.id() == segment.id() || is_elsewhere || is_before || is_behind
        });
    }

    /// Forgets a segment.
    pub(super) fn forget(&self, space: SpaceId, id: u128) {
        self.retain(space, |other| other.id() != id);
    }

    fn retain(&self, space: SpaceId, is_kept: impl Fn(&Segment) -> bool) {
        let mut state = self.state();
        let Some(live) = state.spaces.get_mut(&space) else { return };
        live.segments.retain(|_, other| is_kept(&other.segment));
        state.bytes = state.measured();
    }

    /// Measures a segment anew, over which more was written. Answers which segments had to make
    /// room, itself where no other could.
    pub(super) fn note_growth(&self, segment: &Segment) -> Vec<(SpaceId, u128)> {
        let bytes = segment.memory_bytes();
        let mut state = self.state();
        let live = state.spaces.get_mut(&segment.space);
        let Some(live) = live.and_then(|live| live.segments.get_mut(&segment.id())) else {
            return Vec::new();
        };
        let before = std::mem::replace(&mut live.bytes, bytes);
        state.bytes = state.bytes + bytes - before;
        let mut evicted = state.make_room(0, self.memory_bytes_max(), segment.space);
        if state.bytes > self.memory_bytes_max() {
            evicted.extend(state.remove(segment.space, segment.id()));
        }
        evicted
    }

    /// What is kept, and where the rows of scans came from.
    pub(crate) fn statistics(&self) -> ColumnStatistics {
        let counters = &self.counters;
        let (tables, bytes) = {
            let state = self.state();
            (state.tables(), state.bytes)
        };
        ColumnStatistics {
            tables,
            bytes,
            segment_rows: counters.segment_rows.get(),
            pruned_rows: counters.pruned_rows.get(),
            delta_rows: counters.delta_rows.get(),
            store_rows: counters.store_rows.get(),
            built: counters.built.get(),
            scans: counters.scans.get(),
        }
    }
}

impl LiveState {
    fn measured(&self) -> usize {
        let segments = self.spaces.values().flat_map(|space| space.segments.values());
        segments.map(|segment| segment.bytes).sum()
    }

    /// How many tables there are segments of.
    fn tables(&self) -> usize {
        let spaces = self.spaces.values();
        let tables = spaces.map(|space| {
            let segments = space.segments.values();
            let tables = segments.flat_map(|live| &live.segment.tables);
            tables.map(|table| table.table_id).collect::<HashSet<_>>().len()
        });
        tables.sum()
    }

    /// Forgets segments of other spaces, those that were not scanned for longest first, until there
    /// is room for so many bytes. A segment of `space` would be read again by its scan.
    fn make_room(&mut self, bytes: usize, most: usize, space: SpaceId) -> Vec<(SpaceId, u128)> {
        let mut evicted = Vec::new();
        while self.bytes + bytes > most {
            let others = self.spaces.iter();
            let others = others.filter(|(id, live)| **id != space && !live.segments.is_empty());
            let oldest = others.min_by_key(|(_, live)| live.used);
            let Some((id, live)) = oldest else { break };
            let gone = (*id, live.segments.keys().next().copied().unwrap_or_default());
            evicted.extend(self.remove(gone.0, gone.1));
        }
        evicted
    }

    fn remove(&mut self, space: SpaceId, id: u128) -> Option<(SpaceId, u128)> {
        let gone = self.spaces.get_mut(&space)?.segments.remove(&id)?;
        self.bytes -= gone.bytes;
        Some((space, id))
    }
}

/// The right to build a segment that begins at a key, until it is dropped.
#[derive(Debug)]
pub(super) struct BuildPermit {
    live: Arc<LiveColumns>,
    space: SpaceId,
    start: (ShardId, Vec<u8>),
}

impl Drop for BuildPermit {
    fn drop(&mut self) {
        if let Some(live) = self.live.state().spaces.get_mut(&self.space) {
            live.building.remove(&self.start);
        }
    }
}
