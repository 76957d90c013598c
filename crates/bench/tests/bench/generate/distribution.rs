//! YCSB's distributions, each against what is known of it.

use tonnage_bench::generate::{Distribution, Zipfian, ycsb_hash, zeta};

use super::statistics::{DRAWS, assert_follows, assert_share, histogram, seeded};

fn seen(mut distribution: Distribution, count: u64) -> Vec<u64> {
    histogram(count as usize, |random| distribution.draw(random, count))
}

#[test]
fn uniform_numbers_are_drawn_alike() {
    assert_follows(&seen(Distribution::Uniform { count: 1000 }, 1000), |_| 1e-3);
}

#[test]
fn the_hot_part_gets_its_share_and_within_each_part_all_are_alike() {
    let seen = seen(Distribution::hotspot(1000, 0.2, 0.8), 1000);
    assert_share(seen[..200].iter().sum(), 0.8);
    assert_follows(&seen[..200], |_| 1.0 / 200.0);
    assert_follows(&seen[200..], |_| 1.0 / 800.0);
}

#[test]
fn a_part_without_numbers_gets_no_draws() {
    for (data_fraction, operation_fraction) in [(0.0, 0.8), (1.0, 0.8), (0.0001, 1.0)] {
        let hotspot = Distribution::hotspot(1000, data_fraction, operation_fraction);
        assert_follows(&seen(hotspot, 1000), |_| 1e-3);
    }
}

#[test]
fn sequential_numbers_come_in_order_and_begin_again() {
    let (mut sequential, random) = (Distribution::sequential(3), &mut seeded());
    let numbers: Vec<u64> = (0..7).map(|_| sequential.clone().draw(random, 3)).collect();
    assert_eq!(numbers, [0, 1, 2, 0, 1, 2, 0]);
    assert_eq!(sequential.draw(random, 3), 1);
}

#[test]
fn of_exponential_ages_the_percentile_lies_at_the_range_and_half_below_the_half_life() {
    let mut exponential = Distribution::exponential(95.0, 10_000.0);
    let Distribution::Exponential { mean_age } = exponential else { unreachable!() };
    let random = &mut seeded();
    let mut age = || u64::MAX - 1 - exponential.draw(random, u64::MAX);
    let ages: Vec<u64> = (0..DRAWS).map(|_| age()).collect();
    let below = |bound: u64| ages.iter().filter(|age| **age < bound).count() as u64;
    assert_share(below(10_000), 0.95);
    let half = below((mean_age * 2_f64.ln()) as u64) as f64 / DRAWS as f64;
    assert!((0.498..0.502).contains(&half), "{half}");
}

#[test]
fn the_newest_come_most_often_and_have_the_shares_of_zipfs_first() {
    let seen = seen(Distribution::Latest { ages: Zipfian::new(1000) }, 1000);
    assert_share(seen[999], 1.0 / zeta(0..1000));
    assert_share(seen[998], 0.5_f64.powf(0.99) / zeta(0..1000));
    let tenths: Vec<u64> = seen.chunks(100).map(|tenth| tenth.iter().sum()).collect();
    assert!(tenths.is_sorted() && tenths[9] > 5 * tenths[8], "{tenths:?}");
}

#[test]
fn what_comes_later_is_drawn_from_then_on() {
    let mut latest = Distribution::Latest { ages: Zipfian::new(10) };
    let random = &mut seeded();
    assert!((0..1000).all(|_| latest.draw(random, 10) < 10));
    assert!((0..1000).filter(|_| latest.draw(random, 20) >= 10).count() > 500);
}

#[test]
fn the_hottest_numbers_have_the_shares_of_zipfs_first() {
    const COUNT: u64 = 100_000;
    let mut seen = seen(Distribution::scrambled_zipfian(COUNT), COUNT);
    assert_share(seen[(ycsb_hash(0) % COUNT) as usize], 1.0 / Distribution::ZETA);
    let second = 0.5_f64.powf(0.99) / Distribution::ZETA;
    assert_share(seen[(ycsb_hash(1) % COUNT) as usize], second);
    seen.sort_unstable_by(|a, b| b.cmp(a));
    let share = seen[..100].iter().sum::<u64>() as f64 / DRAWS as f64;
    let expected = zeta(0..100) / Distribution::ZETA;
    assert!((share - expected).abs() < 0.01, "{share} instead of {expected}");
}

#[test]
fn the_hot_numbers_do_not_stand_together() {
    for quarter in seen(Distribution::scrambled_zipfian(1000), 1000).chunks(250) {
        let share = quarter.iter().sum::<u64>() as f64 / DRAWS as f64;
        assert!((0.15..0.40).contains(&share), "{share}");
    }
}

#[test]
fn the_known_sum_is_that_of_the_ranks() {
    // Euler and Maclaurin: the sum up to n is near its integral, and the first terms carry the
    // difference.
    let ranks = Distribution::RANKS as f64;
    let integral = (ranks.powf(0.01) - 1000_f64.powf(0.01)) / 0.01;
    let ends = (ranks.powf(-0.99) - 1000_f64.powf(-0.99)) / 2.0;
    assert!((zeta(0..1000) + integral + ends - Distribution::ZETA).abs() < 1e-6);
}
