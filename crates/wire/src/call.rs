//! Calls that are sent one after another over one stream, and their answers in the same order.

use prost::Message;
use tonnage::{Error, Result};

/// A call: an action, and its body.
#[derive(Clone, PartialEq, Message)]
pub struct CallMessage {
    /// The name of the action, such as `tonnage.Get`.
    #[prost(string, tag = "1")]
    pub action: String,
    /// The body that the action takes.
    #[prost(bytes = "bytes", tag = "2")]
    pub body: bytes::Bytes,
}

/// The answer to a call: its results, or what is wrong.
#[derive(Clone, PartialEq, Message)]
pub struct CallAnswer {
    /// The bodies of the results.
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub results: Vec<bytes::Bytes>,
    /// Why the call was not carried out.
    #[prost(message, optional, tag = "2")]
    pub failure: Option<CallFailure>,
}

/// Why a call was not carried out, as the status of the action would say it.
#[derive(Clone, PartialEq, Message)]
pub struct CallFailure {
    /// The code of gRPC.
    #[prost(int32, tag = "1")]
    pub code: i32,
    /// The kind of the error: what the trailer `tonnage-kind` has.
    #[prost(string, tag = "2")]
    pub kind: String,
    /// What is wrong.
    #[prost(string, tag = "3")]
    pub message: String,
}

/// The calls of one message.
#[derive(Clone, PartialEq, Message)]
pub struct CallsMessage {
    /// The calls, in the order in which they are carried out.
    #[prost(message, repeated, tag = "1")]
    pub calls: Vec<CallMessage>,
}

/// The answers of one message.
#[derive(Clone, PartialEq, Message)]
pub struct AnswersMessage {
    /// The answers, in the order of the calls.
    #[prost(message, repeated, tag = "1")]
    pub answers: Vec<CallAnswer>,
}

impl CallsMessage {
    /// Reads the calls of a message.
    ///
    /// # Errors
    /// `Invalid` for bytes that are not such a message.
    pub fn read(bytes: bytes::Bytes) -> Result<Vec<CallMessage>> {
        CallsMessage::decode(bytes)
            .map(|message| message.calls)
            .map_err(|error| Error::invalid(format!("not calls in Protocol Buffers: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn calls_come_back_as_they_went(calls in vec((".{0,8}", vec(any::<u8>(), 0..8)), 0..5)) {
            let calls: Vec<CallMessage> = calls
                .into_iter()
                .map(|(action, body)| CallMessage { action, body: body.into() })
                .collect();
            let bytes = CallsMessage { calls: calls.clone() }.encode_to_vec();
            prop_assert_eq!(CallsMessage::read(bytes.into()).unwrap(), calls);
        }

        #[test]
        fn bytes_of_any_kind_are_calls_or_an_error(bytes in vec(any::<u8>(), 0..100)) {
            if let Err(error) = CallsMessage::read(bytes.into()) {
                prop_assert_eq!(error.kind(), tonnage::ErrorKind::Invalid);
            }
        }
    }
}
