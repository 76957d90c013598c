//! YCSB's distributions of numbers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::Rng;

use super::{Zipfian, ycsb_hash};

/// Draws numbers below a count. Each thread has a clone, because making one may take time.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the variants say what their fields are")]
pub enum Distribution {
    /// All alike.
    Uniform { count: u64 },
    /// A few very often, scattered over all of them: see [`Distribution::scrambled_zipfian`].
    ScrambledZipfian { ranks: Zipfian, count: u64 },
    /// The newest most often, then the one before it, as Zipf's law has it.
    Latest { ages: Zipfian },
    /// The first numbers are hot, the others cold; alike within each part.
    Hotspot { hot_count: u64, count: u64, hot_share: f64 },
    /// In order, from 0 on again after the last. Clones take turns.
    Sequential { turns: Arc<AtomicU64>, count: u64 },
    /// The newest more often, falling off exponentially with the age.
    Exponential { mean_age: f64 },
}

impl Distribution {
    /// Ranks of a scrambled zipfian distribution.
    pub const RANKS: u64 = 10_000_000_000;
    /// The sum of 1 / k^0.99 over all of them: adding them up would take minutes.
    pub const ZETA: f64 = 26.469_028_201_783_02;

    /// As in YCSB, ranks are drawn from ten thousand million items whatever the count is, and
    /// hashed onto it. So the hottest number has the same share at every count, and many cold ranks
    /// fall onto the same number.
    pub fn scrambled_zipfian(count: u64) -> Self {
        let ranks = Zipfian::with_zeta(Self::RANKS, Self::ZETA);
        Distribution::ScrambledZipfian { ranks, count }
    }

    /// Of `count` numbers the first `data_fraction` get `operation_fraction` of the draws.
    /// Fractions are held to 0 and 1. A part without numbers gets no draws.
    pub fn hotspot(count: u64, data_fraction: f64, operation_fraction: f64) -> Self {
        let hot_count = ((count as f64 * data_fraction.clamp(0.0, 1.0)) as u64).min(count);
        let hot_share = match hot_count {
            0 => 0.0,
            all if all == count => 1.0,
            _ => operation_fraction.clamp(0.0, 1.0),
        };
        Distribution::Hotspot { hot_count, count, hot_share }
    }

    /// All numbers below a count, in order, again and again.
    pub fn sequential(count: u64) -> Self {
        Distribution::Sequential { turns: Arc::default(), count }
    }

    /// `percentile` per cent of the draws are of ages below `range`; held to what an exponential
    /// distribution can do.
    pub fn exponential(percentile: f64, range: f64) -> Self {
        let share = (percentile / 100.0).clamp(f64::EPSILON, 1.0 - f64::EPSILON);
        Distribution::Exponential { mean_age: range / -(1.0 - share).ln() }
    }

    /// Draws one; there are `count` numbers by now. It may give one that is not there.
    pub fn draw(&mut self, random: &mut impl Rng, count: u64) -> u64 {
        // Only distributions by age use `count`: YCSB fixes the range of the others at the start.
        let newest = count.saturating_sub(1);
        match self {
            Distribution::Uniform { count } => below(random, *count),
            Distribution::ScrambledZipfian { ranks, count } => {
                ycsb_hash(ranks.next(random)) % (*count).max(1)
            }
            Distribution::Latest { ages } => {
                ages.grow(count);
                newest.saturating_sub(ages.next(random))
            }
            Distribution::Hotspot { hot_count, count, hot_share } => {
                if random.random_bool(*hot_share) {
                    below(random, *hot_count)
                } else {
                    *hot_count + below(random, *count - *hot_count)
                }
            }
            Distribution::Sequential { turns, count } => {
                turns.fetch_add(1, Ordering::Relaxed) % (*count).max(1)
            }
            // One older than the oldest wraps around to a number past the newest. One minus a draw
            // from [0, 1) is never 0, whose logarithm has no end.
            Distribution::Exponential { mean_age } => {
                newest.wrapping_sub((-(1.0 - random.random::<f64>()).ln() * *mean_age) as u64)
            }
        }
    }
}

/// A number below a count, all alike; a count of 0 is taken for 1.
pub fn below(random: &mut impl Rng, count: u64) -> u64 {
    random.random_range(0..count.max(1))
}
