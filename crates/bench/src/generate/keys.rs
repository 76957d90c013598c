//! Keys of pairs.

use super::mix;

/// The key of a row that looks random: sixteen hexadecimal digits, a different one for each row.
pub fn pair_key(row: u64, into: &mut [u8; 16]) {
    ordered_key(mix(row), into);
}

/// The key of a row that keeps the rows' order: sixteen hexadecimal digits.
pub fn ordered_key(row: u64, into: &mut [u8; 16]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (at, byte) in row.to_be_bytes().into_iter().enumerate() {
        into[2 * at] = DIGITS[usize::from(byte >> 4)];
        into[2 * at + 1] = DIGITS[usize::from(byte & 15)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_hexadecimal_number() {
        let mut key = [0; 16];
        ordered_key(0x0123_4567_89ab_cdef, &mut key);
        assert_eq!(&key, b"0123456789abcdef");
        pair_key(7, &mut key);
        assert_eq!(String::from_utf8(key.to_vec()).unwrap(), format!("{:016x}", mix(7)));
    }
}
