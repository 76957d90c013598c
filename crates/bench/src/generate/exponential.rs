//! Distances that fall off exponentially.

use rand::Rng;

/// Whole numbers from 0 on, smaller ones more often, without an upper end.
#[derive(Clone, Copy, Debug)]
pub struct Exponential {
    mean: f64,
}

impl Exponential {
    /// So that `percentile` per cent of the draws are below `range`. A percentile is held between 0
    /// and 100.
    pub fn new(percentile: f64, range: f64) -> Self {
        let share = (percentile / 100.0).clamp(f64::EPSILON, 1.0 - f64::EPSILON);
        Exponential { mean: range / -(1.0 - share).ln() }
    }

    /// Draws one.
    pub fn next(&self, random: &mut impl Rng) -> u64 {
        // One minus a draw from [0, 1) is never 0, whose logarithm has no end.
        (-(1.0 - random.random::<f64>()).ln() * self.mean) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::statistics::{DRAWS, assert_share, seeded};

    #[test]
    fn the_percentile_lies_at_the_range() {
        let exponential = Exponential::new(95.0, 10_000.0);
        let random = &mut seeded();
        let below = (0..DRAWS).filter(|_| exponential.next(random) < 10_000).count();
        assert_share(below as u64, 0.95);
    }

    #[test]
    fn half_of_the_draws_are_below_the_half_life() {
        let exponential = Exponential::new(95.0, 10_000.0);
        let half_life = (exponential.mean * 2_f64.ln()) as u64;
        let random = &mut seeded();
        let below = (0..DRAWS).filter(|_| exponential.next(random) < half_life).count();
        assert!((0.498..0.502).contains(&(below as f64 / DRAWS as f64)), "{below}");
    }
}
