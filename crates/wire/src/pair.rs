//! A pair, or its key.

use prost::Message;
use tonnage::{Error, Key, Result};

/// A pair: the components of its key, and its value where there is one.
#[derive(Clone, PartialEq, Message)]
pub struct PairMessage {
    #[prost(bytes = "vec", repeated, tag = "1")]
    major: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "2")]
    minor: Vec<Vec<u8>>,
    #[prost(bytes = "vec", tag = "3")]
    value: Vec<u8>,
}

impl PairMessage {
    /// The message of a pair.
    pub fn of(key: &Key, value: &[u8]) -> Self {
        Self { major: key.major().to_vec(), minor: key.minor().to_vec(), value: value.to_vec() }
    }

    /// The key and the value of a message.
    ///
    /// # Errors
    /// `Invalid` for bytes that are no such message, and for a key without a major component.
    pub fn read(bytes: &[u8]) -> Result<(Key, Vec<u8>)> {
        let message = PairMessage::decode(bytes)
            .map_err(|error| Error::invalid(format!("no pair in Protocol Buffers: {error}")))?;
        if message.major.is_empty() {
            return Err(Error::invalid("the key has no major component"));
        }
        Ok((Key::new(message.major, message.minor), message.value))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn component() -> impl Strategy<Value = Vec<u8>> {
        vec(any::<u8>(), 0..8)
    }

    proptest! {
        #[test]
        fn pairs_come_back_as_they_went(
            major in vec(component(), 1..4), minor in vec(component(), 0..3), value in component()
        ) {
            let key = Key::new(major, minor);
            let bytes = PairMessage::of(&key, &value).encode_to_vec();
            prop_assert_eq!(PairMessage::read(&bytes).unwrap(), (key, value));
        }

        #[test]
        fn bytes_of_any_kind_are_a_pair_or_an_error(bytes in vec(any::<u8>(), 0..100)) {
            if let Err(error) = PairMessage::read(&bytes) {
                prop_assert_eq!(error.kind(), tonnage::ErrorKind::Invalid);
            }
        }
    }
}
