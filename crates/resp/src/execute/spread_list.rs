//! A list whose elements are entries of their own, while its parts are carried out.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use tonnage::{CollectionBatch, PairWrites, Result};

use super::open_spread::OpenSpread;
use super::texts::{Text, Texts};
use crate::keyspace::Keyspace;
use crate::values::{EntryName, SpreadHead, ValueKind};

/// So many entries that are cut off are deleted with the write. More are left over, and deleted
/// later.
const DELETED_MAX: u64 = 1_024;
/// The rows of a page.
const ROWS: usize = 1_024;

/// What is known of a spread list.
#[derive(Debug)]
pub(super) struct SpreadList {
    generation: u64,
    /// The positions that it has by now, and those that have entries.
    positions: Range<i64>,
    stored: Range<i64>,
    /// Elements in memory, and whether their entries have to be written.
    known: BTreeMap<i64, (Text, bool)>,
    page: CollectionBatch,
    pub(super) reads: u32,
}

impl SpreadList {
    pub(super) fn new(head: SpreadHead) -> Self {
        let end = head.first.saturating_add_unsigned(head.count);
        let positions = head.first..end;
        Self {
            generation: head.generation,
            stored: positions.clone(),
            positions,
            known: BTreeMap::new(),
            page: CollectionBatch::default(),
            reads: 0,
        }
    }

    /// One that a whole list becomes.
    pub(super) fn of_whole(elements: VecDeque<Text>) -> Self {
        let generation = OpenSpread::of_whole(0).generation;
        let (kind, count) = (ValueKind::List, elements.len() as u64);
        let mut list = Self::new(SpreadHead { kind, generation, count, first: 0 });
        list.stored = 0..0;
        list.known = (0..).zip(elements.into_iter().map(|element| (element, true))).collect();
        list
    }

    pub(super) fn head(&self) -> SpreadHead {
        let (kind, count) = (ValueKind::List, self.len() as u64);
        SpreadHead { kind, generation: self.generation, count, first: self.positions.start }
    }

    pub(super) fn len(&self) -> usize {
        // Positions are far from the ends of their numbers, which the head has seen to.
        self.positions.end.saturating_sub(self.positions.start) as usize
    }

    pub(super) fn get(&mut self, index: usize, texts: &mut Texts<'_>) -> Option<Text> {
        if index >= self.len() {
            return None;
        }
        let position = self.positions.start + index as i64;
        if let Some((element, _)) = self.known.get(&position) {
            return Some(*element);
        }
        let source = texts.entries?;
        let name = EntryName::of_element(self.generation, position);
        self.reads += 1;
        let read = source.get_many([name.as_bytes()], usize::MAX, &mut self.page);
        texts.or_fail(read)?;
        let element = (!self.page.is_empty()).then(|| texts.keep(self.page.value(0)))?;
        self.known.insert(position, (element, false));
        Some(element)
    }

    pub(super) fn push(&mut self, element: Text, is_front: bool) {
        let position = match is_front {
            true => {
                self.positions.start -= 1;
                self.positions.start
            }
            false => {
                self.positions.end += 1;
                self.positions.end - 1
            }
        };
        self.known.insert(position, (element, true));
    }

    pub(super) fn pop(&mut self, is_front: bool, texts: &mut Texts<'_>) -> Option<Text> {
        let index = if is_front { 0 } else { self.len().checked_sub(1)? };
        let element = self.get(index, texts)?;
        match is_front {
            true => self.positions.start += 1,
            false => self.positions.end -= 1,
        }
        Some(element)
    }

    pub(super) fn set(&mut self, index: usize, element: Text) {
        self.known.insert(self.positions.start + index as i64, (element, true));
    }

    pub(super) fn keep(&mut self, start: usize, end: usize) {
        let first = self.positions.start;
        self.positions = first + start as i64..first + end as i64;
    }

    pub(super) fn each(
        &mut self,
        (start, end): (usize, usize),
        texts: &mut Texts<'_>,
        take: &mut dyn FnMut(usize, &[u8], &mut Texts<'_>) -> bool,
    ) {
        let (first, end) = (self.positions.start, end.min(self.len()));
        let Some(source) = texts.entries else { return };
        let name = |index: usize| EntryName::of_element(self.generation, first + index as i64);
        let (from, to) = (name(start), name(end));
        let rows = end.saturating_sub(start).clamp(1, ROWS);
        let scan = source.scan((from.as_bytes(), Some(to.as_bytes())), false, rows);
        let mut scan = texts.or_fail(scan);
        let (mut next, mut copy) = (start, Vec::new());
        let known = &self.known;
        // What is in memory is newer than its entry.
        let mut give = |index: usize, row: Option<&[u8]>, texts: &mut Texts<'_>| {
            match (known.get(&(first + index as i64)), row) {
                (Some((element, _)), _) => {
                    copy.clear();
                    copy.extend_from_slice(texts.get(*element));
                    take(index, &copy, texts)
                }
                (None, Some(row)) => take(index, row, texts),
                // Another client deleted its entry.
                (None, None) => true,
            }
        };
        while let Some(open) = &mut scan {
            let read = open.next_batch(&mut self.page);
            if !texts.or_fail(read).unwrap_or(false) {
                break;
            }
            self.reads += 1;
            for row in 0..self.page.len() {
                let Some((order, _)) = EntryName::read(self.page.name(row)) else { continue };
                let index = (EntryName::position(order) - first) as usize;
                while next <= index {
                    let value = (next == index).then(|| self.page.value(row));
                    next += 1;
                    if !give(next - 1, value, texts) {
                        return;
                    }
                }
            }
        }
        while next < end && give(next, None, texts) {
            next += 1;
        }
    }

    /// Adds the entries that differ to the group of the head.
    pub(super) fn write_entries(
        &self,
        key: &[u8],
        texts: &Texts<'_>,
        keyspace: &Keyspace,
        writes: &mut PairWrites,
    ) -> Result<()> {
        let entries = keyspace.make_collections()?;
        for (position, (element, _)) in
            self.known.range(self.positions.clone()).filter(|known| known.1.1)
        {
            let name = EntryName::of_element(self.generation, *position);
            writes.put_entry(entries, key, &[name.as_bytes()], texts.get(*element))?;
        }
        let before = self.stored.start..self.stored.end.min(self.positions.start);
        let behind = self.stored.start.max(self.positions.end)..self.stored.end;
        let cut_off = |some: &Range<i64>| some.end.saturating_sub(some.start).max(0) as u64;
        if cut_off(&before) + cut_off(&behind) <= DELETED_MAX {
            for position in before.chain(behind) {
                let name = EntryName::of_element(self.generation, position);
                writes.delete_entry(entries, key, &[name.as_bytes()])?;
            }
        }
        Ok(())
    }
}
