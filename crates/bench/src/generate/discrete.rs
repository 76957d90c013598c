//! One of a few, by weight.

use rand::Rng;

/// Numbers below the count of some weights, each in proportion to its weight.
#[derive(Clone, Debug)]
pub struct Discrete {
    /// The weights added up, number by number.
    ends: Vec<f64>,
}

impl Discrete {
    /// One number for each weight. A weight that is not above 0 is never drawn; when none is,
    /// number 0 always is.
    pub fn new(weights: &[f64]) -> Self {
        let ends = weights.iter().scan(0.0, |sum, weight| {
            *sum += weight.max(0.0);
            Some(*sum)
        });
        Discrete { ends: ends.collect() }
    }

    /// Draws one.
    pub fn next(&self, random: &mut impl Rng) -> usize {
        let total = self.ends.last().copied().unwrap_or(0.0);
        let drawn = random.random::<f64>() * total;
        self.ends.iter().position(|&end| drawn < end).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::statistics::{assert_follows, histogram, seeded};

    #[test]
    fn numbers_are_drawn_by_weight() {
        let weights = [5.0, 1.0, 4.0];
        let discrete = Discrete::new(&weights);
        assert_follows(&histogram(3, |random| discrete.next(random) as u64), |number| {
            weights[number] / 10.0
        });
    }

    #[test]
    fn a_number_without_weight_is_never_drawn() {
        let discrete = Discrete::new(&[0.0, 1.0, 0.0]);
        let random = &mut seeded();
        assert!((0..1000).all(|_| discrete.next(random) == 1));
    }
}
