//! Whole numbers of any width at any bit of a value.

/// What a number is: signed or not, of so many bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FieldKind {
    pub(crate) is_signed: bool,
    pub(crate) bits: u8,
}

/// What becomes of a number that its field has no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldOverflow {
    /// The highest bits are lost.
    Wrap,
    /// It is the greatest or least number.
    Saturate,
    /// Nothing is stored.
    Fail,
}

/// What is done with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldChange {
    None,
    Set(i64),
    Add(i64),
}

/// What a command does with a field of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BitFieldOperation {
    pub(crate) kind: FieldKind,
    pub(crate) offset: usize,
    pub(crate) change: FieldChange,
    pub(crate) overflow: FieldOverflow,
    /// How long the value is at least, once it is changed.
    pub(crate) bytes_min: usize,
}

impl FieldKind {
    /// Reads `u8`, `i16` and so on.
    pub(crate) fn parse(word: &[u8]) -> Option<Self> {
        let (is_signed, digits) = match word {
            [b'i', digits @ ..] => (true, digits),
            [b'u', digits @ ..] => (false, digits),
            _ => return None,
        };
        let bits = crate::protocol::parse_integer(digits)?;
        let bits_max = if is_signed { 64 } else { 63 };
        (1..=bits_max).contains(&bits).then_some(Self { is_signed, bits: bits as u8 })
    }

    /// The last byte of a field.
    pub(crate) fn last_byte(self, offset: usize) -> Option<usize> {
        Some(offset.checked_add(usize::from(self.bits) - 1)? / 8)
    }

    fn bounds(self) -> (i128, i128) {
        match self.is_signed {
            true => (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1),
            false => (0, (1 << self.bits) - 1),
        }
    }

    /// The lowest bits of a number, as one of this kind.
    fn wrapped(self, number: i128) -> i64 {
        let above = 128 - u32::from(self.bits);
        match self.is_signed {
            true => (number << above >> above) as i64,
            false => ((number as u128) << above >> above) as i64,
        }
    }

    /// The number in a field; bytes after the end are 0.
    pub(crate) fn get(self, bytes: &[u8], offset: usize) -> i64 {
        let (first, last) = (offset / 8, self.last_byte(offset).unwrap_or(offset / 8));
        let at = |index: usize| u128::from(bytes.get(index).copied().unwrap_or(0));
        let window = (first..=last).fold(0, |window, index| window << 8 | at(index));
        let below = (last + 1) * 8 - offset - usize::from(self.bits);
        self.wrapped((window >> below) as i128)
    }

    /// Puts a number into a field of bytes that hold it.
    pub(crate) fn put(self, bytes: &mut [u8], offset: usize, number: i64) {
        for bit in 0..usize::from(self.bits) {
            let is_on = number >> (usize::from(self.bits) - 1 - bit) & 1 == 1;
            crate::bits::set(bytes, offset + bit, is_on);
        }
    }

    /// What a change makes of a number; none where it fails.
    pub(crate) fn change(
        self,
        before: i64,
        change: FieldChange,
        overflow: FieldOverflow,
    ) -> Option<i64> {
        let after = match change {
            FieldChange::None => return Some(before),
            FieldChange::Set(number) if self.is_signed => i128::from(number),
            // A number below 0 is a great one without a sign.
            FieldChange::Set(number) => i128::from(number as u64),
            FieldChange::Add(number) => i128::from(before) + i128::from(number),
        };
        let (least, greatest) = self.bounds();
        match overflow {
            _ if (least..=greatest).contains(&after) => Some(after as i64),
            FieldOverflow::Wrap => Some(self.wrapped(after)),
            FieldOverflow::Saturate => Some(after.clamp(least, greatest) as i64),
            FieldOverflow::Fail => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn kinds_have_a_sign_and_up_to_64_bits() {
        assert_eq!(FieldKind::parse(b"u63"), Some(FieldKind { is_signed: false, bits: 63 }));
        assert_eq!(FieldKind::parse(b"i64"), Some(FieldKind { is_signed: true, bits: 64 }));
        for word in [&b""[..], b"u", b"u0", b"u64", b"i65", b"8", b"x8", b"u-1", b"U8", b"u08"] {
            assert_eq!(FieldKind::parse(word), None, "{word:?}");
        }
    }

    proptest! {
        /// Against the bits one by one; the bits around a field stay as they are.
        #[test]
        fn what_was_put_is_read_and_nothing_else_changes(
            bytes in proptest::collection::vec(any::<u8>(), 20),
            offset in 0..80_usize, bits in 1..=64_u8, is_signed: bool, number: i64,
        ) {
            let kind = FieldKind { is_signed, bits: if is_signed { bits } else { bits.min(63) } };
            let mut changed = bytes.clone();
            kind.put(&mut changed, offset, number);
            prop_assert_eq!(kind.get(&changed, offset), kind.wrapped(number.into()));
            let field = offset..offset + usize::from(kind.bits);
            for bit in (0..160).filter(|bit| !field.contains(bit)) {
                prop_assert_eq!(crate::bits::get(&changed, bit), crate::bits::get(&bytes, bit));
            }
            let spelled = field.fold(0_u128, |spelled, bit| {
                spelled << 1 | u128::from(crate::bits::get(&bytes, bit))
            });
            prop_assert_eq!(kind.get(&bytes, offset), kind.wrapped(spelled as i128));
        }

        #[test]
        fn numbers_stay_within_their_bounds(
            before: i64, by: i64, bits in 1..=64_u8, is_signed: bool, sets: bool,
        ) {
            let kind = FieldKind { is_signed, bits: if is_signed { bits } else { bits.min(63) } };
            let before = kind.wrapped(before.into());
            let change = if sets { FieldChange::Set(by) } else { FieldChange::Add(by) };
            let (least, greatest) = kind.bounds();
            let of = |overflow| kind.change(before, change, overflow);
            for after in [of(FieldOverflow::Wrap), of(FieldOverflow::Saturate)] {
                let after = i128::from(after.unwrap());
                prop_assert!(least <= after && after <= greatest);
            }
            if let Some(after) = of(FieldOverflow::Fail) {
                prop_assert_eq!((of(FieldOverflow::Wrap), of(FieldOverflow::Saturate)),
                                (Some(after), Some(after)));
            }
        }
    }
}
