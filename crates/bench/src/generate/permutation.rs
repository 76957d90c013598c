//! All numbers below a bound, each once, in an order that looks random, without a list of them.
//!
//! 1. The smallest power of two that holds the bound is mixed by steps that each can be undone:
//!    add, fold the upper bits onto the lower ones, multiply by an odd number. So no two numbers
//!    meet.
//! 2. What lands beyond the bound is mixed again until it lands below ("cycle walking"). Each walk
//!    goes along one cycle of a permutation, so no two walks end at the same number. Less than half
//!    of the numbers lie beyond: two steps on average at most.

use super::mix;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Permutation {
    len: u64,
    mask: u64,
    shift: u32,
    seed: u64,
}

impl Permutation {
    /// The permutation of `len` numbers that belongs to a seed.
    pub(crate) fn new(len: u64, seed: u64) -> Self {
        let bits = (u64::BITS - len.saturating_sub(1).leading_zeros()).max(1);
        Permutation {
            len,
            mask: u64::MAX >> (u64::BITS - bits),
            shift: bits.div_ceil(2),
            seed: mix(seed),
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The number at a place, which must be below the bound: else the walk had no end.
    pub(crate) fn at(&self, place: u64) -> u64 {
        assert!(place < self.len, "place {place} of a permutation of {} numbers", self.len);
        let mut number = self.step(place);
        while number >= self.len {
            number = self.step(number);
        }
        number
    }

    fn step(&self, number: u64) -> u64 {
        const ODD: [u64; 3] = [0xD6E8_FEB8_6659_FD93, 0xA5A3_5640_0B82_3A6D, 0x9E6C_63D0_876A_68DF];
        ODD.into_iter().fold(number.wrapping_add(self.seed) & self.mask, |number, odd| {
            let folded = number ^ (number >> self.shift);
            folded.wrapping_mul(odd) & self.mask
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
}
