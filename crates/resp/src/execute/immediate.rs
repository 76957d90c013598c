//! Commands that are carried out by themselves.

use std::sync::Arc;

use super::round::Turn;
use super::words::{self, Refusal};
use crate::access::{KeyRight, UserAccess};
use crate::client::Client;
use crate::keyspace::Keyspace;
use crate::protocol::{ArgumentSpan, ReplyWriter, parse_integer};

/// Carries out what clients sent, while the caller has its turn alone.
pub(super) type CarryOut = fn(&Arc<Keyspace>, &mut [Box<Client>]);

/// A call of such a command.
pub(crate) struct ImmediateCall<'c> {
    pub(super) keyspace: &'c Arc<Keyspace>,
    pub(super) client: &'c mut Box<Client>,
    pub(super) input: &'c [u8],
    pub(super) spans: &'c [ArgumentSpan],
    /// Whether the turn is held further out.
    pub(super) is_held: bool,
    pub(super) carry_out: CarryOut,
}

/// Carries a call out; what it refuses is its reply.
pub(super) fn call_immediate(
    handler: fn(&mut ImmediateCall<'_>) -> Result<(), Refusal>,
    call: &mut ImmediateCall<'_>,
) {
    if let Err(refusal) = handler(call) {
        call.reply().error(&refusal);
    }
}

impl<'c> ImmediateCall<'c> {
    /// How many words there are, with the name of the command.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// The word at an index.
    pub(super) fn word(&self, index: usize) -> &'c [u8] {
        self.spans[index].of(self.input)
    }

    /// The word at an index in small letters, if there is one.
    pub(super) fn lower(&self, index: usize) -> String {
        let word = self.spans.get(index).map(|span| span.of(self.input));
        String::from_utf8_lossy(word.unwrap_or_default()).to_ascii_lowercase()
    }

    pub(super) fn integer(&self, index: usize) -> Result<i64, Refusal> {
        parse_integer(self.word(index)).ok_or(words::NOT_AN_INTEGER.into())
    }

    pub(super) fn reply(&mut self) -> ReplyWriter<'_> {
        ReplyWriter::new(&mut self.client.output, self.client.protocol)
    }

    /// Waits until it may look at several keys, or change them.
    pub(super) fn turn(&self, is_alone: bool) -> Turn<'c> {
        Turn::take(self.keyspace, is_alone, self.is_held)
    }

    /// Refuses what the user may not do with all keys.
    pub(super) fn check_all(&self, right: KeyRight) -> Result<(), Refusal> {
        self.decide(|user| user.may_all(right))
    }

    /// Refuses what is an operator's.
    pub(super) fn check_operator(&self, action: &str) -> Result<(), Refusal> {
        self.decide(|user| user.may_operate(action))
    }

    fn decide(
        &self,
        question: impl FnOnce(&dyn UserAccess) -> tonnage::Result<bool>,
    ) -> Result<(), Refusal> {
        match self.client.access.ask(question) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let (user, command) = (self.client.access.user(), self.lower(0));
                let refusal =
                    format!("NOPERM User {user} has no permissions to run the '{command}' command");
                Err(refusal.into())
            }
            Err(error) => Err(words::of_store(&error).into()),
        }
    }

    /// An answer of the store, or its error as a refusal.
    pub(super) fn stored<T>(&self, answer: tonnage::Result<T>) -> Result<T, Refusal> {
        answer.map_err(|error| words::of_store(&error).into())
    }
}

/// Refuses a key that the user of a client has no right on.
pub(super) fn check_right(client: &Client, right: KeyRight, key: &[u8]) -> Result<(), Refusal> {
    match client.access.ask(|user| user.may(right, key)) {
        Ok(true) => Ok(()),
        Ok(false) => Err(words::NO_KEY_PERMISSION.into()),
        Err(error) => Err(words::of_store(&error).into()),
    }
}
