//! How far a run's rate may be off by chance.
//!
//! From three repeats on, it is Student's 95 % interval of their mean. With fewer, the readings of
//! the run must do: consecutive ones are put together in blocks, because a second is much like the
//! one before, and the interval is that of the blocks' means. Runs differ from one another by more
//! than their seconds do, therefore it is never less than a floor then.

use super::Run;

/// Where a noise was read from, the better one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoiseSource {
    /// From the repeats of the run.
    Repeats,
    /// From the readings by second of fewer than three repeats.
    Readings,
}

const REPEATS_MIN: usize = 3;
const READINGS_MIN: usize = 8;
const BLOCKS_MAX: usize = 10;
/// What one repeat may be off from another at the least.
const FLOOR: f64 = 0.02;

/// How far the rate of a run may be off, as a share of it; nothing when there is too little to read
/// it from.
pub(super) fn noise(run: &Run) -> Option<(f64, NoiseSource)> {
    if run.throughputs.len() >= REPEATS_MIN {
        return Some((interval(&run.throughputs)?, NoiseSource::Repeats));
    }
    let share = interval(&blocks(run)?)?.max(run.spread().unwrap_or(0.0) / 2.0).max(FLOOR);
    Some((share, NoiseSource::Readings))
}

/// The means of blocks of readings, the warm-up left out.
fn blocks(run: &Run) -> Option<Vec<f64>> {
    let measured = run.series.iter().filter(|second| !second.warm_up);
    let rates: Vec<f64> = measured.map(|second| second.throughput).collect();
    let blocks = (rates.len() / 2).min(BLOCKS_MAX);
    let start = |block: usize| block * rates.len() / blocks;
    (rates.len() >= READINGS_MIN)
        .then(|| (0..blocks).map(|block| mean(&rates[start(block)..start(block + 1)])).collect())
}

/// Half of Student's 95 % interval of the mean, as a share of the mean.
fn interval(samples: &[f64]) -> Option<f64> {
    let mean = mean(samples);
    let variance = samples.iter().map(|sample| (sample - mean).powi(2)).sum::<f64>()
        / (samples.len() - 1) as f64;
    let half = student(samples.len() - 1) * (variance / samples.len() as f64).sqrt();
    (mean > 0.0).then(|| half / mean)
}

fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// Student's t for 97.5 %, by degrees of freedom.
fn student(freedom: usize) -> f64 {
    const TABLE: [f64; 10] =
        [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    TABLE.get(freedom - 1).copied().unwrap_or(if freedom < 30 { 2.2 } else { 2.05 })
}
