//! Values as rows of bits: the first one is the highest of the first byte.

/// What positions count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BitUnit {
    Byte,
    Bit,
}

/// The bit at an offset; those after the end are off.
pub(crate) fn get(bytes: &[u8], offset: usize) -> bool {
    bytes.get(offset / 8).is_some_and(|byte| byte >> (7 - offset % 8) & 1 == 1)
}

/// Sets a bit of bytes that hold it, and says what it was.
pub(crate) fn set(bytes: &mut [u8], offset: usize, bit: bool) -> bool {
    let before = get(bytes, offset);
    let mask = 1 << (7 - offset % 8);
    let byte = &mut bytes[offset / 8];
    *byte = if bit { *byte | mask } else { *byte & !mask };
    before
}

/// The positions from `start` to `end`, both inside, as a half-open range of bits.
fn bit_range(start: i64, end: i64, unit: BitUnit, len: usize) -> Option<(usize, usize)> {
    let count = if unit == BitUnit::Byte { len as i64 } else { len as i64 * 8 };
    if start < 0 && end < 0 && start > end {
        return None;
    }
    let from_end = |index: i64| if index < 0 { (count + index).max(0) } else { index };
    let (start, end) = (from_end(start), from_end(end).min(count - 1));
    let bits = if unit == BitUnit::Byte { 8 } else { 1 };
    (start <= end).then_some((start as usize * bits, (end + 1) as usize * bits))
}

/// How many bits of a range are on.
pub(crate) fn count(bytes: &[u8], start: i64, end: i64, unit: BitUnit) -> i64 {
    let Some((start, end)) = bit_range(start, end, unit, bytes.len()) else { return 0 };
    let whole = &bytes[start.div_ceil(8).min(end / 8)..end / 8];
    let ones: u32 = whole.iter().map(|byte| byte.count_ones()).sum();
    // Bits before the first whole byte and after the last one.
    let head = start..start.div_ceil(8).saturating_mul(8).min(end);
    let tail = (end / 8 * 8).max(head.end)..end;
    let rest = head.chain(tail).filter(|offset| get(bytes, *offset)).count();
    i64::from(ones) + rest as i64
}

/// The first such bit of a range, or -1. Without an end, bits after the last byte are off.
pub(crate) fn find(bytes: &[u8], bit: bool, start: i64, end: Option<i64>, unit: BitUnit) -> i64 {
    let Some((start, until)) = bit_range(start, end.unwrap_or(-1), unit, bytes.len()) else {
        return -1;
    };
    let skipped = if bit { 0 } else { 0xFF };
    let mut offset = start;
    while offset < until {
        if offset.is_multiple_of(8) && until - offset >= 8 && bytes[offset / 8] == skipped {
            offset += 8;
        } else if get(bytes, offset) == bit {
            return offset as i64;
        } else {
            offset += 1;
        }
    }
    if !bit && end.is_none() { until as i64 } else { -1 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_and_finds_are_those_of_bit_after_bit(
            bytes in proptest::collection::vec(prop_oneof![Just(0u8), Just(255), any::<u8>()], 0..6),
            start in -60i64..60, end in -60i64..60, by_bit: bool, bit: bool,
        ) {
            let unit = if by_bit { BitUnit::Bit } else { BitUnit::Byte };
            let range = bit_range(start, end, unit, bytes.len()).unwrap_or((0, 0));
            let on = (range.0..range.1).filter(|at| get(&bytes, *at)).count();
            prop_assert_eq!(count(&bytes, start, end, unit), on as i64);
            let first = (range.0..range.1).find(|at| get(&bytes, *at) == bit);
            let found = find(&bytes, bit, start, Some(end), unit);
            prop_assert_eq!(found, first.map_or(-1, |at| at as i64));
        }
    }

    #[test]
    fn zeros_go_on_behind_the_end_unless_an_end_was_given() {
        assert_eq!(find(&[0xFF], false, 0, None, BitUnit::Byte), 8);
        assert_eq!(find(&[0xFF], false, 0, Some(-1), BitUnit::Byte), -1);
        assert_eq!(find(&[], false, 0, None, BitUnit::Byte), -1);
    }
}
