//! The shape of keys: where the shard key ends.

use crate::{Error, Result, ShardId};

/// How one part of a shard key delimits itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyPart {
    /// Always this many bytes.
    Fixed(u16),
    /// Escaped bytes: 0x00 becomes `00 FF`, and `00 01` ends the part.
    Terminated,
    /// A path of terminated parts, ended by `00 00`.
    Path,
    /// The number of a shard, two bytes big-endian. It is used alone: see
    /// [`KeyShape::shard_prefixed`].
    Shard,
}

/// Bytes of a shard number at the start of a key in a shard-prefixed space.
pub const SHARD_LEN: usize = 2;

/// The parts of the shard key of every key in a space.
///
/// Because each part delimits itself, no shard key is a prefix of another, and rows of one shard
/// key lie side by side in byte order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyShape {
    parts: Vec<KeyPart>,
}

impl KeyShape {
    /// A shape of these parts.
    pub fn new(parts: impl Into<Vec<KeyPart>>) -> Self {
        Self { parts: parts.into() }
    }

    /// The shape of a *shard-prefixed* space, whose keys say themselves which shard holds them.
    /// Each begins with the number of its shard, two bytes big-endian. An index is such a space,
    /// since its entries must lie in the shards of their rows.
    pub fn shard_prefixed() -> Self {
        Self::new([KeyPart::Shard])
    }

    /// Whether keys of this shape name their shard.
    #[inline]
    pub fn is_shard_prefixed(&self) -> bool {
        self.parts == [KeyPart::Shard]
    }

    /// The parts, in order.
    pub fn parts(&self) -> &[KeyPart] {
        &self.parts
    }

    /// How many bytes of `key` are its shard key.
    ///
    /// # Errors
    /// `Invalid` when the key ends before its shard key does.
    #[inline]
    pub fn shard_key_len(&self, key: &[u8]) -> Result<usize> {
        let mut position = 0;
        for part in &self.parts {
            position = part.end(key, position).ok_or_else(|| self.too_short(key))?;
        }
        Ok(position)
    }

    #[cold]
    fn too_short(&self, key: &[u8]) -> Error {
        Error::invalid(format!(
            "a key of {} bytes does not hold the whole shard key of its space ({:?})",
            key.len(),
            self.parts
        ))
    }

    /// The shape as bytes, for an engine to store beside a space.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.parts.len() * 3);
        for part in &self.parts {
            match part {
                KeyPart::Fixed(len) => {
                    bytes.push(1);
                    bytes.extend_from_slice(&len.to_be_bytes());
                }
                KeyPart::Terminated => bytes.push(2),
                KeyPart::Path => bytes.push(3),
                KeyPart::Shard => bytes.push(4),
            }
        }
        bytes
    }

    /// Reads what [`KeyShape::to_bytes`] wrote.
    ///
    /// # Errors
    /// `Corruption` for anything else.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self> {
        let mut parts = Vec::new();
        while let Some((&tag, rest)) = bytes.split_first() {
            bytes = rest;
            parts.push(match tag {
                1 => {
                    let (len, rest) = bytes.split_first_chunk::<2>().ok_or_else(damaged)?;
                    bytes = rest;
                    KeyPart::Fixed(u16::from_be_bytes(*len))
                }
                2 => KeyPart::Terminated,
                3 => KeyPart::Path,
                4 => KeyPart::Shard,
                _ => return Err(damaged()),
            });
        }
        Ok(Self { parts })
    }
}

/// The shard that a key of a shard-prefixed space names.
///
/// # Errors
/// `Invalid` when the key is too short, or the store has no such shard.
#[inline]
pub fn prefixed_shard(key: &[u8], shards: u32) -> Result<ShardId> {
    match key.first_chunk::<SHARD_LEN>().map(|number| u32::from(u16::from_be_bytes(*number))) {
        Some(number) if number < shards => Ok(ShardId(number)),
        number => Err(no_such_shard(number, shards)),
    }
}

#[cold]
fn no_such_shard(number: Option<u32>, shards: u32) -> Error {
    match number {
        Some(number) => Error::invalid(format!(
            "a key names shard {number}, but the store has only {shards}, counted from 0"
        )),
        None => Error::invalid(
            "a key of a shard-prefixed space is too short for the number of its shard",
        ),
    }
}

fn damaged() -> Error {
    Error::corruption("the key shape of a space cannot be read: restore the store from a copy")
}

impl KeyPart {
    /// Where this part ends in `key` when it starts at `start`.
    #[inline]
    pub fn end(self, key: &[u8], start: usize) -> Option<usize> {
        match self {
            KeyPart::Fixed(len) => Some(start + usize::from(len)).filter(|end| *end <= key.len()),
            KeyPart::Shard => Some(start + SHARD_LEN).filter(|end| *end <= key.len()),
            KeyPart::Terminated => terminated_end(key, start),
            KeyPart::Path => {
                let mut position = start;
                loop {
                    if key.get(position..position + 2)? == [0, 0] {
                        return Some(position + 2);
                    }
                    position = terminated_end(key, position)?;
                }
            }
        }
    }
}

fn terminated_end(key: &[u8], start: usize) -> Option<usize> {
    let mut position = start;
    loop {
        position += key.get(position..)?.iter().position(|byte| *byte == 0)?;
        match key.get(position + 1)? {
            1 => return Some(position + 2),
            0xFF => position += 2,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_finds_the_end_of_each_kind_of_part() {
        let shape = KeyShape::new([KeyPart::Fixed(2), KeyPart::Terminated, KeyPart::Path]);
        let key = [9, 9, b'a', 0, 0xFF, b'b', 0, 1, b'x', 0, 1, b'y', 0, 1, 0, 0, 7, 7];
        assert_eq!(shape.shard_key_len(&key).unwrap(), key.len() - 2);
        assert_eq!(KeyShape::from_bytes(&shape.to_bytes()).unwrap(), shape);
    }

    #[test]
    fn a_placed_key_names_its_shard() {
        let shape = KeyShape::shard_prefixed();
        assert!(
            shape.is_shard_prefixed() && !KeyShape::new([KeyPart::Fixed(2)]).is_shard_prefixed()
        );
        assert_eq!(shape.shard_key_len(&[1, 2, 3]).unwrap(), SHARD_LEN);
        assert_eq!(KeyShape::from_bytes(&shape.to_bytes()).unwrap(), shape);
        assert_eq!(prefixed_shard(&[0, 2, 9], 3).unwrap(), ShardId(2));
        for key in [&[0, 3, 9][..], &[0], &[]] {
            assert_eq!(prefixed_shard(key, 3).unwrap_err().kind(), crate::ErrorKind::Invalid);
        }
    }

    #[test]
    fn a_key_that_ends_inside_its_shard_key_is_invalid() {
        let shape = KeyShape::new([KeyPart::Fixed(2), KeyPart::Terminated]);
        for key in [&[9][..], &[9, 9], &[9, 9, b'a'], &[9, 9, b'a', 0], &[9, 9, b'a', 0, 0xFF]] {
            assert_eq!(shape.shard_key_len(key).unwrap_err().kind(), crate::ErrorKind::Invalid);
        }
    }
}
