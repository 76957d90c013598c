//! Byte strings that are being chosen, for a reply.

use super::part_reply::{FieldShow, ListShape, PartReply};
use super::texts::{Text, Texts};
use super::walk::WalkedMember;

/// Byte strings that are being chosen, for a reply.
pub(super) struct TextList {
    start: usize,
    count: u32,
}

impl TextList {
    pub(super) fn begin(texts: &Texts<'_>) -> Self {
        Self { start: texts.begin(), count: 0 }
    }

    pub(super) fn push(&mut self, text: Text, texts: &mut Texts<'_>) {
        let len = texts.get(text).len() as u32;
        texts.computed.extend_from_slice(&len.to_le_bytes());
        texts.append(text);
        self.count += 1;
    }

    /// The same with bytes that were read.
    pub(super) fn push_bytes(&mut self, bytes: &[u8], texts: &mut Texts<'_>) {
        texts.computed.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        texts.computed.extend_from_slice(bytes);
        self.count += 1;
    }

    /// The same with what of a member is wanted.
    pub(super) fn push_member(
        &mut self,
        member: WalkedMember<'_>,
        show: FieldShow,
        texts: &mut Texts<'_>,
    ) {
        let (names, values) = (show != FieldShow::Values, show.has_values());
        match member {
            WalkedMember::Known(name, value) => {
                names.then(|| self.push(name, texts));
                values.then(|| self.push(value, texts));
            }
            WalkedMember::Read(name, value) => {
                names.then(|| self.push_bytes(name, texts));
                values.then(|| self.push_bytes(value, texts));
            }
        }
    }

    /// How many bytes they take by now.
    pub(super) fn bytes(&self, texts: &Texts<'_>) -> usize {
        texts.begin() - self.start
    }

    pub(super) fn end(self, shape: ListShape, texts: &Texts<'_>) -> PartReply {
        PartReply::List { texts: texts.computed_since(self.start), count: self.count, shape }
    }
}
