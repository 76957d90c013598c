//! Resume tokens: the point where a read stopped, as bytes to continue from.

use tonnage_engine::{Direction, Error, Result, SpaceId};

/// The format of the bytes.
const FORMAT: u8 = 1;

/// A position after which a read resumes: plain bytes, to be kept anywhere. The rows before and
/// after it do not change sides while rows are written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResumeToken(Vec<u8>);

impl ResumeToken {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// A token of bytes that one gave. They are checked when a read resumes from them.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The same position for a read in this direction: the sides before and after a row.
    #[must_use]
    pub fn facing(mut self, direction: Direction) -> Self {
        if let Some(reverse) = self.0.get_mut(1) {
            *reverse = u8::from(direction == Direction::Reverse);
        }
        self
    }
}

/// What a token holds: the row after which a read resumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResumePoint {
    pub(crate) space: SpaceId,
    pub(crate) is_reverse: bool,
    /// The number of the key that was answered last, in a read of keys.
    pub(crate) number: Option<u64>,
    /// The key of the row that came last.
    pub(crate) key: Vec<u8>,
}

impl ResumePoint {
    pub(crate) fn token(&self) -> ResumeToken {
        let mut bytes = vec![FORMAT, u8::from(self.is_reverse), u8::from(self.number.is_some())];
        bytes.extend_from_slice(&self.space.0.to_le_bytes());
        bytes.extend_from_slice(&self.number.unwrap_or_default().to_le_bytes());
        bytes.extend_from_slice(&self.key);
        ResumeToken(bytes)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (&[format, reverse, numbered], rest) = bytes.split_first_chunk()?;
        let (space, rest) = rest.split_first_chunk()?;
        let (number, key) = rest.split_first_chunk()?;
        let is_sound = format == FORMAT && reverse <= 1 && numbered <= 1;
        is_sound.then(|| Self {
            space: SpaceId(u32::from_le_bytes(*space)),
            is_reverse: reverse == 1,
            number: (numbered == 1).then(|| u64::from_le_bytes(*number)),
            key: key.to_vec(),
        })
    }

    /// The point that a token names, for a read of a space in this direction, by keys or not.
    ///
    /// # Errors
    /// `Invalid` for a token of another read, saying what differs.
    pub(crate) fn of(
        token: &ResumeToken,
        space: SpaceId,
        direction: Direction,
        is_by_keys: bool,
    ) -> Result<Self> {
        let refuse = |what: &str| Err(Error::invalid(format!("start_after: {what}")));
        let Some(point) = Self::parse(&token.0) else {
            return refuse("these bytes are no place in a read: give those that one answered");
        };
        if direction == Direction::Unordered {
            return refuse("a read without an order has no place to go on from: give a direction");
        }
        if point.space != space {
            return refuse("the place is of another table, or of one that was dropped since");
        }
        if point.is_reverse != (direction == Direction::Reverse) {
            return refuse("the place is of a read in the other direction");
        }
        if point.number.is_some() != is_by_keys {
            return refuse("a place of a scan is for scans, and one of a read of keys for those");
        }
        Ok(point)
    }

    /// The position of any read of a space, by keys or not, for one that resumes forward.
    ///
    /// # Errors
    /// `Invalid` for a token of another table.
    pub(crate) fn of_any(token: &ResumeToken, space: SpaceId) -> Result<Self> {
        let direction = match token.0.get(1) {
            Some(1) => Direction::Reverse,
            _ => Direction::Forward,
        };
        let is_by_keys = token.0.get(2) == Some(&1);
        let point = Self::of(token, space, direction, is_by_keys)?;
        Ok(Self { is_reverse: false, number: None, ..point })
    }

    /// Narrows bounds to what follows the position.
    pub(crate) fn narrow(&self, start: &mut Vec<u8>, end: &mut Vec<u8>) {
        if self.is_reverse {
            if end.is_empty() || *end > self.key {
                end.clone_from(&self.key);
            }
        } else if *start <= self.key {
            // The least key after it.
            start.clone_from(&self.key);
            start.push(0);
        }
        // A range that holds nothing has equal bounds.
        if !end.is_empty() && end < start {
            end.clone_from(start);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_token_tells_the_place_that_it_was_made_of(
            space in any::<u32>(),
            is_reverse in any::<bool>(),
            number in any::<Option<u64>>(),
            key in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            let point = ResumePoint { space: SpaceId(space), is_reverse, number, key };
            let token = ResumeToken::from_bytes(point.token().as_bytes());
            let direction = if is_reverse { Direction::Reverse } else { Direction::Forward };
            let read = ResumePoint::of(&token, SpaceId(space), direction, number.is_some());
            let read = read.unwrap();
            prop_assert_eq!(&read, &point);
            let other = if is_reverse { Direction::Forward } else { Direction::Reverse };
            let turned = token.facing(other);
            let read = ResumePoint::of(&turned, SpaceId(space), other, number.is_some());
            prop_assert_eq!(read.unwrap(), ResumePoint { is_reverse: !is_reverse, ..point });
        }

        #[test]
        fn bytes_that_are_no_token_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..14)) {
            let token = ResumeToken::from_bytes(bytes);
            prop_assert!(ResumePoint::of(&token, SpaceId(1), Direction::Forward, false).is_err());
        }
    }
}
