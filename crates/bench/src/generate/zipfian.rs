//! Zipf's distribution: number k is drawn in proportion to 1 / (k + 1)^0.99.
//!
//! The algorithm is that of Gray et al., "Quickly generating billion-record synthetic databases"
//! (SIGMOD 1994): the first two numbers have their exact probabilities, the rest follows a
//! continuous curve whose inverse is a power, so that a draw takes constant time.

use rand::Rng;

/// YCSB's constant: how skewed.
const THETA: f64 = 0.99;

/// Numbers below a count: 0 most often, then 1, and so on.
#[derive(Clone, Debug)]
pub(crate) struct Zipfian {
    count: u64,
    /// The sum of 1 / k^0.99 for k from 1 to `count`: what probabilities are divided by.
    zeta: f64,
    eta: f64,
    alpha: f64,
    /// The sum of the first two terms of zeta, where the exact part ends.
    zeta_2: f64,
}

impl Zipfian {
    /// Numbers from 0 to `count`, exclusive. Takes time in proportion to `count`, about a second
    /// for 50 millions; a clone takes none.
    pub(crate) fn new(count: u64) -> Self {
        let count = count.max(1);
        Self::with_zeta(count, zeta(0..count))
    }

    /// The same where the sum of 1 / k^0.99 over the count is known already.
    pub(crate) fn with_zeta(count: u64, zeta: f64) -> Self {
        let zeta_2 = 1.0 + 0.5_f64.powf(THETA);
        let mut zipfian = Zipfian { count, zeta, eta: 0.0, alpha: 1.0 / (1.0 - THETA), zeta_2 };
        zipfian.fit();
        zipfian
    }

    /// Takes in more numbers, in time in proportion to how many are new. It never shrinks: a
    /// smaller count is left alone.
    pub(crate) fn grow(&mut self, count: u64) {
        if count > self.count {
            self.zeta += zeta(self.count..count);
            self.count = count;
            self.fit();
        }
    }

    pub(crate) fn next(&self, random: &mut impl Rng) -> u64 {
        let uniform: f64 = random.random();
        let scaled = uniform * self.zeta;
        if scaled < 1.0 {
            0
        } else if scaled < self.zeta_2 {
            1
        } else {
            let curve = (self.eta * uniform - self.eta + 1.0).powf(self.alpha);
            ((self.count as f64 * curve) as u64).min(self.count - 1)
        }
    }

    fn fit(&mut self) {
        let tail = 1.0 - (2.0 / self.count as f64).powf(1.0 - THETA);
        self.eta = tail / (1.0 - self.zeta_2 / self.zeta);
    }
}

/// The sum of 1 / k^0.99 over numbers, where number 0 is k = 1.
pub(super) fn zeta(numbers: std::ops::Range<u64>) -> f64 {
    numbers.map(|number| ((number + 1) as f64).powf(-THETA)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::statistics::{DRAWS, assert_follows, assert_share, histogram};

    fn draws(zipfian: &Zipfian) -> Vec<u64> {
        histogram(zipfian.count as usize, |random| zipfian.next(random))
    }

    #[test]
    fn the_first_two_numbers_have_their_shares_of_zeta() {
        let zipfian = Zipfian::new(1000);
        assert!((zipfian.zeta - 7.728_953).abs() < 1e-6, "{}", zipfian.zeta);
        let seen = draws(&zipfian);
        assert_share(seen[0], 1.0 / zipfian.zeta);
        assert_share(seen[1], 0.5_f64.powf(0.99) / zipfian.zeta);
    }

    #[test]
    fn draws_never_stray_from_zipfs_law_by_more_than_the_approximation_does() {
        let zipfian = Zipfian::new(1000);
        let (mut seen, mut expected, mut apart) = (0.0, 0.0, 0.0_f64);
        for (number, count) in draws(&zipfian).into_iter().enumerate() {
            seen += count as f64 / DRAWS as f64;
            expected += ((number + 1) as f64).powf(-0.99) / zipfian.zeta;
            apart = apart.max((seen - expected).abs());
        }
        assert!(apart < 0.02, "{apart}");
    }

    #[test]
    fn draws_follow_the_published_curve() {
        let zipfian = Zipfian::new(500);
        // Where the curve reaches a number: the algorithm's last line, solved for the uniform draw.
        let reach = |number: usize| match number {
            0 => 0.0,
            1 => 1.0 / zipfian.zeta,
            2 => zipfian.zeta_2 / zipfian.zeta,
            _ => {
                ((number as f64 / 500.0).powf(1.0 / zipfian.alpha) - 1.0 + zipfian.eta)
                    / zipfian.eta
            }
        };
        assert_follows(&draws(&zipfian), |number| reach(number + 1) - reach(number));
    }

    #[test]
    fn one_that_grew_is_as_one_made_large() {
        let mut grown = Zipfian::new(10);
        grown.grow(700);
        grown.grow(1000);
        let made = Zipfian::new(1000);
        assert!((grown.zeta - made.zeta).abs() < 1e-9 && (grown.eta - made.eta).abs() < 1e-9);
        grown.grow(5);
        assert_eq!(grown.count, 1000);
    }

    #[test]
    fn few_numbers_are_drawn_as_well() {
        assert_eq!(draws(&Zipfian::new(1)), [DRAWS as u64]);
        let two = draws(&Zipfian::new(2));
        assert_share(two[0], 1.0 / (1.0 + 0.5_f64.powf(0.99)));
        assert_eq!(draws(&Zipfian::new(3)).iter().filter(|&&count| count > 0).count(), 3);
    }
}
