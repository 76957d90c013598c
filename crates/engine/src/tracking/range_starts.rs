//! Finds the range of a key among thousands, in a few nanoseconds.
//!
//! The starts of ranges agree in their first bytes: those of a table have its prefix. The eight
//! bytes behind these tell nearly all of them apart. As numbers side by side, 8,000 of them fit the
//! cache of a core. The starts themselves lie all over the memory, so they are only looked at where
//! several have the same eight bytes.

use std::cmp::Ordering;

/// The starts of all ranges but the first, which starts at the empty key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct RangeStarts {
    /// What all of them begin with.
    shared: Vec<u8>,
    /// The eight bytes behind it, ascending.
    heads: Vec<u64>,
}

impl RangeStarts {
    /// Of starts that ascend.
    pub(super) fn new<'a>(starts: impl Iterator<Item = &'a [u8]> + Clone) -> Self {
        let ends = starts.clone().next().zip(starts.clone().last());
        // What the first and the last one share, those between have, too.
        let shared = ends.map_or(&[][..], |(first, last)| &first[..shared_len(first, last)]);
        let heads = starts.map(|start| head(&start[shared.len()..])).collect();
        Self { shared: shared.to_vec(), heads }
    }

    /// The place of the range that holds a key. `start` gives the start at a position.
    #[inline]
    pub(super) fn place_of<'a>(&self, key: &[u8], start: impl Fn(usize) -> &'a [u8]) -> usize {
        let (front, rest) = key.split_at(self.shared.len().min(key.len()));
        match front.cmp(&self.shared) {
            Ordering::Less => return 0,
            Ordering::Greater => return self.heads.len(),
            Ordering::Equal => {}
        }
        let head = head(rest);
        let less = self.heads.partition_point(|known| *known < head);
        if self.heads.get(less) != Some(&head) {
            return less;
        }
        let mut equal = less..less + self.heads[less..].partition_point(|known| *known == head);
        while !equal.is_empty() {
            let middle = equal.start + equal.len() / 2;
            // The first range has no head.
            match start(middle + 1) <= key {
                true => equal.start = middle + 1,
                false => equal.end = middle,
            }
        }
        equal.start
    }
}

fn shared_len(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// The first eight bytes as a number; what is missing counts as zeros. Of two byte strings the
/// greater one never has the smaller head.
#[inline]
fn head(bytes: &[u8]) -> u64 {
    if let Some(head) = bytes.first_chunk() {
        return u64::from_be_bytes(*head);
    }
    let mut head = [0; 8];
    head[..bytes.len()].copy_from_slice(bytes);
    u64::from_be_bytes(head)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Few letters and an end before a zero byte, so that heads are often equal.
    fn key() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop::sample::select(vec![0_u8, 1, 7, 255]);
        (prop::sample::select(vec![0, 3, 9]), prop::collection::vec(byte, 0..12))
            .prop_map(|(shared, rest)| [vec![7; shared], rest].concat())
    }

    proptest! {
        #[test]
        fn a_key_is_found_where_bisection_finds_it(
            mut starts in prop::collection::vec(key(), 0..40),
            keys in prop::collection::vec(key(), 1..40),
        ) {
            starts.push(Vec::new());
            starts.sort_unstable();
            starts.dedup();
            let index = RangeStarts::new(starts[1..].iter().map(Vec::as_slice));
            for key in keys.iter().chain(&starts) {
                let found = index.place_of(key, |place| &starts[place]);
                prop_assert_eq!(found, starts.partition_point(|start| start <= key) - 1);
            }
        }
    }
}
