//! Zipf's distribution with the hot numbers scattered.

use rand::Rng;

use super::{Zipfian, ycsb_hash};

/// Numbers below a count: a few very often, scattered over all of them.
///
/// As in YCSB, ranks are drawn from ten thousand million items whatever the count is, and hashed
/// onto it. So the hottest number has the same share at every count, and many cold ranks fall onto
/// the same number.
#[derive(Clone, Debug)]
pub struct ScrambledZipfian {
    ranks: Zipfian,
    count: u64,
}

impl ScrambledZipfian {
    const RANKS: u64 = 10_000_000_000;
    /// The sum of 1 / k^0.99 over all ranks: adding them up would take minutes.
    const ZETA: f64 = 26.469_028_201_783_02;

    /// Numbers from 0 to `count`, exclusive; a count of 0 is taken for 1.
    pub fn new(count: u64) -> Self {
        ScrambledZipfian {
            ranks: Zipfian::with_zeta(Self::RANKS, Zipfian::THETA, Self::ZETA),
            count: count.max(1),
        }
    }

    /// Draws one.
    pub fn next(&self, random: &mut impl Rng) -> u64 {
        ycsb_hash(self.ranks.next(random)) % self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::statistics::{DRAWS, assert_share, histogram};

    const COUNT: u64 = 100_000;

    #[test]
    fn the_two_hottest_numbers_have_the_shares_of_zipfs_first_two() {
        let scrambled = ScrambledZipfian::new(COUNT);
        let seen = histogram(COUNT as usize, |random| scrambled.next(random));
        let zeta = ScrambledZipfian::ZETA;
        assert_share(seen[(ycsb_hash(0) % COUNT) as usize], 1.0 / zeta);
        assert_share(seen[(ycsb_hash(1) % COUNT) as usize], 0.5_f64.powf(0.99) / zeta);
    }

    #[test]
    fn the_hundred_hottest_numbers_together_have_the_share_of_zipfs_first_hundred() {
        let scrambled = ScrambledZipfian::new(COUNT);
        let mut seen = histogram(COUNT as usize, |random| scrambled.next(random));
        seen.sort_unstable_by(|a, b| b.cmp(a));
        let share = seen[..100].iter().sum::<u64>() as f64 / DRAWS as f64;
        let expected =
            (1..=100).map(|rank| f64::from(rank).powf(-0.99)).sum::<f64>() / ScrambledZipfian::ZETA;
        assert!((share - expected).abs() < 0.01, "{share} instead of {expected}");
    }

    #[test]
    fn the_hot_numbers_do_not_stand_together() {
        let scrambled = ScrambledZipfian::new(1000);
        let seen = histogram(1000, |random| scrambled.next(random));
        for quarter in seen.chunks(250) {
            let share = quarter.iter().sum::<u64>() as f64 / DRAWS as f64;
            assert!((0.15..0.40).contains(&share), "{share}");
        }
    }

    #[test]
    fn the_known_sum_is_that_of_the_ranks() {
        // Euler and Maclaurin: the sum up to n is near its integral, and the first terms carry the
        // difference.
        let head: f64 = (1..=1000).map(|rank| f64::from(rank).powf(-0.99)).sum();
        let integral = ((ScrambledZipfian::RANKS as f64).powf(0.01) - 1000_f64.powf(0.01)) / 0.01;
        let ends = ((ScrambledZipfian::RANKS as f64).powf(-0.99) - 1000_f64.powf(-0.99)) / 2.0;
        assert!((head + integral + ends - ScrambledZipfian::ZETA).abs() < 1e-6);
    }
}
