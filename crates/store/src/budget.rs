//! A budget that all calls of a store share: of threads, or of load memory.
//!
//! A call borrows what it wants, or what the others have left, and returns it at its end. It never
//! waits for a share. It always gets the least that it needs, so many calls at once may exceed the
//! budget by these smallest shares.

use std::sync::{Arc, Mutex};
use tonnage_engine::sync::lock;

/// So much of something, for all calls together.
#[derive(Debug)]
pub(crate) struct Budget {
    all: usize,
    lent: Mutex<usize>,
}

impl Budget {
    /// A budget of so much; without a number it has no end.
    pub(crate) fn new(all: Option<usize>) -> Arc<Self> {
        Arc::new(Self { all: all.unwrap_or(usize::MAX), lent: Mutex::new(0) })
    }

    /// Lends what is wanted, or what is left of it, and `least` in any case.
    pub(crate) fn lend(self: &Arc<Self>, wanted: usize, least: usize) -> Loan {
        let mut lent = lock(&self.lent);
        let amount = wanted.min(self.all.saturating_sub(*lent)).max(least.min(wanted));
        *lent += amount;
        Loan { of: self.clone(), amount }
    }

    /// The most that one call can get of it, where it is used only briefly.
    pub(crate) fn most(&self, wanted: usize) -> usize {
        wanted.min(self.all)
    }

    /// How much is lent.
    #[cfg(test)]
    pub(crate) fn lent(&self) -> usize {
        *self.lent.lock().unwrap()
    }
}

/// A share of a budget, until it is dropped.
#[derive(Debug)]
pub(crate) struct Loan {
    of: Arc<Budget>,
    amount: usize,
}

impl Loan {
    pub(crate) fn amount(&self) -> usize {
        self.amount
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        *lock(&self.of.lent) -= self.amount;
    }
}

#[cfg(test)]
mod tests {
    use super::Budget;

    #[test]
    fn a_call_gets_what_it_wants_or_what_the_others_left() {
        let budget = Budget::new(Some(10));
        let first = budget.lend(6, 1);
        let second = budget.lend(6, 1);
        assert_eq!((first.amount(), second.amount()), (6, 4));
        drop(first);
        assert_eq!(budget.lend(100, 1).amount(), 6);
    }

    #[test]
    fn a_call_gets_its_least_share_when_nothing_is_left() {
        let budget = Budget::new(Some(4));
        let all = budget.lend(9, 1);
        let more = [budget.lend(9, 2), budget.lend(1, 2)];
        assert_eq!([all.amount(), more[0].amount(), more[1].amount()], [4, 2, 1]);
        drop((all, more));
        assert_eq!(budget.lent(), 0);
    }

    #[test]
    fn a_budget_without_a_number_lends_everything() {
        let budget = Budget::new(None);
        let shares = [budget.lend(1 << 60, 1), budget.lend(7, 1)];
        assert_eq!(shares.each_ref().map(super::Loan::amount), [1 << 60, 7]);
    }
}
