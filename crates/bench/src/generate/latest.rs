//! The newest most often.

use rand::Rng;

use super::Zipfian;

/// Numbers up to the newest: the newest most often, then the one before it, as Zipf's law has it.
#[derive(Clone, Debug)]
pub struct SkewedLatest {
    ages: Zipfian,
}

impl SkewedLatest {
    /// For `count` numbers now; more may come. Takes time in proportion to `count`; a clone takes
    /// none.
    pub fn new(count: u64) -> Self {
        SkewedLatest { ages: Zipfian::new(count) }
    }

    /// Draws one below `count`, which is how many there are by now.
    pub fn next(&mut self, random: &mut impl Rng, count: u64) -> u64 {
        self.ages.grow(count);
        count.saturating_sub(1).saturating_sub(self.ages.next(random))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::statistics::{assert_share, histogram, seeded};

    #[test]
    fn the_newest_has_the_share_of_zipfs_first() {
        let mut latest = SkewedLatest::new(1000);
        let seen = histogram(1000, |random| latest.next(random, 1000));
        let zeta: f64 = (1..=1000).map(|rank| f64::from(rank).powf(-0.99)).sum();
        assert_share(seen[999], 1.0 / zeta);
        assert_share(seen[998], 0.5_f64.powf(0.99) / zeta);
    }

    #[test]
    fn newer_ones_are_drawn_more_often_than_older_ones() {
        let mut latest = SkewedLatest::new(1000);
        let seen = histogram(1000, |random| latest.next(random, 1000));
        let tenths: Vec<u64> = seen.chunks(100).map(|tenth| tenth.iter().sum()).collect();
        assert!(tenths.is_sorted() && tenths[9] > 5 * tenths[8], "{tenths:?}");
    }

    #[test]
    fn what_comes_later_is_drawn_from_then_on() {
        let mut latest = SkewedLatest::new(10);
        let random = &mut seeded();
        assert!((0..1000).all(|_| latest.next(random, 10) < 10));
        assert!((0..1000).filter(|_| latest.next(random, 20) >= 10).count() > 500);
    }
}
