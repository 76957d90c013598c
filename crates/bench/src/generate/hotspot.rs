//! A part of the numbers gets a part of the draws.

use rand::Rng;

use super::Uniform;

/// Numbers below a count: the first ones are hot, the others cold; alike within each part.
#[derive(Clone, Copy, Debug)]
pub struct Hotspot {
    hot: Uniform,
    cold: Uniform,
    hot_count: u64,
    hot_share: f64,
}

impl Hotspot {
    /// Of `count` numbers the first `data_fraction` get `operation_fraction` of the draws.
    /// Fractions are held to 0 and 1. A part without numbers gets no draws.
    pub fn new(count: u64, data_fraction: f64, operation_fraction: f64) -> Self {
        let count = count.max(1);
        let hot_count = ((count as f64 * data_fraction.clamp(0.0, 1.0)) as u64).min(count);
        let hot_share = match hot_count {
            0 => 0.0,
            all if all == count => 1.0,
            _ => operation_fraction.clamp(0.0, 1.0),
        };
        Hotspot {
            hot: Uniform::new(hot_count),
            cold: Uniform::new(count - hot_count),
            hot_count,
            hot_share,
        }
    }

    /// Draws one.
    pub fn next(&self, random: &mut impl Rng) -> u64 {
        if random.random_bool(self.hot_share) {
            self.hot.next(random)
        } else {
            self.hot_count + self.cold.next(random)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::statistics::{assert_follows, assert_share, histogram};

    #[test]
    fn the_hot_part_gets_its_share() {
        let hotspot = Hotspot::new(1000, 0.2, 0.8);
        let seen = histogram(1000, |random| hotspot.next(random));
        assert_share(seen[..200].iter().sum(), 0.8);
    }

    #[test]
    fn within_each_part_all_are_alike() {
        let hotspot = Hotspot::new(1000, 0.2, 0.8);
        let seen = histogram(1000, |random| hotspot.next(random));
        assert_follows(&seen[..200], |_| 1.0 / 200.0);
        assert_follows(&seen[200..], |_| 1.0 / 800.0);
    }

    #[test]
    fn a_part_without_numbers_gets_no_draws() {
        for (data_fraction, operation_fraction) in [(0.0, 0.8), (1.0, 0.8), (0.0001, 1.0)] {
            let hotspot = Hotspot::new(1000, data_fraction, operation_fraction);
            assert_follows(&histogram(1000, |random| hotspot.next(random)), |_| 1e-3);
        }
    }
}
