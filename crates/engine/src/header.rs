//! The header that engines keep before every value: format, version, expiry.
//!
//! | bytes | what |
//! |---|---|
//! | 0 | format number (low seven bits, now 1); the top bit says that an expiry follows |
//! | 1..9 | version, little-endian |
//! | 9..17 | expiry in milliseconds since 1970, little-endian, only when the top bit of byte 0 is set |

use crate::{Error, Result};

/// The newest format that this library writes, and the newest that it reads.
pub(crate) const FORMAT: u8 = 1;

/// The expiry of a row that lives for ever.
pub const NEVER_MS: u64 = 0;

const EXPIRES: u8 = 0x80;
const PLAIN_LEN: usize = 9;
const EXPIRING_LEN: usize = 17;

/// What an engine knows of a value besides its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Grows with each write of the row.
    pub version: u64,
    /// When the row ceases to exist, in milliseconds since 1970; [`NEVER_MS`] for never.
    pub expires_at_ms: u64,
}

impl Header {
    /// How many bytes [`Header::append_to`] appends.
    #[inline]
    pub fn encoded_len(&self) -> usize {
        if self.expires_at_ms == NEVER_MS { PLAIN_LEN } else { EXPIRING_LEN }
    }

    /// Appends the header to a buffer.
    #[inline]
    pub fn append_to(&self, buffer: &mut Vec<u8>) {
        let expires = self.expires_at_ms != NEVER_MS;
        let mut bytes = [0; EXPIRING_LEN];
        bytes[0] = FORMAT | if expires { EXPIRES } else { 0 };
        bytes[1..9].copy_from_slice(&self.version.to_le_bytes());
        bytes[9..17].copy_from_slice(&self.expires_at_ms.to_le_bytes());
        buffer.extend_from_slice(&bytes[..self.encoded_len()]);
    }

    /// Splits a stored value into its header and its payload.
    ///
    /// # Errors
    /// `Corruption` when the value is too short, `Unsupported` when a newer Tonnage wrote it.
    #[inline]
    pub fn split(value: &[u8]) -> Result<(Header, &[u8])> {
        let Some(&first) = value.first() else { return Err(too_short(value)) };
        if first & !EXPIRES != FORMAT {
            return Err(unknown_format(first & !EXPIRES));
        }
        let len = if first & EXPIRES == 0 { PLAIN_LEN } else { EXPIRING_LEN };
        let Some((header, payload)) = value.split_at_checked(len) else {
            return Err(too_short(value));
        };
        let version = u64::from_le_bytes(header[1..9].try_into().expect("eight bytes"));
        let expires_at_ms = match header.get(9..17) {
            Some(bytes) => u64::from_le_bytes(bytes.try_into().expect("eight bytes")),
            None => NEVER_MS,
        };
        Ok((Header { version, expires_at_ms }, payload))
    }

    /// Whether the row still exists at `now_ms`.
    #[inline]
    pub fn is_live(&self, now_ms: u64) -> bool {
        self.expires_at_ms == NEVER_MS || self.expires_at_ms > now_ms
    }
}

#[cold]
fn too_short(value: &[u8]) -> Error {
    Error::corruption(format!(
        "a stored value of {} bytes is too short for its header: run `check`, then restore from a copy",
        value.len()
    ))
}

#[cold]
fn unknown_format(format: u8) -> Error {
    if format > FORMAT {
        Error::unsupported(format!(
            "a stored value has format {format}, this Tonnage reads formats up to {FORMAT}: use a newer Tonnage"
        ))
    } else {
        Error::corruption(format!(
            "a stored value has the unknown format {format}: run `check`, then restore from a copy"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_back_with_its_payload() {
        for expires_at_ms in [NEVER_MS, 1, u64::MAX] {
            let header = Header { version: 77, expires_at_ms };
            let mut value = Vec::new();
            header.append_to(&mut value);
            assert_eq!(value.len(), header.encoded_len());
            value.extend_from_slice(b"payload");
            assert_eq!(Header::split(&value).unwrap(), (header, &b"payload"[..]));
        }
    }

    #[test]
    fn a_damaged_or_newer_header_is_an_error() {
        use crate::ErrorKind::{Corruption, Unsupported};
        for (value, kind) in [
            (&[][..], Corruption),
            (&[1, 2], Corruption),
            (&[0x81; 10], Corruption),
            (&[9; 20], Unsupported),
            (&[0; 20], Corruption),
        ] {
            assert_eq!(Header::split(value).unwrap_err().kind(), kind, "{value:?}");
        }
    }
}
