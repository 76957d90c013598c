//! Versions of rows as bytes, which mean nothing to a client.

use super::failure::{Failure, Outcome};

/// The prefix of the bytes: it distinguishes them from those of another store.
const LEAD: [u8; 4] = *b"TNv1";

pub(crate) fn version_bytes(version: u64) -> [u8; 12] {
    let mut bytes = [0; 12];
    bytes[..4].copy_from_slice(&LEAD);
    bytes[4..].copy_from_slice(&version.to_be_bytes());
    bytes
}

pub(super) fn version_of(bytes: &[u8]) -> Outcome<u64> {
    let number = bytes.strip_prefix(&LEAD).and_then(|number| number.try_into().ok());
    let number = number.ok_or_else(|| Failure::argument("Invalid byte format of Version"))?;
    Ok(u64::from_be_bytes(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_reads_back_and_other_bytes_are_none() {
        for version in [0, 1, u64::MAX] {
            assert_eq!(version_of(&version_bytes(version)), Ok(version));
        }
        for rubbish in [&b"abc"[..], b"", b"TNv1", &[0; 12]] {
            assert!(version_of(rubbish).is_err(), "{rubbish:?}");
        }
    }
}
