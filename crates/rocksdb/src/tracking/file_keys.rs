//! The keys in the file of a load, as far as its spaces are followed.
//!
//! A file is written while others write, too, and without the gate. So a space may come to be
//! followed meanwhile: what the file has of it is unknown then.

use tonnage_engine::Slices;

use super::books::ChangeBooks;
use super::notes::ChangeNotes;
use crate::changes::SpaceSet;

/// The most keys of a file that are reported, and the most bytes of them.
const KEYS_MAX: usize = 65_536;
const KEYS_BYTES_MAX: usize = 8 << 20;

/// After all physical keys: the last number is never given to a space.
const END: [u8; 4] = [u8::MAX; 4];

/// Gathered while a file is written.
#[derive(Debug)]
pub(crate) struct FileKeys {
    /// The spaces of its rows.
    spaces: SpaceSet,
    /// The spaces that were followed when it was begun.
    followed: SpaceSet,
    /// Of followed spaces, physically.
    keys: Slices,
    first: Vec<u8>,
    /// The last key of a followed space, once there are too many to be reported.
    last: Vec<u8>,
}

impl FileKeys {
    /// For a file that is about to be begun.
    pub(crate) fn new(books: &ChangeBooks) -> Self {
        Self {
            spaces: SpaceSet::default(),
            followed: books.followed(),
            keys: Slices::new(),
            first: Vec::new(),
            last: Vec::new(),
        }
    }

    /// Adds a physical key; they ascend.
    #[inline]
    pub(crate) fn add(&mut self, key: &[u8]) {
        self.spaces.add_key(key);
        if self.first.is_empty() {
            self.first.extend_from_slice(key);
        }
        if self.followed.has_key(key) {
            self.add_followed(key);
        }
    }

    fn add_followed(&mut self, key: &[u8]) {
        if self.keys.len() < KEYS_MAX && self.keys.bytes() < KEYS_BYTES_MAX {
            self.keys.push(key);
        } else {
            self.last.clear();
            self.last.extend_from_slice(key);
        }
    }

    /// What files that are ingested together change. The caller holds the gate alone.
    pub(crate) fn notes_of<'a>(
        files: impl Iterator<Item = &'a FileKeys>,
        books: &ChangeBooks,
    ) -> ChangeNotes {
        let followed = books.followed();
        let mut notes = ChangeNotes::of_followed(followed);
        for file in files {
            notes.add_spaces(file.spaces);
            let asked = file.spaces.intersection(followed);
            if asked.is_empty() {
                continue;
            }
            if asked.intersection(file.followed) != asked {
                notes.add_lost(&file.first, &END);
            } else if !file.last.is_empty() {
                // The end of a range is after its last key.
                notes.add_lost(&file.first, &[&file.last[..], &[0]].concat());
            } else {
                file.keys.iter().for_each(|key| notes.add_key(key));
            }
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use tonnage_engine::{RangeChange, RangeChanges, ShardId, SpaceId, TrackedRange};

    use super::*;

    const SPACE: SpaceId = SpaceId(3);

    /// Books of a space with a range on each side of the key 500.
    fn books() -> ChangeBooks {
        let books = ChangeBooks::new(ShardId(0), usize::MAX);
        books.follow(SPACE);
        track(&books);
        books
    }

    fn track(books: &ChangeBooks) {
        let middle = 500_u32.to_be_bytes().to_vec();
        for (start, end, id) in [(Vec::new(), middle.clone(), 1), (middle, Vec::new(), 2)] {
            let range = TrackedRange { shard: ShardId(0), start, end, id: Some(id) };
            assert!(books.track(SPACE, &range, 0));
        }
    }

    fn add(file: &mut FileKeys, numbers: std::ops::Range<u32>) {
        numbers.for_each(|number| {
            file.add(&[SPACE.0.to_be_bytes(), number.to_be_bytes()].concat());
        });
    }

    fn changes(books: &ChangeBooks) -> [RangeChanges; 2] {
        let middle = 500_u32.to_be_bytes();
        [(&[][..], 1), (&middle[..], 2)].map(|range| books.changes(SPACE, range, (0, u64::MAX)))
    }

    #[test]
    fn the_keys_of_a_file_are_told() {
        let books = books();
        let mut file = FileKeys::new(&books);
        add(&mut file, 499..501);
        drop(books.note(&FileKeys::notes_of([&file].into_iter(), &books)));
        let told = |number: u32| {
            RangeChanges::Known(vec![(0, RangeChange::Key(number.to_be_bytes().to_vec()))])
        };
        assert_eq!(changes(&books), [told(499), told(500)]);
    }

    #[test]
    fn a_file_with_too_many_keys_loses_the_ranges_that_it_meets() {
        let (books, many) = (books(), KEYS_MAX as u32);
        let mut file = FileKeys::new(&books);
        add(&mut file, 500..500 + many);
        let notes = FileKeys::notes_of([&file].into_iter(), &books);
        assert_eq!((notes.keys.len(), notes.ranges.len()), (KEYS_MAX, 0));
        add(&mut file, 500 + many..501 + many);
        drop(books.note(&FileKeys::notes_of([&file].into_iter(), &books)));
        assert_eq!(changes(&books), [RangeChanges::Known(Vec::new()), RangeChanges::Unknown]);
    }

    /// Its first rows were not gathered.
    #[test]
    fn a_file_that_was_begun_before_its_space_was_followed_loses_what_lies_behind_its_first_key() {
        let books = ChangeBooks::new(ShardId(0), usize::MAX);
        let mut file = FileKeys::new(&books);
        add(&mut file, 700..702);
        books.follow(SPACE);
        track(&books);
        add(&mut file, 702..704);
        drop(books.note(&FileKeys::notes_of([&file].into_iter(), &books)));
        assert_eq!(changes(&books), [RangeChanges::Known(Vec::new()), RangeChanges::Unknown]);
    }
}
