//! The names of the entries that are the members of a collection.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | the generation, big-endian |
//! | 1 | `m` for a member, `s` for the place of a member by its score, `e` for an element of a list |
//! | 8 | the hash of the member; its score; the position of the element; so that they sort |
//! | the rest | the member |
//!
//! Members lie in the order of hashes, so that a scan needs no memory to continue at a hash, and a
//! hash by chance finds a member by chance. A member has its value; the place by a score has none.

use tonnage::internal::placement_hash;

/// Which entry it is: the part before the member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryName {
    head: [u8; EntryName::HEAD_BYTES],
}

const MEMBER: u8 = b'm';
const SCORE: u8 = b's';
const ELEMENT: u8 = b'e';
/// After all of them.
const END: u8 = b'z';

impl EntryName {
    /// The part before the member.
    pub(crate) const HEAD_BYTES: usize = 17;

    fn new(generation: u64, letter: u8, order: u64) -> Self {
        let mut head = [0; Self::HEAD_BYTES];
        head[..8].copy_from_slice(&generation.to_be_bytes());
        head[8] = letter;
        head[9..].copy_from_slice(&order.to_be_bytes());
        Self { head }
    }

    /// A member.
    pub(crate) fn of_member(generation: u64, member: &[u8]) -> Self {
        Self::from_hash(generation, placement_hash(member))
    }

    /// The first member whose hash is not below this one.
    pub(crate) fn from_hash(generation: u64, hash: u64) -> Self {
        Self::new(generation, MEMBER, hash)
    }

    /// The place of a member with a score.
    pub(crate) fn of_score(generation: u64, score: f64) -> Self {
        let bits = score.to_bits();
        // The larger number is the larger score, those below 0 included.
        let order = if bits >> 63 == 0 { bits ^ (1 << 63) } else { !bits };
        Self::new(generation, SCORE, order)
    }

    /// An element of a list.
    pub(crate) fn of_element(generation: u64, position: i64) -> Self {
        Self::new(generation, ELEMENT, position as u64 ^ (1 << 63))
    }

    /// In front of all entries of a kind: members, places by score or elements.
    pub(crate) fn first_like(self) -> [u8; 9] {
        let mut first = [0; 9];
        first.copy_from_slice(&self.head[..9]);
        first
    }

    /// After all entries of this kind.
    pub(crate) fn behind_like(self) -> [u8; 9] {
        let mut end = self.first_like();
        end[8] += 1;
        end
    }

    /// After all entries of the generation.
    pub(crate) fn behind_generation(generation: u64) -> [u8; 9] {
        let mut end = [END; 9];
        end[..8].copy_from_slice(&generation.to_be_bytes());
        end
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.head
    }

    /// Its hash, score or position, and the member after it.
    pub(crate) fn read(name: &[u8]) -> Option<(u64, &[u8])> {
        let (head, member) = name.split_at_checked(Self::HEAD_BYTES)?;
        Some((u64::from_be_bytes(*head.last_chunk()?), member))
    }

    /// The position in a name.
    pub(crate) fn position(order: u64) -> i64 {
        (order ^ (1 << 63)) as i64
    }

    /// The generation of an entry.
    pub(crate) fn generation(name: &[u8]) -> u64 {
        name.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
    }

    /// The score in a name.
    pub(crate) fn score(order: u64) -> f64 {
        f64::from_bits(if order >> 63 == 1 { order ^ (1 << 63) } else { !order })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_and_positions_sort_and_are_read_back() {
        let scores = [f64::NEG_INFINITY, -1e300, -1.0, -1e-300, 0.0, 1e-300, 2.5, f64::INFINITY];
        let names = scores.map(|score| EntryName::of_score(1, score));
        assert!(names.is_sorted_by(|one, other| one.as_bytes() < other.as_bytes()));
        for (name, score) in names.iter().zip(scores) {
            let (order, member) = EntryName::read(name.as_bytes()).unwrap();
            assert_eq!((EntryName::score(order), member), (score, &b""[..]));
        }
        let places = [i64::MIN, -1, 0, 1, i64::MAX].map(|at| EntryName::of_element(1, at));
        assert!(places.is_sorted_by(|one, other| one.as_bytes() < other.as_bytes()));
        assert!(names.iter().all(|name| name.as_bytes() < &name.behind_like()[..]));
        assert!(names[0].behind_like() < EntryName::behind_generation(1));
    }
}
