//! Headers of rows that this process has just read or written.
//!
//! A small write reads its rows first, and makes what is stored its condition. If the process has
//! just read the rows, the write skips the read. If a row has changed since, the condition fails,
//! nothing is changed, and the write begins anew with a read.
//!
//! - Only headers of small writes are kept. Rows of loads have time stamps that may lie ahead, and
//!   a write over them must wait.
//! - A wrong guess costs a round trip more. That happens often if several processes write the same
//!   rows. So a guess needs credit: a wrong one costs four times what a right one earns.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard};

use tonnage_engine::sync::lock;
use tonnage_engine::{SpaceId, placement_hash};

use crate::header::MARKED_LEN;

/// How many headers are kept, one in each place.
const SLOTS: usize = 1 << 14;

/// The bounds of credit, and what a guess that fails costs.
const CREDIT_MAX: i32 = 64;
const CREDIT_MIN: i32 = -64;
const FAILURE: i32 = 4;

/// A header as column `h` has it.
pub(crate) type StoredHeader = [u8; MARKED_LEN];

/// The hash of a row, and its header, if one is kept here.
type HeaderSlot = Option<(u64, StoredHeader)>;

/// The headers, by space and key. Of two rows in one place the later stays.
pub(crate) struct KnownHeaders {
    slots: Box<[Mutex<HeaderSlot>]>,
    credit: AtomicI32,
}

impl KnownHeaders {
    pub(crate) fn new() -> Self {
        let slots = (0..SLOTS).map(|_| Mutex::new(None)).collect();
        Self { slots, credit: AtomicI32::new(CREDIT_MAX) }
    }

    /// Keeps a header, if it is that of a small write.
    pub(crate) fn learn(&self, space: SpaceId, key: &[u8], header: &[u8]) {
        let hash = hash(space, key);
        *self.slot(hash) = header.try_into().ok().map(|header| (hash, header));
    }

    /// Forgets a row: it was deleted, or is not what was known.
    pub(crate) fn forget(&self, space: SpaceId, key: &[u8]) {
        let hash = hash(space, key);
        self.slot(hash).take_if(|(known, _)| *known == hash);
    }

    /// What is known of a row. Two rows that hash alike are taken for one, which the condition of a
    /// write finds out.
    pub(crate) fn find(&self, space: SpaceId, key: &[u8]) -> Option<StoredHeader> {
        let hash = hash(space, key);
        self.slot(hash).filter(|(known, _)| *known == hash).map(|(_, header)| header)
    }

    /// Whether a guess may be tried now.
    pub(crate) fn has_credit(&self) -> bool {
        self.credit.load(Ordering::Relaxed) > 0 || self.earn(1) > 0
    }

    /// Notes how a guess came out.
    pub(crate) fn note(&self, held: bool) {
        self.earn(if held { 1 } else { -FAILURE });
    }

    fn earn(&self, credit: i32) -> i32 {
        let earned = |now: i32| (now + credit).clamp(CREDIT_MIN, CREDIT_MAX);
        let update = |now| Some(earned(now));
        let before = self.credit.fetch_update(Ordering::Relaxed, Ordering::Relaxed, update);
        earned(before.unwrap_or_else(|now| now))
    }

    fn slot(&self, hash: u64) -> MutexGuard<'_, HeaderSlot> {
        let slot = &self.slots[hash as usize % SLOTS];
        lock(slot)
    }
}

fn hash(space: SpaceId, key: &[u8]) -> u64 {
    placement_hash(key) ^ u64::from(space.0).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_small_writes_are_kept_and_others_make_it_forget() {
        let known = KnownHeaders::new();
        let (space, other) = (SpaceId(1), SpaceId(2));
        known.learn(space, b"a", &[7; MARKED_LEN]);
        assert_eq!(known.find(space, b"a"), Some([7; MARKED_LEN]));
        assert_eq!((known.find(other, b"a"), known.find(space, b"b")), (None, None));
        known.learn(space, b"a", &[7; 17]);
        assert_eq!(known.find(space, b"a"), None);
        known.learn(space, b"a", &[8; MARKED_LEN]);
        known.forget(space, b"a");
        assert_eq!(known.find(space, b"a"), None);
    }

    #[test]
    fn guesses_that_fail_are_given_up_for_a_while() {
        let known = KnownHeaders::new();
        let mut tried = 0;
        for _ in 0..1_000 {
            if known.has_credit() {
                tried += 1;
                known.note(false);
            }
        }
        assert!((100..300).contains(&tried), "{tried}");
        let known = KnownHeaders::new();
        (0..1_000).for_each(|write| known.note(write % 5 > 0));
        assert!(known.has_credit());
    }
}
