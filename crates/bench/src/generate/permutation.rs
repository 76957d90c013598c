//! All numbers below a bound, each once, in an order that looks random, without a list of them.
//!
//! 1. The smallest power of two that holds the bound is mixed by steps that each can be undone:
//!    add, fold the upper bits onto the lower ones, multiply by an odd number. So no two numbers
//!    meet.
//! 2. What lands beyond the bound is mixed again until it lands below ("cycle walking"). Each walk
//!    follows one cycle of a permutation, so no two walks end at the same number. Less than half of
//!    the numbers lie beyond: two steps on average at most.

use super::mix;

/// An order of all numbers below a bound.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    len: u64,
    mask: u64,
    shift: u32,
    seed: u64,
}

impl Permutation {
    /// The permutation of `len` numbers that belongs to a seed.
    pub fn new(len: u64, seed: u64) -> Self {
        let bits = (u64::BITS - len.saturating_sub(1).leading_zeros()).max(1);
        Permutation {
            len,
            mask: u64::MAX >> (u64::BITS - bits),
            shift: bits.div_ceil(2),
            seed: mix(seed),
        }
    }

    /// How many numbers there are.
    pub fn count(&self) -> u64 {
        self.len
    }

    /// The number at a position, which must be below the bound: else the walk had no end.
    pub fn at(&self, place: u64) -> u64 {
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
