//! Commands that the owner of a client carries out, because they need more than the pairs.

use crate::protocol::Protocol;

/// A command for the owner of the client: nothing of the client is carried out before
/// [`Client::finish_call`](crate::Client::finish_call).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsideCall {
    /// Its words, with its name in small letters in front.
    pub words: Vec<Vec<u8>>,
    /// The version of the protocol in which its reply is written.
    pub protocol: Protocol,
}

impl OutsideCall {
    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.words.iter().map(|word| word.len() + size_of::<Vec<u8>>()).sum()
    }
}
