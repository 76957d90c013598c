//! CRC-32C (Castagnoli), as RocksDB's log uses it.

/// A checksum under way.
#[derive(Clone, Copy)]
pub(crate) struct Crc32c(u32);

/// What each byte does to the checksum; polynomial 0x1EDC6F41, reflected.
const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut value, mut bit) = (byte as u32, 0);
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ 0x82F6_3B78 } else { value >> 1 };
            bit += 1;
        }
        table[byte] = value;
        byte += 1;
    }
    table
}

impl Crc32c {
    /// The checksum of nothing.
    pub(crate) fn new() -> Self {
        Self(!0)
    }

    /// The checksum of more bytes.
    pub(crate) fn update(self, bytes: &[u8]) -> Self {
        Self(
            bytes
                .iter()
                .fold(self.0, |crc, byte| (crc >> 8) ^ TABLE[usize::from(crc as u8 ^ byte)]),
        )
    }

    /// The checksum as RocksDB stores it: rotated, and moved by a constant, so that a checksum of
    /// bytes that hold checksums stays strong.
    pub(crate) fn masked(self) -> u32 {
        (!self.0).rotate_right(15).wrapping_add(0xa282_ead8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_of_the_standard_test_string_is_right() {
        let crc = !Crc32c::new().update(b"123456789").0;
        assert_eq!(crc, 0xE306_9283);
    }
}
