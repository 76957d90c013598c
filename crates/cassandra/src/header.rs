//! Column `h`: what the engine knows of a row besides its key and payload.
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | version, big-endian |
//! | 8 | 1 if the row was stored on a condition, otherwise 0 |
//! | 9..17 | expiry in milliseconds since 1970, big-endian; 0 for never |
//! | 17..25 | only of a small write: a number that no other write has |
//!
//! The number tells a writer whose request got no answer whether it was carried out.
//!
//! A small deletion leaves a header too, for an hour: that of a row that expired long ago. A
//! request may reach a node late, after its writer has given it up. If the row were gone without a
//! trace, a request for a new row would find none, and bring back what was deleted since.

use tonnage_engine::{Error, NEVER_MS, Result};

const PLAIN_LEN: usize = 17;
pub(crate) const MARKED_LEN: usize = 25;

/// When a deleted row has expired, by any clock.
const DELETED_MS: u64 = 1;

/// For how long Cassandra keeps the header of a deleted row.
pub(crate) const DELETED_TTL_SECONDS: i32 = 3_600;

/// What column `h` holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowHeader {
    pub(crate) version: u64,
    pub(crate) is_conditional: bool,
    pub(crate) expires_at_ms: u64,
}

impl RowHeader {
    /// The header that a deletion leaves.
    pub(crate) fn deleted(version: u64, is_conditional: bool) -> Self {
        Self { version, is_conditional, expires_at_ms: DELETED_MS }
    }

    /// The header of a row that a load stores.
    pub(crate) fn to_bytes(self) -> [u8; PLAIN_LEN] {
        let mut bytes = [0; PLAIN_LEN];
        bytes[..8].copy_from_slice(&self.version.to_be_bytes());
        bytes[8] = u8::from(self.is_conditional);
        bytes[9..].copy_from_slice(&self.expires_at_ms.to_be_bytes());
        bytes
    }

    /// The header of a row that a small write stores.
    pub(crate) fn to_marked_bytes(self, mark: u64) -> Vec<u8> {
        [&self.to_bytes()[..], &mark.to_be_bytes()].concat()
    }

    /// Reads a header.
    ///
    /// # Errors
    /// `Corruption` for anything else.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self> {
        if bytes.len() != PLAIN_LEN && bytes.len() != MARKED_LEN || bytes[8] > 1 {
            return Err(damaged(bytes));
        }
        let number = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight"));
        Ok(Self { version: number(0), is_conditional: bytes[8] == 1, expires_at_ms: number(9) })
    }

    /// Whether the row still exists at `now_ms`.
    pub(crate) fn is_live(self, now_ms: u64) -> bool {
        self.expires_at_ms == NEVER_MS || self.expires_at_ms > now_ms
    }
}

#[cold]
fn damaged(bytes: &[u8]) -> Error {
    Error::corruption(format!(
        "column h of a row holds {} bytes that are not a header: restore the row from a copy",
        bytes.len()
    ))
}

/// Twenty years, the most that Cassandra takes.
const TTL_SECONDS_MAX: u64 = 20 * 365 * 86_400;

/// How much longer than asked for Cassandra keeps a row: clocks differ, and the engine judges
/// expiry by its own.
const TTL_RESERVE_SECONDS: u64 = 3_600;

/// The seconds after which Cassandra may let go of a row; 0 for never.
pub(crate) fn ttl_seconds(expires_at_ms: u64, now_ms: u64) -> i32 {
    if expires_at_ms == NEVER_MS {
        return 0;
    }
    let seconds = expires_at_ms.saturating_sub(now_ms).div_ceil(1_000) + TTL_RESERVE_SECONDS;
    if seconds > TTL_SECONDS_MAX { 0 } else { seconds as i32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_it_was_written() {
        for (is_conditional, expires_at_ms) in [(false, NEVER_MS), (true, u64::MAX)] {
            let header =
                RowHeader { version: 0x0102_0304_0506_0708, is_conditional, expires_at_ms };
            assert_eq!(RowHeader::read(&header.to_bytes()).unwrap(), header);
            assert_eq!(RowHeader::read(&header.to_marked_bytes(9)).unwrap(), header);
        }
        for bytes in [&[][..], &[0; 16], &[2; 17], &[0; 26]] {
            let error = RowHeader::read(bytes).unwrap_err();
            assert_eq!(error.kind(), tonnage_engine::ErrorKind::Corruption);
        }
    }

    #[test]
    fn a_deleted_row_lives_by_no_clock() {
        assert!(!RowHeader::deleted(5, true).is_live(1));
    }

    #[test]
    fn cassandra_keeps_a_row_longer_than_it_lives() {
        assert_eq!(ttl_seconds(NEVER_MS, 5_000), 0);
        assert_eq!(ttl_seconds(5_001, 5_000), 3_601);
        assert_eq!(ttl_seconds(4_000, 5_000), 3_600);
        assert_eq!(ttl_seconds(u64::MAX, 5_000), 0);
    }
}
