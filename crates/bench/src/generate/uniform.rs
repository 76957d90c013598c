//! All numbers alike.

use rand::Rng;

/// Numbers below a count, all alike.
#[derive(Clone, Copy, Debug)]
pub struct Uniform {
    count: u64,
}

impl Uniform {
    /// Numbers from 0 to `count`, exclusive; a count of 0 is taken for 1.
    pub fn new(count: u64) -> Self {
        Uniform { count: count.max(1) }
    }

    /// Draws one.
    pub fn next(&self, random: &mut impl Rng) -> u64 {
        random.random_range(0..self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::statistics::{assert_follows, histogram};

    #[test]
    fn all_numbers_are_drawn_alike() {
        let uniform = Uniform::new(1000);
        assert_follows(&histogram(1000, |random| uniform.next(random)), |_| 1e-3);
    }
}
