//! Orders that look random.

use proptest::prelude::*;
use tonnage_bench::generate::Permutation;

proptest! {
    #[test]
    fn each_number_comes_once(len in 1u64..5_000, seed: u64) {
        let permutation = Permutation::new(len, seed);
        let mut seen: Vec<u64> = (0..len).map(|place| permutation.at(place)).collect();
        seen.sort_unstable();
        prop_assert!(seen.into_iter().eq(0..len));
    }

    #[test]
    fn numbers_of_any_bound_stay_below_it(len in 1u64.., place: u64, seed: u64) {
        prop_assert!(Permutation::new(len, seed).at(place % len) < len);
    }
}

#[test]
fn neighbours_are_torn_apart() {
    let permutation = Permutation::new(1_000_000, 1);
    let distances =
        (1..10_000).map(|place| permutation.at(place).abs_diff(permutation.at(place - 1)));
    let mean = distances.sum::<u64>() / 9_999;
    // Two numbers drawn from a million lie a third of a million apart on average.
    assert!((300_000..366_000).contains(&mean), "{mean}");
}

#[test]
fn another_seed_is_another_order() {
    let (one, other) = (Permutation::new(1_000, 1), Permutation::new(1_000, 2));
    let same = (0..1_000).filter(|place| one.at(*place) == other.at(*place)).count();
    assert!(same < 20, "{same}");
}
