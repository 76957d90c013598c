//! Locks on ranges of keys.
//!
//! A holder keeps others out of every range that overlaps it. Waiting threads are served in order,
//! so two large loads of the same keys take turns range by range, and neither waits for the whole
//! of the other.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tonnage_engine::sync::lock;
use tonnage_engine::{Deadline, Result};

/// The ranges that are locked, and those that are waited for.
#[derive(Debug, Default)]
pub(crate) struct RangeLocks {
    claims: Mutex<Claims>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Claims {
    next: u64,
    /// In the order in which they were asked for.
    list: Vec<Claim>,
}

#[derive(Debug)]
struct Claim {
    number: u64,
    lower: Option<Vec<u8>>,
    upper: Option<Vec<u8>>,
}

impl Claim {
    fn overlaps(&self, other: &Claim) -> bool {
        let ends_before = |left: &Claim, right: &Claim| match (&left.upper, &right.lower) {
            (Some(upper), Some(lower)) => upper <= lower,
            _ => false,
        };
        !ends_before(self, other) && !ends_before(other, self)
    }
}

/// A locked range, free again when this is dropped.
#[derive(Debug)]
pub(crate) struct LockedRange<'a> {
    locks: &'a RangeLocks,
    number: u64,
}

impl RangeLocks {
    /// Locks the keys from `lower` on and before `upper`, as soon as no earlier claim holds or
    /// wants one of them.
    ///
    /// # Errors
    /// `TimedOut` when that is not before the deadline.
    pub(crate) fn lock_by(
        &self,
        lower: Option<&[u8]>,
        upper: Option<&[u8]>,
        deadline: Deadline,
    ) -> Result<LockedRange<'_>> {
        let mut claims = self.claims();
        let number = claims.next;
        claims.next += 1;
        claims.list.push(Claim {
            number,
            lower: lower.map(<[u8]>::to_vec),
            upper: upper.map(<[u8]>::to_vec),
        });
        // From here on the claim is dropped with this, whether or not it is granted.
        let locked = LockedRange { locks: self, number };
        while claims.is_blocked(number) {
            claims = match deadline.moment() {
                None => self.changed.wait(claims).unwrap_or_else(PoisonError::into_inner),
                Some(moment) => {
                    let left = moment.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        // `locked` takes this mutex when it is dropped, so the guard must go first.
                        drop(claims);
                        return Err(Deadline::passed("another load of the same keys"));
                    }
                    let waited = self.changed.wait_timeout(claims, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        Ok(locked)
    }

    /// The same without one.
    #[cfg(test)]
    pub(crate) fn lock(&self, lower: Option<&[u8]>, upper: Option<&[u8]>) -> LockedRange<'_> {
        self.lock_by(lower, upper, Deadline::NONE).unwrap()
    }

    fn claims(&self) -> MutexGuard<'_, Claims> {
        lock(&self.claims)
    }
}

impl Claims {
    fn is_blocked(&self, number: u64) -> bool {
        let place = self.list.partition_point(|claim| claim.number < number);
        let (before, own) = self.list.split_at(place);
        own.first().is_some_and(|own| before.iter().any(|other| other.overlaps(own)))
    }
}

impl Drop for LockedRange<'_> {
    fn drop(&mut self) {
        self.locks.claims().list.retain(|claim| claim.number != self.number);
        self.locks.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn ranges_that_do_not_overlap_are_locked_side_by_side() {
        let locks = RangeLocks::default();
        let _first = locks.lock(None, Some(b"c"));
        let _second = locks.lock(Some(b"c"), Some(b"f"));
        let _third = locks.lock(Some(b"f"), None);
        assert_eq!(locks.claims().list.len(), 3);
    }

    #[test]
    fn a_range_waits_for_those_that_overlap_it() {
        let locks = RangeLocks::default();
        let is_free = AtomicBool::new(false);
        thread::scope(|threads| {
            let held = locks.lock(Some(b"b"), Some(b"d"));
            threads.spawn(|| {
                let _waits = locks.lock(Some(b"c"), None);
                assert!(is_free.load(Ordering::SeqCst));
            });
            while locks.claims().list.len() < 2 {
                thread::sleep(Duration::from_millis(1));
            }
            is_free.store(true, Ordering::SeqCst);
            drop(held);
        });
        assert!(locks.claims().list.is_empty());
    }

    /// A claim that was given up keeps no other out.
    #[test]
    fn a_range_is_waited_for_until_the_deadline() {
        let locks = RangeLocks::default();
        let held = locks.lock(Some(b"b"), Some(b"d"));
        let late = locks.lock_by(None, None, Deadline::after(Duration::from_millis(5)));
        let error = late.unwrap_err();
        assert_eq!(error.kind(), tonnage_engine::ErrorKind::TimedOut);
        assert!(error.message().contains("another load of the same keys"), "{error}");
        drop(held);
        drop(locks.lock(None, None));
        assert!(locks.claims().list.is_empty());
    }

    /// Who asks for a narrow range again and again does not keep out one who waits for a wide one.
    #[test]
    fn who_asked_first_comes_first() {
        let locks = RangeLocks::default();
        let turns = Mutex::new(Vec::new());
        thread::scope(|threads| {
            let held = locks.lock(Some(b"b"), Some(b"d"));
            for (index, (lower, upper)) in
                [(None, None), (Some(&b"x"[..]), None)].into_iter().enumerate()
            {
                let (locks, turns) = (&locks, &turns);
                threads.spawn(move || {
                    let _mine = locks.lock(lower, upper);
                    turns.lock().unwrap().push(index);
                });
                while locks.claims().list.len() < index + 2 {
                    thread::sleep(Duration::from_millis(1));
                }
            }
            assert!(turns.lock().unwrap().is_empty());
            drop(held);
        });
        assert_eq!(turns.into_inner().unwrap(), [0, 1]);
    }
}
