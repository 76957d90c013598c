//! The positions of columns in keys and values, computed once per schema.

use std::sync::OnceLock;

use tonnage_engine::KeyPart;

use super::cell;
use crate::schema::ColumnType;
use crate::schema::{Layout, TableSchema};

/// Bytes of the schema number that begins every value.
pub(crate) const NUMBER_LEN: usize = 2;
/// Bytes of one end offset.
pub(crate) const END_LEN: usize = 4;
/// Bytes of a table's number inside a key.
pub(crate) const MARKER_LEN: usize = 4;

/// One column of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyStep {
    /// The column's place in the schema.
    pub(crate) column: usize,
    /// Its type.
    pub(crate) column_type: ColumnType,
    /// How it delimits itself.
    pub(crate) part: KeyPart,
    /// The number of the table that begins with this column, when that is a child table: it
    /// directly precedes the column.
    pub(crate) marker: Option<u32>,
}

/// The columns of a key in key order.
pub(crate) fn key_steps(schema: &TableSchema) -> Vec<KeyStep> {
    let levels: Vec<(usize, u32)> = {
        let starts = schema.ancestors.iter().map(|ancestor| ancestor.key_len);
        let ids = schema
            .ancestors
            .iter()
            .skip(1)
            .map(|ancestor| ancestor.table_id)
            .chain([schema.table_id]);
        starts.zip(ids).collect()
    };
    let step = |(position, &column): (usize, &usize)| {
        let column_type = schema.columns[column].column_type;
        let marker = levels.iter().find(|(start, _)| *start == position).map(|(_, id)| *id);
        KeyStep { column, column_type, part: cell::key_part(column_type), marker }
    };
    schema.key.iter().enumerate().map(step).collect()
}

/// The position of a column in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ColumnSlot {
    /// Its bit in the null bitmap.
    pub(crate) bit: usize,
    /// Its bytes.
    pub(crate) location: CellLocation,
}

/// Where the bytes of a column lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellLocation {
    /// At this offset, this many.
    Fixed(usize, usize),
    /// In the variable part, as the one with this number.
    Variable(usize),
}

/// How values of one schema number are laid out: schema number, null bitmap, columns of fixed
/// width, ends of the columns of variable width, their bytes.
#[derive(Clone, Debug)]
pub(crate) struct ValueLayout {
    pub(crate) number: u16,
    /// Column numbers with their slots, in the order of the layout.
    pub(crate) slots: Vec<(u16, ColumnSlot)>,
    /// Where the end offsets begin.
    pub(crate) ends_at: usize,
    /// How many columns of variable width there are.
    pub(crate) variable: usize,
    /// Where the bytes of the columns of variable width begin.
    pub(crate) head_len: usize,
}

impl ValueLayout {
    pub(crate) fn new(layout: &Layout) -> Self {
        let mut at = NUMBER_LEN + layout.columns.len().div_ceil(8);
        let mut variable = 0;
        let mut slots = Vec::with_capacity(layout.columns.len());
        for (bit, column) in layout.columns.iter().enumerate() {
            let location = match column.column_type.fixed_width() {
                Some(width) => {
                    at += width;
                    CellLocation::Fixed(at - width, width)
                }
                None => {
                    variable += 1;
                    CellLocation::Variable(variable - 1)
                }
            };
            slots.push((column.id, ColumnSlot { bit, location }));
        }
        Self {
            number: layout.number,
            slots,
            ends_at: at,
            variable,
            head_len: at + variable * END_LEN,
        }
    }

    /// The position of the column with that number, if the layout has it.
    pub(crate) fn slot(&self, id: u16) -> Option<ColumnSlot> {
        self.slots.iter().find(|(column, _)| *column == id).map(|(_, slot)| *slot)
    }

    /// Whether a value is as long as its own end offsets say.
    #[inline]
    pub(crate) fn fits(&self, value: &[u8]) -> bool {
        match value.len().checked_sub(self.head_len) {
            Some(0) if self.variable == 0 => true,
            Some(bytes) if self.variable > 0 => self.end(value, self.variable - 1) == Some(bytes),
            _ => false,
        }
    }

    /// Where a column of variable width ends, counted from `head_len`.
    #[inline]
    fn end(&self, value: &[u8], variable: usize) -> Option<usize> {
        let at = self.ends_at + variable * END_LEN;
        let bytes = value.get(at..at + END_LEN)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    }

    /// The bytes of a column; `Some(None)` for NULL, nothing for a damaged value.
    #[inline]
    pub(crate) fn cell<'a>(&self, value: &'a [u8], slot: ColumnSlot) -> Option<Option<&'a [u8]>> {
        if value.get(NUMBER_LEN + slot.bit / 8)? & (1 << (slot.bit % 8)) != 0 {
            return Some(None);
        }
        match slot.location {
            CellLocation::Fixed(at, width) => value.get(at..at + width).map(Some),
            CellLocation::Variable(variable) => {
                let start = if variable == 0 { 0 } else { self.end(value, variable - 1)? };
                let end = self.end(value, variable)?;
                value.get(self.head_len..)?.get(start..end).map(Some)
            }
        }
    }
}

/// The layouts that a table got while the store is open, oldest first. All codecs of the table
/// share them, so that one from before an ALTER TABLE can read what is written after it. What is in
/// it stays where it is.
#[derive(Debug, Default)]
pub(crate) struct LaterLayouts {
    first: OnceLock<Box<LaterLayout>>,
}

#[derive(Debug)]
struct LaterLayout {
    layout: ValueLayout,
    next: OnceLock<Box<LaterLayout>>,
}

impl LaterLayouts {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ValueLayout> {
        let first = self.first.get().map(Box::as_ref);
        std::iter::successors(first, |at| at.next.get().map(Box::as_ref)).map(|at| &at.layout)
    }

    /// Adds a layout unless it is there, or a later one.
    pub(crate) fn push(&self, layout: &ValueLayout) {
        let mut slot = &self.first;
        loop {
            let at = slot.get_or_init(|| {
                Box::new(LaterLayout { layout: layout.clone(), next: OnceLock::new() })
            });
            if at.next.get().is_none() && at.layout.number >= layout.number {
                return;
            }
            slot = &at.next;
        }
    }
}

impl Drop for LaterLayouts {
    /// One after another: dropping each with its successor inside would go as deep as there are
    /// layouts.
    fn drop(&mut self) {
        let mut next = self.first.take();
        while let Some(mut at) = next {
            next = at.next.take();
        }
    }
}
