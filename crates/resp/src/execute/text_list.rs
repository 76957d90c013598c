//! Byte strings that are being chosen, for a reply.

use super::part_reply::{ListShape, PartReply};
use super::texts::{Text, Texts};

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

    /// How many bytes they take by now.
    pub(super) fn bytes(&self, texts: &Texts<'_>) -> usize {
        texts.begin() - self.start
    }

    pub(super) fn end(self, shape: ListShape, texts: &Texts<'_>) -> PartReply {
        PartReply::List { texts: texts.computed_since(self.start), count: self.count, shape }
    }
}
