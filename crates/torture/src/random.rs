//! Random numbers that follow from a seed.

use tonnage_testkit::Random;

/// A source of numbers; equal seeds give equal ones.
pub(crate) struct SeededRandom(Random);

impl SeededRandom {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Random(seed))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.number()
    }

    /// A number below `n`, which is not 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    /// Whether something happens that does so in `percent` of all cases.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn choose<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }
}
