//! The entries of several rows in one index.

use tonnage_engine::Slices;

/// The entries of rows: one of each row, or a set of each, in order and without doubles.
#[derive(Debug, Default)]
pub(crate) struct RowEntries {
    entries: Slices,
    /// For each row where its entries end; nothing where each row has one entry.
    ends: Option<Vec<usize>>,
}

impl RowEntries {
    /// Of rows with one entry each.
    pub(super) fn single(entries: Slices) -> Self {
        Self { entries, ends: None }
    }

    /// Of rows with a set of entries each, which ends there.
    pub(super) fn sets(entries: Slices, ends: Vec<usize>) -> Self {
        debug_assert_eq!(ends.last().copied().unwrap_or(0), entries.len());
        Self { entries, ends: Some(ends) }
    }

    /// All entries, row by row.
    pub(crate) fn all(&self) -> &Slices {
        &self.entries
    }

    /// All entries, and for each the number of its row.
    pub(crate) fn into_parts(self) -> (Slices, Vec<u64>) {
        let rows = self.rows().map(|row| row as u64).collect();
        (self.entries, rows)
    }

    /// For each entry the number of its row.
    pub(super) fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        let count = self.ends.as_ref().map_or(self.entries.len(), Vec::len);
        (0..count).flat_map(|row| std::iter::repeat_n(row, self.places(row).len()))
    }

    /// The entries of one row.
    pub(super) fn of(&self, row: usize) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.places(row).map(|place| self.entries.get(place))
    }

    /// Whether a row has this entry.
    pub(super) fn has(&self, row: usize, entry: &[u8]) -> bool {
        self.of(row).any(|own| own == entry)
    }

    fn places(&self, row: usize) -> std::ops::Range<usize> {
        match &self.ends {
            None => row..row + 1,
            Some(ends) => row.checked_sub(1).map_or(0, |before| ends[before])..ends[row],
        }
    }
}
