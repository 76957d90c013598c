//! How long replies are, before they are written.

use std::ops::Range;

use super::super::part_reply::{PartReply, REPLY_HEAD_BYTES};
use super::super::plan::{KeyPart, ReplyShape};
use super::super::texts::Text;
use super::{Round, RoundFailure, bytes_max};
use crate::client::Client;
use crate::values::{EncodedHash, ValueKind};

impl Round {
    /// Whether the replies may be written, and so the changes.
    pub(super) fn check_replies(
        &self,
        commands: &Range<usize>,
        clients: &[Box<Client>],
    ) -> std::result::Result<(), RoundFailure> {
        let mut bytes_max = bytes_max(clients);
        if commands.len() == 1 {
            let client = self.commands[commands.start].client as usize;
            bytes_max = clients[client].limits.output_bytes_max;
        }
        let bytes = |sum: usize, one| sum.saturating_add(self.reply_bytes(one, clients));
        let bytes = commands.clone().fold(0, bytes);
        if bytes > bytes_max {
            return Err(RoundFailure::TooLarge);
        }
        if self.answered_bytes > 0 && self.answered_bytes.saturating_add(bytes) > bytes_max {
            return Err(RoundFailure::NoRoom);
        }
        Ok(())
    }

    /// How long the reply to a command is, at most.
    pub(super) fn reply_bytes(&self, command: usize, clients: &[Box<Client>]) -> usize {
        let parts = &self.parts[self.parts_of(&(command..command + 1))];
        let is_list = matches!(
            self.commands[command].shape,
            ReplyShape::Single | ReplyShape::Array | ReplyShape::ArrayOrNull
        );
        if !is_list || parts.iter().any(KeyPart::is_failed) {
            return REPLY_HEAD_BYTES;
        }
        // As `Texts` has them, which could not be built here: it changes what is computed.
        let text = |text: Text| match text {
            Text::Found(row) => self.found.value(row as usize),
            Text::FoundPart { row, start, end } => {
                &self.found.value(row as usize)[start as usize..end as usize]
            }
            Text::Computed { start, end } => &self.computed[start..end],
            Text::Argument(argument) => argument.span.of(&clients[argument.client as usize].input),
            Text::Open => b"",
        };
        let bytes = |part: &KeyPart| match part.reply {
            PartReply::Text(shown) => text(shown).len(),
            // Each name and each value has a head of its own.
            PartReply::Fields { hash: Some(hash), .. } => {
                let hash = text(hash);
                let fields =
                    EncodedHash::open(hash, ValueKind::of(hash)).map_or(0, EncodedHash::len);
                hash.len() + 2 * fields * REPLY_HEAD_BYTES
            }
            PartReply::List { texts, count, .. } => {
                text(texts).len() + (count as usize + 2) * REPLY_HEAD_BYTES
            }
            _ => 0,
        };
        parts
            .iter()
            .fold(REPLY_HEAD_BYTES, |sum, part| sum.saturating_add(bytes(part) + REPLY_HEAD_BYTES))
    }
}
