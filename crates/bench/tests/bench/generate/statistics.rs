//! What the tests of distributions share: a million draws with a fixed seed, and Pearson's
//! chi-square.

use rand::SeedableRng;
use rand::rngs::SmallRng;

pub(super) const DRAWS: usize = 1_000_000;

/// The same random numbers in every test.
pub(super) fn seeded() -> SmallRng {
    SmallRng::seed_from_u64(0x005e_ed0f_7e57)
}

pub(super) fn histogram(count: usize, mut draw: impl FnMut(&mut SmallRng) -> u64) -> Vec<u64> {
    let mut random = seeded();
    let mut seen = vec![0; count];
    for _ in 0..DRAWS {
        seen[draw(&mut random) as usize] += 1;
    }
    seen
}

/// Demands that counts follow probabilities: chi-square within five standard deviations of its
/// mean.
pub(super) fn assert_follows(seen: &[u64], probability: impl Fn(usize) -> f64) {
    let total: u64 = seen.iter().sum();
    let mut square = 0.0;
    for (number, &count) in seen.iter().enumerate() {
        let expected = probability(number) * total as f64;
        assert!(expected > 5.0, "too few draws for number {number}");
        square += (count as f64 - expected).powi(2) / expected;
    }
    let freedom = (seen.len() - 1) as f64;
    let bound = freedom + 5.0 * (2.0 * freedom).sqrt();
    assert!(square < bound, "chi-square is {square:.0}, above {bound:.0}");
}

/// Demands a share of draws, within five standard deviations of a binomial count.
pub(super) fn assert_share(seen: u64, share: f64) {
    let expected = share * DRAWS as f64;
    let bound = 5.0 * (expected * (1.0 - share)).sqrt();
    assert!(
        (seen as f64 - expected).abs() < bound,
        "{seen} of {DRAWS} draws, expected {expected:.0} +- {bound:.0}"
    );
}
