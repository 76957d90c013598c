//! Whole numbers, packed: small ones in a byte, others after a byte of sign and length.

/// The first bytes of numbers of one byte.
const SHORT_FIRST: u8 = 0x08;
const SHORT_LAST: u8 = 0xf7;
/// The difference of such a byte to its number.
const SHORT_OFFSET: i64 = 127;
/// What is added to longer numbers below and above those of one byte.
const BELOW: i64 = -119;
const ABOVE: i64 = 121;

/// The number that bytes begin with, and how many of them it takes; nothing where they end in it.
///
/// Writers need not choose the shortest form: one of them writes all negative numbers in 8 bytes,
/// and numbers from 2^63 on wrap around.
pub(super) fn read_packed(bytes: &[u8]) -> Option<(i64, usize)> {
    let first = *bytes.first()?;
    let (fill, offset, len) = match first {
        SHORT_FIRST..=SHORT_LAST => return Some((i64::from(first) - SHORT_OFFSET, 1)),
        below if below < SHORT_FIRST => (0xff, BELOW, SHORT_FIRST - below),
        above => (0, ABOVE, above - SHORT_LAST),
    };
    let len = usize::from(len);
    let digits = bytes.get(1..1 + len)?;
    let mut whole = [fill; 8];
    whole[8 - len..].copy_from_slice(digits);
    Some((i64::from_be_bytes(whole).wrapping_add(offset), 1 + len))
}

/// Writes a number in its shortest form.
pub(super) fn write_packed(number: i64, out: &mut Vec<u8>) {
    let is_negative = number < 0;
    let (fill, offset) = match number {
        BELOW..ABOVE => {
            out.push((number + SHORT_OFFSET) as u8);
            return;
        }
        _ if is_negative => (0xff, BELOW),
        _ => (0, ABOVE),
    };
    // Neither can overflow: the offset brings the number nearer to zero.
    let whole = (number - offset).to_be_bytes();
    let len = 8 - whole.iter().take(7).take_while(|byte| **byte == fill).count();
    let length = len as u8;
    out.push(if is_negative { SHORT_FIRST - length } else { SHORT_LAST + length });
    out.extend_from_slice(&whole[8 - len..]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(number: i64) -> Vec<u8> {
        let mut out = Vec::new();
        write_packed(number, &mut out);
        out
    }

    #[test]
    fn numbers_have_the_bytes_that_other_writers_give_them() {
        let known: [(i64, &[u8]); 10] = [
            (0, &[0x7f]),
            (-119, &[0x08]),
            (120, &[0xf7]),
            (121, &[0xf8, 0]),
            (376, &[0xf8, 0xff]),
            (377, &[0xf9, 1, 0]),
            (-120, &[0x07, 0xff]),
            (-375, &[0x07, 0]),
            (-376, &[0x06, 0xfe, 0xff]),
            (i64::MAX, &[0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x86]),
        ];
        for (number, bytes) in known {
            assert_eq!(written(number), bytes, "{number}");
            assert_eq!(read_packed(bytes), Some((number, bytes.len())), "{number}");
        }
    }

    /// As the Python SDK writes a negative number and one beyond 64 bits.
    #[test]
    fn forms_that_are_not_the_shortest_are_read() {
        let all = |first: u8, number: i64| {
            let mut bytes = vec![first];
            bytes.extend_from_slice(&number.to_be_bytes());
            bytes
        };
        assert_eq!(read_packed(&all(0, -1 - BELOW)), Some((-1, 9)));
        assert_eq!(read_packed(&all(0, i64::MIN - BELOW)), Some((i64::MIN, 9)));
        assert_eq!(read_packed(&all(0xff, 0)), Some((121, 9)));
        assert_eq!(read_packed(&all(0xff, i64::MAX - ABOVE + 1)), Some((i64::MIN, 9)));
    }

    #[test]
    fn what_is_cut_off_is_no_number() {
        for whole in [written(1_000_000), written(-1_000_000)] {
            for end in 0..whole.len() {
                assert_eq!(read_packed(&whole[..end]), None);
            }
        }
    }

    proptest! {
        #[test]
        fn a_number_reads_back(number: i64) {
            let bytes = written(number);
            prop_assert_eq!(read_packed(&bytes), Some((number, bytes.len())));
        }

        #[test]
        fn greater_numbers_have_greater_bytes(one: i64, other: i64) {
            prop_assert_eq!(one.cmp(&other), written(one).cmp(&written(other)));
        }
    }
}
