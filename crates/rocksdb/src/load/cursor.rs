//! One sorted source of a merge: a run in memory or a spill file.

use tonnage_engine::Result;

use super::range::KeyBounds;
use super::record::{LoadRecord, RecordSpan};
use super::run::SortedRun;
use super::spill::{SpillFile, SpillReader};

/// How many records ahead are touched at once, so that their cache misses overlap.
const TOUCH_AHEAD: usize = 32;
const CACHE_LINE: usize = 64;

/// Walks the entries of a source that are in a key range. It is before the first entry until it is
/// advanced.
#[derive(Debug)]
pub(super) enum SourceCursor<'a> {
    Memory(RunCursor<'a>),
    File(Box<FileCursor<'a>>),
}

impl<'a> SourceCursor<'a> {
    /// A cursor over a run.
    pub(super) fn over_run(run: &'a SortedRun, range: &KeyBounds) -> Self {
        let next = range.lower.as_ref().map_or(0, |lower| run.lower_bound(lower));
        let end = range.upper.as_ref().map_or(run.len(), |upper| run.lower_bound(upper));
        SourceCursor::Memory(RunCursor {
            arena: run.arena(),
            offsets: &run.offsets()[next..end],
            next: 0,
            span: RecordSpan::default(),
        })
    }

    /// A cursor over a spill file.
    pub(super) fn over_file(file: &'a SpillFile, range: &KeyBounds) -> Self {
        let reader = file.reader(range.lower.as_deref());
        SourceCursor::File(Box::new(FileCursor {
            reader,
            range: range.clone(),
            span: RecordSpan::default(),
            started: false,
        }))
    }

    /// Moves to the next entry; `false` at the end.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<bool> {
        match self {
            SourceCursor::Memory(cursor) => Ok(cursor.advance()),
            SourceCursor::File(cursor) => cursor.advance(),
        }
    }

    /// The entry at the cursor, after [`SourceCursor::advance`] said that there is one.
    #[inline]
    pub(super) fn record(&self) -> LoadRecord<'_> {
        match self {
            SourceCursor::Memory(cursor) => cursor.span.of(cursor.arena),
            SourceCursor::File(cursor) => cursor.span.of(cursor.reader.frame()),
        }
    }
}

#[derive(Debug)]
pub(super) struct RunCursor<'a> {
    arena: &'a [u8],
    offsets: &'a [u32],
    next: usize,
    span: RecordSpan,
}

impl RunCursor<'_> {
    #[inline]
    fn advance(&mut self) -> bool {
        let Some(offset) = self.offsets.get(self.next) else { return false };
        if self.next.is_multiple_of(TOUCH_AHEAD) {
            self.touch_ahead();
        }
        self.span = RecordSpan::read(self.arena, *offset as usize)
            .expect("offsets of a run point at records");
        self.next += 1;
        true
    }

    /// Reads a byte of each of the coming records' first cache lines. The reads do not depend on
    /// each other, so the processor waits for all of them together instead of for each when its
    /// turn comes.
    fn touch_ahead(&self) {
        let end = self.offsets.len().min(self.next + TOUCH_AHEAD);
        let mut sum = 0_u8;
        for offset in &self.offsets[self.next..end] {
            let start = *offset as usize;
            for line in [start, start + CACHE_LINE, start + 2 * CACHE_LINE] {
                sum ^= self.arena.get(line).copied().unwrap_or_default();
            }
        }
        std::hint::black_box(sum);
    }
}

#[derive(Debug)]
pub(super) struct FileCursor<'a> {
    reader: SpillReader<'a>,
    range: KeyBounds,
    span: RecordSpan,
    started: bool,
}

impl FileCursor<'_> {
    fn advance(&mut self) -> Result<bool> {
        loop {
            let Some(span) = self.reader.next_span()? else { return Ok(false) };
            let key = span.of(self.reader.frame()).key;
            if !self.started && self.range.lower.as_deref().is_some_and(|lower| key < lower) {
                continue;
            }
            self.started = true;
            self.span = span;
            return Ok(self.range.upper.as_deref().is_none_or(|upper| key < upper));
        }
    }
}
