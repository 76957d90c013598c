//! A set of rows of a segment: those that are dead.

use std::ops::Range;

use arrow::buffer::BooleanBuffer;

/// A bit for each row.
#[derive(Clone, Debug, Default)]
pub(super) struct RowSet {
    /// Up to the word of the greatest row: a set without rows takes nothing.
    words: Vec<u64>,
    len: usize,
}

impl RowSet {
    /// How many rows it has.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }

    pub(super) fn insert(&mut self, row: usize) {
        let (word, bit) = (row / 64, 1 << (row % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.len += usize::from(self.words[word] & bit == 0);
        self.words[word] |= bit;
    }

    pub(super) fn insert_all(&mut self, rows: Range<usize>) {
        rows.for_each(|row| self.insert(row));
    }

    fn has(&self, row: usize) -> bool {
        self.words.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// Which of some rows it has not; nothing where it has none of them.
    pub(super) fn others_in(&self, rows: Range<usize>) -> Option<BooleanBuffer> {
        let words = self.words.get(rows.start / 64..).unwrap_or_default();
        let is_clear = words.iter().take(rows.len() / 64 + 2).all(|word| *word == 0);
        (!is_clear).then(|| {
            BooleanBuffer::collect_bool(rows.len(), |offset| !self.has(rows.start + offset))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_set_once_put_there() {
        let mut set = RowSet::default();
        assert_eq!(set.others_in(0..100), None);
        set.insert(70);
        set.insert_all(3..5);
        set.insert(4);
        assert_eq!(set.len(), 3);
        let others = set.others_in(0..100).unwrap();
        let dead: Vec<usize> = (0..100).filter(|row| !others.value(*row)).collect();
        assert_eq!(dead, [3, 4, 70]);
        assert_eq!(set.others_in(192..300), None);
        assert_eq!(set.others_in(69..72).unwrap().iter().collect::<Vec<_>>(), [true, false, true]);
    }
}
