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
pub struct Zipfian {
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
    pub fn new(count: u64) -> Self {
        let count = count.max(1);
        Self::with_zeta(count, zeta(0..count))
    }

    /// The same where the sum of 1 / k^0.99 over the count is known already.
    pub fn with_zeta(count: u64, zeta: f64) -> Self {
        let zeta_2 = 1.0 + 0.5_f64.powf(THETA);
        let mut zipfian = Zipfian { count, zeta, eta: 0.0, alpha: 1.0 / (1.0 - THETA), zeta_2 };
        zipfian.fit();
        zipfian
    }

    /// Takes in more numbers, in time in proportion to how many are new. It never shrinks: a
    /// smaller count is left alone.
    pub fn grow(&mut self, count: u64) {
        if count > self.count {
            self.zeta += zeta(self.count..count);
            self.count = count;
            self.fit();
        }
    }

    /// Draws one.
    pub fn next(&self, random: &mut impl Rng) -> u64 {
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
pub fn zeta(numbers: std::ops::Range<u64>) -> f64 {
    numbers.map(|number| ((number + 1) as f64).powf(-THETA)).sum()
}
