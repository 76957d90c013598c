//! Zipf's distribution, as Gray et al. draw it.

use tonnage_bench::generate::{Zipfian, zeta};

use super::statistics::{DRAWS, assert_follows, assert_share, histogram};

fn draws(zipfian: &Zipfian, count: usize) -> Vec<u64> {
    histogram(count, |random| zipfian.next(random))
}

#[test]
fn the_first_two_numbers_have_their_shares_of_zeta() {
    let zeta = zeta(0..1000);
    assert!((zeta - 7.728_953).abs() < 1e-6, "{zeta}");
    let seen = draws(&Zipfian::new(1000), 1000);
    assert_share(seen[0], 1.0 / zeta);
    assert_share(seen[1], 0.5_f64.powf(0.99) / zeta);
}

#[test]
fn draws_never_stray_from_zipfs_law_by_more_than_the_approximation_does() {
    let (mut seen, mut expected, mut apart) = (0.0, 0.0, 0.0_f64);
    for (number, count) in draws(&Zipfian::new(1000), 1000).into_iter().enumerate() {
        seen += count as f64 / DRAWS as f64;
        expected += ((number + 1) as f64).powf(-0.99) / zeta(0..1000);
        apart = apart.max((seen - expected).abs());
    }
    assert!(apart < 0.02, "{apart}");
}

#[test]
fn draws_follow_the_published_curve() {
    let (first, all) = (zeta(0..2), zeta(0..500));
    let eta = (1.0 - (2.0_f64 / 500.0).powf(0.01)) / (1.0 - first / all);
    // Where the curve reaches a number: the algorithm's last line, solved for the uniform draw.
    let reach = |number: usize| match number {
        0 => 0.0,
        1 => 1.0 / all,
        2 => first / all,
        _ => ((number as f64 / 500.0).powf(0.01) - 1.0 + eta) / eta,
    };
    assert_follows(&draws(&Zipfian::new(500), 500), |number| reach(number + 1) - reach(number));
}

#[test]
fn one_that_grew_is_as_one_made_large_and_never_shrinks() {
    let mut grown = Zipfian::new(10);
    for count in [700, 1000, 5] {
        grown.grow(count);
    }
    let (grown, made) = (draws(&grown, 1000), draws(&Zipfian::new(1000), 1000));
    // Sums of fractions differ in their last digits: a draw on the edge may fall to a neighbour.
    let apart: u64 = grown.iter().zip(&made).map(|(grown, made)| grown.abs_diff(*made)).sum();
    assert!(apart <= 2, "{apart}");
}

#[test]
fn few_numbers_are_drawn_as_well() {
    assert_eq!(draws(&Zipfian::new(1), 1), [DRAWS as u64]);
    assert_share(draws(&Zipfian::new(2), 2)[0], 1.0 / zeta(0..2));
    let three = draws(&Zipfian::new(3), 3);
    assert_eq!(three.iter().filter(|&&count| count > 0).count(), 3);
}
